"""Questions go before ingestion at the answer model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import cast

import pytest

from rag_source.clients.precedence import QuestionsFirst
from rag_source.domain.errors import BackendUnavailableError
from rag_source.domain.ports import ChatMessage, TextGenerator


class SlowModel:
    """Says two words for each prompt, the second when it is let; keeps a log."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.let = asyncio.Event()
        self.error: Exception | None = None

    async def context_tokens(self) -> int:
        return 512

    async def stream(
        self, messages: Sequence[ChatMessage], *, limit_tokens: int
    ) -> AsyncGenerator[str, None]:
        name = messages[0].content
        self.log.append(f"{name} begins")
        try:
            yield name
            await self.let.wait()
            if self.error is not None:
                raise self.error
            yield " done"
            self.log.append(f"{name} ends")
        finally:
            self.log.append(f"{name} closed")


def _stream(generator: TextGenerator, name: str) -> AsyncGenerator[str, None]:
    """A generator function, as every implementation of the port is: it can be closed."""
    stream = generator.stream([ChatMessage(role="user", content=name)], limit_tokens=8)
    return cast(AsyncGenerator[str, None], stream)


async def _words(generator: TextGenerator, name: str) -> list[str]:
    return [word async for word in _stream(generator, name)]


async def _until(model: SlowModel, entry: str) -> None:
    for _ in range(1000):
        if entry in model.log:
            return
        await asyncio.sleep(0)
    raise AssertionError(f"{entry!r} is not in {model.log}")


async def _settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_each_side_gets_the_models_words_and_context() -> None:
    model = SlowModel()
    model.let.set()
    turns = QuestionsFirst(model)

    assert await _words(turns.for_questions, "question") == ["question", " done"]
    assert await _words(turns.for_ingestion, "chunk") == ["chunk done"]
    assert await turns.for_questions.context_tokens() == 512
    assert await turns.for_ingestion.context_tokens() == 512


async def test_ingestion_waits_while_a_question_is_answered() -> None:
    model = SlowModel()
    turns = QuestionsFirst(model)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_words(turns.for_questions, "question"))
        await _until(model, "question begins")
        tasks.create_task(_words(turns.for_ingestion, "chunk"))
        await _settled()
        assert "chunk begins" not in model.log
        model.let.set()

    assert model.log.index("question closed") < model.log.index("chunk begins")


async def test_question_interrupts_ingestion_which_begins_again() -> None:
    model = SlowModel()
    turns = QuestionsFirst(model)
    async with asyncio.TaskGroup() as tasks:
        chunk = tasks.create_task(_words(turns.for_ingestion, "chunk"))
        await _until(model, "chunk begins")
        question = tasks.create_task(_words(turns.for_questions, "question"))
        await _until(model, "chunk closed")
        model.let.set()

    assert await question == ["question", " done"]
    assert await chunk == ["chunk done"]
    assert model.log.count("chunk begins") == 2
    assert model.log.index("question closed") < model.log.index("chunk ends")


async def test_two_questions_interrupt_once_and_ingestion_waits_for_both() -> None:
    model = SlowModel()
    turns = QuestionsFirst(model)
    async with asyncio.TaskGroup() as tasks:
        chunk = tasks.create_task(_words(turns.for_ingestion, "chunk"))
        await _until(model, "chunk begins")
        tasks.create_task(_words(turns.for_questions, "first"))
        tasks.create_task(_words(turns.for_questions, "second"))
        await _until(model, "second begins")
        await _settled()
        model.let.set()

    assert await chunk == ["chunk done"]
    assert model.log.count("chunk begins") == 2
    last = max(model.log.index("first closed"), model.log.index("second closed"))
    assert last < model.log.index("chunk ends")


async def test_question_that_comes_as_ingestion_wakes_still_goes_first() -> None:
    model = SlowModel()
    turns = QuestionsFirst(model)
    first, second = (_stream(turns.for_questions, name) for name in ("first", "second"))
    async with asyncio.TaskGroup() as tasks:
        async with aclosing(first):
            await anext(first)
            tasks.create_task(_words(turns.for_ingestion, "chunk"))
            await _settled()
        # Ingestion has been woken, and does not yet run.
        async with aclosing(second):
            await anext(second)
            await _settled()
            assert "chunk begins" not in model.log
        model.let.set()

    assert model.log[-1] == "chunk closed"


async def test_abandoned_question_lets_ingestion_go_on() -> None:
    model = SlowModel()
    turns = QuestionsFirst(model)
    question = _stream(turns.for_questions, "question")
    async with aclosing(question):
        assert await anext(question) == "question"
    model.let.set()

    assert await _words(turns.for_ingestion, "chunk") == ["chunk done"]


async def test_cancelled_ingestion_closes_its_stream() -> None:
    model = SlowModel()
    turns = QuestionsFirst(model)
    chunk = asyncio.create_task(_words(turns.for_ingestion, "chunk"))
    await _until(model, "chunk begins")
    chunk.cancel()

    with pytest.raises(asyncio.CancelledError):
        await chunk
    assert model.log[-1] == "chunk closed"


@pytest.mark.parametrize(
    "error", [BackendUnavailableError("gone"), TimeoutError("late")], ids=["backend", "timeout"]
)
async def test_error_of_the_model_is_not_taken_for_an_interruption(error: Exception) -> None:
    model = SlowModel()
    model.let.set()
    model.error = error
    with pytest.raises(type(error)):
        await _words(QuestionsFirst(model).for_ingestion, "chunk")
    assert model.log.count("chunk begins") == 1
