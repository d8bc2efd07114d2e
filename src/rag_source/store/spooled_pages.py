"""The folder in which parsers keep the pages that OCR has read, as the spool sees it.

It has a folder for each content, named by its fingerprint; what is in there is the parsers' alone.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

__all__ = ["clear_pages", "kept_pages"]

# Nothing else is looked at or deleted.
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")


def kept_pages(folder: Path) -> set[str]:
    """The fingerprints of the contents of which pages are kept."""
    try:
        return {found.name for found in folder.iterdir() if _FINGERPRINT.fullmatch(found.name)}
    except OSError:
        return set()


def clear_pages(folder: Path, fingerprint: str) -> None:
    """Delete the pages of a content. What cannot be deleted stays, and is found by `kept_pages`."""
    if _FINGERPRINT.fullmatch(fingerprint):
        shutil.rmtree(folder / fingerprint, ignore_errors=True)
