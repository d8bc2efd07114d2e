"""A parse as rows of the tables `versions` and `version_pages`, and back."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from rag_source.domain.documents import Page, ParsedDocument
from rag_source.store.parse_codec import (
    PARSE_CODEC,
    READABLE_CODECS,
    pack_blocks,
    pack_text,
    pack_warnings,
    pack_words,
    unpack_blocks,
    unpack_text,
    unpack_warnings,
    unpack_words,
)

__all__ = ["VersionRows", "page_of", "parsed_of"]


@dataclass(frozen=True, slots=True)
class VersionRows:
    """A parse, packed before the lock is taken."""

    version_id: str
    version: tuple[Any, ...]
    pages: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, version_id: str, doc_id: str, parsed: ParsedDocument) -> VersionRows:
        version = (
            *(version_id, doc_id, PARSE_CODEC, pack_text(parsed.text), pack_blocks(parsed.blocks)),
            *(parsed.title, parsed.language, parsed.loader, parsed.loader_version),
            pack_warnings(parsed.warnings),
        )
        return cls(version_id, version, tuple(_page_row(version_id, p) for p in parsed.pages))

    def insert(self, connection: sqlite3.Connection) -> None:
        marks = ", ".join("?" * len(self.version))
        connection.execute(f"INSERT INTO versions VALUES ({marks})", self.version)  # noqa: S608 -- bound
        connection.executemany(
            "INSERT INTO version_pages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self.pages
        )


def parsed_of(row: tuple[Any, ...], pages: tuple[Page, ...]) -> ParsedDocument:
    _, _, codec, text, blocks, title, language, loader, loader_version, warnings = row
    if codec not in READABLE_CODECS:
        raise ValueError(f"a parse has the codec {codec}")
    return ParsedDocument(
        text=unpack_text(text),
        blocks=unpack_blocks(blocks),
        title=title,
        language=language,
        loader=loader,
        loader_version=loader_version,
        pages=pages,
        warnings=unpack_warnings(warnings),
    )


def _page_row(version_id: str, page: Page) -> tuple[Any, ...]:
    return (
        *(version_id, page.number, page.width_pt, page.height_pt, page.rotation),
        *(page.start, page.end, pack_words(page)),
    )


def page_of(row: tuple[Any, ...]) -> Page:
    number, width_pt, height_pt, rotation, start, end, *words = row
    return Page(
        number=number,
        width_pt=width_pt,
        height_pt=height_pt,
        rotation=rotation,
        start=start,
        end=end,
        words=unpack_words(words[0], page_start=start) if words else (),
    )
