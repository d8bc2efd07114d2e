"""How a browser is let in: one-time codes, cookies, and what a cookie may not do."""

from __future__ import annotations

from http.cookies import SimpleCookie
from pathlib import Path

import httpx
import pytest

from api.services import TOKEN, FakeService
from api.test_app import AUTH, BASE, client
from rag_source.api.app import Front, create_app
from rag_source.api.session import CODE_S, COOKIE, SESSION_S, SessionBook
from rag_source.api.session_wire import link_of
from rag_source.domain.errors import TooManyRequestsError, UnauthorizedError
from rag_source.store.sessions import SessionFile

PAGE = {"X-Rag-Source": "1"}


class _Clock:
    def __init__(self) -> None:
        self.time = 1_000_000.0

    def __call__(self) -> float:
        return self.time


async def _opened(http: httpx.AsyncClient, book: SessionBook) -> httpx.Response:
    response = await http.post("/v1/session", json={"code": book.new_code()})
    assert response.status_code == 204
    return response


async def test_code_becomes_a_cookie_that_no_script_and_no_other_site_gets() -> None:
    book = SessionBook(key=TOKEN)
    app = create_app(FakeService(), token=TOKEN, front=Front(sessions=book))
    async with client(app) as http:
        response = await _opened(http, book)
    (cookie,) = SimpleCookie(response.headers["set-cookie"]).values()
    assert cookie.key == COOKIE
    assert (cookie["httponly"], cookie["samesite"].lower(), cookie["path"]) == (True, "strict", "/")
    assert cookie["domain"] == ""
    assert TOKEN not in response.headers["set-cookie"]
    assert cookie.value != TOKEN
    assert len(cookie.value) >= 40
    assert response.content == b""


async def test_cookie_opens_what_the_token_opens() -> None:
    book = SessionBook(key=TOKEN)
    app = create_app(FakeService(), token=TOKEN, front=Front(sessions=book))
    async with client(app) as http:
        assert (await http.get("/v1/documents")).status_code == 401
        await _opened(http, book)
        assert (await http.get("/v1/documents")).status_code == 200
        assert (await http.get("/health")).json()["documents"] == 1


async def test_change_by_cookie_needs_the_header_that_only_the_page_can_send() -> None:
    book = SessionBook(key=TOKEN)
    app = create_app(FakeService(), token=TOKEN, front=Front(sessions=book))
    async with client(app) as http:
        await _opened(http, book)
        bare = await http.post("/v1/search", json={"query": "x"})
        other = await http.post("/v1/search", json={"query": "x"}, headers={"X-Rag-Source": "0"})
        page = await http.post("/v1/search", json={"query": "x"}, headers=PAGE)
        gone = await http.delete("/v1/conversations/x")
    assert (bare.status_code, bare.json()["code"]) == (403, "csrf")
    assert (other.status_code, gone.status_code) == (403, 403)
    assert page.status_code == 200


async def test_wrong_token_is_refused_even_beside_a_good_cookie() -> None:
    book = SessionBook(key=TOKEN)
    app = create_app(FakeService(), token=TOKEN, front=Front(sessions=book))
    async with client(app) as http:
        await _opened(http, book)
        response = await http.get("/v1/documents", headers={"Authorization": "Bearer wrong"})
    assert response.status_code == 401


async def test_ended_session_opens_nothing_and_its_cookie_is_taken_back() -> None:
    book = SessionBook(key=TOKEN)
    app = create_app(FakeService(), token=TOKEN, front=Front(sessions=book))
    async with client(app) as http:
        await _opened(http, book)
        cookie = http.cookies[COOKIE]
        ended = await http.delete("/v1/session", headers=PAGE)
        again = await http.get("/v1/documents", headers={"Cookie": f"{COOKIE}={cookie}"})
    assert ended.status_code == 204
    assert "Max-Age=0" in ended.headers["set-cookie"]
    assert again.status_code == 401


async def test_only_the_token_makes_new_codes() -> None:
    book = SessionBook(key=TOKEN)
    app = create_app(FakeService(), token=TOKEN, front=Front(sessions=book))
    async with client(app) as http:
        await _opened(http, book)
        by_cookie = await http.post("/v1/session/code", headers=PAGE)
    async with client(app, AUTH) as http:
        by_token = await http.post("/v1/session/code")
        opened = await http.post("/v1/session", json={"code": by_token.json()["code"]})
    assert (by_cookie.status_code, by_cookie.json()["code"]) == (403, "forbidden")
    assert by_token.json()["expires_in_s"] == CODE_S
    assert opened.status_code == 204


