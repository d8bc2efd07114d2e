"""Units, currencies and number words that are the same in three languages, for claims.

A quote is compared letter for letter and needs none of this; an English answer that rests on a
French line does: "45 days" and "45 jours" agree, "45 months" does not.
"""

from __future__ import annotations

from rag_source.domain.folding import fold
from rag_source.generation.words import word_key

__all__ = ["NUMBER_WORDS", "unit_of"]

_UNITS = {
    "second": "second seconds seconde secondes sec ثانية ثوان",
    "minute": "minute minutes min mn دقيقة دقائق",
    "hour": "hour hours heure heures ساعة ساعات",
    "day": "day days jour jours يوم يوما ايام",
    "week": "week weeks semaine semaines اسبوع اسابيع اسبوعا",
    "month": "month months mois شهر شهرا اشهر شهور",
    "year": "year years an ans année années سنة سنوات عام اعوام عاما",
    "percent": "% percent pourcent بالمئة",
    "eur": "€ eur euro euros يورو",
    "usd": "$ usd dollar dollars دولار",
    "gbp": "£ gbp pound pounds livre livres",
    "mad": "dh dhs mad dirham dirhams درهم دراهم درهما",
    "kg": (
        "kg kgs kilo kilos kilogramme kilogrammes kilogram kilograms "
        "كيلوغرام كيلوغرامات كغ كيلوجرام كيلو"
    ),
    "g": "g gramme grammes gram grams غرام",
    "mg": "mg",
    "t": "t tonne tonnes ton tons طن",
    "mm": "mm millimètre millimètres ملم",
    "cm": "cm centimètre centimètres سم",
    "m": "m mètre mètres metre metres meter meters متر امتار",
    "km": "km kilomètre kilomètres kilometre kilometres kilometers كم كيلومتر كيلومترا",
    "l": "l litre litres liter liters لتر",
    "ml": "ml",
    "volt": "v volt volts فولت",
    "ampere": "ampère ampères amp amps امبير",
    "watt": "w watt watts واط",
    "kw": "kw kilowatt kilowatts كيلوواط",
    "hz": "hz hertz هرتز",
    "bar": "bar bars بار",
    "million": "million millions مليون ملايين",
    "billion": "billion billions milliard milliards مليار مليارات",
    "thousand": "thousand mille الف الاف",
}
_UNIT_OF = {
    fold(word_key(word)).text: unit for unit, words in _UNITS.items() for word in words.split()
}

_NUMBER_WORDS = {
    2: "two deux اثنان اثنين",
    3: "three trois ثلاثة ثلاث",
    4: "four quatre اربعة اربع",
    5: "five cinq خمسة خمس",
    6: "six ستة ست",
    7: "seven sept سبعة سبع",
    8: "eight huit ثمانية ثماني",
    9: "nine neuf تسعة تسع",
    10: "ten dix عشرة عشر",
    11: "eleven onze",
    12: "twelve douze",
    13: "thirteen treize",
    14: "fourteen quatorze",
    15: "fifteen quinze",
    16: "sixteen seize",
    17: "seventeen",
    18: "eighteen",
    19: "nineteen",
    20: "twenty vingt عشرون عشرين",
    30: "thirty trente ثلاثون ثلاثين",
    40: "forty quarante اربعون اربعين",
    50: "fifty cinquante خمسون خمسين",
    60: "sixty soixante ستون ستين",
    70: "seventy septante سبعون سبعين",
    80: "eighty ثمانون ثمانين",
    90: "ninety nonante تسعون تسعين",
    100: "hundred cent مئة مائة",
    1000: "thousand mille الف",
}
NUMBER_WORDS: dict[str, int] = {
    fold(word_key(word)).text: number
    for number, words in reversed(_NUMBER_WORDS.items())
    for word in words.split()
}
"""Word keys to values. "One" is left out: in French and Arabic it is the article."""


def unit_of(key: str) -> str:
    """The unit that a word key or sign names, empty for another word."""
    return _UNIT_OF.get(key, "")
