"""A service that begins to serve another model under the same name."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fakes import FakeEmbedder
from rag_source.clients.steady import SteadyEmbedder
from rag_source.domain.chunks import Vector
from rag_source.domain.errors import BackendError, BackendUnavailableError


class _Served(FakeEmbedder):
    """What is at the address: `turned` is another model of the same dimension."""

    turned = False
    away = False

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        if self.away:
            raise BackendUnavailableError("the service does not answer")
        vectors = await super().embed_passages(texts)
        return [list(reversed(list(v))) for v in vectors] if self.turned else vectors


class _Kept:
    """The file in the collection's folder."""

    def __init__(self) -> None:
        self.vector: Vector | None = None

    def keep(self, vector: Vector) -> None:
        self.vector = [round(x, 6) for x in vector]


def _steady(served: _Served, kept: _Kept, clock: list[float]) -> SteadyEmbedder:
    return SteadyEmbedder(served, known=lambda: kept.vector, keep=kept.keep, now=lambda: clock[0])


async def test_probe_is_kept_once_and_asked_once_in_a_while() -> None:
    served, kept, clock = _Served(), _Kept(), [0.0]
    steady = _steady(served, kept, clock)
    await steady.embed_passages(["a"])
    await steady.embed_query("q")
    await steady.embed_passages(["b"])
    assert len(served.embedded) == 3
    first = kept.vector
    assert first is not None
    clock[0] = 301.0
    await steady.embed_passages(["c"])
    assert len(served.embedded) == 5
    assert kept.vector is first


async def test_another_model_under_the_same_name_is_refused_before_it_embeds_anything() -> None:
    served, kept = _Served(), _Kept()
    await _steady(served, kept, [0.0]).embed_query("q")
    served.turned = True
    # A new process on the same collection.
    steady = _steady(served, kept, [0.0])
    for embed in (steady.embed_query("q"), steady.embed_passages(["a"])):
        with pytest.raises(BackendError) as caught:
            await embed
        assert caught.value.code == "collection_mismatch"
        assert "RAG_SOURCE_EMBED_MODEL" in caught.value.hint
    assert "a" not in served.embedded
    served.turned = False
    assert len(await steady.embed_passages(["a"])) == 1


async def test_service_that_was_away_is_looked_at_again() -> None:
    served, kept = _Served(), _Kept()
    steady = _steady(served, kept, [0.0])
    await steady.embed_passages(["a"])
    served.away = True
    with pytest.raises(BackendUnavailableError):
        await steady.embed_passages(["b"])
    served.away, served.turned = False, True
    with pytest.raises(BackendError, match="another model"):
        await steady.embed_passages(["b"])


async def test_counting_tokens_asks_for_no_probe() -> None:
    served = _Served()
    steady = _steady(served, _Kept(), [0.0])
    assert await steady.count_tokens(["two words"]) == [6]
    assert served.embedded == []
    assert steady.model is served.model
