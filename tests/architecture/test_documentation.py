"""The documentation agrees with the code and with itself."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from architecture.source_tree import ROOT, name_of, project_files

PAGES = [
    path for path in project_files() if path.suffix == ".md" and "data/samples" not in str(path)
]
DECISIONS = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
# The stable fields of each command, as programs read them.
STABLE_FIELDS = {
    "search": "query mode threshold results rank score kept path page section text chunk_id "
    "timings_ms",
    "ask": "answer refused reason language citations marker status score quote path page block "
    "start end boxes page x0 y0 x1 y1 uncited_figures badge timings_ms",
    "ingest": "added updated removed unchanged failed path code message chunks seconds",
    "inspect": "files path status code message warnings loader pages blocks tables chunks text",
    "eval": "dataset mode questions hit_at_1 hit_at_6 recall_at_6 mrr_at_10 ndcg_at_10 "
    "kept_answerable refused_unanswerable seconds",
    "verify": "total right false_verified false_unverified wrong",
}


def test_generated_regions_are_up_to_date() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "scripts.make_docs", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("command", STABLE_FIELDS)
def test_stable_json_fields_are_documented_in_order(command: str) -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    shape = re.search(rf"^- `{command}`:\s+`([^`]*)`", text, re.MULTILINE)
    assert shape is not None
    documented = re.findall(r"\w+", shape[1])

    position = 0
    for field in STABLE_FIELDS[command].split():
        assert field in documented[position:], f"{field!r} is missing or out of order"
        position = documented.index(field, position) + 1


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", text)
    broken = [target for target in targets if not (page.parent / target).exists()]
    assert broken == []


def test_glossary_is_sorted_and_says_each_word_once() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE)[1:]
    assert len(words) > 20
    assert words == sorted(set(words), key=str.lower)


@pytest.mark.parametrize("path", DECISIONS, ids=name_of)
def test_decision_has_every_part_of_its_form(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# {path.name[:4]} ")
    assert re.search(r"^\*\*Status\*\*: .+ \*\*Date\*\*: \d{4}-\d\d-\d\d\.$", text, re.MULTILINE)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [
        "Context",
        "Decision",
        "Options considered",
        "Consequences",
        "Confirmed by",
        "Revisit when",
    ]


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = [int(path.name[:4]) for path in DECISIONS]
    assert numbers == list(range(1, len(numbers) + 1))
