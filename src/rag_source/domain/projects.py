"""A project: a folder of documents with an index of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rag_source.domain.errors import RequestError

__all__ = ["DEFAULT_PROJECT", "Project", "check_project_name"]

DEFAULT_PROJECT = "default"
"""The project of `RAG_SOURCE_DATA_DIR`; it is in no list and needs no name."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """`folder` and `state` are absolute; `state` holds its index and nobody else's."""

    name: str
    folder: Path
    state: Path


def check_project_name(name: str) -> str:
    """The name, if it can be one: it stands in commands, addresses and folder names.

    Raises:
        RequestError: It cannot.
    """
    if name == DEFAULT_PROJECT or not _NAME.fullmatch(name) or ".." in name:
        raise RequestError(
            f"{name[:80]!r} cannot be the name of a project",
            code="bad_request",
            hint="use 1 to 63 small letters, digits, dots, dashes or underscores, not 'default'",
        )
    return name
