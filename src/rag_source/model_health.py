"""What health says of the models: where they are, and whether index and settings agree on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import EmbeddingModel
from rag_source.engine import Engine
from rag_source.model_servers import ModelServers
from rag_source.model_switch import ModelSwitch

__all__ = ["model_problems", "model_warnings"]


def model_problems(engine: Engine, switch: ModelSwitch | None) -> tuple[str, ...]:
    """What keeps answers from being as good as they could be, one line each with its remedy."""
    problems: list[str] = []
    if engine.words_only:
        remedy = "wait until it is made anew" if _is_at_it(switch) else _START
        problems.append(
            f"the index was made by {engine.model.name!r}, which cannot be run any more: "
            f"questions are searched for by their words alone; {remedy}"
        )
    return (*problems, *(switch.problems if switch else ()))


def model_warnings(
    engine: Engine,
    servers: ModelServers,
    switch: ModelSwitch | None,
    records: Sequence[DocumentRecord],
) -> tuple[str, ...]:
    """What the user should know of the models, one line each."""
    found = [f"{flow.what} is sent to {flow.to}" for flow in servers.outflows]
    found += servers.warnings
    status = switch.status if switch else None
    if status is not None and (_is_at_it(switch) or not engine.words_only):
        found.append(
            f"the index is being made anew for {status.wanted!r}: {status.done} of {status.total} "
            f"documents; until then the one of {status.former!r} answers"
            if _is_at_it(switch)
            else f"the index is one of {status.former!r}, the settings name {status.wanted!r}: "
            + _START
        )
    found += _language_warnings(servers.embedder.model, records)
    if not engine.is_calibrated and not engine.words_only:
        found.append(
            f"the reranker was not fitted to {engine.model.name!r}: it goes by the words and by "
            "how passages compare with each other, and refuses fewer questions that have no answer"
        )
    return tuple(found)


_START = "run `rag-source up` or `rag-source ingest` to make it anew"


def _is_at_it(switch: ModelSwitch | None) -> bool:
    return switch is not None and switch.is_running


def _language_warnings(model: EmbeddingModel, records: Iterable[DocumentRecord]) -> tuple[str, ...]:
    if not model.languages:
        return ()
    ready = (record.language for record in records if record.status == "ready")
    foreign = Counter(one for one in ready if one not in (*model.languages, "und"))
    if not foreign:
        return ()
    languages = ", ".join(sorted(foreign))
    return (
        f"the embedding model {model.name!r} is made for {', '.join(model.languages)} only: "
        f"{foreign.total()} documents in {languages} are found by their words at best; "
        "choose a multilingual model",
    )
