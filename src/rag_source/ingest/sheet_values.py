"""From what a spreadsheet stores to what its reader sees: numbers, dates, percentages, units.

Dates become ISO 8601 in both epochs. A number keeps the digits a person typed; the tail of a
computed one is cut where the cell's format cuts it. Thousands are not grouped: the answer's
checks read `82900` and `82 900` alike, and one spelling is found by more searches.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache

__all__ = ["BUILT_IN_FORMATS", "NumberFormat", "display_number", "plain_number", "read_format"]

# ECMA-376 part 1, 18.8.30, without those that say no more than "a number".
BUILT_IN_FORMATS = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0",
    38: "#,##0", 39: "#,##0.00", 40: "#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
    48: "##0.0E+0", 27: "yyyy-mm-dd", 28: "yyyy-mm-dd", 29: "yyyy-mm-dd", 30: "yyyy-mm-dd",
    31: "yyyy-mm-dd", 32: "h:mm", 33: "h:mm:ss", 34: "h:mm", 35: "h:mm:ss", 36: "yyyy-mm-dd",
    50: "yyyy-mm-dd", 51: "yyyy-mm-dd", 52: "yyyy-mm-dd", 53: "yyyy-mm-dd", 54: "yyyy-mm-dd",
    55: "h:mm", 56: "h:mm:ss", 57: "yyyy-mm-dd", 58: "yyyy-mm-dd",
}  # fmt: skip
_SIGNIFICANT_DIGITS = 15
# Excel computes with 15 digits; no one types more decimals than this, so a longer tail is computed.
_TYPED_DECIMALS = 6
_EPOCH_1900 = date(1899, 12, 30)
_EPOCH_1904 = date(1904, 1, 1)
_LAST_SERIAL = 2_958_466
_QUOTED = re.compile(r'"([^"]*)"|\\(.)|_(?:.)|\*(?:.)')
_BRACKETED = re.compile(r"\[([^\]]*)\]")
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_CURRENCY = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]")
_DIGITS = re.compile(r"[0#?][0#?,. ]*(?:E[+-]?[0#?]+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """What a format code says that its reader must see.

    Attributes:
        kind: `number`, `percent`, `date`, `time`, `datetime`, `elapsed` or `hidden` (`;;;`).
        decimals: How many the code fixes; None if it fixes none.
        prefix: A unit or currency before the number.
        suffix: One after it.
        least_digits: Zeros that pad the whole part to so many digits (`00000` for a postal code).
        seconds: Whether a time shows them.
    """

    kind: str = "number"
    decimals: int | None = None
    prefix: str = ""
    suffix: str = ""
    least_digits: int = 1
    seconds: bool = False


_PLAIN = NumberFormat()
# Most numbers of most sheets need nothing done to them, and this costs a tenth of a Decimal.
_AS_IT_IS = re.compile(r"-?(?:0|[1-9]\d{0,9})(?:\.\d{0,4}[1-9])?")
_LONG_TAIL = re.compile(r"-?\d{1,12}\.\d{6,20}")


@lru_cache(maxsize=4096)
def read_format(code: str) -> NumberFormat:
    """The meaning of a number format code (its section for positive numbers)."""
    if not code or code.strip().lower() in ("general", "@", "standard"):
        return _PLAIN
    sections = _sections(code)
    if len(sections) >= 3 and not any(section.strip() for section in sections[:3]):
        return NumberFormat("hidden")
    section = sections[0]
    if _ELAPSED.search(_QUOTED.sub("", section)):
        return NumberFormat("elapsed", seconds="s" in _QUOTED.sub("", section).lower())
    bare = _BRACKETED.sub("", _QUOTED.sub("", section)).lower()
    moment = _moment_kind(bare)
    if moment:
        return NumberFormat(moment, seconds="s" in bare)
    return _number_format(section)


def display_number(text: str, form: NumberFormat, *, date1904: bool = False) -> str:
    """A stored number as its reader should see it; text that is no number comes back as it is."""
    if form == _PLAIN:
        if _AS_IT_IS.fullmatch(text):
            return text
        if _LONG_TAIL.fullmatch(text) and "e" not in (short := f"{float(text):.15g}"):
            return short
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return text
    if not value.is_finite():
        return text
    if form.kind in ("date", "time", "datetime", "elapsed"):
        moment = _moment(value, form, date1904)
        if moment:
            return moment
    if form.kind == "percent":
        return f"{_digits(value * 100, form.decimals)} %"
    digits = _digits(value, form.decimals)
    if form.least_digits > 1:
        whole, point, rest = digits.partition(".")
        digits = whole.zfill(form.least_digits + whole.startswith("-")) + point + rest
    sign = "-" if form.prefix and digits.startswith("-") else ""
    return f"{sign}{form.prefix}{digits[len(sign) :]}{form.suffix}"


def plain_number(text: str) -> str:
    """A stored number without a format, cut to the digits that a spreadsheet computes with."""
    return display_number(text, _PLAIN)


def _sections(code: str) -> list[str]:
    """The code split at semicolons that are neither quoted nor escaped nor in brackets."""
    sections, at, i = [], 0, 0
    while i < len(code):
        if code[i] == "\\":
            i += 1
        elif code[i] in '"[':
            end = code.find('"' if code[i] == '"' else "]", i + 1)
            i = len(code) if end < 0 else end
        elif code[i] == ";":
            sections.append(code[at:i])
            at = i + 1
        i += 1
    return [*sections, code[at:]]


def _moment_kind(bare: str) -> str:
    """`date`, `time` or `datetime` for a code that has such letters and no digits of a number."""
    bare = bare.replace("general", "")
    if re.search(r"[#?]|0(?!0*$)", re.sub(r"s\.?0+|[.,]0+$", "s", bare)):
        return ""
    timed = re.search(r"[hs]|am/pm|a/p", bare) is not None
    rest = re.sub(r"am/pm|a/p", "", bare)
    dated = re.search(r"[ydeb]", rest) is not None or ("m" in rest and not timed)
    if dated:
        return "datetime" if timed else "date"
    return "time" if timed else ""


def _number_format(section: str) -> NumberFormat:
    section = _CURRENCY.sub(lambda m: f'"{m.group(1)}"', section)
    section = _BRACKETED.sub("", section)
    literal = _QUOTED.sub(lambda m: (m.group(1) or m.group(2) or " ").replace("%", "٪"), section)
    # Quoted digits would be taken for placeholders: look for these with the quotes blanked.
    blank = _QUOTED.sub(lambda m: "\u00b7" * len(m.group(1) or m.group(2) or " "), section)
    match = _DIGITS.search(blank)
    if match is None:
        return _PLAIN
    code = match.group().strip()
    if "%" in blank:
        return NumberFormat("percent", _decimals(code))
    if "e" in code.lower() or "/" in blank[match.end() :] or code.rstrip().endswith(","):
        return _PLAIN
    before, after = literal[: match.start()], literal[match.end() :]
    whole = code.partition(".")[0]
    padded = len(whole) if whole.strip("0") == "" else 1
    return NumberFormat("number", _decimals(code), _unit(before), _unit_after(after), padded)


def _decimals(code: str) -> int:
    return sum(c in "0#?" for c in code.partition(".")[2])


def _unit(text: str) -> str:
    """The words of a format that mean something: not signs, brackets or padding."""
    text = " ".join(text.split()).strip("()-+ ")
    return f"{text} " if len(text) > 1 and text[-1].isalpha() else text


def _unit_after(text: str) -> str:
    text = _unit(text).strip()
    return f" {text}" if text else ""


def _digits(value: Decimal, decimals: int | None) -> str:
    """Fixed notation without an exponent or trailing zeros."""
    if not value:
        return "0"
    places = _SIGNIFICANT_DIGITS - 1 - value.adjusted()
    if -60 < places < 60:
        value = _rounded(value, places)
    tail = -int(value.normalize().as_tuple().exponent)
    if decimals is not None and tail > max(decimals, _TYPED_DECIMALS):
        shorter = _rounded(value, decimals)
        value = shorter or value
    normal = value.normalize()
    if abs(normal.adjusted()) > 20:
        return f"{normal:E}"
    return f"{normal:f}"


def _rounded(value: Decimal, places: int) -> Decimal:
    return (
        value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
        if (places >= 0)
        else round(value, places)
    )


def _moment(value: Decimal, form: NumberFormat, date1904: bool) -> str:
    """A serial number as ISO date, time or duration; empty if it is outside the calendar."""
    if not 0 <= value < _LAST_SERIAL:
        return ""
    seconds = round(float(value) * 86_400)
    if not form.seconds:
        seconds -= seconds % 60
    days, rest = divmod(seconds, 86_400)
    if form.kind == "elapsed":
        return _clock(seconds)
    if form.kind == "time":
        return _clock(rest)
    if form.kind == "date" or not rest:
        return _day(days, date1904)
    return f"{_day(days, date1904)} {_clock(rest)}"


def _day(days: int, date1904: bool) -> str:
    if date1904:
        return (_EPOCH_1904 + timedelta(days=days)).isoformat()
    if days == 60:
        # Excel counts a day that never was, for compatibility with Lotus 1-2-3.
        return "1900-02-29"
    return (_EPOCH_1900 + timedelta(days=days + (days < 60))).isoformat()


def _clock(seconds: int) -> str:
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02d}:{minute:02d}" + (f":{second:02d}" if second else "")
