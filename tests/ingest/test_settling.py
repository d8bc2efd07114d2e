"""Files that are still being written wait; all by scans and a clock that the test sets."""

from __future__ import annotations

import pytest

from rag_source.domain.documents import SourceFile
from rag_source.ingest.scan import FoundFile, Scan
from rag_source.ingest.settling import Settling


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def _scan(**files: tuple[int, int]) -> Scan:
    """Files by name, each as size and time; `_` stands for the dot."""
    return Scan(
        files=tuple(
            FoundFile(path=name.replace("_", "."), size_bytes=size, mtime_ns=time)
            for name, (size, time) in sorted(files.items())
        )
    )


def _recorded(path: str, size: int, time: int) -> SourceFile:
    return SourceFile(path=path, fingerprint="0" * 64, size_bytes=size, mtime_ns=time)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def settling(clock: Clock) -> Settling:
    return Settling(quiet_s=2, limit_s=60, now=clock)


def test_new_file_waits_until_it_has_lain_still(settling: Settling, clock: Clock) -> None:
    assert settling.observe(_scan(a_txt=(5, 1))) == {"a.txt"}
    assert settling.due_s() == 2
    clock.now += 1.5
    assert settling.observe(_scan(a_txt=(5, 1))) == {"a.txt"}
    assert settling.due_s() == 0.5
    clock.now += 0.5
    assert settling.observe(_scan(a_txt=(5, 1))) == set()
    assert settling.due_s() is None


@pytest.mark.parametrize("change", [(6, 1), (5, 2), (4, 1)], ids=["grown", "touched", "cut"])
def test_every_change_begins_the_wait_anew(
    settling: Settling, clock: Clock, change: tuple[int, int]
) -> None:
    settling.observe(_scan(a_txt=(5, 1)))
    clock.now += 3
    assert settling.observe(_scan(a_txt=change)) == {"a.txt"}
    clock.now += 1.9
    assert settling.observe(_scan(a_txt=change)) == {"a.txt"}
    clock.now += 0.2
    assert settling.observe(_scan(a_txt=change)) == set()


def test_old_or_future_time_of_a_file_means_nothing(settling: Settling, clock: Clock) -> None:
    copied = _scan(old_txt=(5, 0), new_txt=(5, 9 * 10**18))

    assert settling.observe(copied) == {"old.txt", "new.txt"}
    clock.now += 2
    assert settling.observe(copied) == set()


def test_file_that_is_recorded_as_it_is_does_not_wait(settling: Settling) -> None:
    assert settling.observe(_scan(a_txt=(5, 1)), [_recorded("a.txt", 5, 1)]) == set()


def test_recorded_file_that_has_changed_waits(settling: Settling) -> None:
    assert settling.observe(_scan(a_txt=(6, 2)), [_recorded("a.txt", 5, 1)]) == {"a.txt"}


def test_recorded_file_under_another_name_does_not_wait(settling: Settling) -> None:
    assert settling.observe(_scan(b_txt=(5, 1)), [_recorded("a.txt", 5, 1)]) == set()


def test_file_that_takes_its_last_name_keeps_its_rest(settling: Settling, clock: Clock) -> None:
    settling.observe(_scan(a_txt=(5, 1)))
    clock.now += 2
    assert settling.observe(_scan(b_txt=(5, 1))) == set()


def test_other_file_of_the_name_waits(settling: Settling, clock: Clock) -> None:
    settling.observe(_scan(a_txt=(5, 1)))
    clock.now += 5
    settling.observe(_scan())
    assert settling.observe(_scan(a_txt=(5, 1))) == {"a.txt"}


def test_growing_file_does_not_hold_up_the_others(settling: Settling, clock: Clock) -> None:
    for size in range(1, 4):
        clock.now += 2
        waiting = settling.observe(_scan(log_txt=(size, size), a_txt=(5, 1)))

    assert waiting == {"log.txt"}


def test_file_that_never_rests_is_let_through_at_times(settling: Settling, clock: Clock) -> None:
    let_through = []
    for second in range(130):
        if "log.txt" not in settling.observe(_scan(log_txt=(second, second))):
            let_through.append(second)
        clock.now += 1

    assert let_through == [60, 120]


def test_file_once_at_rest_stays_so(settling: Settling, clock: Clock) -> None:
    settling.observe(_scan(a_txt=(5, 1)))
    clock.now += 2
    settling.observe(_scan(a_txt=(5, 1)))

    assert settling.observe(_scan(a_txt=(5, 1))) == set()


def test_impossible_times_are_refused() -> None:
    with pytest.raises(ValueError, match="quiet_s must be positive and under limit_s"):
        Settling(quiet_s=5, limit_s=5)
