"""How the service meets the outside: hosts, origins, headers, ids, logs, and the page's files."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from api.services import TOKEN, FakeService
from api.test_app import AUTH, client
from rag_source.api.app import Front, create_app
from rag_source.api.request_log import Served
from rag_source.api.static import PAGE_POLICY


@pytest.fixture
def ui(tmp_path: Path) -> Path:
    folder = tmp_path / "ui"
    (folder / "js").mkdir(parents=True)
    (folder / "index.html").write_text("<!DOCTYPE html><title>page</title>", encoding="utf-8")
    (folder / "js" / "app.js").write_text("export {};\n", encoding="utf-8")
    (folder / "README.md").write_text("for developers", encoding="utf-8")
    (folder / ".hidden.js").write_text("hidden", encoding="utf-8")
    (tmp_path / "secret.js").write_text("secret", encoding="utf-8")
    (folder / "out.js").symlink_to(tmp_path / "secret.js")
    (folder / "outside").symlink_to(tmp_path)
    return folder


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8321", "LOCALHOST:1", "localhost.", "[::1]:8321", "127.1.2.3"]
)
async def test_loopback_names_are_answered(host: str) -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        response = await http.get("/v1/documents", headers={"Host": host})
    assert response.status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", ""),
        *("[::1", "evil.example:127.0.0.1", "127.0.0.1@evil.example", "0.0.0.0", "é"),
    ],
)
async def test_other_host_names_are_refused_even_with_the_token(host: str) -> None:
    app = create_app(FakeService(), token=TOKEN)
    async with client(app, AUTH) as http:
        for path in ("/v1/documents", "/health"):
            response = await http.get(path, headers=[(b"host", host.encode())])
            assert (response.status_code, response.json()["code"]) == (403, "wrong_host")


async def test_name_of_the_settings_is_answered() -> None:
    app = create_app(FakeService(), token=TOKEN, front=Front(names=("Docs.Example",)))
    async with client(app, AUTH) as http:
        known = await http.get("/v1/documents", headers={"Host": "docs.example:443"})
        other = await http.get("/v1/documents", headers={"Host": "docs.example.evil"})
    assert (known.status_code, other.status_code) == (200, 403)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9", "https://"]
)
async def test_change_from_another_origin_is_refused(origin: str) -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        response = await http.post(
            "/v1/search", json={"query": "x"}, headers={"Origin": origin, "X-Rag-Source": "1"}
        )
    assert (response.status_code, response.json()["code"]) == (403, "wrong_origin")


async def test_no_other_origin_is_ever_allowed() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        same = await http.post(
            "/v1/search", json={"query": "x"}, headers={"Origin": "http://127.0.0.1:8321"}
        )
        preflight = await http.options(
            "/v1/search",
            headers={"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"},
        )
        read = await http.get("/v1/documents", headers={"Origin": "http://evil.example"})
    assert same.status_code == 200
    assert preflight.status_code == 403
    for response in (same, preflight, read):
        assert not [name for name in response.headers if name.startswith("access-control")]


async def test_every_response_has_safe_headers_and_an_id(ui: Path) -> None:
    service = FakeService(error=ZeroDivisionError("inside"))
    app = create_app(service, token=TOKEN, front=Front(ui=ui))
    async with client(app, AUTH) as http:
        responses = [
            await http.get("/v1/documents"),
            await http.get("/v1/nothing"),
            await http.get("/v1/documents", headers={"Authorization": ""}),
            await http.get("/health", headers={"Host": "evil.example"}),
            await http.post("/v1/search", json={"query": "x"}),
            await http.get("/"),
        ]
    assert [r.status_code for r in responses] == [200, 404, 401, 403, 500, 200]
    for response in responses:
        headers = response.headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] in ("no-store", "no-cache")
        assert len(headers["x-request-id"]) == 16
    assert len({response.headers["x-request-id"] for response in responses}) == len(responses)


async def test_id_of_a_proxy_is_kept_if_it_looks_like_one() -> None:
    async with client(create_app(FakeService(), token=TOKEN)) as http:
        good = await http.get("/health", headers={"X-Request-Id": "abc-DEF_12345"})
        bad = await http.get("/health", headers={"X-Request-Id": 'x" evil=1'})
    assert good.headers["x-request-id"] == "abc-DEF_12345"
    assert "evil" not in bad.headers["x-request-id"]


async def test_log_names_the_route_and_holds_no_question_query_or_path(
    caplog: pytest.LogCaptureFixture,
) -> None:
    served: list[Served] = []
    app = create_app(FakeService(), token=TOKEN, front=Front(on_served=served.append))
    with caplog.at_level(logging.DEBUG, logger="rag_source"):
        async with client(app, AUTH) as http:
            await http.post("/v1/ask?project=default", json={"question": "private words?"})
            await http.get("/v1/documents/hidden-id?secret=1")
    said = " ".join(record.getMessage() for record in caplog.records)
    for private in ("private", "hidden-id", "secret", TOKEN):
        assert private not in said
    assert "route=/v1/ask status=200" in said
    assert [(s.method, s.route, s.status, s.caller) for s in served] == [
        ("POST", "/v1/ask", 200, "token"),
        ("GET", "/v1/documents/{doc_id}", 404, "token"),
    ]
    assert all(s.milliseconds >= 0 and s.request_id for s in served)


async def test_unforeseen_error_is_logged_with_the_id_that_its_caller_got(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = create_app(FakeService(error=KeyError("inside")), token=TOKEN)
    async with client(app, AUTH) as http:
        response = await http.post("/v1/search", json={"query": "x"})
    assert response.json() == {
        "code": "internal",
        "message": "the request failed",
        "hint": "see the log",
    }
    assert response.headers["x-request-id"] in caplog.text


async def test_page_is_served_without_a_token_under_a_strict_policy(ui: Path) -> None:
    app = create_app(FakeService(), token=TOKEN, front=Front(ui=ui))
    async with client(app) as http:
        page = await http.get("/")
        same = await http.get("/index.html")
        code = await http.get("/js/app.js")
        head = await http.head("/js/app.js")
    assert page.text == same.text == "<!DOCTYPE html><title>page</title>"
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert code.headers["content-type"] == "text/javascript; charset=utf-8"
    for response in (page, code, head):
        assert response.status_code == 200
        assert response.headers["content-security-policy"] == PAGE_POLICY
        assert response.headers["cache-control"] == "no-cache"
    assert "unsafe" not in PAGE_POLICY
    assert "http" not in PAGE_POLICY


async def test_reader_of_the_page_gets_only_what_has_changed(ui: Path) -> None:
    app = create_app(FakeService(), token=TOKEN, front=Front(ui=ui))
    async with client(app) as http:
        tag = (await http.get("/js/app.js")).headers["etag"]
        same = await http.get("/js/app.js", headers={"If-None-Match": tag})
        weak = await http.get("/js/app.js", headers={"If-None-Match": f'"x", W/{tag}'})
        (ui / "js" / "app.js").write_text("export const a = 1;\n", encoding="utf-8")
        changed = await http.get("/js/app.js", headers={"If-None-Match": tag})
    assert (same.status_code, same.content, weak.status_code) == (304, b"", 304)
    assert (changed.status_code, changed.text) == (200, "export const a = 1;\n")


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/../secret.js",
            "/%2e%2e/secret.js",
            "/js/../../secret.js",
            "/js/%2e%2e/%2e%2e/secret.js",
        ),
        *(
            "/out.js",
            "/outside/secret.js",
            "/.hidden.js",
            "/README.md",
            "/js",
            "/js/",
            "//secret.js",
        ),
        *(
            "/js/app.js%00.css",
            "/js\\..\\secret.js",
            "/secret.js",
            "/js/app.js/",
            "/%2Fetc%2Fpasswd",
        ),
    ],
)
async def test_nothing_but_the_files_of_the_page_is_served(ui: Path, path: str) -> None:
    app = create_app(FakeService(), token=TOKEN, front=Front(ui=ui))
    async with client(app) as http:
        request = http.build_request("GET", "/")
        request.url = request.url.copy_with(raw_path=path.encode())
        response = await http.send(request)
    assert response.status_code == 401
    assert "secret" not in response.text


async def test_page_answers_to_no_other_method(ui: Path) -> None:
    app = create_app(FakeService(), token=TOKEN, front=Front(ui=ui))
    async with client(app) as http:
        assert (await http.post("/", headers={"X-Rag-Source": "1"})).status_code == 401
        assert (await http.delete("/index.html")).status_code == 401


async def test_websocket_is_closed() -> None:
    app = create_app(FakeService(), token=TOKEN)
    sent: list[dict[str, object]] = []

    async def receive() -> dict[str, object]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    scope = {"type": "websocket", "path": "/v1/ask", "headers": [], "query_string": b""}
    await app(scope, receive, send)  # type: ignore[arg-type]  # wider than what is sent
    assert [message["type"] for message in sent] == ["websocket.close"]


async def test_reference_has_no_script_and_loads_nothing() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        page = await http.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "POST /v1/ask/stream" in page.text
    for loading in ("<script", "src=", "<link", "<style", "http://", "https://"):
        assert loading not in page.text
