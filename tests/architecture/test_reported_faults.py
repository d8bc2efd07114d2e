"""The documentation names a test for every reported fault, and each of these tests exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from architecture.source_tree import ROOT, tree_of

NUMBERS = [f"B{number:02}" for number in range(1, 33)]
_ROW = re.compile(r"^\| (B\d\d) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
ROWS = _ROW.findall((ROOT / "docs" / "testing.md").read_text(encoding="utf-8"))


def _tests_in(path: Path) -> set[str]:
    """The test functions of a module, those of its classes included."""
    return {
        node.name
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    }


def test_every_reported_fault_is_listed_once_and_in_order() -> None:
    assert [number for number, _, _ in ROWS] == NUMBERS


@pytest.mark.parametrize(("number", "fault", "tests"), ROWS, ids=[row[0] for row in ROWS])
def test_every_test_named_for_a_reported_fault_exists(number: str, fault: str, tests: str) -> None:
    named = _TEST.findall(tests)

    assert fault.strip()
    assert named, f"no test stands for {number}"
    assert tests.replace("<br>", "") == "".join(f"`{path}::{name}`" for path, name in named)
    assert [
        f"{path}::{name}"
        for path, name in named
        if not (ROOT / path).is_file() or name not in _tests_in(ROOT / path)
    ] == []
