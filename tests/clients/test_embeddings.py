"""The embedder's client: order, checks, batches, retries, texts that are too long."""

from __future__ import annotations

import asyncio
import base64
import struct

import httpx
import pytest

from clients.fake_server import FakeServer, Reply
from rag_source.clients.embeddings import EmbeddingPolicy, HttpEmbedder
from rag_source.domain.chunks import EmbeddingModel
from rag_source.domain.errors import BackendError, BackendOverflowError, BackendUnavailableError

MODEL = EmbeddingModel(name="tiny", dimension=2, limit_tokens=512)
GONE = {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
TOO_LONG = {
    "error": {
        "code": 500,
        "message": "input (518 tokens) is too large to process. increase the physical batch size",
        "type": "server_error",
    }
}


async def no_sleep(_: float) -> None:
    await asyncio.sleep(0)


@pytest.fixture
def embedder(server: FakeServer, http: httpx.AsyncClient) -> HttpEmbedder:
    policy = EmbeddingPolicy(batch_texts=3, batch_chars=100)
    return HttpEmbedder(server, http, MODEL, policy=policy, sleep=no_sleep)


def vectors(*values: object, indices: list[int] | None = None) -> Reply:
    data = [{"index": index, "embedding": value} for index, value in enumerate(values)]
    for item, index in zip(data, indices or range(len(data)), strict=True):
        item["index"] = index
    return Reply.of({"data": data})


def encoded(*values: float) -> str:
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()


async def test_question_is_marked_as_one(server: FakeServer, embedder: HttpEmbedder) -> None:
    server.replies = [vectors(encoded(0.5, 0.25))]
    assert list(await embedder.embed_query("q")) == [0.5, 0.25]
    [(path, body)] = server.requests
    assert path == "/v1/embeddings"
    assert (body["input"], body["input_type"]) == (["q"], "query")
    assert body["encoding_format"] == "base64"


async def test_lone_surrogate_is_replaced(server: FakeServer, embedder: HttpEmbedder) -> None:
    server.replies = [vectors([1, 1]), vectors([1, 1]), Reply.of({"counts": [5]})]
    await embedder.embed_query("a\ud800")
    await embedder.embed_passages(["a\udfff"])
    await embedder.count_tokens(["a\ud800"])
    assert [body["input"] for _, body in server.requests] == [["a?"]] * 3


async def test_vectors_are_ordered_by_index(server: FakeServer, embedder: HttpEmbedder) -> None:
    server.replies = [vectors([3, 3], [1, 1], [2, 2], indices=[2, 0, 1])]
    found = await embedder.embed_passages(["a", "b", "c"])
    assert [list(vector) for vector in found] == [[1, 1], [2, 2], [3, 3]]
    assert server.requests[0][1]["input_type"] == "passage"


async def test_no_texts_are_no_request(server: FakeServer, embedder: HttpEmbedder) -> None:
    assert await embedder.embed_passages([]) == []
    assert await embedder.count_tokens([]) == []
    assert server.requests == []


async def test_batches_are_bounded_by_count_and_by_characters(
    server: FakeServer, embedder: HttpEmbedder
) -> None:
    texts = ["a", "b", "c", "d", "x" * 90, "y" * 90, "z" * 500]
    server.replies = [vectors(*[[1, 1]] * count) for count in (3, 2, 1, 1)]
    assert len(await embedder.embed_passages(texts)) == 7
    assert [len(body["input"]) for _, body in server.requests] == [3, 2, 1, 1]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (vectors([1, 1]), "1 vectors for 2 texts"),
        (vectors([1, 1], [1, 1], [1, 1]), "3 vectors for 2 texts"),
        (vectors([1, 1], [1, 1], indices=[0, 0]), "2 vectors for 2 texts"),
        (vectors([1, 1], [1, 1], indices=[0, -1]), "2 vectors for 2 texts"),
        (vectors([1, 1], [1, 1, 1]), "3 dimensions"),
        (vectors([1, 1], encoded(1)), "1 dimensions"),
        (vectors([1, 1], [1, None]), "not finite"),
        (vectors([1, 1], encoded(1, float("nan"))), "not finite"),
        (vectors([1, 1], encoded(1, float("inf"))), "not finite"),
        (vectors([1, 1], [0, 0]), "null or not finite"),
        (vectors([1, 1], "%%%"), "malformed"),
        (vectors([1, 1], ["a", "b"]), "malformed"),
        (Reply.of({"data": None}), "malformed"),
        (Reply.of([]), "malformed"),
        (Reply(blocks=[b"<html>"]), "malformed"),
    ],
)
async def test_wrong_vectors_are_refused(
    server: FakeServer, embedder: HttpEmbedder, reply: Reply, problem: str
) -> None:
    server.replies = [reply]
    with pytest.raises(BackendError, match=problem):
        await embedder.embed_passages(["a", "b"])


async def test_server_that_restarts_is_asked_once_more(
    server: FakeServer, embedder: HttpEmbedder
) -> None:
    server.replies = [Reply.of(GONE, 503), vectors([1, 1])]
    assert len(await embedder.embed_passages(["a"])) == 1
    assert server.asked == 2


async def test_server_that_stays_away_is_unavailable(
    server: FakeServer, embedder: HttpEmbedder
) -> None:
    server.replies = [Reply.of(GONE, 503), Reply(cut=True)]
    with pytest.raises(BackendUnavailableError):
        await embedder.embed_query("a")
    assert server.replies == []


async def test_text_that_is_too_long_does_not_lose_its_neighbours(
    server: FakeServer, embedder: HttpEmbedder
) -> None:
    # The three together are too much, each half is not.
    server.replies = [Reply.of(TOO_LONG, 500), vectors([1, 1]), vectors([2, 2], [3, 3])]
    found = await embedder.embed_passages(["a", "b", "c"])
    assert [list(vector) for vector in found] == [[1, 1], [2, 2], [3, 3]]


@pytest.mark.parametrize("status", [500, 413])
async def test_single_text_that_is_too_long_is_an_overflow(
    server: FakeServer, embedder: HttpEmbedder, status: int
) -> None:
    server.replies = [Reply.of(TOO_LONG, 500) if status == 500 else Reply(status=413)]
    with pytest.raises(BackendOverflowError, match="1,234 characters"):
        await embedder.embed_query("x" * 1234)
    assert len(server.requests) == 1


async def test_tokens_are_counted_by_the_server(server: FakeServer, embedder: HttpEmbedder) -> None:
    server.replies = [Reply.of({"counts": [5, 6, 7]}), Reply.of({"counts": [8]})]
    assert await embedder.count_tokens(["a", "b", "c", "d"]) == [5, 6, 7, 8]


async def test_plain_llama_server_counts_by_its_tokenize_route(
    server: FakeServer, embedder: HttpEmbedder
) -> None:
    tokens = [Reply.of({"tokens": [1] * count}) for count in (3, 4, 5)]
    server.replies = [Reply(status=404), *tokens]
    assert await embedder.count_tokens(["a", "b"]) == [3, 4]
    assert await embedder.count_tokens(["c"]) == [5]
    paths = [path for path, _ in server.requests]
    assert paths == ["/v1/token-counts", "/tokenize", "/tokenize", "/tokenize"]


@pytest.mark.parametrize("counts", [[5], [5, 0], [5, None], None])
async def test_wrong_counts_are_refused(
    server: FakeServer, embedder: HttpEmbedder, counts: object
) -> None:
    server.replies = [Reply.of({"counts": counts})]
    with pytest.raises(BackendError):
        await embedder.count_tokens(["a", "b"])
