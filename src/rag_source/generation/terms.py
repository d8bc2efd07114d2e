"""The terms by which a sentence of an answer and a sentence of a source are compared.

Stems are crude on purpose: both sides are cut the same way, and the fact guard, not the stem,
decides what is true.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from rag_source.domain.folding import fold
from rag_source.generation.words import Word, word_key, words_of

__all__ = ["LIGHT_TERMS", "STOP_WORDS", "known_as", "stem", "terms_of", "terms_of_words"]

_STEM_CHARS = 6
_PREFIXES = ("وال", "بال", "فال", "كال", "لل", "ال")
_PROCLITICS = ("و", "ف", "ب", "ل", "ك", "ي", "ت", "ن", "ا", "س")
_VERB_ENDINGS = ("", "ت", "ا", "وا", "ها")
_SUFFIXES = ("ات", "ون", "ين", "ان", "ها", "هم", "ية", "ته", "ة", "ه", "ي", "ا")

STOP_WORDS = frozenset(
    fold(word_key(word)).text
    for word in (
        "le la les l un une des du de d et ou en dans pour que qui qu quoi sur par au aux avec ce "
        "cet cette ces c il elle ils elles on y se s son sa ses leur leurs nous vous je j quel "
        "quelle quels quelles est sont etait été être etre a ont avoir sera seront peut doit fait "
        "combien comment quand pourquoi lequel laquelle lesquels "
        "much many often please "
        "lors afin ainsi donc alors comme plus moins tres ne n pas oui non selon si dont mais "
        "the of and or to in is for that on with as are was were be been by at from this these "
        "those which who what when where how why it its an his her their has have had do does did "
        "can may must should will would there than then into about your our i they he she each "
        "yes no not if so also according s t "
        "في من على الى عن هو هي هذا هذه ذلك تلك التي الذي الذين ما ماذا كم هل ان انه انها او ثم قد "
        "كان كانت يكون تكون مع عند بين كل اي و لا لم لن ليس نعم يعني تعني وفقا حسب المقطع خلال"
    ).split()
)


@lru_cache(maxsize=32768)
def stem(key: str) -> str:
    """A crude stem of a word key: the first letters of a Latin word, an Arabic word undressed."""
    if key and "\u0600" <= key[0] <= "\u06ff":
        return _arabic_stem(key)
    if len(key) > 3 and key[-1] in "sx":
        key = key[:-1]
    return key[:_STEM_CHARS]


def terms_of(text: str) -> frozenset[str]:
    """Stems of the content words, and the numbers, of a text."""
    return terms_of_words(words_of(fold(text).text))


def terms_of_words(words: list[Word]) -> frozenset[str]:
    """As `terms_of`, for text already cut into words."""
    found = set()
    for word in words:
        if word.kind == "number":
            found.add(word.key)
        elif word.kind == "word" and word.key not in STOP_WORDS:
            found.add(stem(word.key))
    return frozenset(found)


def known_as(term: str, vocabulary: frozenset[str]) -> str:
    """The term of a vocabulary that a term is another form of; itself if there is none.

    Two words are forms of one where only an Arabic proclitic or ending, or a Latin ending after
    the first letters, tells them apart: "لإذن" and "إذن", "livré" and "livraison".
    """
    if term in vocabulary or len(term) < 3 or not term[0].isalpha():
        return term
    if "\u0600" <= term[0] <= "\u06ff":
        return next((form for form in _arabic_forms(term) if form in vocabulary), term)
    size = min(len(term), _STEM_CHARS - 1) if len(term) > _STEM_CHARS - 2 else 0
    near = [known for known in vocabulary if size and known[: size - 1] == term[: size - 1]]
    return min((known for known in near if len(known) >= size), default=term)


def _arabic_forms(term: str) -> Iterator[str]:
    for ending in _VERB_ENDINGS:
        yield term + ending
        for letter in _PROCLITICS:
            yield letter + term + ending
    bare = term[1:] if term[0] in _PROCLITICS and len(term) >= 4 else term
    for form in (bare, bare.removesuffix("ت"), term.removesuffix("ت")):
        if len(form) >= 3:
            yield form


def _arabic_stem(key: str) -> str:
    for prefix in _PREFIXES:
        if key.startswith(prefix) and len(key) - len(prefix) >= 3:
            key = key[len(prefix) :]
            break
    else:
        if key[0] == "و" and len(key) >= 5:
            key = key[1:]
    for suffix in _SUFFIXES:
        if key.endswith(suffix) and len(key) - len(suffix) >= 3:
            return key[: -len(suffix)]
    return key


LIGHT_TERMS = frozenset(
    stem(fold(word_key(word)).text)
    for word in (
        "coûter coûte coûtent coût prix tarif montant somme valeur élève vaut durer dure durée "
        "temps "
        "maximum maximal maximale minimum minimal minimale nombre numéro quantité taux total "
        "couvrir couvre signifier signifie indique correspond désigne concerne appelle nomme "
        "trouve "
        "situe effectué fixé prévu indiqué mentionné précisé égal environ chaque possible applique "
        "article produit référence code élément objet montre "
        "solution problème résoudre réponse question suivant suivante passage document texte "
        "cost costs price priced amount sum value worth lasts last duration time maximum minimum "
        "number quantity rate total covers cover means mean indicates corresponds refers concerns "
        "called named located set stated mentioned given specified equal about each possible "
        "applies apply allowed required needed needs need solution problem solve answer question "
        "item product reference code "
        "following passage document text takes take made make put puts use used using "
        "ثمن سعر مبلغ قيمة تكلفة يكلف تبلغ يبلغ مدة وقت اقصى ادنى عدد رقم كمية نسبة مجموع اجمالي "
        "يشمل تشمل يعني تعني يشير تشير يقع تقع يجب يمكن محدد حوالي حل جواب سؤال مقطع وثيقة نص"
    ).split()
)
"""Words that only carry a statement about a thing ("costs", "lasts", "amount to"): a sentence may
use them though its source does not."""
