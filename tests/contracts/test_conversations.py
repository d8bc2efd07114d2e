"""What every `ConversationStore` and every `AuditLog` promises, on the fakes and on SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from api.services import make_answer, make_search
from fakes_history import FakeAuditLog, FakeConversations
from rag_source.domain.answers import Answer, NearMiss, TablePlace
from rag_source.domain.audit import AuditEntry, AuditLog
from rag_source.domain.calculations import CalculatedRow, Calculation
from rag_source.domain.chunks import TextRange
from rag_source.domain.conversations import (
    ConversationStore,
    ConversationSummary,
    Feedback,
    KeptAnswer,
    Turn,
)
from rag_source.store.audit import SqliteAuditLog
from rag_source.store.conversations import SqliteConversations
from rag_source.store.database import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "catalogue.db")
    yield database
    database.close()


@pytest.fixture(params=["fake", "sqlite"])
def store(request: pytest.FixtureRequest) -> ConversationStore:
    """An empty store of each kind."""
    if request.param == "fake":
        return FakeConversations()
    return SqliteConversations(request.getfixturevalue("database"))


@pytest.fixture(params=["fake", "sqlite"])
def log(request: pytest.FixtureRequest) -> AuditLog:
    """An empty log of each kind."""
    if request.param == "fake":
        return FakeAuditLog()
    return SqliteAuditLog(request.getfixturevalue("database"))


def make_summary(
    conversation_id: str = "c", at: str = "2026-01-01T00:00:00Z"
) -> ConversationSummary:
    return ConversationSummary(
        conversation_id=conversation_id, title="Un titre عربي 😀", created_at=at, updated_at=at
    )


def make_kept(answer_id: str, at: str, answer: Answer | None = None) -> KeptAnswer:
    answer = answer or make_answer(f"question {answer_id}")
    return KeptAnswer(answer_id=answer_id, asked_at=at, answer=answer, search=make_search())


def _rich_answer() -> Answer:
    """One with everything in it that an answer may have."""
    plain = make_answer("Combien ? « é » عربي 😀 \ud800")
    citation = replace(
        plain.citations[0],
        table=TablePlace(row=3, columns=("2024 / Q1",), sheet="Feuil1"),
        ranges=(TextRange(start=1, end=2), TextRange(start=5, end=9)),
        doc_id="d1",
        sentence=(4, 9),
    )
    return replace(
        plain,
        citations=(citation, replace(citation, marker=2, status="rejected")),
        uncited_figures=("Il y en a 3.",),
        near_miss=NearMiss(
            path="a.pdf", page=None, section=("Un",), text="t", score=0.25, threshold=0.44
        ),
        calculation=Calculation(
            operation="sum",
            column="Montant",
            unit="DH",
            result=str(Decimal("82900.00")),
            row_count=1,
            documents=("a.csv",),
            rows=(CalculatedRow(path="a.csv", block="b1", start=0, end=4, value="82900.00"),),
        ),
    )


def test_empty_store_knows_nothing(store: ConversationStore) -> None:
    assert store.conversations() == []
    assert store.conversation("c") is None
    assert store.turns("c") == []
    assert not store.has("c")
    assert not store.forget("c")
    assert not store.rate("a", Feedback(verdict="good"))


def test_answer_comes_back_whole(store: ConversationStore) -> None:
    kept = make_kept("a1", "2026-01-01T00:00:01Z", _rich_answer())
    store.start(make_summary())
    store.add("c", kept)
    found = store.conversation("c")
    assert found is not None
    assert found.answers == (kept,)
    assert found.summary == replace(make_summary(), updated_at=kept.asked_at, answers=1)


def test_answers_stand_in_the_order_in_which_they_were_added(store: ConversationStore) -> None:
    store.start(make_summary())
    for name in ("b", "a", "c"):
        store.add("c", make_kept(name, "2026-01-01T00:00:01Z"))
    found = store.conversation("c")
    assert found is not None
    assert [kept.answer_id for kept in found.answers] == ["b", "a", "c"]


def test_conversation_used_last_comes_first(store: ConversationStore) -> None:
    for name, at in (("one", "2026-01-01"), ("two", "2026-01-02"), ("three", "2026-01-03")):
        store.start(make_summary(name, at))
    store.add("one", make_kept("a", "2026-01-04"))
    listed = [(one.conversation_id, one.answers) for one in store.conversations()]
    assert listed == [("one", 1), ("three", 0), ("two", 0)]


def test_last_turns_come_in_their_order(store: ConversationStore) -> None:
    store.start(make_summary())
    for i in range(8):
        store.add("c", make_kept(str(i), f"2026-01-0{i + 1}"))
    turns = store.turns("c")
    assert [turn.question for turn in turns] == [f"question {i}" for i in range(2, 8)]
    assert store.turns("c", limit=1) == [Turn(question="question 7", answer=make_answer().text)]


def test_conversation_is_started_once(store: ConversationStore) -> None:
    store.start(make_summary())
    with pytest.raises(ValueError, match="there is"):
        store.start(make_summary())


def test_answer_for_a_deleted_conversation_is_not_kept(store: ConversationStore) -> None:
    store.start(make_summary())
    assert store.forget("c")
    with pytest.raises(LookupError):
        store.add("c", make_kept("a", "2026-01-02"))
    assert not store.has("c")


def test_forgotten_conversation_takes_its_answers_with_it(store: ConversationStore) -> None:
    for name in ("c", "d"):
        store.start(make_summary(name))
        store.add(name, make_kept(f"of {name}", "2026-01-02"))
    assert store.forget("c")
    assert [one.conversation_id for one in store.conversations()] == ["d"]
    assert not store.rate("of c", Feedback(verdict="good"))
    assert store.rate("of d", Feedback(verdict="good"))


def test_feedback_takes_the_place_of_what_was_said_before(store: ConversationStore) -> None:
    store.start(make_summary())
    store.add("c", make_kept("a", "2026-01-02"))
    assert store.rate("a", Feedback(verdict="good", comment="bien"))
    assert store.rate("a", Feedback(verdict="bad", comment="non, é"))
    found = store.conversation("c")
    assert found is not None
    assert found.answers[0].feedback == Feedback(verdict="bad", comment="non, é")


def _entry(number: int) -> AuditEntry:
    return AuditEntry(
        at=f"2026-01-01T00:00:{number:02}Z",
        kind="request",
        name="GET /v1/documents",
        status=200,
        milliseconds=1.5,
        request_id="0123456789abcdef",
    )


def test_entries_come_back_newest_first(log: AuditLog) -> None:
    log.record([_entry(1), _entry(2)])
    log.record([replace(_entry(3), kind="action", name="index.update", subject="d1", status=500)])
    found = log.entries(limit=2)
    assert [entry.at[-3:-1] for entry in found] == ["03", "02"]
    assert found[0].subject == "d1"
    assert found[1] == _entry(2)


def test_log_keeps_the_last_ten_thousand(log: AuditLog) -> None:
    log.record([_entry(i % 60) for i in range(9_990)])
    log.record([replace(_entry(0), name=f"late {i}") for i in range(20)])
    found = log.entries(limit=20_000)
    assert len(found) == 10_000
    assert found[0].name == "late 19"
    assert found[19].name == "late 0"


def test_empty_log_and_no_entries_are_no_trouble(log: AuditLog) -> None:
    log.record([])
    assert log.entries(limit=10) == []
