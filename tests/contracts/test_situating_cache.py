"""What every `SituatingCache` promises, on the fake and on SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes import FakeSituatingCache
from rag_source.domain.ports import SituatingCache
from rag_source.store.database import Database
from rag_source.store.situating import SqliteSituatingCache


@pytest.fixture(params=["fake", "sqlite"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SituatingCache]:
    """An empty cache of each kind."""
    if request.param == "fake":
        yield FakeSituatingCache()
        return
    database = Database(tmp_path / "catalogue.db")
    yield SqliteSituatingCache(database)
    database.close()


def test_empty_cache_knows_nothing(cache: SituatingCache) -> None:
    assert cache.situating("f1") == {}


def test_answers_come_back_by_fingerprint(cache: SituatingCache) -> None:
    cache.save_situating("d", "f1", "k1", "Une phrase. عربي 😀")
    cache.save_situating("d", "f1", "k2", "")
    cache.save_situating("d", "f2", "k1", "Une autre.")

    assert cache.situating("f1") == {"k1": "Une phrase. عربي 😀", "k2": ""}
    assert cache.situating("f2") == {"k1": "Une autre."}


def test_answer_of_another_document_with_the_same_bytes_is_shared(cache: SituatingCache) -> None:
    cache.save_situating("d", "f", "k1", "Un.")
    cache.save_situating("copy", "f", "k2", "Deux.")

    assert cache.situating("f") == {"k1": "Un.", "k2": "Deux."}


def test_answer_saved_twice_is_replaced(cache: SituatingCache) -> None:
    cache.save_situating("d", "f", "k", "Un.")
    cache.save_situating("d", "f", "k", "Deux.")

    assert cache.situating("f") == {"k": "Deux."}


def test_what_was_read_is_the_readers_own(cache: SituatingCache) -> None:
    cache.save_situating("d", "f", "k", "Un.")
    cache.situating("f")["k"] = "changed"

    assert cache.situating("f") == {"k": "Un."}
