"""Run a file of quote checks: does the fact guard give the verdicts that a person gave?"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from rag_source.domain.errors import RequestError
from rag_source.generation.quotes import locate

__all__ = ["CheckReport", "run_checks"]

_FIELDS = ("id", "source", "quote", "expect")
_VERDICTS = ("verified", "unverified")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """`false_verified`: passed but should not have; `false_unverified`: the reverse."""

    total: int
    right: int
    false_verified: int
    false_unverified: int
    wrong: tuple[str, ...]


def run_checks(lines: Iterable[str]) -> CheckReport:
    """Judge every line `{id, source, quote, expect}`; blank lines and other fields are ignored.

    Raises:
        RequestError: A line is not such an object; the message has its number, from 1.
    """
    total = false_verified = false_unverified = 0
    wrong: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        check = _read(line, number)
        status = locate(check["quote"], check["source"]).status
        total += 1
        if status == check["expect"]:
            continue
        wrong.append(check["id"])
        if status == "verified":
            false_verified += 1
        else:
            false_unverified += 1
    return CheckReport(
        total=total,
        right=total - len(wrong),
        false_verified=false_verified,
        false_unverified=false_unverified,
        wrong=tuple(wrong),
    )


def _read(line: str, number: int) -> dict[str, str]:
    try:
        check = json.loads(line)
    except json.JSONDecodeError as error:
        raise _bad(number, f"is not JSON: {error.msg}") from error
    if not isinstance(check, dict):
        raise _bad(number, "is not an object")
    for field in _FIELDS:
        if not isinstance(check.get(field), str):
            raise _bad(number, f"has no text {field!r}")
    if check["expect"] not in _VERDICTS:
        raise _bad(number, f"expects {check['expect']!r}, neither verified nor unverified")
    return check


def _bad(number: int, what: str) -> RequestError:
    return RequestError(
        f"line {number} of the checks {what}",
        hint="each line is an object with the texts id, source, quote and expect",
        code="bad_checks",
    )
