"""The tree of errors is one, complete, and each of its codes means one thing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from architecture.source_tree import SOURCE, name_of, tree_of
from rag_source.domain import errors
from rag_source.domain.errors import RagError


def _walk(cls: type[RagError]) -> Iterator[type[RagError]]:
    yield cls
    for child in cls.__subclasses__():
        yield from _walk(child)


ERRORS = [cls for cls in _walk(RagError) if cls.__module__ == errors.__name__]


@pytest.mark.parametrize("cls", ERRORS, ids=lambda cls: cls.__name__)
def test_every_error_has_an_http_status_an_exit_code_and_a_meaning(cls: type[RagError]) -> None:
    assert 400 <= cls.http_status <= 599
    assert cls.exit_code == 2
    assert (cls.__doc__ or "").strip()


@pytest.mark.parametrize("cls", ERRORS, ids=lambda cls: cls.__name__)
def test_every_error_is_public(cls: type[RagError]) -> None:
    assert cls.__name__ in errors.__all__


def test_no_two_errors_share_a_code() -> None:
    codes = [cls.code for cls in ERRORS]
    assert sorted(codes) == sorted(set(codes))


def test_errors_are_defined_in_the_tree_and_nowhere_else() -> None:
    names = {cls.__name__ for cls in ERRORS}
    strays = [
        f"{name_of(path)}: {node.name}"
        for path in SOURCE.rglob("*.py")
        if path != SOURCE / "domain" / "errors.py"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id in names for base in node.bases)
    ]
    assert strays == []
