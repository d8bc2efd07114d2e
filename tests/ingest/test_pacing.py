"""When to act on changes, and when to try again."""

from __future__ import annotations

from rag_source.ingest.pacing import Backoff, Debounce


def test_nothing_heard_is_never_due() -> None:
    assert not Debounce(quiet_s=0.5, limit_s=5).is_due(1e9)


def test_change_is_due_when_it_has_been_quiet() -> None:
    debounce = Debounce(quiet_s=0.5, limit_s=5)
    debounce.hear(100.0)
    debounce.hear(100.4)

    assert not debounce.is_due(100.8)
    assert debounce.is_due(100.9)


def test_steady_stream_is_due_at_the_limit() -> None:
    debounce = Debounce(quiet_s=0.5, limit_s=5)
    due = []
    for tenth in range(120):
        now = 100 + tenth / 10
        debounce.hear(now)
        if debounce.is_due(now):
            due.append(tenth)
            debounce.clear()

    assert due == [50, 101]


def test_changes_are_counted_until_they_are_cleared() -> None:
    debounce = Debounce(quiet_s=0.5, limit_s=5)
    debounce.hear(100.0, 3)
    debounce.hear(100.0, 4)
    assert debounce.count == 7
    debounce.clear()

    assert debounce.count == 0
    assert not debounce.is_due(200.0)


def test_waits_double_up_to_the_limit_and_begin_again() -> None:
    backoff = Backoff(first_s=1, limit_s=5)

    assert [backoff.next_s() for _ in range(5)] == [1, 2, 4, 5, 5]
    backoff.reset()
    assert backoff.next_s() == 1
