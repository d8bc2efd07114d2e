"""A model server as a child process: started on demand, restarted after a crash, never orphaned.

The child's side of the agreement is in `child.py`. One event loop owns a `ManagedServer`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import httpx

from rag_source.domain.errors import BackendUnavailableError
from rag_source.domain.ports import ServerAddress

__all__ = ["ManagedServer", "SupervisionPolicy"]

logger = logging.getLogger(__name__)

_TAIL_BYTES = 8192
_HINT_CHARS = 400
_HEALTH_TIMEOUT = httpx.Timeout(2.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisionPolicy:
    """How patient a supervisor is. Times in seconds.

    `ready_s` is how long a start may take: loading 1.1 GB took 3 s on a quiet machine, 50 s on
    one with a load of eight. After the n-th crash in a row the next start comes `backoff_s *
    2**(n-1)` later, at most `longest_backoff_s`; `crash_limit` crashes in a row are a crash loop,
    which is reported instead of waited for until the last back-off has passed. A child that lived
    `stable_s` starts the count again. `probe_s` is how often a ready child is asked whether it is
    still well, and `probe_limit` how many silent answers in a row make it a hung one. `grace_s` is
    what a child gets to end by itself.
    """

    ready_s: float = 180.0
    poll_s: float = 0.05
    backoff_s: float = 0.5
    longest_backoff_s: float = 30.0
    crash_limit: int = 4
    stable_s: float = 60.0
    probe_s: float = 10.0
    probe_limit: int = 3
    grace_s: float = 3.0

    def __post_init__(self) -> None:
        if min(self.ready_s, self.poll_s, self.grace_s, self.probe_s) <= 0:
            raise ValueError("ready_s, poll_s, grace_s and probe_s are positive")
        if self.crash_limit < 1 or self.probe_limit < 1 or self.backoff_s < 0:
            raise ValueError("the limits are at least 1, backoff_s is not negative")

    def backoff_after(self, crashes: int) -> float:
        """Seconds between the last of `crashes` crashes and the next start."""
        if not crashes:
            return 0.0
        return float(min(self.backoff_s * 2 ** min(crashes - 1, 32), self.longest_backoff_s))


class ManagedServer:
    """An `Endpoint` that starts its server when first asked, and again after a crash.

    Args:
        name: For messages, such as `answer model`.
        command: The child's program and arguments; it follows `child.py`'s agreement.
        http: Asks `/health`; not owned. It must not use a proxy for loopback.
        before_start: Called in a thread before every start; raises if it would be in vain, such
            as `ModelMissingError`.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        http: httpx.AsyncClient,
        policy: SupervisionPolicy | None = None,
        before_start: Callable[[], object] = lambda: None,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._name = name
        self._command = tuple(command)
        self._http = http
        self._policy = policy or SupervisionPolicy()
        self._before_start = before_start
        self._now = now
        self._sleep = sleep
        self._child: _Child | None = None
        self._starting: asyncio.Task[_Child] | None = None
        self._crashes = 0
        self._last_crash = 0.0
        self._last_words = ""
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    @property
    def running(self) -> bool:
        """Whether a child is up now."""
        return self._child is not None and self._child.alive

    async def address(self) -> ServerAddress:
        """The server's address once it is ready; callers at the same time share one start.

        Raises:
            BackendUnavailableError: It does not come up, or crashes again and again; the hint is
                the end of what it wrote to stderr.
            RagError: Whatever `before_start` raises.
        """
        if self._closed:
            raise BackendUnavailableError(f"the {self._name} was stopped")
        while (child := self._child) is not None and child.alive:
            if await self._is_well(child):
                return child.address
            if child is self._child:
                break
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._bring_up(), name=f"start {self._name}")
            # Its error goes to those who wait; if all of them gave up, it was logged already.
            self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        # One caller that gives up must not end the start that others wait for.
        return (await asyncio.shield(self._starting)).address

    async def stop(self) -> None:
        """End the child, politely and then by force, and refuse further starts."""
        self._closed = True
        if self._starting is not None:
            self._starting.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self._starting
        child, self._child = self._child, None
        if child is not None:
            await child.end(self._policy.grace_s)

    async def _bring_up(self) -> _Child:
        await self._bury()
        if self._crashes >= self._policy.crash_limit and self._pause() > 0:
            raise self._failure(f"crashed {self._crashes} times in a row")
        while True:
            await self._sleep(self._pause())
            await asyncio.to_thread(self._before_start)
            child = await _Child.start(self._command, self._now)
            try:
                await self._until_ready(child)
            except BaseException as error:
                await child.end(self._policy.grace_s)
                if not isinstance(error, _NotReady):
                    raise
                self._note_crash(child)
                logger.warning("the %s did not start: %s", self._name, error)
                if self._crashes >= self._policy.crash_limit or error.final:
                    raise self._failure(f"could not be started: {error}") from error
            else:
                self._child = child
                logger.info(
                    "the %s is ready after %.1f s (process %d)",
                    self._name,
                    self._now() - child.started,
                    child.pid,
                )
                return child

    async def _bury(self) -> None:
        """Take leave of a child that crashed or hangs."""
        child, self._child = self._child, None
        if child is None:
            return
        await child.end(self._policy.grace_s)
        if self._now() - child.ready_since >= self._policy.stable_s:
            self._crashes = 0
        self._note_crash(child)
        logger.warning("the %s ended unexpectedly with status %s", self._name, child.status)

    def _note_crash(self, child: _Child) -> None:
        self._crashes += 1
        self._last_crash = self._now()
        self._last_words = child.tail()

    def _pause(self) -> float:
        wait = self._policy.backoff_after(self._crashes)
        return max(0.0, self._last_crash + wait - self._now()) if self._crashes else 0.0

    async def _until_ready(self, child: _Child) -> None:
        try:
            async with asyncio.timeout(self._policy.ready_s):
                await child.exchange_orders()
                while not await self._healthy(child):
                    if not child.alive:
                        raise _NotReady(f"it ended with status {child.status}")
                    await asyncio.sleep(self._policy.poll_s)
        except TimeoutError:
            raise _NotReady(
                f"it was not ready after {self._policy.ready_s:g} s", final=True
            ) from None
        child.ready_since = child.probed = self._now()

    async def _is_well(self, child: _Child) -> bool:
        """Ask a ready child now and then: a hung one takes connections and answers nothing."""
        if self._now() - child.probed < self._policy.probe_s:
            return True
        for _ in range(self._policy.probe_limit):
            if await self._healthy(child):
                child.probed = self._now()
                return True
            if not child.alive:
                return False
        logger.warning("the %s does not answer any more", self._name)
        return False

    async def _healthy(self, child: _Child) -> bool:
        try:
            reply = await self._http.get(
                f"{child.address.base_url}/health", timeout=_HEALTH_TIMEOUT
            )
        except httpx.TransportError:
            return False
        return reply.status_code == 200

    def _failure(self, what: str) -> BackendUnavailableError:
        words = " ".join(self._last_words.split())[-_HINT_CHARS:]
        return BackendUnavailableError(
            f"the {self._name} {what}",
            hint=f"its last words: {words}" if words else "it said nothing before it ended",
        )


