"""Fill the generated regions of the documentation from the code, so that it cannot drift.

    python -m scripts.make_docs            rewrite the regions
    python -m scripts.make_docs --check    exit 1 if one is out of date

A region stands between `<!-- generated: NAME -->` and `<!-- end: NAME -->`; what is outside is
written by hand. Commands come from the Typer application, settings from the Settings classes, JSON
fields from the models that are sent.
"""

from __future__ import annotations

import dataclasses
import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import typer.main
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from rag_source.api import corpus_wire, wire
from rag_source.api.app import create_app
from rag_source.cli import app
from rag_source.domain.errors import RagError
from rag_source.settings import PREFIX, Settings

__all__ = ["PAGES", "REGIONS", "main", "render"]

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "README.fr.md", "docs/api.md", "docs/cli.md", "docs/settings.md")
_REGION = re.compile(
    r"(<!-- generated: (?P<name>[a-z-]+) -->\n).*?(<!-- end: (?P=name) -->)", re.DOTALL
)


def render(text: str) -> str:
    """The page with every region filled anew.

    Raises:
        KeyError: A region has a name that nothing generates.
    """
    return _REGION.sub(
        lambda match: f"{match[1]}{REGIONS[match['name']]().strip()}\n{match[3]}", text
    )


def _commands() -> Iterator[tuple[str, Any]]:
    """Every command with its full name, groups replaced by what they hold, in order."""
    root: Any = typer.main.get_command(app)
    for name, command in root.commands.items():
        if hasattr(command, "commands"):
            for sub, below in command.commands.items():
                yield f"{name} {sub}", below
        else:
            yield name, command


