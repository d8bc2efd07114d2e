"""Run loaders where they can do no harm: in a worker process, with a time limit.

A parser that hangs or crashes costs its worker; the next file gets a new one. The worker starts
with the first file and is kept, so that a small corpus pays for one start.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.domain.ports import DocumentLoader
from rag_source.ingest.registry import LoaderRegistry

__all__ = [
    "InProcessParser",
    "ParseFailure",
    "Parser",
    "ParserProcess",
    "ParsingPolicy",
    "parse_outcome",
    "unsupported_hint",
    "unwrapped",
]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsingPolicy:
    """Limits of one parse.

    `timeout_s` is wall time: the slowest honest file measured, a book of 1,000 pages, takes about
    two minutes on one busy core. `limit_bytes` is the size of the file.
    """

    timeout_s: float = 300.0
    limit_bytes: int = 512 * 1024 * 1024

    def __post_init__(self) -> None:
        if not 0 < self.timeout_s <= 3600:
            raise ValueError(f"timeout_s must be above 0 and at most 3600, not {self.timeout_s}")
        if self.limit_bytes <= 0:
            raise ValueError(f"limit_bytes must be positive, not {self.limit_bytes}")


class Parser(Protocol):
    """Parses a file by the loader of its suffix."""

    async def parse(self, path: Path) -> ParsedDocument:
        """The document.

        Raises:
            SourceError: It cannot be used; anything a loader did not foresee is `parser_error`.
        """


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """A `SourceError` as it crosses the process border: exceptions with keywords do not pickle."""

    code: str
    message: str
    hint: str


class InProcessParser:
    """Parses in a thread of this process, one file at a time; for tests and single files."""

    def __init__(self, registry: LoaderRegistry, policy: ParsingPolicy | None = None) -> None:
        self._registry = registry
        self._policy = policy or ParsingPolicy()
        self._turn = asyncio.Lock()

    async def parse(self, path: Path) -> ParsedDocument:
        async with self._turn:
            outcome = await asyncio.to_thread(
                parse_outcome, self._registry.loader_for(path), path, self._policy.limit_bytes
            )
        return unwrapped(outcome)


class ParserProcess:
    """Parses in a worker process, one file at a time; an async context that ends the worker."""

    def __init__(self, policy: ParsingPolicy | None = None) -> None:
        self._policy = policy or ParsingPolicy()
        self._pool: ProcessPoolExecutor | None = None
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    async def parse(self, path: Path) -> ParsedDocument:
        async with self._turn:
            return unwrapped(await self._run(path))

    async def aclose(self) -> None:
        """End the worker; a later `parse` starts a new one."""
        await asyncio.to_thread(self._end)

    async def _run(self, path: Path) -> ParsedDocument | ParseFailure:
        if self._pool is None:
            # Spawned, not forked: the parent has threads, of the vector engine among others.
            self._pool = ProcessPoolExecutor(
                max_workers=1, mp_context=multiprocessing.get_context("spawn")
            )
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._policy.timeout_s):
                return await loop.run_in_executor(
                    self._pool, _parse_in_worker, path, self._policy.limit_bytes
                )
        except TimeoutError:
            await asyncio.to_thread(self._end)
            return ParseFailure(
                "timeout",
                f"{path.name!r} took longer than {self._policy.timeout_s:g} s to parse",
                "Split the file, or raise the parsing time limit.",
            )
        except BrokenProcessPool:
            await asyncio.to_thread(self._end)
            return ParseFailure(
                "parser_error",
                f"{path.name!r} made its parser crash",
                "Save the file again from its program, or print it to PDF.",
            )

    def _end(self) -> None:
        pool, self._pool = self._pool, None
        if pool is None:
            return
        workers = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            # A worker in the middle of a hopeless file would never see the shutdown.
            with contextlib.suppress(OSError, ValueError):
                worker.kill()
                worker.join(5)


_worker_registry: LoaderRegistry | None = None


def _parse_in_worker(path: Path, limit_bytes: int) -> ParsedDocument | ParseFailure:
    global _worker_registry
    if _worker_registry is None:
        _worker_registry = LoaderRegistry()
    return parse_outcome(_worker_registry.loader_for(path), path, limit_bytes)


def parse_outcome(
    loader: DocumentLoader | None, path: Path, limit_bytes: int
) -> ParsedDocument | ParseFailure:
    """What a loader makes of a file of at most so many bytes; raises nothing."""
    if loader is None:
        return ParseFailure(
            "unsupported", f"{path.name!r} is of no supported format", unsupported_hint()
        )
    try:
        size = path.stat().st_size
        if size > limit_bytes:
            return ParseFailure(
                "too_large",
                f"{path.name!r} has {size:,} bytes, more than the limit of {limit_bytes:,}",
                "Split the file.",
            )
        return loader.load(path)
    except SourceError as error:
        return ParseFailure(error.code, error.message, error.hint)
    except OSError as error:
        return ParseFailure(
            "unreadable",
            f"{path.name!r} cannot be read: {error.strerror or error}",
            "Check that the file is still there, and its permissions.",
        )
    except MemoryError:
        return ParseFailure(
            "too_large",
            f"{path.name!r} needs more memory than a parser may use",
            "Split the file, or save it without its pictures.",
        )
    except Exception as error:
        logger.exception("loader %s failed on %s", loader.name, path.name)
        return ParseFailure(
            "parser_error",
            f"{path.name!r} could not be parsed ({type(error).__name__})",
            "Save the file again from its program, or print it to PDF.",
        )


def unsupported_hint() -> str:
    """What to do with a file of an unknown format."""
    return "Save it in a supported format such as PDF, HTML, Markdown, CSV or text."


def unwrapped(outcome: ParsedDocument | ParseFailure) -> ParsedDocument:
    """The document, or the failure as the `SourceError` that it was."""
    if isinstance(outcome, ParseFailure):
        raise SourceError(outcome.message, code=outcome.code, hint=outcome.hint)
    return outcome
