"""Files of quote checks: counted right, and refused by line number."""

from __future__ import annotations

import json

import pytest

from rag_source.domain.errors import RequestError
from rag_source.generation.check_file import run_checks

SOURCE = "Payable within 30 days of the invoice."


def _line(quote: str, expect: str, name: str = "a") -> str:
    return json.dumps({"id": name, "source": SOURCE, "quote": quote, "expect": expect, "kind": "x"})


def test_verdicts_are_counted_by_their_kind_of_error() -> None:
    report = run_checks(
        [
            _line("Payable within 30 days", "verified"),
            _line("Payable within 90 days", "unverified"),
            "",
            _line("Payable within 30 days", "unverified", "b"),
            _line("Payable within 90 days", "verified", "c"),
        ]
    )
    assert (report.total, report.right) == (4, 2)
    assert (report.false_verified, report.false_unverified) == (1, 1)
    assert report.wrong == ("b", "c")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "is not JSON"),
        ("[]", "is not an object"),
        ('{"id": "a"}', "has no text 'source'"),
        ('{"id": 1, "source": "s", "quote": "q", "expect": "verified"}', "has no text 'id'"),
        ('{"id": "a", "source": "s", "quote": "q", "expect": "yes"}', "expects 'yes'"),
    ],
)
def test_bad_line_is_named_by_its_number(line: str, problem: str) -> None:
    with pytest.raises(RequestError, match=f"line 2 of the checks {problem}"):
        run_checks([_line("Payable", "verified"), line])
