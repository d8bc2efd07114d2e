"""The whole product on the real models: the demo, and a service that other commands use."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from rag_source.cli.demo import samples_dir

pytestmark = [pytest.mark.models, pytest.mark.timeout(900)]
_START_S = 600


@dataclass(frozen=True)
class Installation:
    """A corpus with its state, and how to run commands on it."""

    environment: dict[str, str]
    state: Path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "rag_source", *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> tuple[int, Any]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=_START_S)
        assert out or process.returncode == 2, err
        return process.returncode, json.loads(out or err.splitlines()[-1])


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    root = tmp_path_factory.mktemp("installation")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RAG_SOURCE_")}
    environment["RAG_SOURCE_DATA_DIR"] = str(samples_dir())
    environment["RAG_SOURCE_STATE_DIR"] = str(root / "state")
    return Installation(environment, root / "state")


@pytest.fixture(scope="module")
def service(installation: Installation) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`rag-source up` on the samples, ready and indexed."""
    process = installation.start("up", "--port", "0")
    assert process.stderr is not None
    url = ""
    for line in process.stderr:
        if "answers on" in line:
            url = line.split("answers on ")[1].split()[0]
        if line.startswith("index:"):
            break
    assert url, "the service ended before it answered"
    yield process, url
    process.terminate()
    # Reads what is left and closes both pipes; a pipe left open is a warning in a later test.
    process.communicate(timeout=60)


def _children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text(encoding="ascii").split()]


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_service_answers_in_french_with_the_exact_line_highlighted(
    installation: Installation, service: tuple[subprocess.Popen[str], str]
) -> None:
    code, answer = installation.run(
        "ask", "Quel est le total du bon de livraison BL-2026-0312 ?", "--json"
    )
    assert code == 0
    assert answer["language"] == "fr"
    verified = [c for c in answer["citations"] if c["status"] == "verified"]
    assert any("82 900,00 DH" in c["quote"] for c in verified)
    assert any(c["path"] == "bon-de-livraison-BL-2026-0312.pdf" for c in verified)
    boxes = [box for c in verified for box in c["boxes"]]
    assert boxes
    assert all(0 <= b["x0"] < b["x1"] <= 1 and 0 <= b["y0"] < b["y1"] <= 1 for b in boxes)


def test_service_refuses_what_the_samples_do_not_say(
    installation: Installation, service: tuple[subprocess.Popen[str], str]
) -> None:
    code, answer = installation.run("ask", "Who won the world cup in 1998?", "--json")
    assert code == 1
    assert answer["refused"] is True
    assert answer["citations"] == []


def test_codes_are_found_exactly(
    installation: Installation, service: tuple[subprocess.Popen[str], str]
) -> None:
    for query in ("40564101", "VT-COB/SKU98496", "MW-104 E07"):
        code, found = installation.run("search", query, "--mode", "bm25", "--json")
        assert code == 0
        best = found["results"][0]["text"]
        assert all(part in best for part in query.split()), query


def test_stream_of_a_running_service_ends_in_done(
    installation: Installation, service: tuple[subprocess.Popen[str], str]
) -> None:
    _, url = service
    token = (installation.state / "api-token").read_text(encoding="ascii").strip()
    names = []
    with httpx.stream(
        "POST",
        f"{url}/v1/ask/stream",
        json={"question": "What does error code E07 mean?"},
        headers={"Authorization": f"Bearer {token}"},
        timeout=300,
        trust_env=False,
    ) as response:
        for line in response.iter_lines():
            if line.startswith("event: "):
                names.append(line.removeprefix("event: "))
    assert names[0] == "search"
    assert "token" in names
    assert names[-1] == "done"
    assert names.count("done") == 1


def test_wrong_token_is_refused_by_the_service(
    installation: Installation, service: tuple[subprocess.Popen[str], str]
) -> None:
    other = Installation(
        installation.environment | {"RAG_SOURCE_API_TOKEN": "another-token-0123456789"},
        installation.state,
    )
    code, error = other.run("docs", "--json")
    assert code == 2
    assert error["code"] == "unauthorized"


def test_killed_service_leaves_no_child_and_no_lock(
    installation: Installation, service: tuple[subprocess.Popen[str], str]
) -> None:
    """Last in this module: it ends the service that the others use."""
    process, _ = service
    children = _children(process.pid)
    assert children
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    deadline = time.monotonic() + 30
    while any(_alive(child) for child in children) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert [child for child in children if _alive(child)] == []
    code, documents = installation.run("docs", "--json")
    assert code == 0
    assert all(document["status"] == "ready" for document in documents["documents"])


def test_demo_answers_in_three_languages_and_refuses_once(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RAG_SOURCE_")}
    demo = Installation(environment, tmp_path)
    code, report = demo.run("demo", "--json")
    assert code == 0, [(a["question"], a["answer"], a["reason"]) for a in report["answers"]]
    assert [a["language"] for a in report["answers"]][:3] == ["fr", "en", "ar"]
    assert report["answers"][3]["refused"] is True
