"""What the answer model reads: a short order, the passages as data, the question last (SPEC A11).

A document may hold anything: a forged `[9]`, a chat template's control tokens, an order to the
assistant. What the *model* reads is made harmless here; what is *cited* stays the chunk, untouched.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rag_source.domain.ports import ChatMessage, TokenCounter
from rag_source.generation.orders import REMOVED, without_orders
from rag_source.generation.shelf import Passage
from rag_source.generation.terms import terms_of
from rag_source.generation.wording import WORDING

__all__ = ["GenerationPolicy", "Prompt", "build_prompt", "neutralise"]

_MESSAGE_TOKENS = 16  # what a chat template adds around two messages, measured on Qwen's, doubled

_CONTROL = re.compile(r"<\|[^|>\n]{0,40}\|>|<\|")
_TAGS = re.compile(
    r"</?(?:s|bos|eos|think|tool_call|tool_response|start_of_turn|end_of_turn|system|assistant|user"
    r"|passages?)(?:\s[^>\n]{0,60})?>|\[/?INST\]|<</?SYS>>",
    re.IGNORECASE,
)
_FORGED = re.compile(
    r"[\[【]+\s*((?:passage|source)?\s*\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\s*[\]】]+", re.I
)
_ROLE = re.compile(
    r"(?im)^(\s*)(system|assistant|user|système|utilisateur|question|réponse|answer)(\s*):"
)
# A picture in Markdown would be fetched wherever the answer is shown.
_PICTURE = re.compile(r"!\[[^\]\n]{0,200}\]\([^)\n]{0,2000}\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationPolicy:
    """How answers are generated.

    Attributes:
        limit_passages: How many passages the model reads, 1 to 20. Six are kept by the search
            (SPEC R2).
        limit_prompt_tokens: The most tokens of a whole prompt. 1,024: the embedded model reads
            90 tokens a second on two cores, so a reader waits 11 s at worst for the first word.
        may_decline: Whether the model is told a word to write when the passages hold no answer.
            False: the embedded model then wrote it for 5 of 12 answerable questions and for 1 of 6
            unanswerable ones. Search scores and the check of the answer decide instead.
        answer_tokens: The most tokens of an answer; three short sentences need a third of it.
        limit_question_chars: The longest question that is taken.
        trusted_score: Calibrated score (0..1) from which the best evidence is shown although the
            model declined: the small model declines 6 of 25 questions that its passages answer.
        copied_coverage: Share (0..1) of the question's terms that a line must hold for it to be
            shown where the model only copied its passage out.
        trusted_coverage: Share (0..1) of the question's terms that a sentence must hold for that.
    """

    limit_passages: int = 6
    limit_prompt_tokens: int = 1024
    may_decline: bool = False
    answer_tokens: int = 256
    limit_question_chars: int = 4000
    trusted_score: float = 0.9
    trusted_coverage: float = 0.7
    copied_coverage: float = 0.3

    def __post_init__(self) -> None:
        if not 1 <= self.limit_passages <= 20:
            raise ValueError(f"limit_passages is {self.limit_passages}, not 1 to 20")
        if self.limit_prompt_tokens < 256 or self.answer_tokens < 32:
            raise ValueError("a prompt needs 256 tokens and an answer 32 at least")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The messages, and the passages that found room in them, in the order of their numbers."""

    messages: tuple[ChatMessage, ...]
    passages: tuple[Passage, ...]


def build_prompt(
    question: str,
    passages: Sequence[Passage],
    *,
    language: str,
    counter: TokenCounter,
    limit_tokens: int,
    may_decline: bool = False,
) -> Prompt:
    """Fit the passages into `limit_tokens`: long ones are cut to their lines nearest to the
    question, and those ranked last are left out where nothing useful would remain of them."""
    wording = WORDING[language]
    asked = wording.ask.format(question=_defused(question))
    system = wording.system + (wording.may_decline if may_decline else "")
    room = limit_tokens - counter.count(system) - counter.count(asked) - _MESSAGE_TOKENS
    terms = terms_of(question)
    shown: list[str] = []
    fitted: list[Passage] = []
    for i, passage in enumerate(passages):
        head = _head(passage)
        allowance = (
            max(room // 2, room // (len(passages) - i)) if i == 0 else room // (len(passages) - i)
        )
        body = _fit(passage, terms, counter, allowance - counter.count(head) - 2)
        if not body:
            if shown:
                break
            body = neutralise(passage.chunk.text)[: max(200, 2 * room)]
        text = f"{head}\n{body}"
        room -= counter.count(text) + 2
        shown.append(text)
        fitted.append(passage)
    content = "\n\n".join([*shown, asked])
    messages = (
        ChatMessage(role="system", content=system),
        ChatMessage(role="user", content=content),
    )
    return Prompt(messages=messages, passages=tuple(fitted))


def neutralise(text: str) -> str:
    """Document text as a model may read it: no control tokens, markers, roles or orders."""
    text = without_orders(_PICTURE.sub(REMOVED, _defused(text)))
    text = _FORGED.sub(r"(\1)", text)
    return _ROLE.sub(r"\1\2 -", text)


def _defused(text: str) -> str:
    """Without what a chat template or tokenizer would take for its own."""
    text = _CONTROL.sub(REMOVED, text)
    return _TAGS.sub(REMOVED, text)


def _head(passage: Passage) -> str:
    chunk = passage.chunk
    parts = [chunk.path, *(name for name in chunk.section if name)]
    return f"[{passage.marker}] " + neutralise(" > ".join(parts).replace("\n", " "))


def _fit(passage: Passage, terms: frozenset[str], counter: TokenCounter, allowance: int) -> str:
    """The passage, or its lines around the one nearest to the question; empty if none fits."""
    chunk = passage.chunk
    whole = neutralise(chunk.text)
    if counter.count(whole) <= allowance:
        return whole
    if not chunk.sentences:
        return ""
    texts = [chunk.text[line.start : line.end] for line in chunk.sentences]
    costs = [counter.count(text) + 1 for text in texts]
    first = last = _nearest(texts, terms)
    # The header of a table, counted whether or not it is needed.
    left = allowance - costs[first] - (costs[0] if "|" in texts[0] else 0)
    grew = True
    while grew:
        grew = False
        if last + 1 < len(costs) and costs[last + 1] <= left:
            last, grew = last + 1, True
            left -= costs[last]
        if first and costs[first - 1] <= left:
            first, grew = first - 1, True
            left -= costs[first]
    body = _span(passage, first, last)
    while counter.count(body) > allowance and last > first:  # joined lines may count for more
        last -= 1
        body = _span(passage, first, last)
    return body if counter.count(body) <= allowance else ""


def _nearest(texts: Sequence[str], terms: frozenset[str]) -> int:
    """The line that shares most with the question, each term weighing by its rarity here."""
    held = [terms & terms_of(text) for text in texts]
    counts = Counter(term for found in held for term in found)
    worth = [sum(1 / counts[term] for term in found) for found in held]
    rows = range(
        1 if "|" in texts[0] and len(texts) > 1 else 0, len(texts)
    )  # a header says nothing
    return max(rows, key=lambda i: (worth[i], -i))


def _span(passage: Passage, first: int, last: int) -> str:
    """Lines `first` to `last` as they stand, under the table's header if they are its rows."""
    chunk = passage.chunk
    start, end = chunk.sentences[first].start, chunk.sentences[last].end
    text = chunk.text[start:end]
    header = chunk.text[: chunk.text.find("\n")] if "\n" in chunk.text else ""
    if start and "|" in header and "|" in text:
        text = f"{header}\n{text}"
    return neutralise(text)
