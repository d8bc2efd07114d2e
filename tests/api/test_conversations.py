"""Conversations through the routes: kept, listed, opened, exported, rated, deleted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from api.services import TOKEN, FakeService, make_answer
from api.test_app import AUTH, client, served
from fakes_history import FakeConversations
from rag_source.api.app import create_app
from rag_source.api.export import markdown_of
from rag_source.domain.answers import Answer, AnswerDone, AnswerEvent, Citation, TablePlace
from rag_source.domain.conversations import (
    Conversation,
    ConversationSummary,
    KeptAnswer,
    title_of,
)
from rag_source.domain.errors import BackendError
from rag_source.history import History
from rag_source.store.audit import AuditTrail


async def _ask(http: httpx.AsyncClient, question: str, **more: object) -> dict[str, str]:
    response = await http.post("/v1/ask", json={"question": question, **more})
    assert response.status_code == 200, response.text
    body: dict[str, str] = response.json()
    return body


async def test_answers_are_kept_in_the_conversation_that_is_named() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        first = await _ask(http, "total ?")
        second = await _ask(http, "et le poids ?", conversation_id=first["conversation_id"])
        other = await _ask(http, "autre chose ?")
        listed = (await http.get("/v1/conversations")).json()
        found = (await http.get(f"/v1/conversations/{first['conversation_id']}")).json()
    assert first["conversation_id"] == second["conversation_id"] != other["conversation_id"]
    assert [(one["title"], one["answers"]) for one in listed] == [
        ("autre chose ?", 1),
        ("total ?", 2),
    ]
    assert set(listed[0]) == {"id", "title", "created_at", "updated_at", "answers"}
    assert [one["question"] for one in found["answers"]] == ["total ?", "et le poids ?"]
    assert [one["answer_id"] for one in found["answers"]] == [
        first["answer_id"],
        second["answer_id"],
    ]


async def test_kept_answer_is_the_one_that_was_given() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        given = await _ask(http, "total ?")
        found = (await http.get(f"/v1/conversations/{given['conversation_id']}")).json()
    (kept,) = found["answers"]
    assert {name: kept[name] for name in given} == given
    assert kept["search"]["results"][0]["path"] == "bl.pdf"
    assert kept["feedback"] is None


async def test_last_event_of_a_stream_names_the_conversation_and_the_answer() -> None:
    service = FakeService()
    async with (
        served(service) as url,
        httpx.AsyncClient(base_url=url, headers=AUTH) as http,
        http.stream("POST", "/v1/ask/stream", json={"question": "total ?"}) as response,
    ):
        lines = [line async for line in response.aiter_lines()]
    done = json.loads([line for line in lines if line.startswith("data: ")][-1][6:])
    (kept,) = service.conversations.kept
    assert (done["type"], done["conversation_id"]) == ("done", kept)
    assert done["answer_id"] == done["answer"]["answer_id"] != ""


async def test_answer_is_not_kept_if_that_is_not_wished() -> None:
    service = FakeService()
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        answer = await _ask(http, "total ?", keep=False)
    assert (answer["conversation_id"], answer["answer_id"]) == ("", "")
    assert service.conversations.kept == {}


@pytest.mark.parametrize("path", ["/v1/ask", "/v1/ask/stream"])
async def test_unknown_conversation_is_told_before_anything_is_asked(path: str) -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        response = await http.post(path, json={"question": "x", "conversation_id": "gone"})
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


async def test_answer_that_fails_is_not_kept() -> None:
    service = FakeService(error=BackendError("down"))
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        assert (await http.post("/v1/ask", json={"question": "x"})).status_code == 502
    assert service.conversations.kept == {}


class _FullStore(FakeConversations):
    def start(self, conversation: ConversationSummary) -> None:
        raise BackendError("the disk is full", code="disk_full")


async def test_answer_is_given_even_if_it_cannot_be_kept() -> None:
    service = FakeService()
    service.history = History(conversations=_FullStore(), audit=AuditTrail(service.audit_log))
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        answer = await _ask(http, "total ?")
    assert answer["answer"].startswith("Le total")
    assert answer["conversation_id"] == ""


async def test_deleted_conversation_is_gone() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        answer = await _ask(http, "total ?")
        path = f"/v1/conversations/{answer['conversation_id']}"
        deleted = await http.delete(path)
        again = await http.delete(path)
        opened = await http.get(path)
        exported = await http.get(f"{path}/export")
        rated = await http.post(
            f"/v1/answers/{answer['answer_id']}/feedback", json={"verdict": "good"}
        )
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert [r.status_code for r in (again, opened, exported, rated)] == [404] * 4


async def test_feedback_is_kept_with_the_answer() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        answer = await _ask(http, "total ?")
        body = {"verdict": "bad", "comment": "il manque une page"}
        rated = await http.post(f"/v1/answers/{answer['answer_id']}/feedback", json=body)
        wrong = await http.post(
            f"/v1/answers/{answer['answer_id']}/feedback", json={"verdict": "so so"}
        )
        found = (await http.get(f"/v1/conversations/{answer['conversation_id']}")).json()
    assert (rated.status_code, wrong.status_code) == (204, 400)
    assert found["answers"][0]["feedback"] == body


async def test_export_is_markdown_to_be_saved() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        answer = await _ask(http, "total ?")
        response = await http.get(f"/v1/conversations/{answer['conversation_id']}/export")
    assert response.headers["content-type"] == "text/markdown; charset=utf-8"
    assert response.headers["content-disposition"].startswith("attachment; filename*=UTF-8''total")
    assert "Le total est de 3 240 unités [1]." in response.text
    assert "- [1] · ✓ vérifiée · **bl.pdf**, p. 1\n  > Total : 3 240 unités" in response.text
    assert "1 source vérifiée sur 1" in response.text


def _conversation(answer: Answer, title: str = "title") -> Conversation:
    kept = KeptAnswer(answer_id="a", asked_at="2026-01-01", answer=answer)
    summary = ConversationSummary(
        conversation_id="c", title=title, created_at="2026-01-01", updated_at="2026-01-01"
    )
    return Conversation(summary=summary, answers=(kept,))


def test_export_keeps_the_numbers_and_tells_the_verdicts_apart() -> None:
    table = TablePlace(row=78, columns=("2024 / Q1",), sheet="Sales")
    citations = (
        Citation(marker=3, status="verified", score=97, quote="a\n\nb", path="a.xlsx", table=table),
        Citation(
            marker=1, status="unverified", score=80, quote="c", path="b.md", reason="30 vs 90"
        ),
        Citation(marker=9, status="rejected", score=0, reason="no passage has this number"),
    )
    answer = replace(make_answer(), text="Yes [3]. No [1][9].", language="en", citations=citations)
    text = markdown_of(_conversation(answer))
    assert "Yes [3]. No [1][9]." in text
    assert "- [3] · ✓ verified · **a.xlsx**, Sales, row 78, 2024 / Q1\n  > a\n  > b\n" in text
    assert "- [1] · ~ not verified · **b.md** · 30 vs 90\n  > c\n" in text
    assert "- [9] · ✗ no such source · no passage has this number" in text


def test_hostile_texts_become_neither_markup_nor_links_in_the_export() -> None:
    hostile = "<img src=x onerror=alert(1)> ![x](http://evil.example/?q=1) [a](b) `c` # d"
    citation = Citation(marker=1, status="verified", score=100, quote=hostile, path=f"{hostile}.md")
    answer = replace(make_answer(hostile), text=f"{hostile} [1]", citations=(citation,))
    text = markdown_of(_conversation(answer, title=hostile))
    for markup in ("<img", "![", "](", "[a]", "`c`", "\n# d"):
        assert markup not in text.replace("\\" + markup[0], "")
    assert text.count("[1]") == 2


@pytest.mark.parametrize(
    ("question", "title"),
    [("  deux\n mots ", "deux mots"), ("x" * 90, "x" * 79 + "…"), ("x" * 80, "x" * 80)],
)
def test_title_is_the_question_in_one_short_line(question: str, title: str) -> None:
    assert title_of(question) == title


async def test_audit_lists_requests_by_their_routes_and_nothing_private() -> None:
    service = FakeService()
    service.history.note("index.update", subject="d1")
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        await _ask(http, "private words")
        response = await http.get("/v1/audit?limit=5")
    (entry,) = response.json()["entries"]
    assert (entry["kind"], entry["name"], entry["subject"]) == ("action", "index.update", "d1")
    assert "private" not in response.text


async def test_conversation_deleted_while_its_answer_is_made_does_not_come_back() -> None:
    service = FakeService()
    service.conversations.start(
        ConversationSummary(conversation_id="c", title="t", created_at="1", updated_at="1")
    )

    async def events() -> AsyncIterator[AnswerEvent]:
        service.conversations.forget("c")
        yield AnswerDone(answer=make_answer())

    done = [event async for event in service.history.recorded(events(), "c")]
    assert [event.conversation_id for event in done if isinstance(event, AnswerDone)] == [""]
    assert service.conversations.kept == {}
