"""The routes: who may call, what comes back, and how errors leave."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager

import fastapi.routing
import httpx
import pytest
from fastapi import FastAPI

from api.services import TOKEN, FakeService
from rag_source.api.app import LIMIT_BODY_BYTES, create_app
from rag_source.api.serve import bind, serve
from rag_source.api.wire import CitationOut
from rag_source.domain.answers import Citation, TablePlace
from rag_source.domain.errors import BackendUnavailableError, PortTakenError

AUTH = {"Authorization": f"Bearer {TOKEN}"}
BASE = "http://127.0.0.1:8321"


def client(app: FastAPI, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers or {})


@asynccontextmanager
async def served(service: FakeService) -> AsyncIterator[str]:
    """A real server on loopback: ASGITransport buffers whole responses."""
    sock = bind("127.0.0.1", 0)
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    app = create_app(service, token=TOKEN)
    task = asyncio.create_task(serve(app, sock, on_ready=ready.set_result))
    try:
        yield await ready
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        sock.close()


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


async def test_every_route_but_the_open_ones_refuses_a_request_without_token() -> None:
    app = create_app(FakeService(), token=TOKEN)
    paths = {*app.openapi()["paths"], "/docs", "/openapi.json", "/redoc", "/nowhere", "/"}
    assert {"/v1/documents", "/v1/documents/{doc_id}/file", "/v1/ask/stream"} < paths
    async with client(app) as http:
        answers = {
            (method, path): (await http.request(method, path.replace("{", "x").replace("}", "x")))
            for path in paths
            for method in METHODS
        }
    opened = {call for call, answer in answers.items() if answer.status_code != 401}
    assert opened == {("GET", "/health"), ("POST", "/v1/session")}
    assert answers["GET", "/health"].status_code == 200
    assert answers["POST", "/v1/session"].status_code == 400


def _paths(routes: Iterable[object]) -> Iterator[str]:
    for route in routes:
        included = getattr(route, "original_router", None)
        if included is not None:
            yield from _paths(included.routes)
        else:
            yield getattr(route, "path", "?")


def test_no_route_is_hidden_from_the_reference_but_the_reference_itself() -> None:
    app = create_app(FakeService(), token=TOKEN)
    found = set(_paths(app.routes))
    assert found - set(app.openapi()["paths"]) == {"/docs", "/openapi.json"}
    assert set(app.openapi()["paths"]) < found


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer x", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN} ", "Bearer é"],
)
async def test_wrong_authorization_is_401_in_the_outward_form(header: str) -> None:
    app = create_app(FakeService(), token=TOKEN)
    async with client(app) as http:
        response = await http.get(
            "/v1/documents", headers=[(b"authorization", header.encode("latin-1"))]
        )
    assert response.status_code == 401
    assert set(response.json()) == {"code", "message", "hint"}
    assert response.json()["code"] == "unauthorized"


async def test_token_in_the_query_string_is_not_accepted() -> None:
    async with client(create_app(FakeService(), token=TOKEN)) as http:
        assert (await http.get(f"/v1/documents?token={TOKEN}")).status_code == 401


def test_an_empty_token_cannot_guard_a_service() -> None:
    with pytest.raises(ValueError, match="empty token"):
        create_app(FakeService(), token=" ").build_middleware_stack()


async def test_health_tells_details_only_to_a_caller_with_the_token() -> None:
    app = create_app(FakeService(), token=TOKEN)
    async with client(app) as http:
        bare = (await http.get("/health")).json()
        full = (await http.get("/health", headers=AUTH)).json()
    assert bare["status"] == "degraded"
    assert bare["documents"] is None
    assert bare["problems"] == []
    assert full["documents"] == 1
    assert "models fetch embedded" in full["problems"][0]


async def test_search_has_the_documented_fields() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        body = (await http.post("/v1/search", json={"query": "total ?"})).json()
    assert set(body) == {"query", "mode", "threshold", "results", "timings_ms"}
    assert set(body["results"][0]) == {
        "rank",
        "score",
        "kept",
        "path",
        "page",
        "section",
        "text",
        "chunk_id",
        "doc_id",
        "ranges",
    }
    assert body["results"][0]["section"] == "Bon › Total"


async def test_ask_has_the_documented_fields() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        body = (await http.post("/v1/ask", json={"question": "total ?"})).json()
    assert {
        "answer",
        "refused",
        "reason",
        "language",
        "citations",
        "uncited_figures",
        "badge",
        "timings_ms",
    } <= set(body)
    citation = body["citations"][0]
    assert {
        "marker",
        "status",
        "score",
        "quote",
        "path",
        "page",
        "block",
        "start",
        "end",
        "boxes",
    } <= set(citation)
    assert citation["boxes"] == [{"page": 1, "x0": 0.1, "y0": 0.2, "x1": 0.3, "y1": 0.25}]
    assert (citation["occurrences"], citation["table"]) == (1, None)


def test_citation_in_a_table_names_row_columns_and_how_many_places_say_the_same() -> None:
    table = TablePlace(row=78, columns=("2024 / Q1",), sheet="Sales")
    citation = Citation(
        marker=1, status="verified", score=97.04, path="a.xlsx", occurrences=3, table=table
    )

    sent = CitationOut.of(citation).model_dump()

    assert sent["table"] == {"row": 78, "columns": ["2024 / Q1"], "sheet": "Sales"}
    assert sent["occurrences"] == 3


async def test_sources_restrict_the_search_to_those_paths() -> None:
    service = FakeService()
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        await http.post("/v1/search", json={"query": "x", "sources": ["a.md", "b.md"]})
    assert service.filters[0].paths == ("a.md", "b.md")


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"question": 3}, "question"),
        ({}, "question"),
        ({"question": "x", "mode": "magic"}, "mode"),
        ({"question": "x", "colour": "red"}, "colour"),
    ],
)
async def test_malformed_body_is_400_and_names_the_field(
    body: dict[str, object], where: str
) -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        response = await http.post("/v1/ask", json=body)
    assert response.status_code == 400
    assert response.json()["code"] == "bad_request"
    assert where in response.json()["message"]


async def test_domain_error_keeps_its_status_code_and_form() -> None:
    error = BackendUnavailableError("the embedder is down", hint="wait")
    async with client(create_app(FakeService(error=error), token=TOKEN), AUTH) as http:
        searched = await http.post("/v1/search", json={"query": "x"})
        asked = await http.post("/v1/ask", json={"question": "x"})
    for response in (searched, asked):
        assert response.status_code == 503
        assert response.json() == {
            "code": "backend_unavailable",
            "message": "the embedder is down",
            "hint": "wait",
        }


async def test_unforeseen_error_is_500_and_tells_nothing_of_its_inside() -> None:
    service = FakeService(error=ZeroDivisionError("secret detail"))
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        response = await http.post("/v1/search", json={"query": "x"})
    assert response.status_code == 500
    assert response.json()["code"] == "internal"
    assert "secret" not in response.text


async def test_unknown_route_is_404_in_the_outward_form() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        response = await http.get("/v1/nothing")
    assert response.status_code == 404
    assert response.json()["code"] == "not_found"


async def test_oversized_body_is_refused() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        response = await http.post("/v1/search", json={"query": "x" * (LIMIT_BODY_BYTES + 1)})
    assert response.status_code == 413
    assert response.json()["code"] == "body_too_large"


async def test_oversized_chunked_body_is_refused_too() -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b"x" * 50_000

    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        response = await http.post("/v1/search", content=parts())
    assert 400 <= response.status_code < 500


async def read_events(url: str) -> list[tuple[str, dict[str, object]]]:
    events = []
    async with (
        httpx.AsyncClient(base_url=url, headers=AUTH) as http,
        http.stream("POST", "/v1/ask/stream", json={"question": "total ?"}) as response,
    ):
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-cache"
        name = ""
        async for line in response.aiter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                events.append((name, json.loads(line.removeprefix("data: "))))
    return events


async def test_stream_says_something_at_once_and_asks_no_proxy_to_hold_it_back() -> None:
    async with (
        served(FakeService(hold=True)) as url,
        httpx.AsyncClient(base_url=url, headers=AUTH) as http,
        http.stream("POST", "/v1/ask/stream", json={"question": "total ?"}) as response,
    ):
        assert response.headers["x-accel-buffering"] == "no"
        assert "content-encoding" not in response.headers
        first = await anext(response.aiter_lines())
    assert first.strip() == ":"


async def test_silent_stream_sends_a_comment_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fastapi.routing, "_PING_INTERVAL", 0.05)
    comments = 0
    async with (
        served(FakeService(hold=True)) as url,
        httpx.AsyncClient(base_url=url, headers=AUTH) as http,
        http.stream("POST", "/v1/ask/stream", json={"question": "total ?"}) as response,
    ):
        async for line in response.aiter_lines():
            comments += line.startswith(":")
            if comments == 4:
                break
    assert comments == 4


async def test_stream_ends_in_exactly_one_done() -> None:
    async with served(FakeService()) as url:
        events = await read_events(url)
    assert [name for name, _ in events] == ["search", "token", "citation", "done"]
    assert events[-1][1]["answer"]["badge"] == "1 source vérifiée sur 1"  # type: ignore[index]


async def test_stream_that_breaks_ends_in_exactly_one_failed() -> None:
    async with served(FakeService(error=BackendUnavailableError("down", hint="wait"))) as url:
        events = await read_events(url)
    assert [name for name, _ in events] == ["search", "failed"]
    assert events[-1][1]["code"] == "backend_unavailable"


async def test_stream_with_an_unforeseen_error_still_ends_in_failed() -> None:
    async with served(FakeService(error=KeyError("inside"))) as url:
        events = await read_events(url)
    assert events[-1][0] == "failed"
    assert events[-1][1]["code"] == "internal"
    assert "inside" not in json.dumps(events)


async def test_client_that_leaves_ends_the_generation() -> None:
    service = FakeService(hold=True)
    async with served(service) as url:
        async with (
            httpx.AsyncClient(base_url=url, headers=AUTH) as http,
            http.stream("POST", "/v1/ask/stream", json={"question": "total ?"}) as response,
        ):
            async for line in response.aiter_lines():
                if '"token"' in line:
                    break
        await asyncio.wait_for(service.cancelled.wait(), timeout=10)


def test_taken_port_is_named_with_its_remedy() -> None:
    taken = bind("127.0.0.1", 0)
    port = taken.getsockname()[1]
    try:
        with pytest.raises(PortTakenError, match=str(port)) as caught:
            bind("127.0.0.1", port)
    finally:
        taken.close()
    assert "RAG_SOURCE_API_PORT" in caught.value.hint
    assert isinstance(taken, socket.socket)


def test_small_pieces_are_sent_at_once() -> None:
    """Streams are many small pieces; asyncio needs the protocol named to send them undelayed."""
    with contextlib.closing(bind("127.0.0.1", 0)) as sock:
        assert sock.proto == socket.IPPROTO_TCP
