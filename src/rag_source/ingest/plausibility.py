"""How much a decoded text looks like text: letters of one script side by side, few oddities.

Only the characters outside ASCII are judged, each by its neighbours. Used to choose between
encodings that all decode without an error.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

__all__ = ["plausibility"]

# The most frequent letters of each script: what tells Arabic from Arabic bytes read as Cyrillic,
# and Korean from Chinese, whose two-byte codes overlap: the bytes of most Korean syllables are also
# everyday Chinese characters, but seldom frequent ones, and the reverse.
_COMMON = frozenset(
    "اليمنوترةبدعهسفكحقأоеаинтсрвлкмдпуαειοτσνηρκπυλμωיוהלאתרבשמéèàçêâîôûùëïœäöüßñáíóúãõåøæ"
    "이다는의에을가하고지한로기사리서대인도시어은자정나부일수제주보상전그아스있라것해장동구들원성국공를"
    "게과안여연년소위경신조유진비만으중오세용면니우와선미화물적개계관방학체당내등무거산분모트실금행되요"
    "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里"
    "后小多天而能好都然没日于起还发成事只作当想看文无开手用主行方又如前所本见经面公同三已老从动两长知"
)
_TYPOGRAPHY = frozenset("“”‘’„«»–—…•€°·\u00a0§№©®™、。，：；（）「」！？£¼½¾²³ª؟،؛")
_JOINERS = frozenset("'’-·‑\u200c\u200d")


def plausibility(text: str) -> float:
    """The mean verdict on the characters outside ASCII, about -3 (nonsense) to 1.5 (text).

    An ASCII text scores 0.
    """
    total, judged = 0.0, 0
    last = len(text) - 1
    for i, char in enumerate(text):
        if char < "\x80":
            continue
        before = text[i - 1] if i else " "
        after = text[i + 1] if i < last else " "
        total += _verdict(char, before, after)
        judged += 1
    return total / judged if judged else 0.0


def _verdict(char: str, before: str, after: str) -> float:
    category = unicodedata.category(char)
    if category in ("Cc", "Cn", "Co", "Cs") or char == "\ufffd":
        return -3.0
    if category[0] == "L":
        return _letter(char, before, after)
    if category[0] == "M":
        return 0.5 if _script(before) == _script(char) else -1.0
    inside = before.isalpha() and after.isalpha()
    if inside and char not in _JOINERS:
        return -0.8
    return 0.6 if char in _TYPOGRAPHY else -0.5


def _letter(char: str, before: str, after: str) -> float:
    script = _script(char)
    if script == "han":
        return 1.1 if char in _COMMON else 0.75 if _is_everyday_han(char) else -0.6
    score = 1.0 if char in _COMMON or char.lower() in _COMMON else 0.6
    if script == "kana":
        # Half-width kana are what Latin accents look like in Japanese encodings.
        score = -0.6 if "\uff61" <= char <= "\uff9f" else 0.9
    if script == "hangul":
        # Just under everyday Chinese: bytes that say nothing are more often that.
        score = 1.1 if char in _COMMON else 0.74
    for other in (before, after):
        if script == "hangul" and "a" <= other.lower() <= "z":
            continue  # Korean writes its particles onto Latin words.
        if other.isalpha() and _script(other) != script:
            score -= 0.4 if {script, _script(other)} == {"han", "kana"} else 1.0
    if char.isupper() and before.islower():
        score -= 1.0
    if script == "latin" and before >= "\x80" and before.isalpha():
        score -= 0.8
    return score


@lru_cache(maxsize=8192)
def _script(char: str) -> str:
    name = unicodedata.name(char, "").split(" ", 1)[0]
    if name == "CJK":
        return "han"
    if name in ("HIRAGANA", "KATAKANA", "HALFWIDTH", "KATAKANA-HIRAGANA"):
        return "kana"
    return name.lower()


def _is_everyday_han(char: str) -> bool:
    """Among the 6,763 characters of GB 2312 or those of JIS X 0208 and Big5's first level."""
    for encoding in ("gb2312", "shift_jis"):
        try:
            char.encode(encoding)
        except UnicodeEncodeError:
            continue
        return True
    try:
        return char.encode("big5")[0] < 0xC9
    except UnicodeEncodeError:
        return False
