"""The clients against the real models in supervised processes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from rag_source.clients.embeddings import MULTILINGUAL_E5_SMALL_Q4, HttpEmbedder
from rag_source.clients.llama_server import LlamaGenerator
from rag_source.domain.errors import BackendOverflowError
from rag_source.domain.ports import ChatMessage
from rag_source.models.library import ModelLibrary
from rag_source.models.lockfile import load_lock
from rag_source.runtime.supervisor import ManagedServer
from rag_source.settings import load_settings

pytestmark = pytest.mark.models
MODULE = [sys.executable, "-m"]


@dataclass
class Running:
    http: httpx.AsyncClient
    server: ManagedServer


@pytest.fixture
async def embed() -> AsyncIterator[Running]:
    command = [*MODULE, "rag_source.runtime.embed_server", "--threads", "1"]
    async with (
        httpx.AsyncClient(trust_env=False) as http,
        ManagedServer("embedder", command, http=http) as server,
    ):
        yield Running(http, server)


@pytest.fixture
async def llm() -> AsyncIterator[Running]:
    library = ModelLibrary(load_lock(), load_settings().cache_dir() / "models")
    model = library.require("embedded", "llm")
    command = [*MODULE, "rag_source.runtime.llm_server", "--model", str(model)]
    command += ["--context-tokens", "1024"]
    async with (
        httpx.AsyncClient(trust_env=False) as http,
        ManagedServer("answer model", command, http=http) as server,
    ):
        yield Running(http, server)


def cosine(left: object, right: object) -> float:
    assert hasattr(left, "__iter__")
    assert hasattr(right, "__iter__")
    return float(sum(a * b for a, b in zip(left, right, strict=True)))


def children() -> list[int]:
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return [int(pid) for pid in listed.read_text(encoding="ascii").split()]


async def test_question_is_nearest_to_its_passage(embed: Running) -> None:
    embedder = HttpEmbedder(embed.server, embed.http, MULTILINGUAL_E5_SMALL_Q4)
    passages = [
        "Le délai de livraison est de trente jours à compter de la commande.",
        "The turntable of the microwave must be cleaned every week.",
        "تخزن المنتجات في مكان بارد وجاف.",
    ]
    vectors = await embedder.embed_passages(passages)
    for question, right in (
        ("Combien de temps prend la livraison ?", 0),
        ("How often do I clean the turntable?", 1),
        ("أين تخزن المنتجات؟", 2),
    ):
        query = await embedder.embed_query(question)
        scores = [cosine(query, vector) for vector in vectors]
        assert scores.index(max(scores)) == right
        assert cosine(query, query) == pytest.approx(1, abs=1e-4)


async def test_nul_and_lone_surrogates_do_not_cut_a_text(embed: Running) -> None:
    embedder = HttpEmbedder(embed.server, embed.http, MULTILINGUAL_E5_SMALL_Q4)
    whole, cut, odd = await embedder.embed_passages(
        ["prix\0 de la vis", "prix", "prix\ud800 de la vis"]
    )
    assert cosine(whole, cut) < 0.99
    assert cosine(whole, odd) > cosine(whole, cut)


async def test_token_counts_include_prefix_and_specials(embed: Running) -> None:
    embedder = HttpEmbedder(embed.server, embed.http, MULTILINGUAL_E5_SMALL_Q4)
    short, long = await embedder.count_tokens(["a", "mot " * 600])
    assert short >= 4
    assert long > 600


async def test_question_is_answered_while_passages_are_embedded(embed: Running) -> None:
    embedder = HttpEmbedder(embed.server, embed.http, MULTILINGUAL_E5_SMALL_Q4)
    await embedder.embed_query("warm")
    text = "Le fournisseur livre les marchandises à la date convenue. " * 25
    ingestion = asyncio.create_task(embedder.embed_passages([f"{n} {text}" for n in range(40)]))
    await asyncio.sleep(0.5)
    started = time.perf_counter()
    await embedder.embed_query("Quand livre le fournisseur ?")
    waited = time.perf_counter() - started
    assert not ingestion.done()
    ingestion.cancel()
    # Forty passages are more than ten seconds of work; one alone takes a quarter of a second.
    assert waited < 2


async def test_text_far_over_the_context_is_an_overflow(embed: Running) -> None:
    embedder = HttpEmbedder(embed.server, embed.http, MULTILINGUAL_E5_SMALL_Q4)
    with pytest.raises(BackendOverflowError):
        await embedder.embed_query("question " * 12_000)


async def test_answer_is_streamed_and_the_context_is_the_slots(llm: Running) -> None:
    generator = LlamaGenerator(llm.server, llm.http)
    assert await generator.context_tokens() == 1024
    question = ChatMessage(role="user", content="Quelle est la capitale de la France ? Un mot.")
    words = [text async for text in generator.stream([question], limit_tokens=8)]
    assert "Paris" in "".join(words)


async def test_prompt_over_the_context_is_an_overflow(llm: Running) -> None:
    generator = LlamaGenerator(llm.server, llm.http)
    with pytest.raises(BackendOverflowError, match="1024"):
        async for _ in generator.stream(
            [ChatMessage(role="user", content="mot " * 3000)], limit_tokens=8
        ):
            pass


async def test_closed_answer_frees_the_slot(llm: Running) -> None:
    generator = LlamaGenerator(llm.server, llm.http)
    long = ChatMessage(role="user", content="Count from 1 to 500.")
    async with aclosing(generator.stream([long], limit_tokens=900)) as texts:
        await anext(texts)
    address = await llm.server.address()
    headers = {"Authorization": f"Bearer {address.api_key}"}
    async with asyncio.timeout(30):
        while True:
            reply = await llm.http.get(f"{address.base_url}/slots", headers=headers, timeout=30)
            if not reply.json()[0]["is_processing"]:
                break
            await asyncio.sleep(0.1)


@pytest.mark.skipif(sys.platform != "linux", reason="finds the child through /proc")
async def test_killed_embedder_is_back_for_the_same_call(embed: Running) -> None:
    embedder = HttpEmbedder(embed.server, embed.http, MULTILINGUAL_E5_SMALL_Q4)
    before = await embedder.embed_query("prix")
    [child] = children()
    os.kill(child, signal.SIGKILL)
    after = await embedder.embed_query("prix")
    assert cosine(before, after) == pytest.approx(1, abs=1e-4)
