"""`eval`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_source.cli.ask import check_mode
from rag_source.cli.output import Bar, print_json, say
from rag_source.cli.session import settings_of

if TYPE_CHECKING:
    from rag_source.domain.evidence import SearchMode
    from rag_source.eval.datasets import Dataset
    from rag_source.eval.runner import EvalResult
    from rag_source.settings import Settings

__all__ = ["evaluate"]

_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def evaluate(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="A dataset: documents and questions.jsonl.")],
    mode: Annotated[
        str, typer.Option(help="One of dense, bm25, hybrid, hybrid+rerank.")
    ] = "hybrid+rerank",
    compare: Annotated[
        str | None, typer.Option(help="A second mode, compared question by question.")
    ] = None,
    failures: Annotated[bool, typer.Option(help="Show each miss with its rank.")] = False,
    titles: Annotated[bool, typer.Option(help="Situate documents by their titles too.")] = False,
    answers: Annotated[
        bool, typer.Option(help="Ask for whole answers, seconds each, and measure those.")
    ] = False,
    transcript: Annotated[
        Path | None, typer.Option(help="With --answers: write them all to this Markdown file.")
    ] = None,
    json: _Json = False,
) -> None:
    """Measure retrieval and abstention, or whole answers, on a dataset, without a judge model."""
    # Lazy: the whole application.
    from rag_source.eval.datasets import read_dataset

    settings = settings_of(context)
    dataset = read_dataset(folder)
    if answers:
        _evaluate_answers(dataset, settings, titles=titles, transcript_to=transcript, as_json=json)
        return
    modes = [check_mode(mode)] + ([check_mode(compare)] if compare else [])
    results = asyncio.run(_ask_in_modes(dataset, settings, modes, titles=titles))
    if json:
        print_json(_as_json(results, failures=failures))
    else:
        for result in results:
            _print_result(result, failures=failures)
    if compare and not json:
        _print_difference(results)


async def _ask_in_modes(
    dataset: Dataset, settings: Settings, modes: list[SearchMode], *, titles: bool
) -> list[EvalResult]:
    from rag_source.eval.runner import ask_questions
    from rag_source.eval.workspace import open_index

    indexing, asking = Bar("indexing"), Bar("asking")
    try:
        async with open_index(
            dataset, settings, titles=titles, on_progress=indexing.update
        ) as index:
            indexing.close()
            return [
                await ask_questions(dataset, index, mode=one, progress=asking.update)
                for one in modes
            ]
    finally:
        indexing.close()
        asking.close()


def _evaluate_answers(
    dataset: Dataset,
    settings: Settings,
    *,
    titles: bool,
    transcript_to: Path | None,
    as_json: bool,
) -> None:
    from rag_source.eval.answers import AnswerEval, ask_for_answers, transcript
    from rag_source.eval.workspace import open_index

    async def run() -> AnswerEval:
        indexing, asking = Bar("indexing"), Bar("answering")
        try:
            async with open_index(
                dataset, settings, titles=titles, on_progress=indexing.update
            ) as index:
                indexing.close()
                assert index.ask is not None
                return await ask_for_answers(
                    dataset, index.ask, index.stored_ids, progress=asking.update
                )
        finally:
            indexing.close()
            asking.close()

    result = asyncio.run(run())
    if transcript_to is not None:
        transcript_to.write_text(transcript(result.results), encoding="utf-8")
    if as_json:
        print_json(result.as_json())
        return
    say(f"{result.dataset} · answers")
    for name, value in result.figures().items():
        if value is not None:
            say(f"  {name}: {value}")
    for one in result.results:
        if not one.is_right:
            say(f"  ✗ {one.question.qid}: {one.question.question}")


def _print_difference(results: list[EvalResult]) -> None:
    from rag_source.eval.compare import compare as compare_results

    difference = compare_results(*results)
    say(
        f"{results[1].mode} against {results[0].mode}: MRR@10 {difference.difference:+.4f} "
        f"(95 %: {difference.low:+.4f} to {difference.high:+.4f}), "
        f"{len(difference.changed)} of {difference.questions} questions moved"
    )


def _as_json(results: list[EvalResult], *, failures: bool) -> object:
    values = []
    for result in results:
        value = result.as_json()
        if failures:
            value["failures"] = [
                {
                    "qid": one.question.qid,
                    "question": one.question.question,
                    "gold_rank": one.gold_rank,
                    "score": one.score,
                    "ranking": list(one.ranking[:6]),
                }
                for one in result.failures()
            ]
        values.append(value)
    return values[0] if len(values) == 1 else values


def _print_result(result: EvalResult, *, failures: bool) -> None:
    say(f"{result.dataset} · {result.mode} · {result.seconds:.1f} s")
    groups = {"all": result.figures()} | result.by_kind()
    for kind, figures in groups.items():
        shown = ", ".join(
            f"{name} {value:.3f}" if isinstance(value, float) else f"{name} {value}"
            for name, value in figures.items()
            if value is not None
        )
        say(f"  {kind}: {shown}")
    if result.failed_documents:
        say(f"  ! {result.failed_documents} documents could not be indexed")
    if failures:
        for one in result.failures():
            rank = one.gold_rank or "not found"
            say(f"  ✗ {one.question.qid}: rank {rank}, score {one.score:.2f}")
            say(f"      {one.question.question}")
