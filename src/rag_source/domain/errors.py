"""Every error the product raises on purpose, split by who can act on it.

```
RagError
├── SourceError          the document is at fault; retrying is useless
├── BackendError         a server or engine is at fault; retrying may help
├── RequestError         the caller asked for something impossible
└── ConfigurationError   the operator must change a setting, a file or a port
```

A class is a family, `code` is the exact reason; workers, the CLI and the UI decide by `code` and
`retryable`, never by the text. The outward form is always `{code, message, hint}`.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "SOURCE_CODES",
    "BackendError",
    "BackendOverflowError",
    "BackendUnavailableError",
    "BodyTooLargeError",
    "ConfigurationError",
    "ConflictError",
    "ForbiddenError",
    "ModelMissingError",
    "NotFoundError",
    "PortTakenError",
    "RagError",
    "RequestError",
    "SourceError",
    "StateInUseError",
    "TooManyRequestsError",
    "UnauthorizedError",
]

SOURCE_CODES = frozenset(
    {
        "encrypted",
        "damaged",
        "no_text",
        "ocr_unavailable",
        "unsupported",
        "too_large",
        "empty",
        "parser_error",
        "timeout",
        "unreadable",
    }
)
"""Reasons for which a file ends `failed` (SPEC I11; `unreadable` is a permission or read error)."""


class RagError(Exception):
    """Base of the tree.

    Args:
        message: What happened and to which thing, in one line.
        hint: What to do next, in one line; may be empty.
        code: Overrides the class's code where one class serves several reasons.
    """

    code: str = "error"
    http_status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 2
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code:
            self.code = code

    def as_dict(self) -> dict[str, str]:
        """The outward form shared by JSON errors, SSE `failed` events and the CLI's stderr."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


class SourceError(RagError):
    """A document cannot be used; `code` is one of `SOURCE_CODES`."""

    code = "parser_error"
    http_status = 422

    def __init__(self, message: str, *, code: str, hint: str = "") -> None:
        if code not in SOURCE_CODES:
            raise ValueError(f"unknown source code {code!r}")
        super().__init__(message, hint=hint, code=code)


class BackendError(RagError):
    """A model server or the vector engine failed or answered nonsense."""

    code = "backend_error"
    http_status = 502
    retryable = True


class BackendUnavailableError(BackendError):
    """A server cannot be reached or is still loading."""

    code = "backend_unavailable"
    http_status = 503


class BackendOverflowError(BackendError):
    """The input exceeds the server's context or batch; retrying the same input is useless."""

    code = "input_too_large"
    retryable = False


class RequestError(RagError):
    """The caller's request cannot be served as it is."""

    code = "bad_request"
    http_status = 400


class NotFoundError(RequestError):
    """The named thing does not exist, or not for this caller."""

    code = "not_found"
    http_status = 404


class UnauthorizedError(RequestError):
    """No token, or the wrong one."""

    code = "unauthorized"
    http_status = 401


class ForbiddenError(RequestError):
    """The caller is known, but not from there or not in this way."""

    code = "forbidden"
    http_status = 403


class ConflictError(RequestError):
    """What was asked for would overwrite what is there."""

    code = "conflict"
    http_status = 409


class BodyTooLargeError(RequestError):
    """More was sent than is taken at a time."""

    code = "body_too_large"
    http_status = 413


class TooManyRequestsError(RequestError):
    """The same was tried too often; it may be tried again a little later."""

    code = "too_many_requests"
    http_status = 429
    retryable = True


class ConfigurationError(RagError):
    """A setting, folder or file of the installation must change before this can work."""

    code = "configuration"
    http_status = 503


class ModelMissingError(ConfigurationError):
    """A model file of the profile is not in the cache, or is not the one in `models.lock`."""

    code = "models_missing"


class StateInUseError(ConfigurationError):
    """Another process holds the state directory."""

    code = "state_in_use"
    http_status = 409


class PortTakenError(ConfigurationError):
    """The address to listen on belongs to another process."""

    code = "port_taken"
