"""Where these tests put the engine's files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store_inputs import engine_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    with engine_folder() as path:
        yield path
