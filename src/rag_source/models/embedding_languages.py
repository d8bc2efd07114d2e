"""Which embedding models are for English only, as far as their names say."""

from __future__ import annotations

import re

__all__ = ["languages_of"]

_MANY = re.compile(r"multilingual|multi-?lang|[-_]m3\b|xlm|labse|v2-moe|arctic-embed(2|.*v2)")
_ENGLISH_WORD = re.compile(r"(?<![a-z])(en|eng|english)(?![a-z])")
# Families whose name does not say so, by their authors' own descriptions.
_ENGLISH_FAMILIES = re.compile(
    r"all-?minilm|all-mpnet|(?<![a-z0-9])e5-(small|base|large)|gte-(small|base|large)"
    r"|nomic-embed-text|mxbai-embed|arctic-embed"
)


def languages_of(name: str, declared: str = "") -> tuple[str, ...]:
    """The languages a model was made for; empty for many or if nothing tells.

    Args:
        name: The model's name.
        declared: Languages that the operator gave, joined by commas; they count more.
    """
    if declared:
        return tuple(declared.split(","))
    lowered = name.lower()
    if _MANY.search(lowered):
        return ()
    if _ENGLISH_WORD.search(lowered) or _ENGLISH_FAMILIES.search(lowered):
        return ("en",)
    return ()
