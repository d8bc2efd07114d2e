"""From recognised words to fragments, the input of the layout that all paginated files share."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rag_source.ingest.bidi import has_rtl
from rag_source.ingest.layout import Fragment, Item
from rag_source.ingest.ocr import OcrPage, OcrWord

__all__ = ["ocr_fragments"]

# Runs on one line that stand further apart than this, in ems, belong to different columns.
_WIDE_GAP_EM = 1.5
# Sizes measured from letters scatter; those within this factor are one size.
_SAME_SIZE = 1.2
_ASCENDING = frozenset("bdfhijkltßàâäçèéêëîïñôöùûü0123456789\"'“”‘’%&$€£?!#*")
_DESCENDING = frozenset("gjpqyç,;")
_FULL_HEIGHT = frozenset("()[]{}|/\\§@")
# The height of a word's ink in ems by its letters, of usual text fonts; Arabic words are measured
# by Tesseract with room for marks above and below.
_ASCENT, _X_HEIGHT, _DESCENT, _ARABIC = 0.72, 0.52, 0.21, 1.2


def ocr_fragments(page: OcrPage) -> list[Fragment]:
    """Fragments of the page's reading frame, in Tesseract's order, with font sizes in points."""
    runs = [run for line in _lines(page.words) for run in _runs(line)]
    sizes = _settled([(_size(run), sum(len(word.text) for word in run)) for run in runs])
    return [
        _fragment(run, size, order)
        for order, (run, size) in enumerate(zip(runs, sizes, strict=True))
    ]


def _lines(words: Sequence[OcrWord]) -> list[list[OcrWord]]:
    grouped: dict[int, list[OcrWord]] = {}
    for word in words:
        grouped.setdefault(word.line, []).append(word)
    return [sorted(line, key=lambda word: word.box[0]) for line in grouped.values()]


def _runs(line: Sequence[OcrWord]) -> list[list[OcrWord]]:
    wide = _WIDE_GAP_EM * _size(line)
    runs: list[list[OcrWord]] = [[line[0]]]
    for word in line[1:]:
        if word.box[0] - runs[-1][-1].box[2] > wide:
            runs.append([])
        runs[-1].append(word)
    return runs


def _size(words: Sequence[OcrWord]) -> float:
    """The font size in points: the median over the words, longer ones counting more."""
    estimates = [
        (word.box[3] - word.box[1]) / _ems(word.text) for word in words for _ in word.text[:12]
    ]
    return max(1.0, median(estimates))


def _ems(text: str) -> float:
    if has_rtl(text):
        return _ARABIC
    if any(char in _FULL_HEIGHT for char in text):
        return _ASCENT + _DESCENT
    tall = any(char in _ASCENDING or char.isupper() for char in text)
    deep = any(char in _DESCENDING for char in text)
    if not tall and not any(char.isalnum() for char in text):
        # Dashes and dots say nothing about the size; a wrong guess is outvoted by the words.
        return _X_HEIGHT
    return (_ASCENT if tall else _X_HEIGHT) + (_DESCENT if deep else 0.0)


def _settled(sizes: Sequence[tuple[float, int]]) -> list[float]:
    """(size, weight) pairs as sizes: those close to the usual one become it, and so on outwards."""
    out = [0.0] * len(sizes)
    left = list(range(len(sizes)))
    while left:
        usual = median(value for i in left for value in [sizes[i][0]] * sizes[i][1])
        near = [i for i in left if usual / _SAME_SIZE <= sizes[i][0] <= usual * _SAME_SIZE]
        if not near:
            # The median fell between two sizes: start from the nearest.
            near = [min(left, key=lambda i: abs(sizes[i][0] - usual))]
            usual = sizes[near[0]][0]
        for i in near:
            out[i] = max(1.0, round(usual * 2) / 2)
        left = [i for i in left if i not in set(near)]
    return out


def _fragment(run: Sequence[OcrWord], size: float, order: int) -> Fragment:
    # A speck or a rule read as part of a word would make a line overlap its neighbours.
    usual = [word for word in run if word.box[3] - word.box[1] <= 1.6 * size] or run
    return Fragment(
        items=tuple(
            Item(text=word.text, box=word.box, source=word.source, confidence=word.confidence)
            for word in run
        ),
        x0=min(word.box[0] for word in run),
        y0=min(word.box[1] for word in usual),
        x1=max(word.box[2] for word in run),
        y1=max(word.box[3] for word in usual),
        size=size,
        bold=False,
        order=order,
    )
