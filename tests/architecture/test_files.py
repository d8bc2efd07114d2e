"""What every file of the project keeps to."""

from __future__ import annotations

import ast

from architecture.source_tree import ROOT, name_of, project_files, python_files, tree_of

LIMIT_BYTES = 300_000
TEXT = frozenset(".py .md .sh .toml .yml .yaml .jsonl .html .csv .tsv .txt .css .js .json".split())
LARGE_ON_PURPOSE = {"uv.lock"}


def test_no_file_is_large() -> None:
    large = [
        name_of(path)
        for path in project_files()
        if path.stat().st_size > LIMIT_BYTES and name_of(path) not in LARGE_ON_PURPOSE
    ]
    assert large == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [name_of(path) for path in python_files() if not ast.get_docstring(tree_of(path))]
    assert silent == []


def test_text_files_are_utf8_with_unix_line_ends_and_a_last_newline() -> None:
    bad = []
    for path in project_files():
        if path.suffix not in TEXT or path.stat().st_size == 0:
            continue
        content = path.read_bytes()
        content.decode("utf-8")
        if b"\r" in content or not content.endswith(b"\n"):
            bad.append(name_of(path))
    assert bad == []


def test_nothing_reads_the_environment_but_the_settings() -> None:
    readers = [
        name_of(path)
        for path in (ROOT / "src").rglob("*.py")
        if path.name != "settings.py" and _reads_environment(tree_of(path))
    ]
    assert readers == []


def _reads_environment(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
        and node.attr in ("environ", "getenv")
        for node in ast.walk(tree)
    )
