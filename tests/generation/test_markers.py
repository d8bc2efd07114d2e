"""Every way a model writes a marker, and what is none."""

from __future__ import annotations

import pytest

from rag_source.generation.markers import Marker, insert_markers, read_markers


def _numbers(draft: str) -> list[int]:
    return [marker.number for marker in read_markers(draft).markers]


@pytest.mark.parametrize(
    ("draft", "numbers"),
    [
        ("A [1].", [1]),
        ("A [1, 3].", [1, 3]),
        ("A [1-3].", [1, 2, 3]),
        ("A 【2】.", [2]),
        ("A [[2]].", [2]),
        ("A [1][2].", [1, 2]),
        ("A [0] [9].", [0, 9]),
        ("A [٢].", [2]),
        ("A [passage 3].", [3]),
        ("A [1 et 2].", [1, 2]),
        ("A (passage [2]).", [2]),
        ("A [1-999].", [1, 999]),
        ("A [3-1].", [3, 1]),
        ("In [2024] and a[i].", []),
    ],
)
def test_every_spelling_of_a_marker_is_read(draft: str, numbers: list[int]) -> None:
    assert _numbers(draft) == numbers


@pytest.mark.parametrize("code", ["`x[1]`", "```\nx[1]\n```", "```\nx [1] never closed"])
def test_code_is_left_as_it_is(code: str) -> None:
    draft = read_markers(f"See [2]: {code}")
    assert [marker.number for marker in draft.markers] == [2]
    assert draft.text.endswith(code)


def test_text_without_markers_has_no_stray_space() -> None:
    assert read_markers("A is 3 [1]. B is 4. [2]").text == "A is 3. B is 4."


def test_marker_at_the_head_of_a_line_stands_where_its_sentence_begins() -> None:
    draft = read_markers("[1] First.\n[2] Second.")
    assert draft.text == "First.\nSecond."
    assert draft.markers == (Marker(1, 0), Marker(2, 7))


def test_markers_are_written_in_one_form() -> None:
    draft = read_markers("A 【2】 and B [1, 3].")
    assert insert_markers(draft.text, draft.markers)[0] == "A [2] and B [1][3]."


def test_positions_follow_inserted_markers() -> None:
    text, moved = insert_markers("A. B.", [Marker(1, 1)])
    assert text == "A [1]. B."
    assert text[moved[3]] == "B"
