"""How a service that is not ours is spoken to, for embeddings and for answers."""

from __future__ import annotations

import math

import httpx
import pytest

from clients.fake_server import FakeServer, Reply, sse
from rag_source.clients.dialects import Dialect
from rag_source.clients.embeddings import HttpEmbedder
from rag_source.clients.estimates import EstimatingCounter, estimated_tokens
from rag_source.clients.llama_server import LlamaGenerator
from rag_source.domain.chunks import EmbeddingModel
from rag_source.domain.errors import BackendError, BackendOverflowError, BackendUnavailableError
from rag_source.domain.ports import ChatMessage

MODEL = EmbeddingModel(
    name="some-embedder",
    dimension=2,
    limit_tokens=100,
    query_prefix="query: ",
    passage_prefix="passage: ",
)
NEAR = Dialect(server="model at llm:8080", model="served-name", is_ours=False)
FAR = Dialect(server="model at llm.example.org", api="/base", is_ours=False, has_llama_routes=False)
NOT_FOUND = {"error": {"message": "no such route", "type": "invalid_request_error"}}
SAYS = [ChatMessage(role="user", content="Hello?")]


async def _no_wait(seconds: float) -> None:
    pass


def _embedder(server: FakeServer, http: httpx.AsyncClient, dialect: Dialect) -> HttpEmbedder:
    return HttpEmbedder(server, http, MODEL, dialect=dialect, sleep=_no_wait)


def _generator(server: FakeServer, http: httpx.AsyncClient, dialect: Dialect) -> LlamaGenerator:
    return LlamaGenerator(server, http, dialect=dialect, context_tokens=9000, sleep=_no_wait)


def _vectors(*vectors: list[float]) -> Reply:
    return Reply.of({"data": [{"index": i, "embedding": v} for i, v in enumerate(vectors)]})


def _answer() -> Reply:
    delta = {"choices": [{"delta": {"content": "Hello."}, "finish_reason": None}], "error": None}
    return sse(delta, "data: [DONE]\n\n")


async def _said(generator: LlamaGenerator) -> str:
    return "".join([text async for text in generator.stream(SAYS, limit_tokens=50)])


async def test_prefixes_are_added_and_nothing_is_sent_that_some_service_would_refuse(
    server: FakeServer, http: httpx.AsyncClient
) -> None:
    server.replies = [_vectors([1, 0]), _vectors([0, 1])]
    embedder = _embedder(server, http, NEAR)
    await embedder.embed_query("who?")
    await embedder.embed_passages(["me"])
    assert server.requests == [
        ("/v1/embeddings", {"input": ["query: who?"], "model": "served-name"}),
        ("/v1/embeddings", {"input": ["passage: me"], "model": "served-name"}),
    ]
    assert server.authorizations == ["Bearer the-key"] * 2


async def test_base_path_of_the_service_is_kept(
    server: FakeServer, http: httpx.AsyncClient
) -> None:
    server.replies = [_vectors([1, 0]), _answer()]
    await _embedder(server, http, FAR).embed_query("q")
    await _said(_generator(server, http, FAR))
    assert [path for path, _ in server.requests] == ["/base/embeddings", "/base/chat/completions"]


async def test_vectors_of_any_length_are_made_one_long(
    server: FakeServer, http: httpx.AsyncClient
) -> None:
    server.replies = [_vectors([3, 4])]
    vector = await _embedder(server, http, NEAR).embed_query("q")
    assert list(vector) == pytest.approx([0.6, 0.8])
    assert math.hypot(*vector) == pytest.approx(1)


async def test_other_dimension_than_the_settings_say_is_an_error_that_names_them(
    server: FakeServer, http: httpx.AsyncClient
) -> None:
    server.replies = [_vectors([1, 0, 0])]
    with pytest.raises(BackendError, match="3 dimensions") as caught:
        await _embedder(server, http, NEAR).embed_query("q")
    assert "RAG_SOURCE_EMBED_DIMENSION" in caught.value.hint


async def test_tokens_are_counted_by_llama_cpp_where_it_is_near(
    server: FakeServer, http: httpx.AsyncClient
) -> None:
    server.replies = [Reply.of({"tokens": [1, 2, 3]}), Reply.of({"tokens": [1]})]
    assert await _embedder(server, http, NEAR).count_tokens(["a", "b"]) == [3, 1]
    path, body = server.requests[0]
    assert (path, body["content"]) == ("/tokenize", "passage: a")


@pytest.mark.parametrize(
    "reply",
    [
        *(Reply.of(NOT_FOUND, status) for status in (400, 404, 405, 422, 500, 501)),
        *(Reply.of(value) for value in ({"count": 3}, [[1, 2]], {"tokens": 3})),
    ],
)
async def test_tokens_are_estimated_where_the_service_cannot_count(
    server: FakeServer, http: httpx.AsyncClient, reply: Reply
) -> None:
    server.replies = [reply]
    embedder = _embedder(server, http, NEAR)
    (count,) = await embedder.count_tokens(["a few words"])
    assert count == estimated_tokens("passage: a few words") + 2
    # It is not asked again for each text.
    await embedder.count_tokens(["more", "words"])
    assert len(server.requests) == 1


async def test_guess_at_a_route_leaves_no_connection_on_which_its_body_may_lie_unread(
    server: FakeServer, http: httpx.AsyncClient
) -> None:
    seen: list[str] = []

    async def note(request: httpx.Request) -> None:
        seen.append(request.headers["Connection"])

    http.event_hooks["request"].append(note)
    server.replies = [Reply.of({"tokens": [1]}), Reply.of({"tokens": [1]}), _vectors([1, 0])]
    embedder = _embedder(server, http, NEAR)
    await embedder.count_tokens(["a", "b"])
    await embedder.embed_query("q")
    assert seen == ["close", "keep-alive", "keep-alive"]


