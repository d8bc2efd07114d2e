"""Visual order to logical order, for pages that hold Arabic or Hebrew.

A PDF may write right-to-left text in either order; where the glyphs stand on the page is the only
thing that can be relied on. So glyphs are sorted from left to right and the Unicode bidirectional
algorithm (UAX 9) is undone: what it displayed is put back into the order it is read in. Undoing is
ambiguous only for numbers beside Latin words; they are kept together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, TypeVar

__all__ = ["base_direction", "fold_presentation_forms", "has_rtl", "logical_order", "logical_word"]

Direction: TypeAlias = Literal["L", "R"]
_Class: TypeAlias = Literal["L", "R", "N", "-", "S"]
"""Left, right, number, neutral, or a separator that may stand inside a number."""

_T = TypeVar("_T")
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_FORMS = re.compile("[\ufb50-\ufd3d\ufd50-\ufdf9\ufe70-\ufefc]")
_NUMBER_SEPARATORS = frozenset(".,:/+-\u00a0\u202f\u066b\u066c\u060c%٪$€£")
_UNITS = frozenset(
    "mm cm m km m2 m3 g kg t l ml cl w kw kwh v kv a ah ma hz khz mhz ghz pa bar psi c f k h min "
    "s ms kb mb gb tb ko mo go to dh dhs mad eur usd gbp sar aed egp dzd tnd qar kwd ht "
    "ttc tva".split()
)
_MIRRORED = str.maketrans("()[]{}<>«»‹›", ")(][}{><»«›‹")


def has_rtl(text: str) -> bool:
    """Whether any character of the text is of a right-to-left script."""
    return _RTL.search(text) is not None


def fold_presentation_forms(text: str) -> str:
    """Arabic glyph shapes as the letters they stand for; everything else untouched."""
    return _FORMS.sub(lambda m: unicodedata.normalize("NFKC", m.group()).strip(), text)


def base_direction(text: str, *, page_is_rtl: bool) -> Direction:
    """The direction a line runs in: the page's if it has such letters, else its majority's."""
    right = sum(_class(c) == "R" for c in text)
    if not right:
        return "L"
    left = sum(_class(c) == "L" for c in text)
    return "R" if page_is_rtl or right > left else "L"


def logical_order(words: Sequence[_T], text_of: Callable[[_T], str], base: Direction) -> list[_T]:
    """Words given from left to right, in the order they are read."""
    texts = [text_of(word) for word in words]
    classes = [_word_class(text) for text in texts]
    for i, text in enumerate(texts[:-1]):
        # "kg 25" is how "25 kg" looks in a right-to-left line; "ISO 9001" looks like itself.
        if base == "R" and classes[i + 1] == "N" and text.strip(".,").lower() in _UNITS:
            classes[i] = "R"
    return _reorder(words, classes, base)


def logical_word(clusters: Sequence[str], base: Direction) -> str:
    """The text of one word from its glyph clusters, given from left to right."""
    classes = [_cluster_class(cluster) for cluster in clusters]
    if base == "L" and "R" not in classes:
        return "".join(clusters)
    out: list[str] = []
    for i in _reorder(range(len(clusters)), classes, base):
        mirrored = classes[i] == "-" and _was_mirrored(i, classes, base)
        out.append(clusters[i].translate(_MIRRORED) if mirrored else clusters[i])
    return "".join(out)


def _was_mirrored(i: int, classes: Sequence[_Class], base: Direction) -> bool:
    """Whether a neutral was displayed right to left, so that a bracket shows its mirror image."""
    left = next((c for c in reversed(classes[:i]) if c in ("L", "R")), base)
    right = next((c for c in classes[i + 1 :] if c in ("L", "R", "N")), base)
    if base == "R":
        return not (left == "L" and right in ("L", "N"))
    return left == "R" and right == "R"


def _reorder(items: Sequence[_T], classes: Sequence[_Class], base: Direction) -> list[_T]:
    if base == "R":
        return [item for unit in reversed(_units(classes)) for item in items[unit]]
    out: list[_T] = []
    i = 0
    while i < len(items):
        if classes[i] != "R":
            out.append(items[i])
            i += 1
            continue
        end = _run_end(classes, i, within=("R", "N", "-", "S"), closing=("R",))
        out += _reorder(items[i:end], classes[i:end], "R")
        i = end
    return out


def _units(classes: Sequence[_Class]) -> list[slice]:
    """Slices that keep their order in a right-to-left line: Latin runs and numbers."""
    units: list[slice] = []
    i = 0
    while i < len(classes):
        if classes[i] == "L":
            end = _run_end(classes, i, within=("L", "N", "-", "S"), closing=("L", "N"))
        elif classes[i] == "N":
            end = _run_end(classes, i, within=("N", "S"), closing=("N",))
            if end < len(classes) and classes[end] == "L":
                end = _run_end(classes, end, within=("L", "N", "-", "S"), closing=("L", "N"))
        else:
            end = i + 1
        units.append(slice(i, end))
        i = end
    return units


def _run_end(
    classes: Sequence[_Class], start: int, *, within: tuple[str, ...], closing: tuple[str, ...]
) -> int:
    end = start + 1
    for i in range(start + 1, len(classes)):
        if classes[i] not in within:
            break
        if classes[i] in closing:
            end = i + 1
    return end


def _class(char: str) -> _Class:
    direction = unicodedata.bidirectional(char)
    if direction in ("R", "AL"):
        return "R"
    if direction == "L":
        return "L"
    if direction in ("EN", "AN"):
        return "N"
    return "S" if char in _NUMBER_SEPARATORS else "-"


def _cluster_class(cluster: str) -> _Class:
    for char in cluster:
        found = _class(char)
        if found in ("L", "R", "N"):
            return found
    return _class(cluster[0]) if cluster else "-"


def _word_class(word: str) -> _Class:
    classes = {_class(char) for char in word}
    if "R" in classes:
        return "R"
    if "L" in classes:
        return "L"
    return "N" if "N" in classes else "-"
