"""Sentences of a document that give orders to whoever answers from it (SPEC A11).

Such a sentence is neither read by the answer model nor quoted as what the document says of
anything. The patterns are orders to *answer* in some way or to set rules aside, in French, English
and Arabic; what a manual orders its reader to do ("press Stop") is none of them.
"""

from __future__ import annotations

import re

__all__ = ["REMOVED", "gives_orders", "without_orders"]

REMOVED = "(…)"
"""Stands where something was taken out."""

# A sentence, whose full stop is followed by white space: an address has others.
_REST = r"(?:[^.!?\n]|[.!?](?=\S))"
_ORDERS = re.compile(
    rf"""(?ix)
    {_REST}*?(?:
      \b(?:ignore[sz]?|disregard|forget|oublie[sz]?|ne\s+tiens?\s+pas\s+compte)\b{_REST}{{0,40}}?
        \b(?:instructions?|questions?|prompts?|consignes?|directives?|rules?|règles|above|previous)
    | \b(?:reply|respond|answer|réponds|répondez|écris|écrivez|output)\b\s+
        (?:only|just|exactly|with|seulement|uniquement|exactement|par|avec|in\s+json|en\s+json)\b
    | \b(?:you\s+are\s+now|from\s+now\s+on|tu\s+es\s+(?:maintenant|désormais)|désormais,?\s+tu)\b
    | (?:تجاهل|انس)\s{_REST}{{0,40}}?(?:التعليمات|السؤال|الأسئلة|ما\ سبق)
    | (?:أجب|اكتب|رد)\s+(?:فقط|بكلمة|بعبارة)
    ){_REST}*[.!?]?
    """
)
# A turn of a conversation that the document makes up.
_TURN = re.compile(r"(?i)^\s*(?:assistant|\[/?INST\]|<\|)")


def without_orders(text: str) -> str:
    """The text with each such sentence replaced by `REMOVED`."""
    return _ORDERS.sub(REMOVED, text)


def gives_orders(line: str) -> bool:
    """Whether a sentence or row holds such an order, or plays a turn of the assistant."""
    return bool(_ORDERS.search(line) or _TURN.match(line))
