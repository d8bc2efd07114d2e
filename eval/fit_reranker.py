"""Fit the embedded reranker on public question sets and write its coefficients.

    python -m eval.fit_reranker SETS/xquad-en SETS/piaf-fr … --cache DIR --write

Each question is asked of three corpora: its whole set, fifteen documents of it, and the set with
the passages of an article joined three by three (chunks of a real document are longer than the
sets' passages); each with and without the documents that answer it. First the ranking is fitted, on
which of the chunks found is the gold one (listwise); then two numbers turn its score into the
probability that a chunk answers, over all chunks found.
Half of the groups (articles) of each set are fitted on, figures are of the other half; a second
table leaves each set out in turn. Engine scores are computed exactly, in memory; confirm the result
with `rag-source eval`.

With `--scale-free` the model is for embedders whose cosines nobody has measured: each cosine counts
by how far it stands out among the candidates.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from eval.reranker_examples import FUSED, VARIANTS, Ask, Case, Corpus, Matrix, Options

from rag_source.eval.datasets import read_dataset
from rag_source.retrieval.features import FEATURES, scale_free

FOLDER = Path(__file__).parents[1] / "src/rag_source/retrieval"
L2 = 1e-3
CROSS = "→"
THRESHOLDS = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3)


def fit(cases: Sequence[Case]) -> tuple[Matrix, float]:
    """Coefficients and intercept: the ranking listwise, then its calibration."""
    ranking = _fit_ranking(cases)
    x = np.concatenate([ask.features for case in cases for ask in case.asks])
    y = np.concatenate([ask.gold for case in cases for ask in case.asks]).astype(float)
    scores = x @ ranking
    z = np.c_[scores - scores.mean(), np.ones(len(x))]
    weights = np.zeros(2)
    for _ in range(100):
        p = 1 / (1 + np.exp(-np.clip(z @ weights, -30, 30)))
        hessian = (z * (p * (1 - p))[:, None]).T @ z + 1e-9 * np.eye(2)
        step = np.linalg.solve(hessian, z.T @ (y - p))
        weights += np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-9:
            break
    return ranking * weights[0], float(weights[1] - weights[0] * scores.mean())


def _fit_ranking(cases: Sequence[Case]) -> Matrix:
    """Conditional logit by Newton's method: the gold chunk against the others found with it."""
    asks = [
        ask for case in cases for ask in case.asked.values() if ask.gold.any() and len(ask.gold) > 1
    ]
    spread = np.concatenate([ask.features for ask in asks]).std(axis=0) + 1e-9
    x = np.zeros((len(asks), FUSED, len(FEATURES)))
    mask = np.full((len(asks), FUSED), -1e9)
    for n, ask in enumerate(asks):
        x[n, : len(ask.gold)] = ask.features / spread
        mask[n, : len(ask.gold)] = 0
    chosen = x[np.arange(len(asks)), [int(np.flatnonzero(ask.gold)[0]) for ask in asks]]
    weights = np.zeros(len(FEATURES))
    for _ in range(100):
        scores = x @ weights + mask
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        expected = (p[:, :, None] * x).sum(axis=1)
        gradient = (chosen - expected).mean(axis=0) - L2 * weights
        hessian = np.einsum("nm,nmi,nmj->ij", p, x, x) / len(asks)
        hessian += L2 * np.eye(len(weights)) - expected.T @ expected / len(asks)
        step = np.linalg.solve(hessian, gradient)
        weights += np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-9:
            break
    return np.asarray(weights / spread)


@dataclass(frozen=True)
class Model:
    coefficients: Matrix
    intercept: float

    def best(self, ask: Ask) -> float:
        return float(self.scores(ask).max(initial=0.0))

    def scores(self, ask: Ask) -> Matrix:
        z = ask.features @ self.coefficients + self.intercept
        return np.asarray(1 / (1 + np.exp(-np.clip(z, -60, 60))))

    def rank(self, ask: Ask) -> int:
        """The rank of the first gold candidate from 1; 0 if none was found."""
        order = np.argsort(-self.scores(ask), kind="stable")
        hits = np.flatnonzero(ask.gold[order])
        return int(hits[0]) + 1 if len(hits) else 0


def figures(model: Model, cases: Sequence[Case], threshold: float) -> dict[str, float]:
    """What a model does on some questions; see eval/README.md for each name."""
    plain = [case.asked["whole"].gold for case in cases]
    made = {
        "mrr_fused": _mrr([int(np.flatnonzero(g)[0]) + 1 if g.any() else 0 for g in plain]),
        "mrr": _mrr([model.rank(case.asked["whole"]) for case in cases]),
    }
    for variant in VARIANTS:
        asked = np.array([model.best(case.asked[variant]) for case in cases])
        without = np.array([model.best(case.without[variant]) for case in cases])
        if variant == "whole":
            made["auc"] = _auc(asked, without)
            made["refused_at_95_kept"] = float(np.mean(without < np.quantile(asked, 0.05)))
        made[f"kept_{variant}"] = float(np.mean(asked >= threshold))
        made[f"refused_{variant}"] = float(np.mean(without < threshold))
    return made


def _mrr(ranks: Sequence[int]) -> float:
    return sum(1 / rank for rank in ranks if 0 < rank <= 10) / max(1, len(ranks))


def _auc(positive: Matrix, negative: Matrix) -> float:
    ranks = np.argsort(np.argsort(np.concatenate([positive, negative]))) + 1
    n = len(positive)
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * len(negative)))


def table(title: str, rows: dict[str, dict[str, float]]) -> None:
    names = list(next(iter(rows.values())))
    print(f"\n{title}\n\n| set | {' | '.join(names)} |\n|---|{'---:|' * len(names)}")
    for name, row in rows.items():
        print(f"| {name} | {' | '.join(f'{row[column]:.3f}' for column in names)} |")


