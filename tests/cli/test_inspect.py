"""What `inspect` prints, how much of a folder it looks at, and how it is interrupted."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.conftest import Run
from documents import make_csv, make_text


def test_each_file_shows_what_was_found_in_it(run: Run, corpus: Path) -> None:
    text = "# Returns\n\nGoods may be returned within thirty days.\n\n- unused\n- in their box\n"
    make_text(corpus / "a.md", text)
    make_csv(corpus / "b.csv", [["name", "price"], ["bowl", "2"]])

    lines = run("inspect", str(corpus)).out.splitlines()

    assert lines == [
        "a.md: ready, markdown, language en, 4 blocks (2 list items, 1 heading, 1 paragraph), "
        "1 chunk",
        "b.csv: ready, delimited, language und, 1 block (1 table), 1 table, 1 chunk",
        "  Read as utf-8, fields separated by ','. [read_as]",
        "2 files: 2 ready",
    ]


def test_failed_file_shows_its_reason_and_no_figures(run: Run, corpus: Path) -> None:
    path = make_text(corpus / "a.txt", "")

    outcome = run("inspect", str(path))

    first, reason = outcome.out.splitlines()
    assert first == "a.txt: failed [empty], text"
    assert "0 bytes" in reason
    assert outcome.code == 1


def test_text_is_printed_in_full(run: Run, corpus: Path) -> None:
    path = make_text(corpus / "a.txt", "First words.\n\nLast words.")

    assert run("inspect", str(path), "--text").out.endswith("\nFirst words.\n\nLast words.\n")


def test_json_has_every_figure(run: Run, corpus: Path) -> None:
    make_text(corpus / "a.md", "# Title\n\nWords of the paragraph.")

    (file,) = run("inspect", str(corpus), "--json").json["files"]

    assert file["kinds"] == {"heading": 1, "paragraph": 1}
    assert (file["format"], file["loader"], file["ocr_pages"]) == ("md", "markdown", 0)


@pytest.fixture
def many(corpus: Path) -> Path:
    for i in range(30):
        make_text(corpus / f"{i:02}.txt", f"Words of file {i}.")
    make_csv(corpus / "a.csv", [["name", "price"], ["bowl", "2"]])
    return corpus


@pytest.mark.parametrize(
    "arguments",
    [["FOLDER", "--sample"], ["--sample", "FOLDER"], ["FOLDER", "--sample", "--text"]],
    ids=["last", "before the path", "before an option"],
)
def test_sample_without_a_number_takes_twelve(run: Run, many: Path, arguments: list[str]) -> None:
    outcome = run("inspect", *[str(many) if a == "FOLDER" else a for a in arguments])

    assert outcome.code == 0
    assert "a.csv: ready" in outcome.out
    assert outcome.out.splitlines()[-1] == "12 files: 12 ready; 19 of 31 left out"


@pytest.mark.parametrize("option", [["--sample", "3"], ["--sample=3"]], ids=["apart", "joined"])
def test_sample_of_a_number_takes_so_many(run: Run, many: Path, option: list[str]) -> None:
    outcome = run("inspect", str(many), *option, "--json")

    assert len(outcome.json["files"]) == 3
    assert outcome.json["left_out"] == 28


@pytest.mark.parametrize("number", ["0", "-1"])
def test_sample_of_nothing_is_refused(run: Run, many: Path, number: str) -> None:
    outcome = run("inspect", str(many), "--sample", number)

    assert outcome.code == 2
    assert "--sample" in outcome.err


def test_whole_folder_leaves_nothing_out(run: Run, many: Path) -> None:
    outcome = run("inspect", str(many), "--json")

    assert len(outcome.json["files"]) == 31
    assert outcome.json["left_out"] == 0


@pytest.mark.processes
def test_interrupt_ends_workers_and_leaves_no_traceback(tmp_path: Path) -> None:
    make_text(tmp_path / "a.txt", "Words.")
    for i in range(300):
        make_text(tmp_path / f"b{i}.txt", "Some more words. " * 2000)
    with subprocess.Popen(
        [sys.executable, "-m", "rag_source", "inspect", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        workers = _children(process.pid)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)

    assert first.startswith("a.txt: ready")
    assert workers
    assert process.returncode == 130
    assert all(line.startswith("inspecting") for line in err.splitlines()), err
    assert _gone(workers)


def _children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True, check=True)
    pairs = [line.split() for line in listed.stdout.splitlines()[1:]]
    return [int(child) for child, parent in pairs if int(parent) == pid]


def _gone(pids: list[int]) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.1)
    return False
