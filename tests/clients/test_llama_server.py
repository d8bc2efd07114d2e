"""The answer model's client against a server that says every awkward thing."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import httpx
import pytest

from clients.fake_server import FakeServer, Reply, sse
from rag_source.clients.llama_server import LlamaGenerator
from rag_source.domain.errors import (
    BackendError,
    BackendOverflowError,
    BackendUnavailableError,
)
from rag_source.domain.ports import ChatMessage, ServerAddress

MESSAGES = [
    ChatMessage(role="system", content="Réponds."),
    ChatMessage(role="user", content="كم؟"),
]
END = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
DONE = "data: [DONE]\n\n"


def word(text: str | None) -> dict[str, object]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": None}]}


async def no_sleep(_: float) -> None:
    await asyncio.sleep(0)


@pytest.fixture
def generator(server: FakeServer, http: httpx.AsyncClient) -> LlamaGenerator:
    return LlamaGenerator(server, http, sleep=no_sleep)


async def answer(generator: LlamaGenerator) -> list[str]:
    return [text async for text in generator.stream(MESSAGES, limit_tokens=50)]


async def test_words_arrive_as_they_are_generated(
    server: FakeServer, generator: LlamaGenerator
) -> None:
    server.replies = [sse(word("Dix"), word(" jours"), END, DONE)]
    assert await answer(generator) == ["Dix", " jours"]


async def test_request_bounds_the_answer_and_is_deterministic(
    server: FakeServer, generator: LlamaGenerator
) -> None:
    server.replies = [sse(word("x"), END, DONE)]
    await answer(generator)
    [(path, body)] = server.requests
    assert path == "/v1/chat/completions"
    assert body == {
        "messages": [
            {"role": "system", "content": "Réponds."},
            {"role": "user", "content": "كم؟"},
        ],
        "stream": True,
        "temperature": 0.0,
        "max_tokens": 50,
        "cache_prompt": True,
    }
    assert server.authorizations == ["Bearer the-key"]


@pytest.mark.parametrize(
    "events",
    [
        (": ping\n\n", word("a"), ": ping\n\n", ":\n", word("b"), END, DONE),
        (word(None), word(""), word("ab"), {"choices": [{"delta": None}]}, END, DONE),
        (word("ab"), END, {"choices": [], "usage": {"prompt_tokens": 3}, "timings": {}}, DONE),
        (word("ab"), END),
        (word("ab"), "data: [DONE]"),
        ('event: message\nid: 3\ndata:{"choices":\ndata: [{"delta":{"content":"ab"}}]}\n\n', DONE),
        ('data: {"choices":[{"delta":{"content":"ab"}}]}\r\n\r\n', "data: [DONE]\r\n\r\n"),
        ('data: {"choices":[{"del', 'ta":{"content":"ab"}}]}\n', "\n", DONE),
        (word("ab"), END, DONE, word("after the end")),
    ],
    ids=[
        "comments",
        "empty-deltas",
        "usage-without-choices",
        "no-done",
        "no-last-blank-line",
        "split-data-lines",
        "crlf",
        "split-over-packets",
        "nothing-after-done",
    ],
)
async def test_awkward_stream_gives_the_same_text(
    server: FakeServer, generator: LlamaGenerator, events: tuple[object, ...]
) -> None:
    server.replies = [sse(*events)]
    assert "".join(await answer(generator)) == "ab"


async def test_character_split_over_two_packets_is_whole(
    server: FakeServer, generator: LlamaGenerator
) -> None:
    data = 'data: {"choices":[{"delta":{"content":"é😀"}}]}\n\n'.encode()
    cut = data.index("😀".encode()) + 2
    blocks = [data[:cut], data[cut:], DONE.encode()]
    server.replies = [Reply(blocks=blocks, kind="text/event-stream")]
    assert await answer(generator) == ["é😀"]


async def test_error_inside_a_stream_that_began_well_is_raised(
    server: FakeServer, generator: LlamaGenerator
) -> None:
    error = {"error": {"code": 500, "message": "decode\nfailed", "type": "server_error"}}
    server.replies = [sse(word("a"), error)]
    with pytest.raises(BackendError, match="decode failed"):
        await answer(generator)


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (
            400,
            "request (9412 tokens) does not fit",
            "exceed_context_size_error",
        ),
        (500, "the request exceeds the available context size. try again", "server_error"),
        (200, "Context size has been exceeded.", "server_error"),
    ],
    ids=["today", "old-build", "in-stream"],
)
async def test_prompt_over_the_context_is_an_overflow(
    server: FakeServer, generator: LlamaGenerator, status: int, message: str, kind: str
) -> None:
    error = {"error": {"code": status if status != 200 else 500, "message": message, "type": kind}}
    server.replies = [sse(error) if status == 200 else Reply.of(error, status)]
    with pytest.raises(BackendOverflowError):
        await answer(generator)
    assert len(server.requests) == 1


async def test_loading_server_is_asked_once_more(
    server: FakeServer, generator: LlamaGenerator
) -> None:
    loading = {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
    server.replies = [Reply.of(loading, 503), sse(word("ab"), END, DONE)]
    assert await answer(generator) == ["ab"]
    assert server.asked == 2


async def test_server_that_stays_away_is_unavailable(http: httpx.AsyncClient) -> None:
    class Nowhere:
        async def address(self) -> ServerAddress:
            return ServerAddress(base_url="http://127.0.0.1:9")

    with pytest.raises(BackendUnavailableError, match="cannot be reached"):
        await answer(LlamaGenerator(Nowhere(), http, sleep=no_sleep))


@pytest.mark.parametrize("cut", [True, False], ids=["connection-cut", "stream-just-ends"])
async def test_answer_that_breaks_off_is_not_taken_for_complete_nor_repeated(
    server: FakeServer, generator: LlamaGenerator, cut: bool
) -> None:
    server.replies = [sse(word("a"), cut=cut), sse(word("again"), END, DONE)]
    with pytest.raises(BackendUnavailableError):
        await answer(generator)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "data",
    [
        "data: {oops\n\n",
        "data: 3\n\n",
        'data: {"choices": 3}\n\n',
        'data: {"choices":[{"delta":{"content":3}}]}\n\n',
    ],
)
async def test_malformed_event_is_a_backend_error(
    server: FakeServer, generator: LlamaGenerator, data: str
) -> None:
    server.replies = [sse(data)]
    with pytest.raises(BackendError, match="malformed"):
        await answer(generator)


async def test_page_of_a_proxy_is_a_backend_error(
    server: FakeServer, generator: LlamaGenerator
) -> None:
    server.replies = [Reply(status=404, blocks=[b"<html>not here"], kind="text/html")]
    with pytest.raises(BackendError, match="HTTP 404"):
        await answer(generator)


async def test_closing_the_iterator_hangs_up_on_the_server(
    server: FakeServer, generator: LlamaGenerator
) -> None:
    server.replies = [sse(word("a"), word("b" * 5000), endless=True)]
    async with aclosing(generator.stream(MESSAGES, limit_tokens=50)) as texts:
        async for text in texts:
            assert text == "a"
            break
    assert await asyncio.to_thread(server.hung_up.wait, 10)


async def test_cancelling_the_reader_hangs_up_on_the_server(
    server: FakeServer, generator: LlamaGenerator
) -> None:
    server.replies = [sse(word("b" * 5000), endless=True)]
    reader = asyncio.create_task(answer(generator))
    await asyncio.sleep(0.2)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert await asyncio.to_thread(server.hung_up.wait, 10)


async def test_context_is_that_of_the_slot(server: FakeServer, generator: LlamaGenerator) -> None:
    server.replies = [Reply.of({"default_generation_settings": {"n_ctx": 2048}, "n_ctx": 8192})]
    assert await generator.context_tokens() == 2048
    assert server.requests[0][0] == "/props"


@pytest.mark.parametrize("props", [{}, [], {"default_generation_settings": {"n_ctx": 0}}])
async def test_props_without_a_context_are_a_backend_error(
    server: FakeServer, generator: LlamaGenerator, props: object
) -> None:
    server.replies = [Reply.of(props)]
    with pytest.raises(BackendError):
        await generator.context_tokens()


async def test_wrong_key_says_so(server: FakeServer, generator: LlamaGenerator) -> None:
    error = {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}
    server.replies = [Reply.of({"error": error}, 401)]
    with pytest.raises(BackendError, match="Invalid API Key") as caught:
        await generator.context_tokens()
    assert "key" in caught.value.hint
