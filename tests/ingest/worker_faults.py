"""What a parser may do to its worker. Here, where the worker process can import it."""

from __future__ import annotations

import os
import time

__all__ = ["die", "hang"]


def hang(*_: object) -> None:
    time.sleep(60)


def die(*_: object) -> None:
    os._exit(1)