def test_code_works_once() -> None:
    book = SessionBook(key=TOKEN)
    code = book.new_code()
    book.redeem(code)
    with pytest.raises(UnauthorizedError) as caught:
        book.redeem(code)
    assert caught.value.code == "bad_code"
    assert "rag-source link" in caught.value.hint


def test_code_works_for_ten_minutes() -> None:
    clock = _Clock()
    book = SessionBook(key=TOKEN, now=clock)
    early, late = book.new_code(), book.new_code()
    clock.time += CODE_S - 1
    book.redeem(early)
    clock.time += 1
    with pytest.raises(UnauthorizedError):
        book.redeem(late)


@pytest.mark.parametrize("code", ["wrong", "é", "\x00", TOKEN, " "])
def test_wrong_code_is_refused(code: str) -> None:
    book = SessionBook(key=TOKEN)
    book.new_code()
    with pytest.raises(UnauthorizedError):
        book.redeem(code)


def test_guessing_is_stopped_for_a_minute() -> None:
    clock = _Clock()
    book = SessionBook(key=TOKEN, now=clock)
    code = book.new_code()
    for _ in range(10):
        with pytest.raises(UnauthorizedError):
            book.redeem("guess")
    with pytest.raises(TooManyRequestsError) as caught:
        book.redeem(code)
    assert caught.value.http_status == 429
    clock.time += 60
    assert book.redeem(code)


def test_session_ends_after_its_time() -> None:
    clock = _Clock()
    book = SessionBook(key=TOKEN, now=clock)
    cookie = book.redeem(book.new_code())
    clock.time += SESSION_S - 1
    assert book.is_open(cookie)
    clock.time += 1
    assert not book.is_open(cookie)


@pytest.mark.parametrize("cookie", ["", "x", TOKEN, "é" * 40])
def test_no_other_cookie_is_a_session(cookie: str) -> None:
    book = SessionBook(key=TOKEN)
    book.redeem(book.new_code())
    assert not book.is_open(cookie)


def test_session_outlives_a_restart_but_not_its_token(tmp_path: Path) -> None:
    keeper = SessionFile(tmp_path / "sessions.json")
    book = SessionBook(key=TOKEN, keeper=keeper)
    cookie = book.redeem(book.new_code())
    assert SessionBook(key=TOKEN, keeper=keeper).is_open(cookie)
    assert not SessionBook(key=f"{TOKEN}x", keeper=keeper).is_open(cookie)


def test_file_of_sessions_is_private_and_holds_no_cookie(tmp_path: Path) -> None:
    path = tmp_path / "sessions.json"
    book = SessionBook(key=TOKEN, keeper=SessionFile(path))
    cookie = book.redeem(book.new_code())
    assert path.stat().st_mode & 0o077 == 0
    assert cookie not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("content", ["", "[]", '{"a": "b"}', '{"a": 1', "\x00"])
def test_damaged_file_of_sessions_lets_nobody_in(tmp_path: Path, content: str) -> None:
    path = tmp_path / "sessions.json"
    path.write_text(content, encoding="utf-8")
    assert SessionFile(path).load() == {}


def test_oldest_session_makes_room_for_a_new_one() -> None:
    clock = _Clock()
    book = SessionBook(key=TOKEN, now=clock)
    cookies = []
    for _ in range(101):
        clock.time += 1
        cookies.append(book.redeem(book.new_code()))
    assert not book.is_open(cookies[0])
    assert all(book.is_open(cookie) for cookie in cookies[1:])


async def test_code_is_asked_for_in_the_body_and_nowhere_else() -> None:
    book = SessionBook(key=TOKEN)
    app = create_app(FakeService(), token=TOKEN, front=Front(sessions=book))
    code = book.new_code()
    async with client(app) as http:
        query = await http.post(f"/v1/session?code={code}")
        form = await http.post("/v1/session", data={"code": code})
    assert (query.status_code, form.status_code) == (400, 400)


@pytest.mark.parametrize(
    ("url", "link"),
    [
        (BASE, f"{BASE}/#code=abc"),
        ("http://0.0.0.0:8321", "http://127.0.0.1:8321/#code=abc"),
        ("http://[::]:8321", "http://127.0.0.1:8321/#code=abc"),
        ("http://[::1]:8321/", "http://[::1]:8321/#code=abc"),
    ],
)
def test_link_has_the_code_in_its_fragment(url: str, link: str) -> None:
    assert link_of(url, "abc") == link
