"""The answer model over llama.cpp's `/v1/chat/completions`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

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

_SERVER = "answer model"


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
    """

    def __init__(
        self,
        endpoint: Endpoint,
        http: httpx.AsyncClient,
        *,
        policy: GenerationPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._endpoint = endpoint
        self._http = http
        self._policy = policy or GenerationPolicy()
        self._sleep = sleep

    async def context_tokens(self) -> int:
        """The real context of one slot, as the server says; asked each time, it may restart."""
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
        body = {
            "messages": [{"role": m.role, "content": well_formed(m.content)} for m in messages],
            "stream": True,
            "temperature": self._policy.temperature,
            "max_tokens": limit_tokens,
            "cache_prompt": True,
        }
        begun = False
        try:
            async with aclosing(self._attempt(body)) as texts:
                async for text in texts:
                    begun = True
                    yield text
        except BackendUnavailableError:
            if begun:
                raise
        else:
            return
        await self._sleep(RETRY_PAUSE_S)
        async with aclosing(self._attempt(body)) as texts:
            async for text in texts:
                yield text

    async def _attempt(self, body: dict[str, Any]) -> AsyncGenerator[str, None]:
        async with self._reply(body) as reply:
            events = SseParser()
            finished = False
            with server_errors(_SERVER):
                async for line in reply.aiter_lines():
                    data = events.feed(line)
                    if data == "[DONE]":
                        return
                    if data is not None:
                        text, finished = _delta(data, finished)
                        if text:
                            yield text
            if not finished and events.flush() != "[DONE]":
                raise BackendUnavailableError(
                    f"the {_SERVER} stopped in the middle of its answer", hint="try again"
                )

    @asynccontextmanager
    async def _reply(self, body: dict[str, Any]) -> AsyncGenerator[httpx.Response, None]:
        address = await self._endpoint.address()
        with server_errors(_SERVER):
            request = self._http.build_request(
                "POST",
                f"{address.base_url}/v1/chat/completions",
                json=body,
                headers=authorization(address),
                timeout=self._timeout(),
            )
            reply = await self._http.send(request, stream=True)
        try:
            if reply.status_code != 200:
                with server_errors(_SERVER):
                    raise error_of(_SERVER, reply.status_code, await reply.aread())
            yield reply
        finally:
            # The server goes on generating for as long as the connection lives.
            await reply.aclose()

    async def _context_tokens(self) -> int:
        address = await self._endpoint.address()
        with server_errors(_SERVER):
            reply = await self._http.get(
                f"{address.base_url}/props",
                headers=authorization(address),
                timeout=self._timeout(),
            )
            if reply.status_code != 200:
                raise error_of(_SERVER, reply.status_code, reply.content)
            tokens = reply.json()["default_generation_settings"]["n_ctx"]
        if not isinstance(tokens, int) or tokens < 1:
            raise BackendError(f"the {_SERVER} says its context is {tokens!r} tokens")
        return tokens

    def _timeout(self) -> httpx.Timeout:
        policy = self._policy
        return httpx.Timeout(
            connect=policy.connect_s,
            read=policy.silence_s,
            write=policy.silence_s,
            pool=policy.silence_s,
        )


def _delta(data: str, finished: bool) -> tuple[str, bool]:
    """The text of one event, and whether the server has said why it ends.

    Raises:
        BackendError: The event is an error; a 200 before it promised nothing.
    """
    event = json.loads(data)
    if "error" in event:
        raise error_of(_SERVER, 200, event)
    # The chunk with the usage has no choices.
    choices = event.get("choices") or [{}]
    text = (choices[0].get("delta") or {}).get("content") or ""
    if not isinstance(text, str):
        raise TypeError("content is not text")
    return text, finished or bool(choices[0].get("finish_reason"))
