"""A conversation as Markdown: each answer with the quotes that it rests on, and their verdicts.

Texts of documents and models are escaped: they must not become links, pictures or HTML in the
program that shows the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_source.domain.answers import Citation
from rag_source.domain.conversations import Conversation, KeptAnswer

__all__ = ["markdown_of"]

_SPECIAL = re.compile(r"[\\`*_\[\]<>#|~!&]")
_LINE_START = re.compile(r"^(\s*)([-+=]|\d+[.)])", re.MULTILINE)
_MARKERS = re.compile(r"(\[\d{1,3}\])")
_SIGNS = {"verified": "✓", "unverified": "~", "rejected": "✗"}


@dataclass(frozen=True, slots=True)
class _Words:
    """The few words of the export itself."""

    sources: str
    page: str
    row: str
    verdicts: dict[str, str]


_WORDS = {
    "en": _Words(
        "Sources",
        "p.",
        "row",
        {"verified": "verified", "unverified": "not verified", "rejected": "no such source"},
    ),
    "fr": _Words(
        "Sources",
        "p.",
        "ligne",
        {"verified": "vérifiée", "unverified": "non vérifiée", "rejected": "aucune telle source"},
    ),
    "ar": _Words(
        "المصادر",
        "ص",
        "السطر",
        {"verified": "مؤكد", "unverified": "غير مؤكد", "rejected": "لا يوجد مصدر بهذا الرقم"},
    ),
}


def markdown_of(conversation: Conversation) -> str:
    """The whole conversation; the numbers of the citations are those of the answers."""
    summary = conversation.summary
    parts = [f"# {_plain(summary.title)}", f"{summary.created_at} – {summary.updated_at}"]
    for kept in conversation.answers:
        parts += _answer(kept)
    return "\n\n".join(parts) + "\n"


def _answer(kept: KeptAnswer) -> Iterator[str]:
    answer = kept.answer
    words = _WORDS.get(answer.language, _WORDS["en"])
    yield f"## {_plain(' '.join(answer.question.split()))}"
    yield _with_markers(answer.text)
    if answer.citations:
        yield f"### {words.sources}"
        yield "\n".join(_citation(citation, words) for citation in answer.citations)
    if answer.badge:
        yield _plain(answer.badge)


def _citation(citation: Citation, words: _Words) -> str:
    """An item of the list, and below it the source's own words."""
    verdict = f"{_SIGNS[citation.status]} {words.verdicts[citation.status]}"
    parts = [f"[{citation.marker}]", verdict]
    if citation.path:
        parts.append(", ".join([f"**{_plain(citation.path)}**", *_place(citation, words)]))
    if citation.reason:
        parts.append(_plain(citation.reason))
    quoted = [f"  > {_plain(line)}" for line in citation.quote.splitlines() if line.strip()]
    return "\n".join([f"- {' · '.join(parts)}", *quoted])


def _place(citation: Citation, words: _Words) -> Iterator[str]:
    if citation.page is not None:
        yield f"{words.page} {citation.page}"
    table = citation.table
    if table is not None:
        if table.sheet:
            yield _plain(table.sheet)
        yield f"{words.row} {table.row}"
        if table.columns:
            yield _plain(" / ".join(table.columns))


def _with_markers(text: str) -> str:
    """The answer's text, its markers as they are."""
    parts = _MARKERS.split(text)
    return "".join(
        part if i % 2 else _SPECIAL.sub(r"\\\g<0>", part) for i, part in enumerate(parts)
    )


def _plain(text: str) -> str:
    return _LINE_START.sub(r"\1\\\2", _SPECIAL.sub(r"\\\g<0>", text))
