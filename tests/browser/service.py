"""A running `rag-source up` as a handle: started, asked for a link, killed, started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx

__all__ = ["Service"]

_HERE = Path(__file__).parent
_START_S = 90.0


class Service:
    """The service on a folder, with its state beside it."""

    def __init__(self, corpus: Path, state: Path, *, port: int = 0) -> None:
        self.corpus = corpus
        self.state = state
        self.port = port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return (self.state / "api-token").read_text(encoding="ascii").strip()

    def start(self) -> None:
        """Until it answers. The port stays the same from the first start on."""
        words = self.state.parent / f"service-{time.monotonic_ns()}.txt"
        with words.open("wb") as out:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, str(_HERE / "service_program.py")),
                    *("up", "--port", str(self.port)),
                ],
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
        deadline = time.monotonic() + _START_S
        while "answers on " not in (said := words.read_text(encoding="utf-8")):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the service did not start: {said[-2000:]}")
            time.sleep(0.05)
        self.port = int(said.split("answers on ")[1].split()[0].rsplit(":", 1)[1])

    def kill(self) -> None:
        """SIGKILL; without effect if it does not run."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """SIGTERM, to its end."""
        self._end(signal.SIGTERM)

    def new_code(self) -> str:
        """A code for a one-time link."""
        with self._client() as http:
            answer = http.post("/v1/session/code")
            answer.raise_for_status()
            return str(answer.json()["code"])

    def wait_until_indexed(self, *, timeout_s: float = 120.0) -> None:
        """Until nothing waits in the queue and the folder has been looked at."""
        deadline = time.monotonic() + timeout_s
        with self._client() as http:
            while time.monotonic() < deadline:
                waiting = http.get("/v1/jobs").json()["jobs"]
                known = {one["path"] for one in http.get("/v1/documents").json()["documents"]}
                there = {
                    str(path.relative_to(self.corpus))
                    for path in self.corpus.rglob("*")
                    if path.is_file()
                }
                if not waiting and there <= known:
                    return
                time.sleep(0.2)
        raise TimeoutError("the documents were not indexed in time")

    def _client(self) -> httpx.Client:
        return httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {self.token}"},
            trust_env=False,
            timeout=30,
        )

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(timeout=30)
            self._process = None

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if "RAG_SOURCE_" not in name}
        return kept | {
            "PYTHONPATH": os.pathsep.join((str(_HERE.parent), kept.get("PYTHONPATH", ""))),
            "RAG_SOURCE_DATA_DIR": str(self.corpus),
            "RAG_SOURCE_STATE_DIR": str(self.state),
            "RAG_SOURCE_CACHE_DIR": str(self.state.parent / "cache"),
            # The stand-in embedder knows no meaning: what shares words with a question is near.
            "RAG_SOURCE_SEARCH_THRESHOLD": "0.15",
            "NO_PROXY": "127.0.0.1,localhost",
        }
