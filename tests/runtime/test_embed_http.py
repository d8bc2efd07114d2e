"""The embedder's HTTP front over an encoder that needs no model."""

from __future__ import annotations

import base64
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from rag_source.runtime.embed_engine import EmbeddingEngine
from rag_source.runtime.embed_http import EmbeddingServer, ServedModel

KEY = "k" * 20


@dataclass
class FakeEncoder:
    """The vector of a text is (its length, 1 for a question). Waits at the gate for passages."""

    gate: threading.Event = field(default_factory=threading.Event)
    waiting: threading.Event = field(default_factory=threading.Event)
    seen: list[str] = field(default_factory=list)

    def vector(self, text: str, *, is_query: bool) -> bytes:
        if not is_query:
            self.waiting.set()
            assert self.gate.wait(20)
        if text == "poison":
            raise RuntimeError("boom")
        self.seen.append(text)
        return struct.pack("<2f", len(text), float(is_query))

    def token_count(self, text: str, *, is_query: bool) -> int:
        return len(text.split()) + 4


@pytest.fixture
def encoder() -> FakeEncoder:
    made = FakeEncoder()
    made.gate.set()
    return made


@pytest.fixture
def url(encoder: FakeEncoder) -> Iterator[str]:
    engine = EmbeddingEngine(encoder, threads=1)
    model = ServedModel(name="fake", dimension=2, context_tokens=512)
    server = EmbeddingServer(engine, model, api_key=KEY)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    encoder.gate.set()
    server.shutdown()
    server.server_close()
    thread.join()
    engine.close()


@pytest.fixture
def http(url: str) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {KEY}"}
    with httpx.Client(
        base_url=url, headers=headers, trust_env=False, verify=False, timeout=20
    ) as client:
        yield client


def embed(http: httpx.Client, **body: Any) -> httpx.Response:
    return http.post("/v1/embeddings", json=body)


def test_health_needs_no_key(url: str) -> None:
    assert httpx.get(f"{url}/health", trust_env=False).json() == {"status": "ok"}


WRONG = ["", "Bearer", f"Bearer {KEY}x", KEY, f"bearer{KEY}", "Bearer é"]


@pytest.mark.parametrize("header", WRONG)
@pytest.mark.parametrize("route", ["/v1/embeddings", "/v1/token-counts", "/props", "/absent"])
def test_every_other_route_needs_the_key(url: str, route: str, header: str) -> None:
    method = "GET" if route == "/props" else "POST"
    headers = {b"Authorization": header.encode()}
    reply = httpx.request(method, url + route, headers=headers, trust_env=False, verify=False)
    assert reply.status_code == 401
    assert reply.json()["error"]["type"] == "authentication_error"


def test_vectors_come_in_order_as_floats(http: httpx.Client) -> None:
    reply = embed(http, input=["a", "bbb", "cc"]).json()
    assert [item["index"] for item in reply["data"]] == [0, 1, 2]
    assert [item["embedding"] for item in reply["data"]] == [[1, 0], [3, 0], [2, 0]]
    assert reply["usage"]["prompt_tokens"] == 15


def test_base64_holds_the_same_floats(http: httpx.Client) -> None:
    [item] = embed(http, input="abc", encoding_format="base64").json()["data"]
    assert struct.unpack("<2f", base64.b64decode(item["embedding"])) == (3, 0)


def test_input_type_chooses_the_questions_prefix(http: httpx.Client) -> None:
    assert embed(http, input="abc", input_type="query").json()["data"][0]["embedding"] == [3, 1]


def test_question_does_not_wait_for_passages(http: httpx.Client, encoder: FakeEncoder) -> None:
    encoder.gate.clear()
    passages = threading.Thread(target=lambda: embed(http, input=["p"] * 50))
    passages.start()
    assert encoder.waiting.wait(20)
    assert embed(http, input="question", input_type="query").status_code == 200
    assert encoder.seen == ["question"]
    encoder.gate.set()
    passages.join()
    assert len(encoder.seen) == 51


def test_passages_of_a_client_that_left_are_not_computed(
    http: httpx.Client, encoder: FakeEncoder
) -> None:
    encoder.gate.clear()
    http.timeout = httpx.Timeout(0.3, connect=20)
    with pytest.raises(httpx.ReadTimeout):
        embed(http, input=["p"] * 50)
    http.timeout = httpx.Timeout(20)
    time.sleep(0.8)  # the server looks for hung-up clients every half second
    encoder.gate.set()
    assert embed(http, input=["later"]).status_code == 200
    assert encoder.seen == ["p", "later"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"input": []}',
        b'{"input": 3}',
        b'{"input": ["a", 3]}',
        b'{"input": ""}',
        b'{"input": ["a", " \\n"]}',
        b'{"content": "a"}',
        b"[" * 100_000,
    ],
    ids=[
        "empty",
        "cut",
        "array",
        "no-texts",
        "number",
        "mixed",
        "empty-text",
        "blank-text",
        "other-form",
        "deep",
    ],
)
def test_bad_request_is_answered_400_and_the_connection_lives(
    http: httpx.Client, body: bytes
) -> None:
    reply = http.post("/v1/embeddings", content=body)
    assert reply.status_code == 400
    assert reply.json()["error"]["type"] == "invalid_request_error"
    assert embed(http, input="a").status_code == 200


def test_body_over_the_limit_is_answered_413_without_reading_it(url: str) -> None:
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as raw:
        raw.sendall(
            b"POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"
        )
        reply = b""
        while data := raw.recv(4096):
            reply += data
    assert reply.startswith(b"HTTP/1.1 413 ")
    assert b"Connection: close" in reply


def test_body_without_a_length_is_answered_411(http: httpx.Client) -> None:
    reply = http.post("/v1/embeddings", content=iter([b'{"input": "a"}']))
    assert reply.status_code == 411


def test_text_far_over_the_context_is_refused_as_llama_cpp_does(http: httpx.Client) -> None:
    reply = embed(http, input=["a", "word " * 9000])
    assert reply.status_code == 400
    assert reply.json()["error"]["type"] == "exceed_context_size_error"


def test_failure_of_the_model_is_answered_500_and_the_next_text_works(http: httpx.Client) -> None:
    assert embed(http, input=["a", "poison", "b"]).status_code == 500
    assert embed(http, input=["a"]).status_code == 200


def test_tokens_are_counted_for_each_text(http: httpx.Client) -> None:
    reply = http.post("/v1/token-counts", json={"input": ["one", "one two three"]})
    assert reply.json() == {"counts": [5, 7]}


def test_props_say_what_is_served(http: httpx.Client) -> None:
    props = http.get("/props").json()
    assert (props["model_alias"], props["dimension"]) == ("fake", 2)
    assert props["default_generation_settings"]["n_ctx"] == 512


def test_unknown_route_is_answered_404(http: httpx.Client) -> None:
    assert http.post("/v1/rerank", json={}).status_code == 404


def test_small_replies_are_not_delayed(http: httpx.Client) -> None:
    embed(http, input="warm", input_type="query")
    started = time.perf_counter()
    for _ in range(20):
        embed(http, input="a", input_type="query")
    # With Nagle's algorithm each waits 40 ms for a delayed acknowledgement: 800 ms and more.
    assert time.perf_counter() - started < 0.7
