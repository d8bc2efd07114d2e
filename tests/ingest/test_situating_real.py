"""The real answer model situates short chunks, in their language and once."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import cast

import pytest

from ingest.chunking_inputs import document
from rag_source.domain.documents import ParsedDocument
from rag_source.domain.languages import detect_language
from rag_source.domain.ports import ChatMessage, TextGenerator, TokenCounter
from rag_source.generation.prompts import neutralise
from rag_source.ingest.chunker import ChunkIdentity, ChunkingPolicy, PackedChunk
from rag_source.ingest.measuring import chunked, measure_with
from rag_source.ingest.situating import LlmSituator, SituatingPolicy
from rag_source.model_servers import ModelServers, open_models
from rag_source.settings import Settings
from rag_source.store.database import Database
from rag_source.store.situating import SqliteSituatingCache
from rag_source.wiring import model_library

pytestmark = [pytest.mark.models, pytest.mark.timeout(900)]

logger = logging.getLogger(__name__)

CONTRACT = document(
    ("h1", "Livraison"),
    (
        "p",
        "Le fournisseur livre les moteurs et les pompes à l'entrepôt de Tanger dans les trente "
        "jours qui suivent la commande. Le transport est à sa charge, ainsi que l'assurance des "
        "marchandises jusqu'à leur déchargement.",
    ),
    ("h1", "Pénalités"),
    (
        "p",
        "Chaque jour de retard donne droit à une réduction du prix, plafonnée à dix pour cent. "
        "Elle est déduite de la facture suivante sans mise en demeure préalable, sauf en cas de "
        "force majeure dûment constatée par les deux parties.",
    ),
    title="Contrat de fourniture entre Atlas Pompes et Transports Rahal",
)
GUIDE = document(
    ("h1", "التنظيف"),
    (
        "p",
        "ينظف الطبق الدوار للفرن كل أسبوع بقطعة قماش ناعمة وماء دافئ. لا تستعمل أي مسحوق خشن لأنه "
        "يخدش الزجاج. بعد التنظيف يجفف الطبق جيدا قبل إعادته إلى مكانه داخل الفرن.",
    ),
    title="دليل استعمال فرن الميكروويف",
)


class Timed:
    """The answer model, with a note of each answer."""

    def __init__(self, generator: TextGenerator, counter: TokenCounter) -> None:
        self._generator = generator
        self._counter = counter
        self.calls = 0

    async def context_tokens(self) -> int:
        return await self._generator.context_tokens()

    async def stream(
        self, messages: Sequence[ChatMessage], *, limit_tokens: int
    ) -> AsyncGenerator[str, None]:
        self.calls += 1
        started = time.monotonic()
        words: list[str] = []
        stream = self._generator.stream(messages, limit_tokens=limit_tokens)
        async with aclosing(cast(AsyncGenerator[str, None], stream)) as pieces:
            async for piece in pieces:
                words.append(piece)
                yield piece
        answer = "".join(words)
        logger.info(
            "%d tokens read, %d written in %.1f s: %s",
            sum(self._counter.count(message.content) for message in messages),
            self._counter.count(answer),
            time.monotonic() - started,
            answer,
        )


async def _situated(
    servers: ModelServers, parsed: ParsedDocument, generator: Timed, database: Database
) -> tuple[PackedChunk, ...]:
    fingerprint = parsed.title
    packed = await chunked(
        parsed,
        measure_with(servers.embedder, servers.counter),
        ChunkingPolicy(smallest_section_tokens=0),
        ChunkIdentity(doc_id="d", path="file.md", fingerprint=fingerprint),
    )
    situator = LlmSituator(
        generator=generator,
        embedder=servers.embedder,
        counter=servers.counter,
        cache=SqliteSituatingCache(database),
        model="the model of these tests",
        neutralise=neutralise,
    )
    return await situator.situated(parsed, packed, fingerprint=fingerprint)


async def test_model_situates_chunks_in_their_language_and_is_asked_once(tmp_path: Path) -> None:
    settings = Settings()
    database = Database(tmp_path / "catalogue.db")
    async with open_models(settings, model_library(settings)) as servers:
        generator = Timed(servers.generator, servers.counter)
        for parsed, language, chunks in ((CONTRACT, "fr", 2), (GUIDE, "ar", 1)):
            generator.calls = 0
            packed = await _situated(servers, parsed, generator, database)
            assert generator.calls == len(packed) == chunks
            for one in packed:
                text, _, free = one.chunk.context.partition("\n")
                assert free.startswith(parsed.title)
                assert detect_language(text) == language
                assert servers.counter.count(text) <= SituatingPolicy().text_tokens
            lengths = await servers.embedder.count_tokens([p.chunk.embedded_text for p in packed])
            assert max(lengths) <= servers.embedder.model.limit_tokens

            assert await _situated(servers, parsed, generator, database) == packed
            assert generator.calls == chunks
    database.close()
