"""Figures that documents state in a line are computed like rows, each line cited."""

from __future__ import annotations

import pytest

from table_world import TableWorld, document


def _world(*lines: str) -> TableWorld:
    return TableWorld(
        {
            f"bl-{i}.html": document(line, heading=f"Bon de livraison n° BL-{i}")
            for i, line in enumerate(lines, start=1)
        }
    )


@pytest.mark.parametrize(
    ("question", "result", "unit"),
    [
        ("How many pallets in all three delivery notes?", "52", ""),
        ("Combien de palettes en tout dans les trois bons de livraison ?", "52", ""),
        ("كم عدد المنصات في المجموع في أذون التسليم الثلاثة؟", "52", ""),
        ("What is the total gross weight of all delivery notes?", "9335", "kg"),
        ("Quel est le poids brut moyen des bons de livraison BL-1 et BL-2 ?", "4067.5", "kg"),
        ("How many pallets in total in BL-1 and BL-2?", "46", ""),
    ],
)
async def test_stated_figures_are_computed_and_their_lines_cited(
    question: str, result: str, unit: str
) -> None:
    world = _world(
        "À l'attention de M. Belkadi 27 palettes, poids brut 4 860 kg",
        "19 palettes, poids brut 3 275 kg. Les palettes sont à rendre sous 30 jours.",
        "Poids brut : 1 200 kg.\nChargement de 6 palettes",
    )
    answer = await world.ask(question)

    assert answer.calculation is not None
    assert (answer.calculation.result, answer.calculation.unit) == (result, unit)
    assert answer.citations
    for citation in answer.citations:
        assert citation.status == "verified"
        assert citation.quote in world.documents[citation.path].text


async def test_document_that_states_no_such_figure_makes_the_sum_incomplete() -> None:
    answer = await _world("27 palettes", "19 palettes", "livré en vrac").ask(
        "Combien de palettes en tout dans les trois bons de livraison ?"
    )

    assert answer.reason == "incomplete"
    assert "bl-3.html" in answer.text
    assert [citation.quote for citation in answer.citations] == ["27 palettes", "19 palettes"]


@pytest.mark.parametrize(
    "lines",
    [
        ("27 palettes", "19 palettes, dont 3 palettes abîmées"),
        ("27 palettes",),
        ("27 grandes palettes", "19 caisses"),
    ],
    ids=["two-figures", "one-document", "other-words"],
)
async def test_unclear_figures_are_left_to_the_passages(lines: tuple[str, ...]) -> None:
    answer = await _world(*lines).ask("Combien de palettes en tout dans les bons de livraison ?")

    assert answer.calculation is None
