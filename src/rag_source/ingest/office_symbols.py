"""Characters that Office files store by their number in a symbol font."""

from __future__ import annotations

__all__ = ["symbol", "without_private_use"]

# Adobe's Symbol encoding, which the font "Symbol" follows: capital and small Greek letters by
# the Latin letter in their place, then the operators that documents use.
_GREEK = dict(
    zip(
        b"ABGDEZHQIKLMNXOPRSTUFCYWabgdezhqiklmnxoprstufcywVJj",
        "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρστυφχψωςϑϕ",
        strict=True,
    )
)
_OPERATORS = dict(
    zip(
        bytes.fromhex("a3a5abacadaeafb0b1b2b3b4b5b6b7b8b9babbbcc5c6c7c8ccced0d1d6d7e5f2dea4"),
        "≤∞↔←↑→↓°±″≥×∝∂•÷≠≡≈…⊕∅∩∪⊂∈∠∇√⋅∑∫⇒⁄",
        strict=True,
    )
)
_SYMBOL = {**_GREEK, **_OPERATORS}
_WINGDINGS = {
    0x28: "☎", 0x2A: "✉", 0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "❑", 0x76: "❖", 0xA7: "▪",
    0xA8: "☐", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE8: "➔", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒",
    0xFE: "☑",
}  # fmt: skip
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS}


def symbol(font: str, code: str) -> str:
    """The Unicode character of a hexadecimal code in a font; empty if it has none."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    if 0xF000 <= number <= 0xF0FF:
        number -= 0xF000
        table = _FONTS.get(font.strip().lower(), {})
        return table.get(number, "")
    if number < 0x20 or 0xD800 <= number <= 0xDFFF or number > 0x10FFFF:
        return ""
    return chr(number)


def without_private_use(text: str, font: str) -> str:
    """The text with the private characters of a symbol font as Unicode ones, unknown ones gone."""
    if not any("\uf000" <= c <= "\uf0ff" for c in text):
        return text
    return "".join(symbol(font, f"{ord(c):x}") if "\uf000" <= c <= "\uf0ff" else c for c in text)