class _NotReady(Exception):
    """A start that failed; `final` says that trying again at once is useless."""

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


class _Child:
    """One process, from its start to its end."""

    def __init__(self, process: asyncio.subprocess.Process, started: float) -> None:
        self._process = process
        self._api_key = secrets.token_urlsafe(32)
        self._stderr = bytearray()
        self._drain = asyncio.create_task(self._keep_tail(), name=f"stderr of {process.pid}")
        self.address = ServerAddress(base_url="")
        self.started = started
        self.ready_since = started
        self.probed = started

    @classmethod
    async def start(cls, command: Sequence[str], now: Callable[[], float]) -> Self:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise BackendUnavailableError(
                f"the program {command[0]!r} cannot be started: {error.strerror}"
            ) from error
        return cls(process, now())

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    @property
    def status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._process.returncode

    async def exchange_orders(self) -> None:
        """Send the orders and wait for the port."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        orders = json.dumps({"api_key": self._api_key, "parent": os.getpid()})
        line = b""
        with suppress(ConnectionError):
            stdin.write(orders.encode("ascii") + b"\n")
            await stdin.drain()
            line = await stdout.readline()
        try:
            port = json.loads(line)["port"]
        except (ValueError, KeyError, TypeError):
            await self._process.wait()
            raise _NotReady(f"it ended with status {self.status} before it listened") from None
        self.address = ServerAddress(base_url=f"http://127.0.0.1:{port}", api_key=self._api_key)

    async def end(self, grace_s: float) -> None:
        """See the process ended and reaped, and its pipes closed."""
        stdin = self._process.stdin
        if stdin is not None:
            stdin.close()
        try:
            async with asyncio.timeout(grace_s):
                await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        # A grandchild may hold stderr open: its words are not worth waiting for.
        _, late = await asyncio.wait({self._drain}, timeout=grace_s)
        for task in late:
            task.cancel()

    def tail(self) -> str:
        """The end of what the child wrote to stderr."""
        return self._stderr.decode("utf-8", "replace").strip()

    async def _keep_tail(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        while data := await stderr.read(4096):
            self._stderr += data
            del self._stderr[:-_TAIL_BYTES]
