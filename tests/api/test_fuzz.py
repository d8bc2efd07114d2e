"""Whatever is sent to any route of the document, valid or not, is answered and never with a 500.

Requests are drawn from the OpenAPI document: values that its schemas allow, and values that they
do not.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.services import TOKEN, FakeService
from api.test_app import AUTH, BASE
from api.test_projects import FakeDirectory
from rag_source.api.app import create_app
from rag_source.api.examples import EXAMPLES

_HOSTILE = (
    "..",
    "../../etc/passwd",
    "%2e%2e",
    "\x00",
    "\ud800",
    "é عربي 😀",
    "<script>",
    "' OR 1=1 --",
    "d1",
    "bl.pdf",
    "default",
    "unknown",
    "",
    "a" * 5000,
)
_NUMBERS = (0, 1, -1, 2, 100, 1200, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308)
_ANYTHING = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.sampled_from(_NUMBERS),
        st.sampled_from(_HOSTILE),
        st.text(max_size=20),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
_RAW = st.sampled_from(
    [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b'{"a":' * 900, b"NaN", b"{}" * 10, b"\x00"]
)


@dataclass(frozen=True)
class _Operation:
    method: str
    path: str
    parameters: list[dict[str, Any]]
    body: dict[str, Any]
    forms: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def _operations() -> Iterator[_Operation]:
    schema = create_app(FakeService(), token=TOKEN).openapi()
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            # It never ends by itself; its test is that of the jobs.
            if path == "/v1/jobs/stream":
                continue
            content = operation.get("requestBody", {}).get("content", {})
            yield _Operation(
                method.upper(),
                path,
                operation.get("parameters", []),
                content.get("application/json", {}).get("schema", {}),
                schema["components"]["schemas"],
            )


OPERATIONS = list(_operations())
_Request: TypeAlias = tuple[str, dict[str, str], bytes]
"""Address, headers and body."""
_GOOD = {"project": "default", "doc_id": "d1", "width": "800", "action": "pause", "path": "a.pdf"}


def _valid(schema: dict[str, Any], forms: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a schema allows, the unusual ones first among them."""
    if "$ref" in schema:
        return _valid(forms[schema["$ref"].rsplit("/", 1)[-1]], forms)
    if "anyOf" in schema:
        return st.one_of(*(_valid(one, forms) for one in schema["anyOf"]))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema.get("type")
    if kind == "object":
        return _objects(schema, forms)
    if kind == "array":
        return _arrays(schema, forms)
    return _scalars(kind, schema)


def _scalars(kind: str | None, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    low, high = schema.get("minimum", -(2**40)), schema.get("maximum", 2**40)
    return {
        "integer": st.integers(low, high),
        "number": st.floats(allow_nan=False, allow_infinity=False),
        "boolean": st.booleans(),
        "null": st.none(),
    }.get(kind or "", st.one_of(st.sampled_from(_HOSTILE), st.text(max_size=30)))


def _arrays(schema: dict[str, Any], forms: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "prefixItems" in schema:
        return st.tuples(*(_valid(one, forms) for one in schema["prefixItems"])).map(list)
    items = _valid(schema.get("items", {}), forms)
    return st.lists(items, min_size=schema.get("minItems", 0), max_size=4)


def _objects(schema: dict[str, Any], forms: dict[str, Any]) -> st.SearchStrategy[Any]:
    properties = schema.get("properties", {})
    needed = set(schema.get("required", ()))
    return st.fixed_dictionaries(
        {name: _valid(one, forms) for name, one in properties.items() if name in needed},
        optional={
            name: _valid(one, forms) for name, one in properties.items() if name not in needed
        },
    )


@st.composite
def _requests(draw: st.DrawFn, operation: _Operation) -> _Request:
    path, query = operation.path, []
    for parameter in operation.parameters:
        good = _valid(parameter["schema"], operation.forms)
        value = draw(st.one_of(good, good, st.sampled_from((*_HOSTILE, *_NUMBERS))))
        text = quote(str(value).encode("utf-8", "surrogatepass"), safe="")
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", text or "x")
        elif parameter.get("required") or draw(st.booleans()):
            query.append(f"{parameter['name']}={text}")
    kind = draw(
        st.sampled_from(["application/json"] * 6 + ["text/plain", "application/octet-stream"])
    )
    body = draw(
        st.one_of(
            _valid(operation.body, operation.forms).map(_encoded),
            _ANYTHING.map(_encoded),
            _RAW,
        )
    )
    content = b"" if operation.method == "GET" else body
    return f"{path}?{'&'.join(query)}", {"Content-Type": kind}, content


def _encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


class _Target:
    """An application over fakes that one operation is tried on."""

    def __init__(self, operation: _Operation, root: Path) -> None:
        (root / "bl.pdf").write_bytes(b"0123456789")
        self._method = operation.method
        self._service = FakeService(root=root)
        app = create_app(self._service, token=TOKEN, projects=FakeDirectory())
        self._transport = httpx.ASGITransport(app=app)

    def check(self, asked: _Request) -> None:
        """Send a request and look at what its answer must always be."""
        response = asyncio.run(self._answer(asked))
        assert response.status_code < 500 or response.json()["code"] != "internal", asked
        assert response.headers["x-content-type-options"] == "nosniff"
        if response.status_code >= 400:
            assert set(response.json()) == {"code", "message", "hint"}

    async def _answer(self, asked: _Request) -> httpx.Response:
        address, headers, content = asked
        async with httpx.AsyncClient(
            transport=self._transport, base_url=BASE, headers=AUTH
        ) as http:
            request = http.build_request(self._method, "/", headers=headers, content=content)
            request.url = request.url.copy_with(raw_path=address.encode())
            response = await http.send(request)
        await self._service.history.audit.aclose()
        return response


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_no_random_request_is_answered_with_a_500(operation: _Operation, tmp_path: Path) -> None:
    target = _Target(operation, tmp_path)

    @settings(
        max_examples=20,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(_requests(operation))
    def check(asked: _Request) -> None:
        target.check(asked)

    check()


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_no_hostile_value_in_a_good_request_is_answered_with_a_500(
    operation: _Operation, tmp_path: Path
) -> None:
    target = _Target(operation, tmp_path)
    for asked in _with_one_hostile_value(operation):
        target.check(asked)


def _with_one_hostile_value(operation: _Operation) -> Iterator[_Request]:
    """A request that is good but for one of its parameters or fields, for each and each value."""
    name = operation.body.get("$ref", "").rsplit("/", 1)[-1]
    body = EXAMPLES.get(name)
    good = {one["name"]: _GOOD.get(one["name"], "1") for one in operation.parameters}
    for parameter in good:
        for value in (*_HOSTILE, *_NUMBERS):
            yield _request(operation, good | {parameter: str(value)}, body)
    for field in operation.forms.get(name, {}).get("properties", {}):
        wrong: tuple[Any, ...] = (*_HOSTILE, *_NUMBERS, None, [], {})
        for value in wrong:
            for changed in (value, [value], {"x": value}):
                yield _request(operation, good, {**(body or {}), field: changed})


def _request(operation: _Operation, values: dict[str, str], body: Any) -> _Request:
    path, query = operation.path, []
    for parameter in operation.parameters:
        text = quote(values[parameter["name"]].encode("utf-8", "surrogatepass"), safe="")
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", text or "x")
        else:
            query.append(f"{parameter['name']}={text}")
    content = b"" if operation.method == "GET" or body is None else _encoded(body)
    return f"{path}?{'&'.join(query)}", {"Content-Type": "application/json"}, content
