"""What a table's rows say about themselves: is the first one a header?"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["is_figure", "looks_like_header"]

_FIGURE = re.compile(
    r"[-+(]?\s*[^\W\d_]{0,3}\s*[$€£¥%]?\s*[-+]?\d[\d\s.,'\u00a0\u202f/:\-]*\s*[$€£¥%)]?\s*[^\W\d_]{0,3}\.?"
)
_LONGEST_COLUMN_NAME = 80


def is_figure(cell: str) -> bool:
    """Whether a cell is a number, an amount, a percentage, a date or a time."""
    return _FIGURE.fullmatch(cell.strip()) is not None


def looks_like_header(row: Sequence[str], following: Sequence[Sequence[str]]) -> bool:
    """Whether `row` names the columns of the rows after it.

    Column names are short words, all different; a table whose first row holds a figure has no
    header, unless no row has figures elsewhere and the first row is a run of years or numbers
    that none below repeats in kind.
    """
    cells = [cell.strip() for cell in row if cell.strip()]
    if not cells or not following:
        return False
    if any(len(cell) > _LONGEST_COLUMN_NAME for cell in cells):
        return False
    if len({cell.casefold() for cell in cells}) < len(cells):
        return False
    if not any(is_figure(cell) for cell in cells):
        return len(cells) * 2 > len(row) or len(row) <= 2
    # Figures on top are names only over columns of words, or beside an empty corner (years).
    below = [cell for later in following[:20] for cell in later if cell.strip()]
    words_below = not any(is_figure(cell) for cell in below)
    corner = not row[0].strip() and all(re.fullmatch(r"(19|20)\d\d", c) for c in cells)
    return words_below or corner
