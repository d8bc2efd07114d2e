"""Citation benchmark (SPEC S6): locating and judging a quote, against bare rapidfuzz alignment.

    python eval/bench/citations.py [--chars 3000] [--rounds 40] [--checks FILE.jsonl]

Both are timed in turn, in one run, on the same chunks and quotes: `cold` has never seen the chunk,
`warm` has (an answer cites a chunk more than once). The bare call only aligns characters; it folds
nothing, cannot tell a changed fact, and is there as the machine's measure. Without `--checks` the
chunks are made of business sentences in French, English and Arabic; with it, of its sources.
Support is what a whole answer costs: six chunks made ready, three sentences judged against all.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from rapidfuzz import fuzz

from rag_source.domain.chunks import Chunk, Segment
from rag_source.domain.languages import detect_language
from rag_source.domain.sentences import split_sentences
from rag_source.generation import facts, quotes, roles
from rag_source.generation.citing import check_draft
from rag_source.generation.quotes import locate
from rag_source.generation.shelf import Passage, shelve

SENTENCES = {
    "fr": (
        "La garantie est de {} mois, hors pièces d'usure et sauf mention contraire du contrat {}.",
        "Total TTC à régler : {} 900,00 DH, payable à {} jours fin de mois.",
        "Le transporteur livre la commande {} au plus tard le {} mars 2026 à l'entrepôt de Tanger.",
    ),
    "en": (
        "Invoice INV-2024-{} is due within {} days; late payment bears interest at 1.5% per month.",
        "The pump must be serviced every {} operating hours or {} times a year by the supplier.",
        "Operating voltage {} V AC, {} Hz; do not connect the device to other supplies.",
    ),
    "ar": (
        "المبلغ الإجمالي {} درهم يدفع خلال {} يوما من تاريخ الفاتورة.",
        "مدة الضَّمان {} شهرا ولا يشمل قطع الغيار المستهلكة رقم {}.",
        "سلمت البضاعة رقم {} بواسطة السائق كريم العلوي يوم {} مارس 2024.",
    ),
}


def make_cases(chars: int, rounds: int) -> list[tuple[str, str]]:
    """Pairs of a chunk and a quote: as it stands, with a slipped letter, with another digit."""
    rng = random.Random(7)  # noqa: S311 - a seed for repeatable data, no secret
    cases = []
    for number in range(rounds):
        forms = list(SENTENCES.values())[number % 3]
        lines: list[str] = []
        while sum(map(len, lines)) < chars:
            lines.append(rng.choice(forms).format(rng.randrange(10, 99), rng.randrange(100, 999)))
        quote = rng.choice(lines)
        word = max(quote.split(), key=len)
        digit = next(c for c in quote if c.isdigit())
        cases += [
            (" ".join(lines), quote),
            (" ".join(lines), quote.replace(word, f"{word[:3]}e{word[4:]}", 1)),
            (" ".join(lines), quote.replace(digit, str((int(digit) + 1) % 10), 1)),
        ]
    return cases


def read_cases(path: Path, chars: int) -> list[tuple[str, str]]:
    """Every quote of a checks file, in its source filled up to `chars` with the sources after."""
    checks = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    cases = []
    for i, check in enumerate(checks):
        text, j = check["source"], i
        while len(text) < chars:
            j = (j + 37) % len(checks)
            text += "\n" + checks[j]["source"]
        cases.append((text[:chars], check["quote"]))
    return cases


def forget() -> None:
    """Empty what has been remembered of chunks."""
    for cached in (quotes._folded, facts.ledger_of, facts.facts_of):
        cached.cache_clear()
    roles._clauses.cache_clear()


def timed(work: Callable[[], object]) -> float:
    """Milliseconds of processor time of one call."""
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


def report(name: str, times: list[float], bare: float) -> None:
    ordered = sorted(times)
    middle = statistics.median(ordered)
    high = ordered[int(0.95 * (len(ordered) - 1))]
    print(f"{name:22} p50 {middle:6.2f} ms   p95 {high:6.2f} ms   {middle / bare:5.1f} x bare")


def answer_cost(texts: list[str], draft: str) -> float:
    """Milliseconds to check a draft of three sentences against six chunks never seen before."""
    passages = [
        Passage(
            marker=i,
            chunk=Chunk(
                chunk_id=str(i),
                doc_id="d",
                path="a.md",
                ordinal=i,
                text=text,
                segments=(Segment(start=0, end=len(text), document_start=0),),
                sentences=tuple(split_sentences(text)),
                block_id="b",
                language=detect_language(text),
            ),
        )
        for i, text in enumerate(texts, start=1)
    ]
    forget()
    return timed(lambda: check_draft(draft, shelve(passages)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--chars", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--checks", type=Path)
    options = parser.parse_args()
    cases = (
        read_cases(options.checks, options.chars)
        if options.checks
        else make_cases(options.chars, options.rounds)
    )
    cold, warm, bare = [], [], []
    for text, quote in cases:
        forget()
        cold.append(timed(lambda: locate(quote, text)))  # noqa: B023 - called at once
        warm.append(timed(lambda: locate(quote, text)))  # noqa: B023 - called at once
        bare.append(timed(lambda: fuzz.partial_ratio_alignment(quote, text)))  # noqa: B023 - same
    middle = statistics.median(bare)
    print(f"{len(cases)} quotes, chunks of {options.chars} characters")
    report("bare rapidfuzz", bare, middle)
    report("locate, cold", cold, middle)
    report("locate, warm", warm, middle)
    texts = [text for text, _ in cases]
    costs = [
        answer_cost(texts[i : i + 18 : 3], " ".join(quote for _, quote in cases[i : i + 9 : 3]))
        for i in range(0, min(len(cases) - 18, 60), 9)
    ]
    report("answer of 3 sentences", costs, middle)


if __name__ == "__main__":
    main()
