"""Drafts become cited answers: markers added, corrected, rejected."""

from __future__ import annotations

from generation_texts import DELIVERY, ERRORS, INVOICE, PRICES, WARRANTY, make_shelf
from rag_source.generation.citing import CheckedDraft, check_draft


def _verdicts(checked: CheckedDraft) -> list[tuple[int, str, bool]]:
    return [(marker.number, marker.status, marker.added) for marker in checked.markers]


def test_marker_whose_passage_supports_the_sentence_stays() -> None:
    checked = check_draft("Le total est de 82 900,00 DH [1].", make_shelf(DELIVERY))
    assert checked.text == "Le total est de 82 900,00 DH [1]."
    assert _verdicts(checked) == [(1, "verified", False)]


def test_missing_marker_is_added_before_the_full_stop() -> None:
    checked = check_draft("Le total est de 82 900,00 DH.", make_shelf(WARRANTY, DELIVERY))
    assert checked.text == "Le total est de 82 900,00 DH [2]."
    assert _verdicts(checked) == [(2, "verified", True)]


def test_wrong_marker_is_corrected() -> None:
    checked = check_draft("Le total est de 82 900,00 DH [1].", make_shelf(WARRANTY, DELIVERY))
    assert checked.text == "Le total est de 82 900,00 DH [2]."
    assert _verdicts(checked) == [(2, "verified", True)]


def test_unknown_number_is_kept_as_rejected() -> None:
    checked = check_draft("Le total est de 82 900,00 DH [9].", make_shelf(DELIVERY))
    assert _verdicts(checked) == [(9, "rejected", False), (1, "verified", True)]


def test_unsupported_marker_stays_unverified_with_its_reason() -> None:
    checked = check_draft("La garantie est de 36 mois [1].", make_shelf(WARRANTY))
    assert _verdicts(checked) == [(1, "unverified", False)]
    assert "36 mois" in checked.markers[0].reason


def test_sentence_without_support_and_figure_stays_uncited() -> None:
    checked = check_draft("Voici ce que je sais. La garantie dure 24 mois.", make_shelf(WARRANTY))
    assert checked.text == "Voici ce que je sais. La garantie dure 24 mois [1]."
    assert checked.uncited_figures == ()


def test_figure_without_marker_is_counted() -> None:
    checked = check_draft("Le prix est de 99,00 DH.", make_shelf(WARRANTY))
    assert checked.uncited_figures == ("Le prix est de 99,00 DH.",)
    assert not checked.supported


def test_parts_of_a_sentence_rest_on_their_own_passages() -> None:
    draft = "La garantie est de 24 mois et le total est de 82 900,00 DH."
    checked = check_draft(draft, make_shelf(WARRANTY, DELIVERY))
    assert checked.text.endswith("82 900,00 DH [1][2].")


def test_two_rows_may_be_compared_in_one_sentence() -> None:
    draft = "La référence 40564101 coûte 6.00 et la référence 40564102 coûte 11.40 EUR."
    assert _verdicts(check_draft(draft, make_shelf(PRICES))) == [(1, "verified", True)]


def test_marker_after_the_full_stop_belongs_to_the_sentence_before() -> None:
    checked = check_draft("La garantie est de 24 mois. [1] Autre chose.", make_shelf(WARRANTY))
    start, end = checked.markers[0].sentence
    assert checked.text[start:end] == "La garantie est de 24 mois. [1]"


def test_marker_before_a_sentence_goes_to_its_end() -> None:
    checked = check_draft("[1] La garantie est de 24 mois.", make_shelf(WARRANTY))
    assert checked.text == "La garantie est de 24 mois [1]."


def test_copied_head_of_a_passage_is_left_out() -> None:
    draft = "[3] notes/a.md > Garantie\nLa garantie est de 24 mois."
    checked = check_draft(draft, make_shelf(WARRANTY))
    assert checked.text == "La garantie est de 24 mois [1]."


def test_answer_that_only_comes_near_is_shown_as_unverified() -> None:
    checked = check_draft(
        "Le client doit signaler un défaut par courrier recommandé.", make_shelf(WARRANTY)
    )
    assert _verdicts(checked) == [(1, "unverified", True)]
    assert not checked.supported


def test_code_gets_no_marker() -> None:
    draft = "```\nLa garantie est de 24 mois.\n```"
    assert check_draft(draft, make_shelf(WARRANTY)).text == draft


def test_true_sentences_after_a_wrong_one_do_not_save_the_answer() -> None:
    draft = "La garantie est de 36 mois. Le client doit signaler tout défaut dans les dix jours."
    assert not check_draft(draft, make_shelf(WARRANTY)).supported


def test_sentence_range_covers_the_sentence_with_its_marker() -> None:
    checked = check_draft(
        "Le code E07 signale une porte mal fermée. Net weight is 12.5 kg.",
        make_shelf(ERRORS, INVOICE),
    )
    assert [checked.text[slice(*marker.sentence)] for marker in checked.markers] == [
        "Le code E07 signale une porte mal fermée [1].",
        "Net weight is 12.5 kg [2].",
    ]
