"""The answer model over `/v1/chat/completions`: our child, llama.cpp, or an OpenAI-like service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from rag_source.clients.dialects import OURS, Dialect
from rag_source.clients.sse import SseParser
from rag_source.clients.transport import (
    RETRY_PAUSE_S,
    authorization,
    error_of,
    server_errors,
    well_formed,
)
from rag_source.domain.errors import BackendError, BackendUnavailableError
from rag_source.domain.ports import ChatMessage, Endpoint

__all__ = ["GenerationPolicy", "LlamaGenerator"]

_LIMIT, _NEW_LIMIT = "max_tokens", "max_completion_tokens"


class _LearnedError(Exception):
    """The service refused a field, and the next request does without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationPolicy:
    """Times in seconds. `silence_s` is the longest wait for the next byte of a stream.

    llama.cpp sends a ping after 30 s of silence, also while it reads the prompt, so that 120 s
    means a server that hangs. `temperature` 0: the same passages give the same answer.
    """

    connect_s: float = 5.0
    silence_s: float = 120.0
    temperature: float = 0.0

    def __post_init__(self) -> None:
        if self.connect_s <= 0 or self.silence_s <= 30 or self.temperature < 0:
            raise ValueError("connect_s > 0, silence_s > 30, temperature >= 0")


class LlamaGenerator:
    """A `TextGenerator`.

    Args:
        endpoint: Where the server is, started by asking.
        http: Not owned; without a proxy for a server on this machine.
        dialect: How the server is spoken to.
        context_tokens: Its context where it does not say so itself; 0 if it always does.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        http: httpx.AsyncClient,
        *,
        dialect: Dialect = OURS,
        context_tokens: int = 0,
        policy: GenerationPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._endpoint = endpoint
        self._http = http
        self._dialect = dialect
        self._server = dialect.server or "answer model"
        self._assumed_tokens = context_tokens
        self._asks_context = dialect.has_llama_routes
        self._policy = policy or GenerationPolicy()
        self._sleep = sleep
        self._limit_field = _LIMIT
        self._sends_temperature = True

    async def context_tokens(self) -> int:
        """The real context of one slot, as the server says; asked each time, it may restart.

        What was given for it, if the server has no such route.
        """
        if not self._asks_context:
            return self._assumed_tokens
        try:
            return await self._context_tokens()
        except BackendUnavailableError:
            await self._sleep(RETRY_PAUSE_S)
            return await self._context_tokens()

    async def stream(
        self, messages: Sequence[ChatMessage], *, limit_tokens: int
    ) -> AsyncGenerator[str, None]:
        """Text as it is generated, at most `limit_tokens` tokens of it.

        Closing the iterator closes the connection, on which the server stops. A server that is
        gone before the first word is asked once more.

        Raises:
            BackendOverflowError: The prompt does not fit the context.
            BackendError: Unreachable, or failed in mid-stream.
        """
        may_retry = True
        while True:
            begun = False
            try:
                async with aclosing(self._attempt(self._body(messages, limit_tokens))) as texts:
                    async for text in texts:
                        begun = True
                        yield text
                return
            except _LearnedError:
                # At most twice: each time there is a field less to refuse.
                continue
            except BackendUnavailableError:
                if begun or not may_retry:
                    raise
                may_retry = False
            await self._sleep(RETRY_PAUSE_S)

    def _body(self, messages: Sequence[ChatMessage], limit_tokens: int) -> dict[str, Any]:
        body: dict[str, Any] = {
            "messages": [{"role": m.role, "content": well_formed(m.content)} for m in messages],
            "stream": True,
            self._limit_field: limit_tokens,
        }
        if self._sends_temperature:
            body["temperature"] = self._policy.temperature
        if self._dialect.is_ours:
            # Nobody else is sent a field that OpenAI's form does not have: some refuse it.
            body["cache_prompt"] = True
        if self._dialect.model:
            body["model"] = self._dialect.model
        return body

    async def _attempt(self, body: dict[str, Any]) -> AsyncGenerator[str, None]:
        async with self._reply(body) as reply:
            events = SseParser()
            finished = False
            with server_errors(self._server):
                async for line in reply.aiter_lines():
                    data = events.feed(line)
                    if data == "[DONE]":
                        return
                    if data is not None:
                        text, finished = self._delta(data, finished)
                        if text:
                            yield text
            if not finished and events.flush() != "[DONE]":
                raise BackendUnavailableError(
                    f"the {self._server} stopped in the middle of its answer", hint="try again"
                )

    @asynccontextmanager
    async def _reply(self, body: dict[str, Any]) -> AsyncGenerator[httpx.Response, None]:
        address = await self._endpoint.address()
        with server_errors(self._server):
            request = self._http.build_request(
                "POST",
                f"{address.base_url}{self._dialect.api}/chat/completions",
                json=body,
                headers=authorization(address),
                timeout=self._timeout(),
            )
            reply = await self._http.send(request, stream=True)
        try:
            if reply.status_code != 200:
                with server_errors(self._server):
                    error = error_of(self._server, reply.status_code, await reply.aread())
                    if reply.status_code == 400 and self._learns(error.message):
                        raise _LearnedError from error
                    raise error
            yield reply
        finally:
            # The server goes on generating for as long as the connection lives.
            await reply.aclose()

    def _learns(self, refusal: str) -> bool:
        """Whether a field that was refused can be left out or renamed; newer models want that."""
        if self._dialect.is_ours:
            return False
        if self._limit_field == _LIMIT and _NEW_LIMIT in refusal:
            self._limit_field = _NEW_LIMIT
            return True
        if self._sends_temperature and "temperature" in refusal:
            self._sends_temperature = False
            return True
        return False

    async def _context_tokens(self) -> int:
        address = await self._endpoint.address()
        with server_errors(self._server):
            reply = await self._http.get(
                f"{address.base_url}/props",
                headers=authorization(address),
                timeout=self._timeout(),
            )
            if not self._dialect.is_ours and not _is_props(reply):
                if reply.status_code == 503:
                    raise error_of(self._server, reply.status_code, reply.content)
                self._asks_context = False
                return self._assumed_tokens
            if reply.status_code != 200:
                raise error_of(self._server, reply.status_code, reply.content)
            tokens = reply.json()["default_generation_settings"]["n_ctx"]
        if not isinstance(tokens, int) or tokens < 1:
            raise BackendError(f"the {self._server} says its context is {tokens!r} tokens")
        return tokens

    def _timeout(self) -> httpx.Timeout:
        policy = self._policy
        return httpx.Timeout(
            connect=policy.connect_s,
            read=policy.silence_s,
            write=policy.silence_s,
            pool=policy.silence_s,
        )

    def _delta(self, data: str, finished: bool) -> tuple[str, bool]:
        """The text of one event, and whether the server has said why it ends.

        Raises:
            BackendError: The event is an error; a 200 before it promised nothing.
        """
        event = json.loads(data)
        # Some services send the field in every event, empty.
        if event.get("error"):
            raise error_of(self._server, 200, event)
        # The chunk with the usage has no choices.
        choices = event.get("choices") or [{}]
        text = (choices[0].get("delta") or {}).get("content") or ""
        if not isinstance(text, str):
            raise TypeError("content is not text")
        return text, finished or bool(choices[0].get("finish_reason"))


def _is_props(reply: httpx.Response) -> bool:
    """Whether this is llama.cpp's answer; other servers have none, or a page of their own."""
    try:
        return reply.status_code == 200 and "default_generation_settings" in reply.json()
    except ValueError:
        return False
