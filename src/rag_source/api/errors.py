"""How errors leave: always `{code, message, hint}`, with the status of their class."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from rag_source.api.wire import ErrorBody
from rag_source.domain.answers import AnswerFailed
from rag_source.domain.errors import NotFoundError, RagError, RequestError

__all__ = ["add_error_handlers", "error_of"]


def add_error_handlers(app: FastAPI) -> None:
    """Turn what routes raise into responses; the unforeseen is `request_log.RequestLog`'s."""

    @app.exception_handler(RagError)
    async def rag_error(request: Request, error: RagError) -> JSONResponse:
        return _response(ErrorBody(**error.as_dict()), error.http_status)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body") or "body"
        body = ErrorBody(
            code="bad_request",
            message=f"{where[:200]}: {first['msg']}",
            hint="see /docs for its form",
        )
        return _response(body, 400)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> JSONResponse:
        code = NotFoundError.code if error.status_code == 404 else "bad_request"
        body = ErrorBody(code=code, message=f"{request.url.path!r}: {error.detail}")
        return JSONResponse(body.model_dump(), error.status_code, headers=error.headers)


def error_of(event: AnswerFailed) -> RagError:
    """The error behind a `failed` event, of the class that its code belongs to."""
    cls = _CLASS_BY_CODE.get(event.code, RagError)
    return cls(event.message, hint=event.hint, code=event.code)


def _response(body: ErrorBody, status: int) -> JSONResponse:
    return JSONResponse(body.model_dump(), status_code=status)


def _walk(cls: type[RagError]) -> list[type[RagError]]:
    return [cls, *(sub for child in cls.__subclasses__() for sub in _walk(child))]


_CLASS_BY_CODE: dict[str, type[RagError]] = {cls.code: cls for cls in _walk(RagError)} | {
    "empty_question": RequestError,
    "question_too_long": RequestError,
}
