"""What belongs to one embedding model: the collection it made, and all that searches and fills it.

A project has one engine; while its collection is made anew for another model it has two.
"""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from rag_source.checks import SelfChecks, check_corpus
from rag_source.clients.absent import AbsentEmbedder
from rag_source.clients.steady import SteadyEmbedder
from rag_source.domain.chunks import EmbeddingModel
from rag_source.domain.ports import Embedder, Retriever, SparseEncoder, TextGenerator
from rag_source.generation.prompts import neutralise
from rag_source.ingest.binding import Binding
from rag_source.ingest.chunker import ChunkingPolicy
from rag_source.ingest.ocr import OcrPolicy
from rag_source.ingest.ocr_tesseract import Tesseract
from rag_source.ingest.recipes import Recipes
from rag_source.ingest.situating import LlmSituator, Situator
from rag_source.model_servers import ModelServers, require_models
from rag_source.models.library import ModelLibrary
from rag_source.models.lockfile import load_lock
from rag_source.retrieval import (
    Bm25Encoder,
    CalibratedReranker,
    HybridRetriever,
    WordsOnlyRetriever,
    reranker_model_for,
)
from rag_source.settings import Settings
from rag_source.store.catalogue import SqliteCatalogue
from rag_source.store.collection import keep_probe, kept_probe
from rag_source.store.edge import EdgeChunkStore
from rag_source.store.situating import SqliteSituatingCache
from rag_source.store.spool import SqliteSpool
from rag_source.store.state import StateDirectory

__all__ = ["Engine", "EngineParts", "chunking_for", "ocr_policy"]

_MARGIN_TOKENS = 32
"""What joining pieces may add to a chunk's length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A collection and what works with it.

    `is_calibrated` says that the reranker was fitted on the model's own cosines.
    """

    model: EmbeddingModel
    folder: Path
    store: EdgeChunkStore
    binding: Binding
    retriever: Retriever
    checks: SelfChecks
    is_calibrated: bool

    @property
    def words_only(self) -> bool:
        """Whether the model cannot be run, so that only words can be searched for."""
        return not self.binding.can_embed

    async def retire(self) -> None:
        """Close the collection and delete it; nothing searches it any more."""
        await asyncio.to_thread(self.store.close)
        await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineParts:
    """What engines of one project are made with. `generator` gives way to questions."""

    settings: Settings
    state: StateDirectory
    library: ModelLibrary
    servers: ModelServers
    generator: TextGenerator
    catalogue: SqliteCatalogue
    sparse: SparseEncoder = field(default_factory=Bm25Encoder)

    def open(self, collection: str, model: EmbeddingModel, embedder: Embedder | None) -> Engine:
        """The engine of a collection, which is made if it is not there; a second or two then.

        Args:
            collection: The folder's name.
            model: The model it is of.
            embedder: Runs that model; None if nothing can.

        Raises:
            StateInUseError, ConfigurationError: As `EdgeChunkStore`.
        """
        folder = self.state.path / collection
        store = EdgeChunkStore(folder, model)
        running = self._running(folder, model, embedder)
        fitted = reranker_model_for(model)
        reranker = CalibratedReranker(
            store=store, model=fitted, threshold=self.settings.search.threshold
        )
        retriever: Retriever = HybridRetriever(
            store=store, embedder=running, sparse=self.sparse, reranker=reranker
        )
        ocr = ocr_policy(self.settings)
        tesseract = Tesseract(ocr.languages, ocr.timeout_s)
        return Engine(
            model=model,
            folder=folder,
            store=store,
            binding=self._binding(store, model, running, tesseract, can_embed=embedder is not None),
            retriever=retriever if embedder is not None else WordsOnlyRetriever(retriever),
            checks=SelfChecks(
                catalogue=self.catalogue,
                store=store,
                embedder=running,
                sparse=self.sparse,
                reranker=reranker,
                generator=self.servers.generator,
                state=self.state.path,
                context_size=self.settings.llm.context_size,
                check_corpus=lambda: check_corpus(self.settings.data_dir()),
                check_models=lambda: require_models(
                    self.library, self.settings.profile, self.servers.roles
                ),
                check_ocr=tesseract.check if ocr.mode != "off" else lambda: None,
            ),
            is_calibrated=fitted.fits(model),
        )

    def _running(self, folder: Path, model: EmbeddingModel, embedder: Embedder | None) -> Embedder:
        if embedder is None:
            return AbsentEmbedder(model)
        if "embed" in self.servers.services and embedder is self.servers.embedder:
            # Its name is a word in the settings; what is served there may change without a sign.
            return SteadyEmbedder(
                embedder,
                known=lambda: kept_probe(folder),
                keep=lambda vector: keep_probe(folder, vector),
            )
        return embedder

    def _binding(
        self,
        store: EdgeChunkStore,
        model: EmbeddingModel,
        embedder: Embedder,
        tesseract: Tesseract,
        *,
        can_embed: bool,
    ) -> Binding:
        chunking = chunking_for(model)
        situator = self._situator(embedder)
        return Binding(
            store=store,
            embedder=embedder,
            spool=SqliteSpool(
                self.catalogue.database, model=model.identity, pages=self.state.pages
            ),
            chunking=chunking,
            situator=situator,
            recipes=Recipes(
                chunking=chunking,
                ocr=ocr_policy(self.settings),
                situating=situator.digest if situator else "",
                ocr_works=tesseract.works,
            ),
            can_embed=can_embed,
        )

    def _situator(self, embedder: Embedder) -> Situator | None:
        """Who writes situating texts, unless headings alone are to situate chunks."""
        if self.settings.contextual == "headings":
            return None
        named = self.servers.services.get("llm")
        return LlmSituator(
            generator=self.generator,
            embedder=embedder,
            counter=self.servers.counter,
            cache=SqliteSituatingCache(self.catalogue.database),
            model=self.settings.llm.model
            or named
            or load_lock().pin(self.settings.profile, "llm").name,
            neutralise=neutralise,
        )


def chunking_for(model: EmbeddingModel) -> ChunkingPolicy:
    """Chunks that the model reads whole."""
    return ChunkingPolicy(
        embed_limit_tokens=min(8192, max(64, model.limit_tokens - _MARGIN_TOKENS))
    )


def ocr_policy(settings: Settings) -> OcrPolicy:
    """How pages are recognised."""
    return OcrPolicy(mode=settings.ocr.mode, languages=tuple(settings.ocr.languages.split("+")))
