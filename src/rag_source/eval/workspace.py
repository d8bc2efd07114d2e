"""A dataset as a corpus of its own, indexed by the same pipeline as a user's folder.

Each dataset has a folder of its own, named by what its documents hold and by what would index them
differently, so that a second run, in whatever mode, embeds nothing but the questions.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from rag_source.domain.answers import Answer, AnswerDone, AnswerFailed
from rag_source.domain.errors import ConfigurationError, RagError
from rag_source.domain.evidence import NO_FILTER, SearchFilter, SearchMode, SearchResult
from rag_source.eval.answers import Ask
from rag_source.eval.datasets import Dataset, EvalDocument
from rag_source.eval.runner import EvalIndex
from rag_source.ingest import Progress
from rag_source.ingest.chunker import ChunkingPolicy
from rag_source.retrieval import BM25_VERSION
from rag_source.settings import DataSettings, Settings, StateSettings
from rag_source.wiring import Application, model_library, open_application

__all__ = ["open_index"]

_LAYOUT = 1
"""Raised when `_written` lays a dataset out differently."""
_UNTITLED = "_"
"""The name of a document without a title: one that adds no word to what is embedded."""


@asynccontextmanager
async def open_index(
    dataset: Dataset,
    settings: Settings,
    *,
    titles: bool = False,
    on_progress: Progress | None = None,
) -> AsyncIterator[EvalIndex]:
    """The dataset indexed, ready to be asked; indexes what is not yet.

    Args:
        dataset: What to index.
        settings: The installation's; only its folders of documents and state are replaced.
        titles: Situate documents given as text by their titles. Off, because in some sets the
            title is the question.
        on_progress: As `Indexer.run`.

    Raises:
        StateInUseError: Another process evaluates the same dataset.
        ModelMissingError: The models are not in the cache.
        ConfigurationError: The folder cannot be written.
        BackendError: The embedder failed.
    """
    folder = _root(settings) / f"{dataset.name}-{_key(dataset, settings, titles)}"
    paths = await asyncio.to_thread(_lay_out, dataset, folder / "corpus", titles)
    own = settings.model_copy(
        update={
            "data": DataSettings(dir=folder / "corpus"),
            "state": StateSettings(dir=folder / "state"),
        }
    )
    async with open_application(own, purpose=f"eval of {dataset.name}") as application:
        application.check_models()
        await application.ingest(on_progress=on_progress)
        records = await application.documents()
        by_path = {record.source.path: record for record in records if record.status == "ready"}
        stored = {doc_id: by_path[path].doc_id for doc_id, path in paths.items() if path in by_path}
        yield EvalIndex(
            retriever=_Searcher(application),
            stored_ids=stored,
            failed=len(paths) - len(stored),
            ask=_asker(application),
        )


class _Searcher:
    """An application as a `Retriever`."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def search(
        self, question: str, *, mode: SearchMode, limit: int, filter: SearchFilter = NO_FILTER
    ) -> SearchResult:
        return await self._application.search(question, mode=mode, limit=limit, filter=filter)


def _asker(application: Application) -> Ask:
    async def ask(question: str, filter: SearchFilter) -> Answer:
        async for event in application.ask(question, filter=filter):
            if isinstance(event, AnswerDone):
                return event.answer
            if isinstance(event, AnswerFailed):
                raise RagError(event.message, hint=event.hint, code=event.code)
        raise RagError("the answer ended without a result", code="internal")

    return ask


def _root(settings: Settings) -> Path:
    """Beside the state that was named, otherwise in the user's cache: it can all be made again."""
    return (settings.state_dir() if settings.state.dir else settings.cache_dir()) / "eval"


def _key(dataset: Dataset, settings: Settings, titles: bool) -> str:
    embed = settings.embed
    served = (embed.model, embed.dimension, embed.limit_tokens)
    models = sorted(
        f"{status.pin.role}={status.pin.name}"
        for status in model_library(settings).statuses(settings.profile)
        if status.pin.role == "embed"
    )
    if embed.url:
        models = [repr((*served, embed.query_prefix, embed.passage_prefix))]
    parts = (dataset.fingerprint(), *models, repr(ChunkingPolicy()), BM25_VERSION, _LAYOUT, titles)
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:12]


def _lay_out(dataset: Dataset, corpus: Path, titles: bool) -> dict[str, str]:
    """Write every document that is not there yet; returns the path of each id in the corpus."""
    try:
        return {
            document.doc_id: _written(document, corpus, number, titles)
            for number, document in enumerate(dataset.documents)
        }
    except OSError as error:
        raise ConfigurationError(
            f"the dataset cannot be laid out in {str(corpus)!r}: {error.strerror}",
            hint="set RAG_SOURCE_STATE_DIR to a folder that you may write",
        ) from error


def _written(document: EvalDocument, corpus: Path, number: int, titles: bool) -> str:
    """Put a document where the indexer reads it; returns its path in the corpus.

    What is there already is left alone: its unchanged stat is why a second run reads nothing.
    """
    if document.path is not None:
        name = document.path.name
    else:
        name = f"{_UNTITLED}.md" if titles else f"{_UNTITLED}.txt"
    path = f"{number:06d}/{name}"
    target = corpus / path
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{name}.part")
        if document.path is not None:
            shutil.copyfile(document.path, partial)
        elif titles:
            head = f"---\ntitle: {' '.join(document.title.split())}\n---\n\n"
            partial.write_text(head + document.text, encoding="utf-8")
        else:
            partial.write_text(document.text, encoding="utf-8")
        partial.replace(target)
    return path
