"""The reference of the API: an OpenAPI document that says all, and a page that shows it.

The page has no script and loads nothing: those that are common do, from other people's servers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import HTMLResponse

from rag_source.api.examples import EXAMPLES

__all__ = ["add_reference", "reference_html"]

_OPEN = frozenset({("/health", "get"), ("/v1/session", "post")})
_EVENTS = (
    "Events `search`, `token` (any number), `citation` (any number), then one of `done` and "
    "`failed`. Each has its `type` and, in order, `search`, `text`, `citation`, `answer` with "
    "`conversation_id` and `answer_id`, or `code`, `message` and `hint`."
)
_JOB_EVENTS = "An event `jobs` with the queue, at once and after each change."
_STREAMS = {"/v1/ask/stream": _EVENTS, "/v1/jobs/stream": _JOB_EVENTS}


def add_reference(app: FastAPI) -> None:
    """Complete the OpenAPI document of an application, and serve the page at `/docs`."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _completed(made())
        return app.openapi_schema

    # FastAPI's own way to extend it (documentation, "Extending OpenAPI").
    app.openapi = openapi  # type: ignore[method-assign]
    router = APIRouter()

    @router.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> HTMLResponse:
        return HTMLResponse(reference_html(request.app.openapi()))

    app.include_router(router)


def reference_html(schema: dict[str, Any]) -> str:
    """The document as one page of plain HTML."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(schema['info']['title'])}</title></head><body>\n"
        f"<h1>{escape(schema['info']['title'])}</h1>\n"
        '<p>All routes: <a href="/openapi.json">openapi.json</a>.</p>\n'
        f"{''.join(_sections(schema))}</body></html>\n"
    )


def _completed(schema: dict[str, Any]) -> dict[str, Any]:
    components = schema["components"]
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer"},
        "session": {"type": "apiKey", "in": "cookie", "name": "rag_source_session"},
    }
    for name in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(name, None)
    for name, example in EXAMPLES.items():
        if name in components["schemas"]:
            components["schemas"][name]["examples"] = [example]
    for path, method, operation in _operations(schema):
        # What the framework would answer to a wrong request, ours answers with 400.
        operation["responses"].pop("422", None)
        is_open = (path, method) in _OPEN
        operation["security"] = [] if is_open else [{"token": []}, {"session": []}]
        if path in _STREAMS:
            operation["responses"]["200"]["description"] = _STREAMS[path]
    return schema


def _operations(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def _sections(schema: dict[str, Any]) -> Iterator[str]:
    for path, method, operation in _operations(schema):
        yield f"<h2><code>{method.upper()} {escape(path)}</code></h2>\n"
        yield f"<p>{escape(operation.get('description', ''))}</p>\n"
        rows = [_parameter(one) for one in operation.get("parameters", [])]
        if rows:
            yield f"<ul>\n{''.join(rows)}</ul>\n"
        body = operation.get("requestBody", {}).get("content", {})
        yield from _contents("Request", body, schema)
        for status, response in operation["responses"].items():
            if status.startswith("2"):
                yield from _contents(f"{status}", response.get("content", {}), schema)


def _parameter(parameter: dict[str, Any]) -> str:
    needed = ", required" if parameter.get("required") else ""
    said = parameter.get("description", "")
    return (
        f"<li><code>{escape(parameter['name'])}</code> ({escape(parameter['in'])}{needed}) "
        f"{escape(said)}</li>\n"
    )


def _contents(title: str, contents: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    for media_type, content in contents.items():
        yield f"<h3>{escape(title)}: <code>{escape(media_type)}</code></h3>\n"
        name = _name(content.get("schema", {}))
        if name:
            form = schema["components"]["schemas"][name]
            yield f"<p>{escape(name)}: {escape(form.get('description', ''))}</p>\n"
        if name in EXAMPLES:
            shown = json.dumps(EXAMPLES[name], ensure_ascii=False, indent=2)
            yield f"<pre>{escape(shown)}</pre>\n"


def _name(schema: dict[str, Any]) -> str:
    """The form that a schema refers to, be it one, a list of it, or one that may be left out."""
    parts = [schema, schema.get("items", {}), *schema.get("anyOf", [])]
    found = next((part["$ref"] for part in parts if "$ref" in part), "")
    return str(found).rsplit("/", 1)[-1]
