"""What all wire forms share: frozen models, and text that any JSON reader can take.

A document may hold halves of surrogate pairs, which UTF-8 cannot: they leave as U+FFFD, one for
one, so that every position stays. A request that holds one is refused.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

__all__ = ["RequestBody", "Wire"]

_HALF = re.compile("[\ud800-\udfff]")


class Wire(BaseModel):
    """Something that is sent."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _writable(cls, values: Any) -> Any:
        if isinstance(values, dict):
            return {name: _written(value) for name, value in values.items()}
        return values


class RequestBody(BaseModel):
    """Something that is asked; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _readable(cls, values: Any) -> Any:
        if _holds_half(values):
            raise ValueError("the text is not valid Unicode")
        return values


def _written(value: Any) -> Any:
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value) if not value.isascii() else value
    if isinstance(value, list) and value and isinstance(value[0], str):
        return [_written(one) for one in value]
    return value


def _holds_half(values: Any) -> bool:
    # A loop, not a recursion: the nesting is the caller's choice.
    waiting = [values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str) and not value.isascii() and _HALF.search(value):
            return True
    return False
