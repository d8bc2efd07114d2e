"""An answer without a model: the lines of the passages that come closest to the question (A12)."""

from __future__ import annotations

from dataclasses import dataclass

from rag_source.generation.markers import read_markers
from rag_source.generation.shelf import Shelf

__all__ = ["Extract", "best_extracts", "coverage", "is_copy"]

_COPIED_LINES = 4
_COPIED_SHARE = 0.6
_EXTRACTS = 3
_WORTH = 0.5  # of the best extract's share of the question: less is not shown beside it


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """A line of a passage, `chunk.text[start:end]`, and the share (0..1) of the question in it."""

    marker: int
    start: int
    end: int
    share: float


def best_extracts(shelf: Shelf) -> list[Extract]:
    """One to three lines, the best first; where no word is shared, the best passage's first line.

    Of equal lines the one in the better passage comes first.
    """
    terms = shelf.question
    found: list[Extract] = []
    for shelved in shelf.passages:
        for line in shelved.lines:
            share = shelf.share(terms, line.terms)
            if line.terms - terms:  # a line that only repeats the question says nothing
                found.append(
                    Extract(
                        marker=shelved.passage.marker, start=line.start, end=line.end, share=share
                    )
                )
    found.sort(key=lambda extract: -extract.share)
    if not found:
        return []
    least = max(_WORTH * found[0].share, 1e-9)
    return [e for e in found[:_EXTRACTS] if e.share >= least] or found[:1]


def is_copy(draft: str, shelf: Shelf) -> bool:
    """Whether a draft copies a passage out instead of answering from it: four lines or more, most
    of them the passage's own. Small models do, with Arabic tables above all."""
    lines = [line for line in map(_plain, draft.split("\n")) if line]
    if len(lines) < _COPIED_LINES:
        return False
    texts = [_plain(shelved.text) for shelved in shelf.passages]
    copied = max(sum(line in text for line in lines) for text in texts)
    return copied >= _COPIED_SHARE * len(lines)


def _plain(text: str) -> str:
    return " ".join(read_markers(text).text.split())


def coverage(shelf: Shelf) -> float:
    """The share (0..1) of the question that its best line holds."""
    extracts = best_extracts(shelf)
    return extracts[0].share if extracts else 0.0
