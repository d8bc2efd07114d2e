"""JSON and JSON lines: tables and records, each value with its pointer."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.ingest.builder import DocumentBuilder
from rag_source.ingest.decoding import Decoded, decode, read_bytes
from rag_source.ingest.json_records import JsonLimits, JsonValue, JsonWriter, is_tabular

__all__ = ["loader"]

_LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
_MOST_NESTING = 200
_LINES_LISTED = 10
_SURROGATE = re.compile("[\ud800-\udfff]")


class _JsonLoader:
    """Numbers are kept as they are spelt: `1.10` is not `1.1` to whoever cites it."""

    name = "json"
    version = 1
    suffixes = (".geojson", ".json", ".jsonl", ".ndjson")

    def __init__(self, limits: JsonLimits) -> None:
        self._limits = limits

    def load(self, path: Path) -> ParsedDocument:
        self._check_size(path)
        decoded = decode(read_bytes(path), name=path.name)
        builder = DocumentBuilder()
        writer = JsonWriter(builder, limit_values=self._limits.values)
        value: JsonValue = None
        if path.suffix.lower() in _LINE_SUFFIXES:
            _append_lines(writer, builder, decoded.text, path.name)
        else:
            try:
                value = _parse(decoded.text, path.name)
                writer.append(value)
            except json.JSONDecodeError as error:
                if not error.msg.startswith("Extra data"):
                    raise _damaged(path.name, error) from error
                _append_lines(writer, builder, decoded.text, path.name)
        return self._finish(builder, writer, decoded, _title(value) or path.stem, path)

    def _check_size(self, path: Path) -> None:
        try:
            size = path.stat().st_size
        except OSError:
            return  # read_bytes says why it cannot be read.
        if size > self._limits.file_bytes:
            raise SourceError(
                f"{path.name!r} has {size:,} bytes, more than {self._limits.file_bytes:,}",
                code="too_large",
                hint="Split it into several files.",
            )

    def _finish(
        self,
        builder: DocumentBuilder,
        writer: JsonWriter,
        decoded: Decoded,
        title: str,
        path: Path,
    ) -> ParsedDocument:
        if builder.is_empty:
            raise SourceError(
                f"{path.name!r} holds no value", code="no_text", hint="Export it again."
            )
        if writer.truncated_at:
            builder.warn(
                "truncated",
                f"Only {self._limits.values:,} values were read; "
                f"what follows {writer.truncated_at!r} was left out.",
            )
        if decoded.repaired:
            builder.warn("encoding_repaired", f"Some bytes did not fit {decoded.encoding}.")
        return builder.build(title=title, loader=self.name, version=self.version)


def _append_lines(writer: JsonWriter, builder: DocumentBuilder, text: str, name: str) -> None:
    """One value on each line; lines that are none are reported, unless none is one."""
    values: list[JsonValue] = []
    numbers: list[int] = []
    malformed: list[int] = []
    first_error: json.JSONDecodeError | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            values.append(_parse(line, name))
            numbers.append(number)
        except json.JSONDecodeError as error:
            malformed.append(number)
            first_error = first_error or error
    if first_error is not None and len(malformed) >= max(1, len(values)):
        raise _damaged(name, first_error, line=malformed[0])
    pointers = [f"/{number}" for number in numbers]
    objects = [value for value in values if isinstance(value, dict)]
    if len(objects) == len(values) and is_tabular(objects):
        writer.table(objects, pointers)
    else:
        for value, pointer in zip(values, pointers, strict=True):
            writer.append(value, pointer)
    if malformed:
        builder.warn(
            "rows_malformed",
            f"{len(malformed)} lines are not JSON and were left out ({_listed(malformed)}).",
        )


def _parse(text: str, name: str) -> JsonValue:
    """The value; numbers, `true`, `false` and NaN come as their spelling.

    Raises:
        json.JSONDecodeError: It is not JSON.
        SourceError: `damaged`: it is nested deeper than any honest file.
    """
    try:
        value = json.loads(
            text,
            parse_float=str,
            parse_int=str,
            parse_constant=str,
            object_pairs_hook=_object,
            strict=False,
        )
    except RecursionError as error:
        raise _too_deep(name) from error
    _refuse_deep(value, name)
    return _normal(value)


def _object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """An object; of a key that comes twice both values are kept, as a list."""
    found: dict[str, object] = {}
    doubled: dict[str, list[object]] = {}
    for key, value in pairs:
        if key in found:
            doubled.setdefault(key, [found[key]]).append(value)
        found[key] = value
    return {**found, **doubled}


def _normal(value: object) -> JsonValue:
    """Booleans as JSON spells them, and no half of a surrogate pair (`"\\ud800"` is legal JSON)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_normal(part) for part in value]
    if isinstance(value, dict):
        return {_SURROGATE.sub("\ufffd", key): _normal(part) for key, part in value.items()}
    return None


def _refuse_deep(value: object, name: str) -> None:
    """Later walks call themselves for each level."""
    level: list[object] = [value]
    for _ in range(_MOST_NESTING):
        inner: list[object] = []
        for part in level:
            if isinstance(part, dict):
                inner.extend(part.values())
            elif isinstance(part, list):
                inner.extend(part)
        if not inner:
            return
        level = inner
    raise _too_deep(name)


def _too_deep(name: str) -> SourceError:
    return SourceError(
        f"{name!r} is nested more than {_MOST_NESTING} deep",
        code="damaged",
        hint="It may be built to harm; export it again from the program that made it.",
    )


def _title(value: JsonValue) -> str:
    if isinstance(value, dict):
        for key in ("title", "titre", "name", "nom"):
            title = value.get(key)
            if isinstance(title, str) and title.strip():
                return title
    return ""


def _damaged(name: str, error: json.JSONDecodeError, line: int | None = None) -> SourceError:
    return SourceError(
        f"{name!r} is not JSON: {error.msg} on line {line or error.lineno}, column {error.colno}",
        code="damaged",
        hint="Correct that line, or export the file again.",
    )


def _listed(lines: Sequence[int]) -> str:
    more = f" and {len(lines) - _LINES_LISTED} more" if len(lines) > _LINES_LISTED else ""
    word = "line" if len(lines) == 1 else "lines"
    return f"{word} {', '.join(map(str, lines[:_LINES_LISTED]))}{more}"


loader = _JsonLoader(JsonLimits())
"""The loader that the registry finds."""
