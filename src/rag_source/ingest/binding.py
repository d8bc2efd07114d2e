"""What ingestion does by one embedding model into one collection, and can do by another."""

from __future__ import annotations

from dataclasses import dataclass

from rag_source.domain.ports import ChunkStore, Embedder, Spool
from rag_source.ingest.chunker import ChunkingPolicy
from rag_source.ingest.recipes import Recipes
from rag_source.ingest.situating import Situator

__all__ = ["Binding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """Everything of ingestion that goes with an embedding model; owns none of it.

    `chunking` cuts chunks to what the model reads, `spool` keeps its vectors, `recipes` name the
    settings. Without `can_embed` the model is of a collection that still answers and cannot be run
    any more: the queue waits for the next binding.
    """

    store: ChunkStore
    embedder: Embedder
    spool: Spool
    chunking: ChunkingPolicy
    situator: Situator | None = None
    recipes: Recipes | None = None
    can_embed: bool = True
