"""One process per state directory, and a clear word to the second one."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rag_source.domain.errors import ConfigurationError, StateInUseError
from rag_source.store.lock import LockHolder, StateLock, current_holder

_HOLDER = """
import sys
from pathlib import Path
from rag_source.store.lock import StateLock
lock = StateLock(Path(sys.argv[1]), "rag-source up")
lock.acquire()
lock.announce("http://127.0.0.1:8000")
print("held", flush=True)
sys.stdin.read()
"""


def start_holder(state_dir: Path) -> subprocess.Popen[str]:
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(state_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_second_process_is_told_who_holds_the_state(tmp_path: Path) -> None:
    holder = start_holder(tmp_path)
    try:
        with pytest.raises(StateInUseError) as caught:
            StateLock(tmp_path, "rag-source ingest").acquire()
        assert f"process {holder.pid}" in caught.value.message
        assert "rag-source up at http://127.0.0.1:8000" in caught.value.message
        assert f"since {datetime.now(UTC).year}" in caught.value.message
        assert f"kill {holder.pid}" in caught.value.hint
    finally:
        end(holder)


def test_killed_process_leaves_no_lock(tmp_path: Path) -> None:
    holder = start_holder(tmp_path)
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    assert current_holder(tmp_path) is None
    with StateLock(tmp_path, "rag-source ingest"):
        assert current_holder(tmp_path) is not None


def test_holder_is_known_while_it_holds_and_not_after(tmp_path: Path) -> None:
    then = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    lock = StateLock(tmp_path, "rag-source ask", now=lambda: then)
    assert current_holder(tmp_path) is None
    with lock:
        assert current_holder(tmp_path) == LockHolder(
            pid=os.getpid(), purpose="rag-source ask", since="2026-01-02T03:04:05+00:00"
        )
    assert current_holder(tmp_path) is None
    lock.release()


def test_second_lock_of_the_same_process_is_refused(tmp_path: Path) -> None:
    with StateLock(tmp_path, "one"), pytest.raises(StateInUseError, match="one"):
        StateLock(tmp_path, "two").acquire()


def test_refused_lock_leaves_the_holder_its_lock(tmp_path: Path) -> None:
    with StateLock(tmp_path, "one"):
        for _ in range(2):
            with pytest.raises(StateInUseError):
                StateLock(tmp_path, "two").acquire()


def test_child_process_does_not_keep_the_lock(tmp_path: Path) -> None:
    lock = StateLock(tmp_path, "parent")
    lock.acquire()
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, text=True
    )
    try:
        lock.release()
        with StateLock(tmp_path, "next"):
            pass
    finally:
        end(child)


_FORKER = """
import os, sys
from pathlib import Path
from rag_source.store.lock import StateLock
lock = StateLock(Path(sys.argv[1]), "parent")
lock.acquire()
if os.fork() == 0:
    print(os.getpid(), flush=True)
    sys.stdin.read()
    os._exit(0)
os.kill(os.getpid(), 9)
"""


def test_forked_child_does_not_keep_the_lock_of_its_killed_parent(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", _FORKER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    try:
        parent.wait()
        with StateLock(tmp_path, "next"):
            os.kill(child, 0)
    finally:
        os.kill(child, signal.SIGKILL)
        parent.communicate()


def test_missing_directory_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="does not exist") as caught:
        StateLock(tmp_path / "missing", "x").acquire()
    assert caught.value.code == "state_missing"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS], ids=["denied", "read-only"])
def test_unwritable_directory_is_a_configuration_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ConfigurationError, match="cannot be written") as caught:
        StateLock(tmp_path, "x").acquire()
    assert caught.value.code == "state_unwritable"
    assert "RAG_SOURCE_STATE_DIR" in caught.value.hint


def test_unreadable_holder_is_still_a_refusal(tmp_path: Path) -> None:
    with StateLock(tmp_path, "one"):
        (tmp_path / "lock").write_text("?", encoding="utf-8")
        with pytest.raises(StateInUseError, match="another process"):
            StateLock(tmp_path, "two").acquire()