@pytest.mark.parametrize("status", [401, 429, 503])
async def test_server_that_is_busy_or_refuses_the_key_is_not_taken_for_one_that_cannot_count(
    server: FakeServer, http: httpx.AsyncClient, status: int
) -> None:
    server.replies = [Reply.of(NOT_FOUND, status), Reply.of(NOT_FOUND, status)]
    with pytest.raises(BackendError):
        await _embedder(server, http, NEAR).count_tokens(["a few words"])


async def test_no_text_is_sent_for_counting_to_a_service_outside(
    server: FakeServer, http: httpx.AsyncClient
) -> None:
    assert len(await _embedder(server, http, FAR).count_tokens(["a", "b"])) == 2
    assert await _generator(server, http, FAR).context_tokens() == 9000
    assert server.requests == []


async def test_context_is_the_server_s_own_where_it_says_it(
    server: FakeServer, http: httpx.AsyncClient
) -> None:
    server.replies = [Reply.of({"default_generation_settings": {"n_ctx": 2048}})]
    assert await _generator(server, http, NEAR).context_tokens() == 2048


@pytest.mark.parametrize(
    "reply",
    [Reply.of(NOT_FOUND, 404), Reply.of({"version": "1"}), Reply(blocks=[b"<html>a page</html>"])],
)
async def test_context_is_that_of_the_settings_where_the_server_does_not_say_it(
    server: FakeServer, http: httpx.AsyncClient, reply: Reply
) -> None:
    server.replies = [reply]
    generator = _generator(server, http, NEAR)
    assert await generator.context_tokens() == 9000
    assert await generator.context_tokens() == 9000
    assert len(server.requests) == 1


async def test_server_that_is_still_loading_is_asked_again_for_its_context(
    server: FakeServer, http: httpx.AsyncClient
) -> None:
    loading = {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
    said = Reply.of({"default_generation_settings": {"n_ctx": 2048}})
    server.replies = [Reply.of(loading, 503), said]
    assert await _generator(server, http, NEAR).context_tokens() == 2048


async def test_chat_is_asked_for_in_openai_s_form(
    server: FakeServer, http: httpx.AsyncClient
) -> None:
    server.replies = [_answer()]
    assert await _said(_generator(server, http, NEAR)) == "Hello."
    assert server.requests == [
        (
            "/v1/chat/completions",
            {
                "messages": [{"role": "user", "content": "Hello?"}],
                "stream": True,
                "max_tokens": 50,
                "temperature": 0.0,
                "model": "served-name",
            },
        )
    ]


async def test_fields_that_a_newer_model_refuses_are_renamed_or_left_out_once_and_for_all(
    server: FakeServer, http: httpx.AsyncClient
) -> None:
    limit = {"error": {"message": "Use 'max_completion_tokens' instead.", "code": "unsupported"}}
    warm = {"error": {"message": "'temperature' does not support 0.0 with this model."}}
    server.replies = [Reply.of(limit, 400), Reply.of(warm, 400), _answer(), _answer()]
    generator = _generator(server, http, NEAR)
    assert await _said(generator) == "Hello."
    assert await _said(generator) == "Hello."
    bodies = [body for _, body in server.requests]
    assert [body.get("max_completion_tokens") for body in bodies] == [None, 50, 50, 50]
    assert ["temperature" in body for body in bodies] == [True, True, False, False]


async def test_refusal_that_nothing_can_be_learned_from_is_an_error_in_one_line(
    server: FakeServer, http: httpx.AsyncClient
) -> None:
    server.replies = [Reply.of({"error": {"message": "no\nmodel", "type": "x"}}, 400)]
    with pytest.raises(BackendError) as caught:
        await _said(_generator(server, http, NEAR))
    assert caught.value.message == "the model at llm:8080 refused: no model"
    assert caught.value.hint


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        (
            {"error": {"code": "context_length_exceeded", "message": "too long", "type": "x"}},
            400,
            BackendOverflowError,
        ),
        (
            {"error": {"message": "This model's maximum context length is 512 tokens."}},
            400,
            BackendOverflowError,
        ),
        ({"error": {"message": "slow down", "code": "rate_limit"}}, 429, BackendUnavailableError),
        ({"error": {"message": "bad key", "code": "invalid_api_key"}}, 401, BackendError),
    ],
)
async def test_errors_of_openai_s_form_are_told_apart(
    server: FakeServer,
    http: httpx.AsyncClient,
    body: object,
    status: int,
    kind: type[BackendError],
) -> None:
    server.replies = [Reply.of(body, status), Reply.of(body, status)]
    with pytest.raises(BackendError) as caught:
        await _embedder(server, http, NEAR).embed_query("q")
    assert type(caught.value) is kind


@pytest.mark.parametrize(
    ("text", "least"),
    [
        # What Qwen2.5's own vocabulary gives.
        ("The warranty of the pump ends on 12 May 2027.", 17),
        ("VT-COB/SKU98496", 11),
        ("40564101", 8),
        ("Le délai de livraison est de trente jours.", 11),
        ("مدة الضمان سنتان من تاريخ الشراء", 11),
        ("北京是中华人民共和国的首都", 6),
        ("0,1;0,2\n0,3;0,4\n", 16),
    ],
)
def test_estimate_is_not_below_the_truth(text: str, least: int) -> None:
    assert least <= estimated_tokens(text) <= 2.5 * least
    assert EstimatingCounter().count(text) == estimated_tokens(text)


def test_nothing_is_estimated_as_nothing() -> None:
    assert estimated_tokens("") == 0
