"""What the installation knows about each file of the corpus, whatever became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from rag_source.domain.documents import ParseWarning, SourceFile

__all__ = ["DocumentRecord", "DocumentStatus", "FileState", "RebuiltDocument"]

DocumentStatus: TypeAlias = Literal["indexing", "ready", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRecord:
    """A file and its state. `ready` has at least one chunk; `failed` has a `code` and `message`;
    `indexing` was ready, lost its chunks, and waits for the next look at its file.

    `doc_id` is given at first sight and survives updates and renames. `indexed_at` is an ISO 8601
    time in UTC. `loader_version` is 0 for a file that was never parsed. `recipe` names the settings
    that shaped the document's text and chunks; it is empty where they are not known.
    """

    doc_id: str
    source: SourceFile
    status: DocumentStatus
    code: str = ""
    message: str = ""
    warnings: tuple[ParseWarning, ...] = ()
    format: str = ""
    loader: str = ""
    loader_version: int = 0
    title: str = ""
    language: str = "und"
    pages: int = 0
    blocks: int = 0
    tables: int = 0
    chunks: int = 0
    indexed_at: str = ""
    recipe: str = ""

    def __post_init__(self) -> None:
        if self.status == "ready" and self.chunks < 1:
            raise ValueError(f"{self.source.path!r} cannot be ready with no chunk")
        if self.status == "failed" and not (self.code and self.message):
            raise ValueError(f"{self.source.path!r} failed without saying why")


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltDocument:
    """A document as a collection that is made anew holds it.

    `version_id` is that of the parse its chunks were cut from, `recipe` names the settings they
    were made by, `path` stands in them. `problem` says why the new embedding model cannot take the
    document; it then has no `chunks`.
    """

    doc_id: str
    version_id: str
    recipe: str
    path: str
    chunks: int
    problem: str = ""


class FileState(NamedTuple):
    """What of a record tells whether its file is as it was; fields as there. `warning_codes` are
    separated by spaces.

    A tuple, which is made in a tenth of a record's time: a look at the folder asks for all of them.
    """

    doc_id: str
    path: str
    size_bytes: int
    mtime_ns: int
    status: DocumentStatus
    code: str
    loader: str
    loader_version: int
    recipe: str
    pages: int
    chunks: int
    warning_codes: str = ""
