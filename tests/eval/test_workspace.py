"""A dataset on disk: laid out once, indexed apart from everything else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rag_source.domain.errors import ConfigurationError
from rag_source.eval import workspace
from rag_source.eval.datasets import Dataset, EvalDocument, EvalQuestion
from rag_source.eval.runner import ask_questions
from rag_source.settings import Settings, StateSettings

QUESTION = EvalQuestion(qid="1", question="How long is it kept?", line=1, gold_docs=("a",))


class RecordingApplication:
    """Takes every file of its corpus for an indexed document, but those named `bad…`."""

    def __init__(self, settings: Settings) -> None:
        self.corpus = settings.data_dir()
        self.state = settings.state_dir()

    def check_models(self) -> None: ...

    async def ingest(self, *, on_progress: Any = None) -> None: ...

    async def documents(self) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(
                doc_id=f"stored-{path.parent.name}",
                source=SimpleNamespace(path=path.relative_to(self.corpus).as_posix()),
                status="failed" if path.name.startswith("bad") else "ready",
            )
            for path in sorted(self.corpus.rglob("*"))
            if path.is_file()
        ]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[RecordingApplication]:
    made: list[RecordingApplication] = []

    @asynccontextmanager
    async def open_application(
        settings: Settings, *, purpose: str
    ) -> AsyncIterator[RecordingApplication]:
        made.append(RecordingApplication(settings))
        yield made[-1]

    monkeypatch.setattr(workspace, "open_application", open_application)
    return made


def dataset(*documents: EvalDocument) -> Dataset:
    texts = documents or (
        EvalDocument(doc_id="a", group="a", text="It is kept for two years.", title="Keeping"),
        EvalDocument(doc_id="x#1/../..", group="x", text="Another text."),
    )
    return Dataset(name="set", documents=texts, questions=(QUESTION,))


def settings(folder: Path) -> Settings:
    return Settings(state=StateSettings(dir=folder / "state"))


async def files(
    made: list[RecordingApplication], asked: Dataset, own: Settings, *, titles: bool = False
) -> dict[str, tuple[str, int]]:
    async with workspace.open_index(asked, own, titles=titles):
        corpus = made[-1].corpus
    return {
        path.relative_to(corpus).as_posix(): (path.read_text("utf-8"), path.stat().st_mtime_ns)
        for path in corpus.rglob("*")
        if path.is_file()
    }


async def test_every_document_is_a_file_whatever_its_id(
    opened: list[RecordingApplication], tmp_path: Path
) -> None:
    found = await files(opened, dataset(), settings(tmp_path))

    assert {name: text for name, (text, _) in found.items()} == {
        "000000/_.txt": "It is kept for two years.",
        "000001/_.txt": "Another text.",
    }


async def test_a_second_run_touches_nothing(
    opened: list[RecordingApplication], tmp_path: Path
) -> None:
    first = await files(opened, dataset(), settings(tmp_path))

    assert await files(opened, dataset(), settings(tmp_path)) == first
    assert opened[0].state == opened[1].state


async def test_other_content_or_titles_are_another_index(
    opened: list[RecordingApplication], tmp_path: Path
) -> None:
    own = settings(tmp_path)
    await files(opened, dataset(), own)
    await files(opened, dataset(EvalDocument(doc_id="a", group="a", text="Other.")), own)
    titled = await files(opened, dataset(), own, titles=True)

    assert len({one.state for one in opened}) == 3
    assert titled["000000/_.md"][0].startswith("---\ntitle: Keeping\n---\n")


async def test_the_index_lies_inside_the_state_that_was_named(
    opened: list[RecordingApplication], tmp_path: Path
) -> None:
    await files(opened, dataset(), settings(tmp_path))

    assert opened[0].state.is_relative_to(tmp_path / "state/eval")


async def test_files_that_cannot_be_indexed_are_counted(
    opened: list[RecordingApplication], tmp_path: Path
) -> None:
    for name in ("good.txt", "bad.pdf"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    asked = dataset(
        EvalDocument(doc_id="a", group="a", path=tmp_path / "good.txt"),
        EvalDocument(doc_id="b", group="b", path=tmp_path / "bad.pdf"),
    )

    async with workspace.open_index(asked, settings(tmp_path)) as index:
        assert index.stored_ids == {"a": "stored-000000"}
        assert index.failed == 1


async def test_a_folder_that_cannot_be_written_is_the_operators_error(
    opened: list[RecordingApplication], tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("a file", encoding="utf-8")

    with pytest.raises(ConfigurationError, match="cannot be laid out"):
        await files(opened, dataset(), settings(tmp_path))


@pytest.mark.models
@pytest.mark.timeout(300)
async def test_a_dataset_is_indexed_by_the_real_pipeline_and_embedded_once(tmp_path: Path) -> None:
    asked = Dataset(
        name="small",
        documents=(
            EvalDocument(doc_id="a", group="a", text="Delivery notes are kept for two years."),
            EvalDocument(doc_id="b", group="b", text="L'inventaire général a lieu le 11 mai."),
            EvalDocument(doc_id="c", group="c", text="رمز العطل E05 يعني أن الباب مفتوح."),
        ),
        questions=(
            EvalQuestion(
                qid="1", question="How long are delivery notes kept?", line=1, gold_docs=("a",)
            ),
            EvalQuestion(
                qid="2", question="Quand a lieu l'inventaire général ?", line=2, gold_docs=("b",)
            ),
            EvalQuestion(qid="3", question="ماذا يعني رمز العطل E05؟", line=3, gold_docs=("c",)),
        ),
    )
    worked: list[str] = []
    for _ in range(2):
        async with workspace.open_index(
            asked, settings(tmp_path), on_progress=lambda done, total, path: worked.append(path)
        ) as index:
            result = await ask_questions(asked, index, mode="hybrid+rerank")
        figures = result.figures()
        assert (figures["mrr_at_10"], figures["kept_answerable"]) == (1.0, 1.0)

    assert len([path for path in worked if path]) == 3
