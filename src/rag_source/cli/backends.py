"""The two ways a command gets its answer: from a running service, or in this process."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Self

import httpx

from rag_source.api.check_wire import CheckOut, ChecksResponse
from rag_source.api.corpus_wire import (
    DocumentOut,
    DocumentsResponse,
    HealthResponse,
    IngestResponse,
)
from rag_source.api.job_wire import JobsResponse
from rag_source.api.session_wire import SessionCode
from rag_source.api.verify_wire import VerifyResponse
from rag_source.api.wire import AskResponse, SearchResponse
from rag_source.domain.answers import AnswerDone, AnswerFailed, TokenDelta
from rag_source.domain.errors import BackendError, BackendUnavailableError, RagError
from rag_source.domain.evidence import SearchFilter, SearchMode
from rag_source.domain.jobs import JobAction
from rag_source.domain.projects import DEFAULT_PROJECT
from rag_source.settings import Settings

if TYPE_CHECKING:
    from rag_source.application import Application

__all__ = ["LocalBackend", "RemoteBackend"]

# An answer on a slow machine may think for minutes before its first word.
_TIMEOUT = httpx.Timeout(10.0, read=600.0)


class LocalBackend:
    """Opens the state in this process and closes it again."""

    def __init__(self, settings: Settings, purpose: str) -> None:
        self._settings = settings
        self._purpose = purpose
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        # Lazy: whoever asks a running service needs neither the engine nor a parser.
        from rag_source.wiring import open_application

        self._application: Application = await self._stack.enter_async_context(
            open_application(self._settings, purpose=self._purpose)
        )
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._stack.aclose()

    async def search(
        self, query: str, *, mode: SearchMode, limit: int, sources: list[str]
    ) -> SearchResponse:
        result = await self._application.search(
            query, mode=mode, limit=limit, filter=SearchFilter(paths=tuple(sources))
        )
        return SearchResponse.of(result)

    async def ask(
        self,
        question: str,
        *,
        mode: SearchMode,
        sources: list[str],
        on_token: Callable[[str], None],
    ) -> AskResponse:
        events = self._application.ask(
            question, mode=mode, filter=SearchFilter(paths=tuple(sources))
        )
        async for event in events:
            match event:
                case TokenDelta(text=text):
                    on_token(text)
                case AnswerDone(answer=answer):
                    return AskResponse.of(answer)
                case AnswerFailed(code=code, message=message, hint=hint):
                    raise RagError(message, hint=hint, code=code)
        raise RagError("the answer ended without a result", code="internal")

    async def documents(self) -> DocumentsResponse:
        records = await self._application.documents()
        return DocumentsResponse(documents=[DocumentOut.of(record) for record in records])

    async def ingest(
        self, *, force: bool, on_progress: Callable[..., None] | None = None
    ) -> IngestResponse:
        report = await self._application.ingest(force=force, on_progress=on_progress)
        return IngestResponse.of(report)

    async def health(self) -> HealthResponse:
        return HealthResponse.of(await self._application.health())

    async def checks(self, *, repair: bool) -> AsyncIterator[CheckOut]:
        if repair:
            await self._application.repair()
        async for check in self._application.checks():
            yield CheckOut.of(check)

    async def verify(self, quote: str, *, sources: list[str]) -> VerifyResponse:
        filter = SearchFilter(paths=tuple(sources))
        return VerifyResponse.of_verification(await self._application.verify(quote, filter=filter))

    async def jobs(self) -> JobsResponse:
        return JobsResponse.of(await self._application.queue())

    async def control(self, action: JobAction, path: str | None) -> JobsResponse:
        return JobsResponse.of(await self._application.control(action, path))


class RemoteBackend:
    """Asks a running service over HTTP."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        project: str = DEFAULT_PROJECT,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._url = url
        self._params = {} if project == DEFAULT_PROJECT else {"project": project}
        self._http = httpx.AsyncClient(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=_TIMEOUT,
            transport=transport,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._http.aclose()

    async def search(
        self, query: str, *, mode: SearchMode, limit: int, sources: list[str]
    ) -> SearchResponse:
        body = {"query": query, "mode": mode, "limit": limit, "sources": sources}
        return SearchResponse.model_validate(await self._call("POST", "/v1/search", body))

    async def ask(
        self,
        question: str,
        *,
        mode: SearchMode,
        sources: list[str],
        on_token: Callable[[str], None],
    ) -> AskResponse:
        body = {"question": question, "mode": mode, "sources": sources, "keep": False}
        async for event in self._stream("/v1/ask/stream", body):
            match event:
                case {"type": "token", "text": str(text)}:
                    on_token(text)
                case {"type": "done", "answer": answer}:
                    return AskResponse.model_validate(answer)
                case {"type": "failed", "code": code, "message": message, "hint": hint}:
                    raise RagError(message, hint=hint, code=code)
        raise BackendError(f"the service at {self._url} ended the answer before its result")

    async def documents(self) -> DocumentsResponse:
        return DocumentsResponse.model_validate(await self._call("GET", "/v1/documents"))

    async def ingest(
        self, *, force: bool, on_progress: Callable[..., None] | None = None
    ) -> IngestResponse:
        reply = await self._call("POST", "/v1/ingest", {}, force=force)
        return IngestResponse.model_validate(reply)

    async def health(self) -> HealthResponse:
        return HealthResponse.model_validate(await self._call("GET", "/health"))

    async def checks(self, *, repair: bool) -> AsyncIterator[CheckOut]:
        reply = await self._call("POST", "/v1/checks", repair=repair)
        for check in ChecksResponse.model_validate(reply).checks:
            yield check

    async def verify(self, quote: str, *, sources: list[str]) -> VerifyResponse:
        body = {"quote": quote, "sources": sources}
        return VerifyResponse.model_validate(await self._call("POST", "/v1/verify", body))

    async def new_code(self) -> SessionCode:
        """A code for a one-time link."""
        return SessionCode.model_validate(await self._call("POST", "/v1/session/code"))

    async def jobs(self) -> JobsResponse:
        return JobsResponse.model_validate(await self._call("GET", "/v1/jobs"))

    async def control(self, action: JobAction, path: str | None) -> JobsResponse:
        reply = await self._call("POST", f"/v1/jobs/{action}", {"path": path})
        return JobsResponse.model_validate(reply)

    async def _call(
        self, method: str, path: str, body: dict[str, Any] | None = None, **flags: bool
    ) -> Any:
        params = self._params | {name: str(value).lower() for name, value in flags.items()}
        with self._translated():
            response = await self._http.request(method, path, json=body, params=params)
            self._check(response.status_code, response.content)
            return response.json()

    async def _stream(self, path: str, body: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        with self._translated():
            async with self._http.stream("POST", path, json=body, params=self._params) as response:
                if response.status_code != 200:
                    self._check(response.status_code, await response.aread())
                async for line in response.aiter_lines():
                    if line.startswith("data:"):
                        yield json.loads(line.removeprefix("data:"))

    def _check(self, status: int, content: bytes) -> None:
        if status == 200:
            return
        try:
            error = json.loads(content)
            raise RagError(error["message"], hint=error.get("hint", ""), code=error["code"])
        except (ValueError, KeyError, TypeError) as problem:
            raise BackendError(
                f"the service at {self._url} answered {status}",
                hint="is it a rag-source service? see RAG_SOURCE_API_URL",
            ) from problem

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            raise BackendUnavailableError(
                f"the service at {self._url} does not answer ({type(error).__name__})",
                hint="start it with `rag-source up`, or unset RAG_SOURCE_API_URL",
            ) from error
        except ValueError as error:
            raise BackendError(f"the service at {self._url} sent something unreadable") from error
