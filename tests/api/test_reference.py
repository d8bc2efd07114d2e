"""The OpenAPI document says all there is, and its examples are true."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest
from pydantic import BaseModel

import rag_source.api as api_package
from api.services import TOKEN, FakeService
from rag_source.api.app import create_app
from rag_source.api.examples import EXAMPLES


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return create_app(FakeService(), token=TOKEN).openapi()


def _forms() -> dict[str, type[BaseModel]]:
    """Every wire form of the API by its name."""
    found: dict[str, type[BaseModel]] = {}
    for info in pkgutil.iter_modules(api_package.__path__):
        module = importlib.import_module(f"{api_package.__name__}.{info.name}")
        for name, value in vars(module).items():
            if isinstance(value, type) and issubclass(value, BaseModel):
                found[name] = value
    return found


FORMS = _forms()
OPERATIONS = [
    (method, path, operation)
    for path, methods in create_app(FakeService(), token=TOKEN).openapi()["paths"].items()
    for method, operation in methods.items()
]
IDS = [f"{method} {path}" for method, path, _ in OPERATIONS]


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_is_of_its_form_and_complete(name: str) -> None:
    form = FORMS[name]
    made = form.model_validate(EXAMPLES[name])
    sent = made.model_dump(mode="json", exclude_unset=True)
    assert sent == EXAMPLES[name]


def _names(content: dict[str, Any]) -> set[str]:
    """The forms that the bodies of a request or a response are of."""
    parts = [one.get("schema", {}) for one in content.values()]
    parts += [inner for part in parts for inner in (part.get("items", {}), *part.get("anyOf", []))]
    return {part["$ref"].rsplit("/", 1)[-1] for part in parts if "$ref" in part}


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=IDS)
def test_operation_is_described_with_examples_and_who_may_call_it(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    assert operation["description"].endswith((".", "read.")) or "\n" in operation["description"]
    assert operation["tags"]
    assert "422" not in operation["responses"]
    assert {"4XX", "5XX"} <= set(operation["responses"])
    is_open = (method, path) in {("get", "/health"), ("post", "/v1/session")}
    assert operation["security"] == ([] if is_open else [{"token": []}, {"session": []}])
    bodies = [operation.get("requestBody", {}).get("content", {})]
    bodies += [
        response.get("content", {})
        for status, response in operation["responses"].items()
        if status.startswith("2")
    ]
    for name in set().union(*map(_names, bodies)):
        assert name in EXAMPLES


def test_every_example_is_in_the_document(schema: dict[str, Any]) -> None:
    forms = schema["components"]["schemas"]
    assert {name for name in EXAMPLES if "examples" not in forms.get(name, {})} == set()


def test_no_two_forms_share_a_name(schema: dict[str, Any]) -> None:
    assert [name for name in schema["components"]["schemas"] if "__" in name] == []


def test_routes_of_the_contract_are_all_there(schema: dict[str, Any]) -> None:
    found = {f"{method.upper()} {path}" for path, ms in schema["paths"].items() for method in ms}
    wanted = """
        GET /health|GET /v1/documents|POST /v1/documents|POST /v1/ingest|POST /v1/search
        POST /v1/ask|POST /v1/ask/stream|POST /v1/verify|POST /v1/locate
        GET /v1/documents/{doc_id}|GET /v1/documents/{doc_id}/file
        GET /v1/documents/{doc_id}/rendition|GET /v1/documents/{doc_id}/pages/{number}
        GET /v1/documents/{doc_id}/pages/{number}/words
        GET /v1/jobs|GET /v1/jobs/stream|POST /v1/jobs/{action}|POST /v1/checks
        GET /v1/projects|POST /v1/projects|DELETE /v1/projects/{name}
        POST /v1/session|DELETE /v1/session|POST /v1/session/code
        GET /v1/conversations|GET /v1/conversations/{conversation_id}
        GET /v1/conversations/{conversation_id}/export
        DELETE /v1/conversations/{conversation_id}|POST /v1/answers/{answer_id}/feedback
        GET /v1/audit
    """
    assert found == {route.strip() for line in wanted.split("\n") for route in line.split("|")} - {
        ""
    }
