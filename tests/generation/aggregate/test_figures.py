"""Cells become exact decimals with units, and doubtful ones are never guessed."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_source.generation.aggregate.figures import Figure, Unreadable, read_column


def _read(*cells: str, language: str = "und", unit: bool = False) -> list[Decimal | None]:
    reading = read_column(cells, language=language, unit=unit)
    assert not reading.ambiguous
    return [cell.value if isinstance(cell, Figure) else None for cell in reading.cells]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("82 900,00", "82900.00"),
        ("82\u00a0900,00", "82900.00"),
        ("82\u202f900,00", "82900.00"),
        ("82.900,00", "82900.00"),
        ("82,900.00", "82900.00"),
        ("1.234,5", "1234.5"),
        ("1'234.50", "1234.50"),
        ("1 234 567", "1234567"),
        ("1.234.567", "1234567"),
        ("٨٢٩٠٠", "82900"),
        ("١٢٫٥", "12.5"),
        ("١٬٢٣٤", "1234"),
        ("-7,5", "-7.5"),
        ("−7.5", "-7.5"),
        ("0,500", "0.500"),
        ("12.5 %", "12.5"),
        ("€5.20", "5.20"),
        ("5,20 €", "5.20"),
        ("1 200 DH", "1200"),
        ("DH 1 200", "1200"),
        ("22 500,00 درهم", "22500.00"),
        ("2 400 unités", "2400"),
        ("25kg", "25"),
        ("12*", "12"),
    ],
)
def test_figure_is_read_exactly(cell: str, value: str) -> None:
    (read,) = _read(cell)

    assert read == Decimal(value)


@pytest.mark.parametrize(
    "cell",
    [
        "12 mars",
        "2026-01-15",
        "12.03.2026",
        "1.2.3",
        "E07",
        "T10",
        "0012",
        "1er",
        "3D",
        "12-15",
        "~5",
        "env. 20",
        "12 34",
        "1½",
        "box of 12",
        "9:40",
        "(1 234)",
        "1234567890123456789012345678901",
    ],
)
def test_cell_that_is_no_quantity_gives_no_figure(cell: str) -> None:
    assert _read(cell) == [None]


@pytest.mark.parametrize("cell", ["", "-", "—", "n/a", "N.C.", "…", "?"])
def test_empty_cell_is_missing_and_words_are_not(cell: str) -> None:
    reading = read_column([cell, "to be confirmed"])

    assert reading.cells == (Unreadable(missing=True), Unreadable(missing=False))


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (("1.234", "12.5"), ("1.234", "12.5")),
        (("1.234", "12,5"), ("1234", "12.5")),
        (("1,184", "640", "95"), ("1184", "640", "95")),
        (("1.250", "0.500"), ("1.250", "0.500")),
        (("2.500", "1.000.000"), ("2500", "1000000")),
    ],
    ids=["decimal-point", "decimal-comma", "small-without-mark", "zero-in-front", "two-groups"],
)
def test_mark_is_told_by_the_other_figures_of_the_column(
    cells: tuple[str, ...], values: tuple[str, ...]
) -> None:
    assert _read(*cells) == [Decimal(value) for value in values]


def test_mark_is_told_by_the_other_cells_of_the_table() -> None:
    reading = read_column(["1,184", "2,460"], beside=["Bolt", "5.20"])

    assert not reading.ambiguous
    assert [c.value for c in reading.cells if isinstance(c, Figure)] == [1184, 2460]


@pytest.mark.parametrize(
    ("cells", "language"),
    [
        (("1.500", "2.750"), "und"),
        (("1.500", "2.750"), "en"),
        (("1,500", "2,750"), "fr"),
        (("1,500", "2,750"), "ar"),
        (("1,184", "640", "2460"), "und"),
        (("1,000.5", "1.000,5", "1.500"), "fr"),
    ],
)
def test_figures_with_two_readings_are_ambiguous(cells: tuple[str, ...], language: str) -> None:
    assert read_column(cells, language=language).ambiguous


@pytest.mark.parametrize(("cell", "language"), [("1,500", "en"), ("1.500", "fr")])
def test_groups_of_three_are_read_as_the_language_writes_them(cell: str, language: str) -> None:
    assert _read(cell, language=language) == [Decimal(1500)]


def test_figure_in_brackets_is_negative_in_a_column_of_money_only() -> None:
    assert _read("(1 234)", "5", unit=True) == [Decimal(-1234), Decimal(5)]
    assert _read("(1 234)", "5") == [None, Decimal(5)]


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        (("5 EUR", "5 €", "5 euros"), "eur"),
        (("5 DH", "5 MAD", "5 درهم"), "mad"),
        (("5 %",), "percent"),
        (("5 kg", "5kg"), "kg"),
        (("5 CHF",), "chf"),
        (("5 palettes", "5 pallets"), "pallet"),
        (("5 boxes", "1 box"), "box"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_units_of_one_meaning_have_one_name(cells: tuple[str, ...], name: str) -> None:
    read = read_column(cells).cells

    assert {c.unit.name for c in read if isinstance(c, Figure) and c.unit} == {name}


@pytest.mark.parametrize(
    ("cells", "identifies"),
    [
        (("40564098", "40564101", "40564107"), True),
        (("2024", "2025", "2025"), True),
        (("12", "7", "12"), False),
        (("100", "250", "300.5"), False),
    ],
    ids=["article-numbers", "years", "quantities", "prices"],
)
def test_numbers_that_are_names_are_told_from_quantities(
    cells: tuple[str, ...], identifies: bool
) -> None:
    assert read_column(cells).identifies is identifies


@given(
    whole=st.integers(min_value=0, max_value=10**12),
    cents=st.integers(min_value=0, max_value=99),
    style=st.sampled_from([(" ", ","), (".", ","), (",", "."), ("'", "."), ("", ","), ("", ".")]),
    negative=st.booleans(),
)
def test_any_amount_with_cents_is_read_exactly_in_any_spelling(
    whole: int, cents: int, style: tuple[str, str], negative: bool
) -> None:
    group, mark = style
    spelt = f"{'-' if negative else ''}{whole:,}".replace(",", group) + f"{mark}{cents:02}"
    expected = Decimal(f"{'-' if negative else ''}{whole}.{cents:02}")

    assert _read(spelt) == [expected]
