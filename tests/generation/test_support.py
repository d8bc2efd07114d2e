"""Which sentence of a passage a claim rests on."""

from __future__ import annotations

import pytest

from generation_texts import (
    ARABIC_DELIVERY,
    ARABIC_WARRANTY,
    CONTRACTS,
    DELIVERY,
    ERRORS,
    INVOICE,
    PRICES,
    PUMP,
    WARRANTY,
    make_shelf,
)
from rag_source.generation.support import support_everywhere, support_in

TRUE = [
    (DELIVERY, "Transports Rahal a livré la commande d'Atelier Benali."),
    (DELIVERY, "Le total du bon de livraison BL-2024-118 est de 82 900,00 DH."),
    (ERRORS, "Le code E07 signifie que la porte est mal fermée."),
    (ERRORS, "Il faut fermer la porte puis appuyer sur Stop pendant trois secondes."),
    (ERRORS, "Non, il ne faut jamais faire fonctionner l'appareil à vide."),
    (PRICES, "La référence 40564101 coûte 6.00 euros."),
    (PRICES, "Le code de l'article 40564110 est VT-STR/SKU77120 et son prix est 8.25 euros."),
    (WARRANTY, "La garantie dure 24 mois et ne couvre pas les pièces d'usure."),
    (CONTRACTS, "La période d'essai maximale est d'un mois pour un contrat de plus de six mois."),
    (PUMP, "The pump must be serviced every 500 operating hours or once a year."),
    (PUMP, "No, the pump cannot be connected to a 110 V supply."),
    (INVOICE, "The net weight is 12.5 kg."),
    (INVOICE, "Northline Freight delivered the goods to the Leeds warehouse."),
    (ARABIC_DELIVERY, "المبلغ الإجمالي لإذن التسليم رقم 4412 هو 82900 درهم."),
    (ARABIC_DELIVERY, "السائق الذي سلم البضاعة هو كريم العلوي."),
    (ARABIC_WARRANTY, "مدة الضمان 24 شهرا ولا يشمل قطع الغيار المستهلكة."),
]

TEAM = "M. Benali dirige le site de Casablanca. Mme Alaoui dirige le magasin de Tanger."

FALSE = [
    (DELIVERY, "Le numéro de téléphone de Transports Rahal est 4471-B-6.", "téléphone"),
    (WARRANTY, "Le salaire minimum prévu est de 24 mois à compter de la livraison.", "salaire"),
    (ARABIC_DELIVERY, "رقم هاتف السائق هو 4412.", "هاتف"),
    (ERRORS, "Le code E07 signale une surchauffe, laisser refroidir trente minutes.", "E07"),
    (TEAM, "M. Benali dirige le magasin de Tanger.", ""),
    (DELIVERY, "Le total du bon de livraison BL-2024-118 est 60 000 DH.", "stands elsewhere"),
    (DELIVERY, "The total amount of delivery note BL-2024-118 is 60,000 MAD.", "stands elsewhere"),
    (DELIVERY, "Le total du bon de livraison est de 3 240 DH.", "the source says 82 900,00 DH"),
    (ERRORS, "Le code E09 signifie que la porte est mal fermée.", ""),
    (ERRORS, "Il faut appuyer sur Stop pendant trente secondes.", "not in the passage"),
    (ERRORS, "Oui, on peut faire fonctionner l'appareil à vide.", "negation left out"),
    (ERRORS, "Le four MW-104 a une puissance de 900 watts.", "900 watts"),
    (PRICES, "La référence 40564101 coûte 11.40 euros.", "not in the passage"),
    (PRICES, "La référence 40564101 coûte 10 euros.", "10"),
    (WARRANTY, "La garantie est de 24 mois, pièces d'usure comprises.", "negation left out"),
    (WARRANTY, "La garantie dure 24 jours.", "24 jours"),
    (PUMP, "The pump can be connected to 110 V supplies.", "negation left out"),
    (INVOICE, "The net weight is 14.0 kg.", "14.0 kg stands elsewhere"),
    (INVOICE, "Eastline Freight delivered the goods to the Bristol warehouse.", "Bristol"),
    (ARABIC_DELIVERY, "المبلغ الإجمالي لإذن التسليم رقم 4412 هو 82900 دولار.", "82900"),
    (ARABIC_DELIVERY, "السائق الذي سلم البضاعة هو أحمد الفاسي.", ""),
    (ARABIC_WARRANTY, "مدة الضمان 24 شهرا ويشمل قطع الغيار المستهلكة.", "negation left out"),
    (ARABIC_WARRANTY, "لون الغسالة أبيض.", ""),
]


@pytest.mark.parametrize(("source", "sentence"), TRUE)
def test_what_the_passage_says_is_verified(source: str, sentence: str) -> None:
    support = support_in(sentence, 1, make_shelf(source))
    assert support is not None
    assert support.reason == ""


@pytest.mark.parametrize(("source", "sentence", "reason"), FALSE)
def test_what_the_passage_does_not_say_is_unverified(
    source: str, sentence: str, reason: str
) -> None:
    support = support_in(sentence, 1, make_shelf(source))
    assert support is not None
    assert not support.verified
    assert reason in support.reason


def test_quote_is_the_line_that_says_it() -> None:
    support = support_in("Le total est de 82 900,00 DH.", 1, make_shelf(DELIVERY))
    assert support is not None
    assert DELIVERY[support.start : support.end] == "Total : 3 240 unités - 82 900,00 DH"


def test_rows_of_a_table_are_not_joined() -> None:
    support = support_in("La référence 40564102 coûte 6.00 euros.", 1, make_shelf(PRICES))
    assert support is not None
    assert not support.verified


def test_best_passage_comes_first() -> None:
    supports = support_everywhere(
        "Le total est de 82 900,00 DH.", make_shelf(WARRANTY, DELIVERY, ERRORS)
    )
    assert supports[0].marker == 2


def test_passage_that_is_not_there_supports_nothing() -> None:
    assert support_in("La garantie est de 24 mois.", 7, make_shelf(WARRANTY)) is None


@pytest.mark.parametrize("sentence", ["", "...", "Oui.", "?"])
def test_empty_sentence_has_a_verdict(sentence: str) -> None:
    support = support_in(sentence, 1, make_shelf(WARRANTY))
    assert support is not None
    assert not support.verified


@pytest.mark.parametrize(
    ("source", "question", "sentence"),
    [
        (
            DELIVERY,
            "What is the total amount of delivery note BL-2024-118?",
            "The total amount of delivery note BL-2024-118 is 82,900.00 MAD.",
        ),
        (
            INVOICE,
            "Quel est l'intérêt de retard de la facture INV-2024-0871 ?",
            "L'intérêt de retard de la facture INV-2024-0871 est de 1,5 % par mois.",
        ),
        (ARABIC_DELIVERY, "Quel est le montant du bon 4412 ?", "Le montant est de 82 900 DH."),
    ],
)
def test_new_facts_carry_a_sentence_over_to_another_language(
    source: str, question: str, sentence: str
) -> None:
    support = support_in(sentence, 1, make_shelf(source, question=question))
    assert support is not None
    assert support.reason == ""


@pytest.mark.parametrize(
    "sentence",
    [
        "E07 means that the magnetron current is too low on the MW-104.",
        "E07 is an error code of the MW-104.",
    ],
)
def test_facts_of_the_question_carry_nothing_over(sentence: str) -> None:
    shelf = make_shelf(ERRORS, question="What does error code E07 mean on the MW-104?")
    support = support_in(sentence, 1, shelf)
    assert support is not None
    assert not support.verified
