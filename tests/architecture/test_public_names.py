"""The domain's public names are all of them in `__all__`, in order."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from architecture.source_tree import SOURCE, tree_of

MODULES = sorted(path for path in (SOURCE / "domain").glob("*.py") if path.stem != "__init__")


def _defined(tree: ast.Module) -> Iterator[str]:
    """Public names that the module itself binds at its top level, imports left out."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def _order(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest, each in alphabetical order (ruff's RUF022)."""
    kind = 0 if name.isupper() else 1 if name[0].isupper() else 2
    return kind, name


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_all_is_sorted_and_complete(path: Path) -> None:
    public = list(importlib.import_module(f"rag_source.domain.{path.stem}").__all__)

    assert public == sorted(public, key=_order)
    assert set(public) == {name for name in _defined(tree_of(path)) if not name.startswith("_")}
