"""The phrases in which a question asks for a calculation, in French, English and Arabic.

They are patterns over the question's word keys (no case, no accents), a space between them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from rag_source.domain.calculations import Operation
from rag_source.generation.words import Word

__all__ = [
    "AND",
    "COMPARISONS",
    "DISTINCT",
    "EVERY",
    "GROUP",
    "HOW_MANY",
    "IMPLYING",
    "MAX",
    "MEAN",
    "MIN",
    "REFUSED",
    "SUM",
    "TOTAL",
    "Line",
]


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\S)(?:{'|'.join(alternatives)})(?!\S)")


SUM = _pattern(
    r"(?:la )?somme(?: totale?)?(?: des?| du| d| cumulee)",
    r"(?:the )?sum(?: total)? (?:of|up|the|all)",
    r"add(?:ed)? (?:up|together)",
    r"additionn(?:e|er|ez|ant)",
    r"cumul(?:e|ee|es|ees)?(?: des?| du)?",
    r"total des",
    r"total of all",
    r"en tout(?! (?:cas|etat|temps|point|genre|lieu|moment|premier|debut))",
    r"au total",
    r"in total",
    r"in all(?! (?:cases|respects|likelihood|probability))",
    r"alto?gether",
    r"all together",
    r"combined",
    r"tou(?:t|te|s|tes) confondue?s?",
    r"[وفبل]?مجموع",
    r"(?:في|ب) ?المجموع",
    r"بالمجموع",
    r"اجمالا",
    r"[وف]?اجمالي (?=ال\S*ات(?!\S))",
)
TOTAL = _pattern(
    r"totale?s?", "totaux", "overall", r"[وفبل]?(?:ال)?اجمالية?", "المجموع", r"الكلية?"
)
MEAN = _pattern(
    r"en moyenne",
    r"on average",
    r"average",
    r"avg",
    r"(?:the|arithmetic) mean(?! of)",
    r"(?:the|arithmetic) mean of (?:the|all)",
    r"moyennes?(?: des?| du| d)?",
    r"moyen",
    r"[وفبل]?(?:ال)?متوسط(?: ال?حسابي)?",
    r"[وفبل]?(?:ال)?معدل",
    r"بالمتوسط",
)
MAX = _pattern(
    "maximum",
    r"maximale?s?",
    "max",
    "highest",
    "largest",
    "biggest",
    "greatest",
    r"(?:the )?most(?! (?:of|recent|likely|common|important|famous|popular))",
    r"l[ae] plus (?:eleve|grand|gros|haut|important|fort)(?:e|te|se)?",
    r"l[ae] plus (?:de|d)",
    r"[وفبل]?(?:ال)?(?:اعلي|اكبر|اقصي|اكثر)",
)
MIN = _pattern(
    "minimum",
    r"minimale?s?",
    "lowest",
    "smallest",
    "fewest",
    "(?:the )?least",
    r"l[ae] plus (?:bas|petit|faible|reduit)(?:e|se|te)?",
    r"l[ae] moins (?:de|d|elevee?|haute?|grande?)",
    r"[وفبل]?(?:ال)?(?:ادني|اقل|اصغر)",
)
IMPLYING: tuple[tuple[Operation, str, re.Pattern[str]], ...] = (
    (
        "max",
        "price",
        _pattern(
            "most expensive",
            "costliest",
            "dearest",
            "priciest",
            r"l[ae] plus chere?",
            "اغلي",
            "الاغلي",
        ),
    ),
    (
        "min",
        "price",
        _pattern(
            "cheapest",
            "least expensive",
            r"l[ae] moins chere?",
            r"l[ae] meilleur marche",
            "ارخص",
            "الارخص",
        ),
    ),
    ("max", "weight", _pattern("heaviest", r"l[ae] plus lourde?", "اثقل", "الاثقل")),
    ("min", "weight", _pattern("lightest", r"l[ae] plus legere?", "اخف", "الاخف")),
)
HOW_MANY = _pattern(
    "how many",
    "how much",
    r"combien(?: des?| d)?",
    r"(?<!\ba )(?:the )?number of",
    r"nombre (?:des?|d|du)",
    r"nombre(?= (?:total|moyen))",
    r"[وفبل]?كم(?: عدد)?",
    r"[وفبل]?عدد",
)
GROUP = _pattern(
    r"(?:grouped |group |broken down )?by",
    "per",
    r"for (?:each|every)",
    r"in (?:each|every)",
    r"(?:groupe(?:e|s|es)? |regroupe(?:e|s|es)? |ventile(?:e|s|es)? )?par",
    r"(?:pour|dans) chaque",
    "selon(?: les?| la)?",
    r"(?:ب)?حسب",
    "لكل",
    "في كل",
    "عن كل",
)
EVERY = _pattern("all", "every", "each", "both", "tou(?:s|tes)", "chaque", "كل", "جميع", "كافة")
DISTINCT = _pattern(
    "different", "distinct", "unique", r"differente?s", r"distincte?s?", r"(?:ال)?مختلفة?"
)
_NUMBER = r"\d+(?:\.\d+)?"
COMPARISONS: tuple[tuple[Literal[">", ">=", "<", "<="], re.Pattern[str]], ...] = (
    (">=", _pattern(rf"(?:at least|au moins|minimum|على الاقل|لا يقل عن) {_NUMBER}")),
    ("<=", _pattern(rf"(?:at most|au plus|up to|على الاكثر|لا يتجاوز) {_NUMBER}")),
    (
        ">",
        _pattern(
            rf"(?:(?:more|greater|higher|larger|bigger) than|over|above|exceed(?:s|ing)?|plus de|"
            rf"superieure?s? a|(?:qui )?depasse(?:nt)?|au dessus de|اكثر من|اكبر من|اعلي من|فوق|"
            rf"[يت]تجاوز) {_NUMBER}"
        ),
    ),
    (
        "<",
        _pattern(
            rf"(?:(?:less|fewer|lower|smaller) than|under|below|moins de|inferieure?s? a|"
            rf"(?:en dessous|au dessous) de|اقل من|اصغر من|ادني من|تحت) {_NUMBER}"
        ),
    ),
)
REFUSED = frozenset(
    "or ou او ام other others another autre autres excluding excluded except excepte excluant hors "
    "only difference differences versus vs than between entre before after since until avant apres "
    "depuis second third deuxieme troisieme consecutive top ratio percentage pourcentage share "
    "part proportion growth evolution increase decrease median mediane why how comment "
    "pourquoi when quand لماذا كيف متى متي اخر اخري بين قبل بعد منذ فرق نسبة".split()
)
AND = frozenset(("and", "et", "و"))


class Line:
    """The question's words as keys in one string; a pattern takes the words it means."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = words
        self.taken = [False] * len(words)
        self._starts: list[int] = []
        length = 0
        for word in words:
            self._starts.append(length)
            length += len(word.key) + 1
        self.keys = " ".join(word.key for word in words)

    def look(self, pattern: re.Pattern[str]) -> tuple[int, int] | None:
        """The positions `[first, end)` of the first words that match and are not taken."""
        for match in pattern.finditer(self.keys):
            first = self._starts.index(match.start())
            end = sum(start < match.end() for start in self._starts)
            if not any(self.taken[first:end]):
                return first, end
        return None

    def take(self, pattern: re.Pattern[str]) -> tuple[int, int] | None:
        """As `look`; the words are accounted for and stand for nothing else."""
        found = self.look(pattern)
        if found:
            self.taken[slice(*found)] = [True] * (found[1] - found[0])
        return found

    def give_back(self, place: tuple[int, int]) -> None:
        """Undo a `take`: the words are not accounted for after all."""
        self.taken[slice(*place)] = [False] * (place[1] - place[0])
