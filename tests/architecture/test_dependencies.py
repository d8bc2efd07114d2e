"""Every direct dependency is justified in ADR 0002, and used."""

from __future__ import annotations

import ast
import re
import tomllib

from architecture.source_tree import ROOT, SOURCE, tree_of

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECORD = (ROOT / "docs" / "adr" / "0002-dependencies.md").read_text(encoding="utf-8")
# Where the module has another name than the package.
MODULE = {
    "beautifulsoup4": "bs4",
    "charset-normalizer": "charset_normalizer",
    "markdown-it-py": "markdown_it",
    "pillow": "PIL",
    "pydantic-settings": "pydantic_settings",
    "qdrant-edge-py": "qdrant_edge",
}


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower() for requirement in requirements}


RUNTIME = _names(PROJECT["project"]["dependencies"])
for extra in PROJECT["project"]["optional-dependencies"].values():
    RUNTIME |= _names(extra)
DEVELOPMENT = _names(PROJECT["dependency-groups"]["dev"])


def test_every_dependency_is_justified_and_nothing_else_is() -> None:
    justified = set(re.findall(r"^\| `([a-z0-9._-]+)` \|", RECORD, re.MULTILINE))
    assert justified == RUNTIME | DEVELOPMENT


def _imports(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def test_every_dependency_is_imported() -> None:
    imported: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        imported |= _imports(tree_of(path))
    assert {MODULE.get(package, package) for package in RUNTIME} - imported == set()
