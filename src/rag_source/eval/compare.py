"""Two runs over the same questions, question by question."""

from __future__ import annotations

import random
from dataclasses import dataclass

from rag_source.domain.errors import RequestError
from rag_source.eval.metrics import mean
from rag_source.eval.runner import EvalResult, QuestionResult

__all__ = ["Comparison", "compare"]

_RESAMPLES = 2000
_SEED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How much better `b` ranks than `a`.

    `difference` is the mean of `b`'s reciprocal rank (at 10) minus `a`'s; `low` and `high` bound it
    with 95 % confidence (paired bootstrap, percentiles). `changed` are the questions whose ranks
    differ, with both results, the greatest loss first.
    """

    questions: int
    difference: float
    low: float
    high: float
    changed: tuple[tuple[QuestionResult, QuestionResult], ...]


def compare(a: EvalResult, b: EvalResult) -> Comparison:
    """Compare two runs of the same dataset.

    Raises:
        RequestError: They did not ask the same questions, or none that can be ranked.
    """
    if [one.question.qid for one in a.results] != [one.question.qid for one in b.results]:
        raise RequestError("the two runs asked different questions", hint="use the same dataset")
    pairs = [(x, y) for x, y in zip(a.results, b.results, strict=True) if x.is_ranked]
    differences = [y.reciprocal_rank - x.reciprocal_rank for x, y in pairs]
    difference = mean(differences)
    if difference is None:
        raise RequestError(
            f"no question of {a.dataset!r} names the documents that answer it",
            hint="add gold_doc to the questions",
        )
    low, high = _interval(differences)
    changed = [pair for pair in pairs if pair[0].gold_rank != pair[1].gold_rank]
    changed.sort(key=lambda pair: pair[1].reciprocal_rank - pair[0].reciprocal_rank)
    return Comparison(
        questions=len(pairs), difference=difference, low=low, high=high, changed=tuple(changed)
    )


def _interval(values: list[float]) -> tuple[float, float]:
    chance = random.Random(_SEED)  # noqa: S311 - a reproducible resample, not a secret.
    means = sorted(
        sum(chance.choices(values, k=len(values))) / len(values) for _ in range(_RESAMPLES)
    )
    return means[round(0.025 * _RESAMPLES)], means[round(0.975 * _RESAMPLES) - 1]
