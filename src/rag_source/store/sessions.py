"""The browsers that are let in, in a small file of the state: they stay so over a restart.

What is kept of a session is a keyed hash of its cookie, from which nobody gets the cookie back.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

__all__ = ["SessionFile"]

logger = logging.getLogger(__name__)


class SessionFile:
    """When each session ends, in seconds since 1970, by the hash of its cookie."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> dict[str, float]:
        """What was saved; empty if that cannot be read: then everyone has to come in anew."""
        try:
            value = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(value, dict):
            return {}
        return {
            key: float(end) for key, end in value.items() if isinstance(end, int | float) and key
        }

    def save(self, sessions: dict[str, float]) -> None:
        """Keep these and no others, in one step; without room they are good until the restart."""
        temporary = self._path.with_name(self._path.name + ".new")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(sessions, file)
            temporary.replace(self._path)
        except OSError as error:
            logger.warning("the sessions could not be kept: %s", error.strerror)