def _usage(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    words = [f"rag-source {name}", *(_argument(p) for p in arguments)]
    return " ".join(words)


def _argument(parameter: Any) -> str:
    shown = (parameter.metavar or parameter.name).upper()
    return shown if parameter.required else f"[{shown}]"


def command_table() -> str:
    """One line for each command."""
    lines = ["| command | what it does |", "|---|---|"]
    lines += [f"| `{_usage(n, c)}` | {_sentence(c.help)} |" for n, c in _commands()]
    return "\n".join(lines)


def command_reference() -> str:
    """A section for each command, with its arguments and options."""
    root: Any = typer.main.get_command(app)
    parts = ["Options before the command, for all of them:", _parameters(root.params)]
    for name, command in _commands():
        parts += [f"### `{_usage(name, command)}`", _sentence(command.help)]
        parts.append(_parameters(command.params))
    return "\n\n".join(part for part in parts if part)


def _parameters(parameters: list[Any]) -> str:
    rows = [
        f"| {_names(p)} | {_cell(getattr(p, 'help', '') or '')} | {_default(p)} |"
        for p in parameters
        if p.name not in ("help", "install_completion", "show_completion")
    ]
    if not rows:
        return ""
    return "\n".join(["| option | meaning | default |", "|---|---|---|", *rows])


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_argument(parameter)}`"
    return ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])


def _default(parameter: Any) -> str:
    value = parameter.default
    if value is None or isinstance(value, bool) or value in ((), []) or callable(value):
        return ""
    if type(value).__name__ == "Sentinel":  # click's mark for "no default"
        return ""
    return f"`{value}`"


def settings_table() -> str:
    """One line for each variable that is read."""
    lines = ["| variable | value | default | meaning |", "|---|---|---|---|"]
    for name, field in _settings():
        meaning = _cell(field.description or "")
        lines.append(f"| `{name}` | {_kind(field)} | {_field_default(field)} | {meaning} |")
    return "\n".join(lines)


def settings_list() -> str:
    """Variables and meanings only, for the README."""
    lines = ["| variable | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {_cell(field.description or '')} |" for name, field in _settings()]
    return "\n".join(lines)


def _settings() -> Iterator[tuple[str, FieldInfo]]:
    for key, field in Settings.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            for name, below in section.model_fields.items():
                yield f"{PREFIX}{key}_{name}".upper(), below
        else:
            yield f"{PREFIX}{key}".upper(), field


def _kind(field: FieldInfo) -> str:
    annotation: Any = field.annotation
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(a for a in get_args(annotation) if a is not type(None))
    if get_args(annotation):
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    words = {"Path": "path", "SecretStr": "secret", "str": "text", "bool": "true or false"}
    words |= {"int": "whole number", "float": "number"}
    bounds = {type(bound).__name__: bound for bound in field.metadata}
    low = getattr(bounds.get("Ge"), "ge", None)
    high = getattr(bounds.get("Le"), "le", None)
    kind = words.get(annotation.__name__, annotation.__name__)
    return kind if low is None else f"{kind}, {low} to {high}"


def _field_default(field: FieldInfo) -> str:
    value = field.default
    if hasattr(value, "get_secret_value"):
        value = value.get_secret_value()
    return "" if value in (None, "", PydanticUndefined) else f"`{value}`"


def json_shapes() -> str:
    """The JSON fields of each command that prints a model of the API."""
    shapes = {
        "search": wire.SearchResponse,
        "ask": wire.AskResponse,
        "docs": corpus_wire.DocumentsResponse,
        "ingest": corpus_wire.IngestResponse,
        "health": corpus_wire.HealthResponse,
    }
    # A question is printed by the caller, who knows it.
    left_out = {"ask": {"question"}}
    return "\n".join(
        f"- `{name}`: `{shape(model, left_out.get(name, set()))}`" for name, model in shapes.items()
    )


def shape(model: Any, left_out: frozenset[str] | set[str] = frozenset()) -> str:
    """The fields of a model as `{a, b: [{c, d}]}`, in order."""
    if dataclasses.is_dataclass(model):
        kinds: dict[str, Any] = {f.name: f.type for f in dataclasses.fields(model)}
    else:
        kinds = {name: field.annotation for name, field in model.model_fields.items()}
    fields = []
    for name, kind in kinds.items():
        if name in left_out:
            continue
        inner = next((a for a in (kind, *get_args(kind)) if _is_model(a)), None)
        if inner is None:
            fields.append(name)
        elif get_origin(kind) in (list, tuple):
            fields.append(f"{name}: [{shape(inner)}]")
        else:
            fields.append(f"{name}: {shape(inner)}")
    return "{" + ", ".join(fields) + "}"


def route_table() -> str:
    """One line for each route of the API, by its OpenAPI document."""
    # Nothing is asked: the document needs no service.
    schema = create_app(None, token="0123456789abcdef").openapi()  # type: ignore[arg-type]  # noqa: S106 - no secret
    lines = ["| route | what it does |", "|---|---|"]
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            meaning = _sentence(operation["description"].split("\n\n")[0])
            lines.append(f"| `{method.upper()} {path}` | {meaning} |")
    return "\n".join(lines)


def error_table() -> str:
    """One line for each class of errors."""
    lines = ["| code | HTTP | retry may help | what it is |", "|---|---|---|---|"]
    for error in _errors(RagError):
        retry = "yes" if error.retryable else "no"
        meaning = _sentence((error.__doc__ or "").split("\n\n")[0])
        lines.append(f"| `{error.code}` | {error.http_status} | {retry} | {meaning} |")
    return "\n".join(lines)


def _errors(cls: type[RagError]) -> Iterator[type[RagError]]:
    for child in cls.__subclasses__():
        yield child
        yield from _errors(child)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _sentence(text: str | None) -> str:
    return _cell(text or "")


def _cell(text: str) -> str:
    """Text for a table cell: one line, no bar that would end it."""
    return " ".join(text.split()).replace("|", "\\|")


REGIONS: dict[str, Callable[[], str]] = {
    "commands": command_table,
    "command-reference": command_reference,
    "errors": error_table,
    "json": json_shapes,
    "routes": route_table,
    "settings": settings_table,
    "settings-short": settings_list,
}


def main(arguments: list[str]) -> int:
    """Rewrite or check the pages; the exit status."""
    if arguments not in ([], ["--check"]):
        print("usage: python -m scripts.make_docs [--check]", file=sys.stderr)
        return 2
    stale = []
    for page in PAGES:
        path = ROOT / page
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        fresh = render(text)
        if fresh != text:
            stale.append(page)
            if not arguments:
                path.write_text(fresh, encoding="utf-8")
    for page in stale:
        what = "is out of date; run python -m scripts.make_docs" if arguments else "rewritten"
        print(f"{page}: {what}", file=sys.stderr)
    return 1 if stale and arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
