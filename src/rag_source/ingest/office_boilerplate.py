"""Words in Office files that programs wrote, not authors: page labels, titles, alt texts."""

from __future__ import annotations

import re

__all__ = ["is_generated_description", "is_page_label", "is_senseless_title"]

_PAGE_WORDS = re.compile(r"\b(?:page|pages|of|sur|de|p|pg|صفحة|الصفحة|من)\b|[\W\d_]", re.IGNORECASE)
_GENERATED_DESCRIPTION = re.compile(
    r"^(?:picture|image|grafik|imagen|immagine|shape|text ?box|zone de texte|صورة)\s*\d*$"
    r"|\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg)$"
    r"|description automatically generated|description générée automatiquement"
    r"|^ai-generated content|تم إنشاء الوصف تلقائي",
    re.IGNORECASE,
)
_SENSELESS_TITLE = re.compile(
    r"^(?:untitled|sans titre|بدون عنوان|document\d*|(?:powerpoint )?presentation\d*|"
    r"(?:microsoft )?(?:word|powerpoint|excel)\b.*|présentation(?: powerpoint)?\d*|"
    r"(?:work)?book\d*|classeur\d*|عرض تقديمي.*|slide \d+|titre?|title)$|\.(?:docx?|pptx?|xlsx?)$",
    re.IGNORECASE,
)


def is_page_label(text: str) -> bool:
    """Whether a text only numbers pages, in the three languages: "Page of ", "صفحة من", "- 3 -"."""
    return not _PAGE_WORDS.sub("", text)


def is_generated_description(text: str) -> bool:
    """Whether an alternative text is a default name, a file's name, or made by a machine."""
    return _GENERATED_DESCRIPTION.search(text.strip()) is not None


def is_senseless_title(title: str) -> bool:
    """Whether a title property is what a program wrote when it made the file."""
    return _SENSELESS_TITLE.search(title) is not None
