"""Questions before ingestion, where both use one answer model.

The embedded profile's server has one slot: what ingestion asks of it would keep a question waiting
for seconds. So ingestion asks only while no question is being answered, and a question that comes
interrupts what ingestion is at; the server stops when the connection closes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from typing import cast

from rag_source.domain.ports import ChatMessage, TextGenerator

__all__ = ["QuestionsFirst"]


class QuestionsFirst:
    """Two `TextGenerator`s over one: `for_questions`, and `for_ingestion`, which gives way.

    One event loop uses both.
    """

    def __init__(self, generator: TextGenerator) -> None:
        turns = _Turns()
        self.for_questions: TextGenerator = _ForQuestions(generator, turns)
        self.for_ingestion: TextGenerator = _ForIngestion(generator, turns)


class _Turns:
    """How many questions are being answered, and what they may interrupt."""

    def __init__(self) -> None:
        self._questions = 0
        self._no_question = asyncio.Event()
        self._no_question.set()
        self._interruptible: set[asyncio.Timeout] = set()

    @contextmanager
    def question(self) -> Iterator[None]:
        self._questions += 1
        self._no_question.clear()
        while self._interruptible:
            self._interruptible.pop().reschedule(asyncio.get_running_loop().time())
        try:
            yield
        finally:
            self._questions -= 1
            if not self._questions:
                self._no_question.set()

    async def no_question(self) -> None:
        # One may come between the moment that wakes this and the moment it goes on.
        while self._questions:
            await self._no_question.wait()

    @contextmanager
    def interrupting(self, scope: asyncio.Timeout) -> Iterator[None]:
        """Within, a question that comes ends the scope with a TimeoutError."""
        self._interruptible.add(scope)
        try:
            yield
        finally:
            self._interruptible.discard(scope)


class _ForQuestions:
    def __init__(self, generator: TextGenerator, turns: _Turns) -> None:
        self._generator = generator
        self._turns = turns

    async def context_tokens(self) -> int:
        return await self._generator.context_tokens()

    async def stream(
        self, messages: Sequence[ChatMessage], *, limit_tokens: int
    ) -> AsyncGenerator[str, None]:
        with self._turns.question():
            async with aclosing(_stream(self._generator, messages, limit_tokens)) as words:
                async for word in words:
                    yield word


class _ForIngestion:
    def __init__(self, generator: TextGenerator, turns: _Turns) -> None:
        self._generator = generator
        self._turns = turns

    async def context_tokens(self) -> int:
        return await self._generator.context_tokens()

    async def stream(
        self, messages: Sequence[ChatMessage], *, limit_tokens: int
    ) -> AsyncGenerator[str, None]:
        """The whole answer in one piece: what a question interrupts is begun again."""
        text: str | None = None
        while text is None:
            await self._turns.no_question()
            text = await self._uninterrupted(messages, limit_tokens)
        yield text

    async def _uninterrupted(
        self, messages: Sequence[ChatMessage], limit_tokens: int
    ) -> str | None:
        """The answer, or None if a question came."""
        scope = asyncio.timeout(None)
        try:
            async with scope, aclosing(_stream(self._generator, messages, limit_tokens)) as words:
                with self._turns.interrupting(scope):
                    return "".join([word async for word in words])
        except TimeoutError:
            if not scope.expired():
                raise
            return None


def _stream(
    generator: TextGenerator, messages: Sequence[ChatMessage], limit_tokens: int
) -> AsyncGenerator[str, None]:
    """A generator function, as every implementation of the port is: it can be closed."""
    stream = generator.stream(messages, limit_tokens=limit_tokens)
    return cast(AsyncGenerator[str, None], stream)
