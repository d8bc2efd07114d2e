"""The two programs under test as handles: the stand-in embedder, and the service on a corpus."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

__all__ = ["Embedder", "Installation", "Service", "alive", "children", "wait_for"]

_HERE = Path(__file__).parent
_START_S = 90.0


def wait_for(
    condition: Callable[[], object], what: str, *, timeout_s: float = 60.0, step_s: float = 0.02
) -> None:
    """Until the condition holds.

    Raises:
        TimeoutError: It did not in time.
    """
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {timeout_s:g} s")
        time.sleep(step_s)


def alive(pid: int) -> bool:
    """Whether the process runs; one that waits to be reaped does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


def children(pid: int, program: str = "") -> list[int]:
    """The processes that a process started, those whose command line names `program`."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in task.read_text(encoding="ascii").split()]
        except OSError:
            continue
    return [child for child in found if program.encode() in _command_line(child)]


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


class Embedder:
    """The stand-in embedder; it may be killed and started again, on the same port."""

    def __init__(self, folder: Path, *, text_ms: float = 0.0) -> None:
        self.log = folder / "embedder.jsonl"
        self._control = folder / "embedder.json"
        self._port = 0
        self._process: subprocess.Popen[str] | None = None
        self.set(text_ms=text_ms)
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def set(self, mode: str = "ok", *, text_ms: float = 0.0) -> None:
        """How it behaves from the next request on."""
        unfinished = self._control.with_suffix(".new")
        unfinished.write_text(json.dumps({"mode": mode, "text_ms": text_ms}), encoding="utf-8")
        unfinished.replace(self._control)

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                *(sys.executable, str(_HERE / "embedder_program.py")),
                *("--log", str(self.log), "--control", str(self._control)),
                *("--port", str(self._port)),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self._port = int(self._process.stdout.readline())

    def kill(self) -> None:
        """SIGKILL, noted in the log; without effect if it does not run."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
            self.note(killed="embedder")

    def note(self, **entry: object) -> None:
        """Add to the log: what is killed, so that requests before and after are told apart."""
        with self.log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")


@dataclass
class Installation:
    """A corpus with its state, and how `rag-source` is run on it."""

    corpus: Path
    state: Path
    embedder: Embedder
    read_s: float = 30.0
    variables: Mapping[str, str] = field(default_factory=dict)
    limit_file_bytes: int = 0

    def command(self, *arguments: str) -> list[str]:
        program = str(_HERE / "service_program.py")
        return [sys.executable, program, self.embedder.url, str(self.read_s), *arguments]

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if "RAG_SOURCE_" not in name}
        kept_path = [kept.get("PYTHONPATH", "")]
        return kept | {
            "PYTHONPATH": os.pathsep.join(filter(None, (str(_HERE.parent), *kept_path))),
            "RAG_SOURCE_DATA_DIR": str(self.corpus),
            "RAG_SOURCE_STATE_DIR": str(self.state),
            "RAG_SOURCE_CACHE_DIR": str(self.corpus.parent / "cache"),
            "NO_PROXY": "127.0.0.1,localhost",
            **self.variables,
        }

    def limit(self) -> None:
        """In a new process, before its program."""
        if self.limit_file_bytes:
            import resource  # Not on every system.

            resource.setrlimit(resource.RLIMIT_FSIZE, (self.limit_file_bytes,) * 2)

    def run(self, *arguments: str, timeout_s: float = 120.0) -> subprocess.CompletedProcess[str]:
        """A command to its end."""
        return subprocess.run(
            self.command(*arguments),
            env=self.environment(),
            preexec_fn=self.limit,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def start(self) -> Service:
        """`rag-source up`; it may not be ready yet."""
        return Service(self)


class Service:
    """A running `rag-source up`, until it is killed or stopped."""

    started: ClassVar[list[Service]] = []
    """All of them, so that none outlives a test that failed."""

    def __init__(self, installation: Installation) -> None:
        self.started.append(self)
        self._words = installation.state.parent / f"service-{time.monotonic_ns()}.txt"
        with self._words.open("wb") as words:
            self._process = subprocess.Popen(
                installation.command("up", "--port", "0"),
                env=installation.environment(),
                preexec_fn=installation.limit,
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=words,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def words(self) -> str:
        """All that it wrote."""
        return self._words.read_text(encoding="utf-8", errors="replace")

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def url(self) -> str:
        """Where it answers, once it does. Whatever its predecessor left half done is then over."""
        wait_for(
            lambda: "answers on" in self.words or not self.running,
            "the service answers",
            timeout_s=_START_S,
        )
        assert "answers on" in self.words, self.words
        return self.words.split("answers on ")[1].split()[0]

    def parsers(self) -> list[int]:
        """Its parser processes."""
        return children(self.pid, "parse_worker")

    def kill(self) -> list[int]:
        """SIGKILL; returns the processes of its own that outlived it by more than five seconds."""
        left = children(self.pid)
        self._process.kill()
        self._process.wait()
        try:
            wait_for(lambda: not any(map(alive, left)), "no child lives on", timeout_s=5)
        except TimeoutError:
            return [pid for pid in left if alive(pid)]
        return []

    def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(timeout=60)