def main() -> None:
    given = _arguments()
    options = Options(
        rrf_k=given.rrf_k,
        dense_weight=given.dense_weight,
        sparse_weight=given.sparse_weight,
        foreign_coverage=given.foreign_coverage,
    )
    cases = {name: _read(some, given) for name, some in _cases(given, options).items()}
    half = Model(*fit([c for some in cases.values() for c in some if c.fold == 0]))
    other_half = {name: [c for c in some if c.fold] for name, some in cases.items()}
    one_language = [some for name, some in other_half.items() if CROSS not in name]
    for folder in given.held_out:
        dataset = read_dataset(folder)
        held = Corpus(dataset, dataset.questions, given.cache).cases(options, given.limit)
        other_half[f"{dataset.name} (never fitted on)"] = _read(held, given)
    by_half = {name: figures(half, some, given.threshold) for name, some in other_half.items()}
    table("Fitted on half of the articles of every set, figures of the other half", by_half)
    left_out = {}
    for name, some in cases.items():
        rest = [c for other, cs in cases.items() if other != name for c in cs]
        if rest:
            left_out[name] = figures(Model(*fit(rest)), some, given.threshold)
    table("Fitted on the other sets", left_out)
    _show_thresholds(half, one_language)
    coefficients = dict(zip(FEATURES, half.coefficients.round(4).tolist(), strict=True))
    print("\n", json.dumps({**coefficients, "intercept": round(half.intercept, 4)}))
    if given.write:
        _write(options, half, given, cases, by_half, left_out)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("sets", nargs="+", type=Path, help="dataset folders with text documents")
    parser.add_argument(
        "--crossed",
        nargs=2,
        type=Path,
        action="append",
        default=[],
        metavar=("DOCUMENTS", "QUESTIONS"),
        help="documents of one set, questions of another: two languages",
    )
    parser.add_argument(
        "--held-out",
        type=Path,
        nargs="*",
        default=[],
        help="sets that are reported and never fitted on",
    )
    parser.add_argument("--cache", type=Path, required=True, help="where vectors are kept")
    parser.add_argument("--limit", type=int, default=1200, help="questions of a set")
    parser.add_argument("--threshold", type=float, default=0.03)
    parser.add_argument("--scale-free", action="store_true", help="for any embedding model")
    defaults = Options()
    for name in ("rrf_k", "dense_weight", "sparse_weight", "foreign_coverage"):
        value = getattr(defaults, name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    parser.add_argument("--write", action="store_true", help="write the coefficients")
    return parser.parse_args()


def _read(cases: Sequence[Case], given: argparse.Namespace) -> list[Case]:
    """The cases with their features as the reranker will read them."""
    if not given.scale_free:
        return list(cases)

    def read(asks: dict[str, Ask]) -> dict[str, Ask]:
        return {
            name: Ask(
                np.array(scale_free(ask.features.tolist())).reshape(ask.features.shape), ask.gold
            )
            for name, ask in asks.items()
        }

    return [Case(case.fold, read(case.asked), read(case.without)) for case in cases]


def _cases(given: argparse.Namespace, options: Options) -> dict[str, list[Case]]:
    cases: dict[str, list[Case]] = {}
    for folder in given.sets:
        dataset = read_dataset(folder)
        corpus = Corpus(dataset, dataset.questions, given.cache)
        cases[dataset.name] = corpus.cases(options, given.limit)
    for documents, asked in given.crossed:
        dataset, other = read_dataset(documents), read_dataset(asked)
        corpus = Corpus(dataset, other.questions, given.cache)
        cases[f"{other.name}{CROSS}{dataset.name}"] = corpus.cases(options, given.limit // 4)
    return cases


def _show_thresholds(model: Model, sets: Sequence[Sequence[Case]]) -> None:
    print("\nThresholds, means over the sets in one language, of the other half\n")
    print("| threshold |" + "".join(f" {v} kept | {v} refused |" for v in VARIANTS))
    print("|---|" + "---:|---:|" * len(VARIANTS))
    for threshold in THRESHOLDS:
        rows = [figures(model, some, threshold) for some in sets]
        means = [
            sum(row[f"{what}_{v}"] for row in rows) / len(rows)
            for v in VARIANTS
            for what in ("kept", "refused")
        ]
        print(f"| {threshold} |" + "".join(f" {value:.3f} |" for value in means))


def _write(
    options: Options,
    model: Model,
    given: argparse.Namespace,
    cases: dict[str, list[Case]],
    by_half: dict[str, dict[str, float]],
    left_out: dict[str, dict[str, float]],
) -> None:
    def rounded(rows: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        return {k: {n: round(v, 3) for n, v in row.items()} for k, row in rows.items()}

    fields = {
        "embedding_model": "" if given.scale_free else "multilingual-e5-small-q4",
        "coefficients": dict(zip(FEATURES, model.coefficients.round(4).tolist(), strict=True)),
        "intercept": round(model.intercept, 4),
        "threshold": given.threshold,
        "foreign_coverage": options.foreign_coverage,
        "provenance": {
            "script": "eval/fit_reranker.py",
            "date": datetime.now(UTC).date().isoformat(),
            "fitted_on": {n: sum(c.fold == 0 for c in some) for n, some in cases.items()},
            "reported_on": {n: sum(c.fold == 1 for c in some) for n, some in cases.items()},
            "other_half_of_the_articles": rounded(by_half),
            "each_set_left_out": rounded(left_out),
        },
    }
    path = FOLDER / ("reranker_any.json" if given.scale_free else "reranker.json")
    path.write_text(json.dumps(fields, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
