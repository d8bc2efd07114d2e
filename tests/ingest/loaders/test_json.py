"""JSON and JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_source.domain.documents import ParsedDocument, PointerPlace
from rag_source.domain.errors import SourceError
from rag_source.ingest.json_records import JsonLimits
from rag_source.ingest.loaders.json import loader


def _load(tmp_path: Path, content: object, name: str = "a.json") -> ParsedDocument:
    path = tmp_path / name
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    return loader.load(path)


def _blocks(parsed: ParsedDocument) -> list[tuple[str, str]]:
    return [(b.kind, parsed.text[b.start : b.end]) for b in parsed.blocks]


def _failure(tmp_path: Path, content: str, name: str = "a.json") -> SourceError:
    with pytest.raises(SourceError) as caught:
        _load(tmp_path, content, name)
    return caught.value


def test_a_list_of_flat_objects_is_a_table_with_pointers(tmp_path: Path) -> None:
    parsed = _load(tmp_path, [{"part": "Nut", "a/b": 2}, {"part": "Bolt", "a/b": 3, "new": True}])
    (table,) = parsed.blocks
    assert _blocks(parsed) == [("table", "part | a/b | new\nNut | 2 | \nBolt | 3 | true")]
    assert [row.header for row in table.rows] == [True, False, False]
    assert table.rows[2].place == PointerPlace(pointer="/1")
    assert table.rows[2].cells[1].place == PointerPlace(pointer="/1/a~1b")


def test_nested_objects_are_records_of_paths(tmp_path: Path) -> None:
    parsed = _load(
        tmp_path,
        [
            {"name": "Anna", "address": {"city": "Lille", "zip": "59000"}, "tags": ["a", "b"]},
            {"name": "Omar", "address": {"city": "Rabat"}, "orders": [{"id": 1}, {"id": 2}]},
        ],
    )
    assert _blocks(parsed) == [
        ("record", "name: Anna\naddress.city: Lille\naddress.zip: 59000\ntags: a, b"),
        ("record", "name: Omar\naddress.city: Rabat\norders.0.id: 1\norders.1.id: 2"),
    ]
    assert parsed.blocks[1].place == PointerPlace(pointer="/1")


def test_the_keys_of_a_large_object_are_sections(tmp_path: Path) -> None:
    stations = [{"code": f"S{i}", "lines": i} for i in range(3)]
    parsed = _load(tmp_path, {"title": "Network", "version": 2, "stations": stations})
    assert _blocks(parsed)[:2] == [
        ("record", "title: Network\nversion: 2"),
        ("heading", "stations"),
    ]
    assert (parsed.title, parsed.blocks[2].section) == ("Network", ("stations",))
    assert parsed.blocks[2].rows[1].place == PointerPlace(pointer="/stations/0")


def test_a_long_record_is_several_blocks(tmp_path: Path) -> None:
    parsed = _load(tmp_path, {f"key{i}": f"value {i}" for i in range(100)})
    assert [block.kind for block in parsed.blocks] == ["record"] * 3
    assert "key99: value 99" in parsed.text


def test_numbers_keep_their_spelling(tmp_path: Path) -> None:
    big = "9" * 5_000
    text = _load(tmp_path, f'{{"price": 1.10, "id": {big}, "e": 1e3, "n": null}}').text
    assert text == f"price: 1.10\nid: {big}\ne: 1e3"


def test_a_key_that_comes_twice_keeps_both_values(tmp_path: Path) -> None:
    assert _load(tmp_path, '{"author": "Anna", "author": "Omar"}').text == "author: Anna, Omar"


def test_half_a_surrogate_pair_becomes_a_replacement_character(tmp_path: Path) -> None:
    assert _load(tmp_path, r'{"a\udc00": "x\ud800"}').text == "a\ufffd: x\ufffd"


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json"])
def test_json_lines_are_read_by_line(tmp_path: Path, name: str) -> None:
    parsed = _load(tmp_path, '{"a": 1, "b": 2}\n\n{"a": 3, "b": 4}\n', name)
    assert _blocks(parsed) == [("table", "a | b\n1 | 2\n3 | 4")]
    assert parsed.blocks[0].rows[2].place == PointerPlace(pointer="/3")


def test_a_bad_line_is_reported_and_the_others_are_kept(tmp_path: Path) -> None:
    parsed = _load(tmp_path, '{"a": 1}\n{"a": 2}\n{"a": \n{"a": 4}\n', "a.jsonl")
    assert "a\n1\n2\n4" in parsed.text
    assert [(w.code, "line 3" in w.message) for w in parsed.warnings] == [("rows_malformed", True)]


@pytest.mark.parametrize(
    ("content", "name", "line"),
    [
        ('{\n "a": 1,\n "b": }\n', "a.json", "line 3"),
        ("{'a': 1}\n", "a.jsonl", "line 1"),
        ('{"a": 1', "a.json", "line 1"),
    ],
    ids=["value-missing", "no-line-is-json", "cut-short"],
)
def test_what_is_not_json_is_damaged_with_its_line(
    tmp_path: Path, content: str, name: str, line: str
) -> None:
    error = _failure(tmp_path, content, name)
    assert (error.code, line in error.message) == ("damaged", True)


@pytest.mark.parametrize("depth", [1_000, 200_000])
def test_absurd_nesting_is_damaged(tmp_path: Path, depth: int) -> None:
    assert _failure(tmp_path, "[" * depth + "]" * depth).code == "damaged"


@pytest.mark.parametrize("content", ["[]", "{}", "null", '{"a": null}'])
def test_a_file_without_values_has_no_text(tmp_path: Path, content: str) -> None:
    assert _failure(tmp_path, content).code == "no_text"


def test_values_beyond_the_limit_are_left_out_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"a": i, "b": i} for i in range(10)]), encoding="utf-8")
    parsed = type(loader)(JsonLimits(values=6)).load(path)
    assert parsed.text == "a | b\n0 | 0\n1 | 1\n2 | 2"
    assert [(w.code, "'/3'" in w.message) for w in parsed.warnings] == [("truncated", True)]


def test_a_file_beyond_the_limit_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": "long enough"}', encoding="utf-8")
    with pytest.raises(SourceError) as caught:
        type(loader)(JsonLimits(file_bytes=10)).load(path)
    assert caught.value.code == "too_large"


def test_geojson_features_are_records(tmp_path: Path) -> None:
    feature = {
        "type": "Feature",
        "properties": {"name": "Gare du Nord"},
        "geometry": {"type": "Point", "coordinates": [2.35, 48.88]},
    }
    parsed = _load(
        tmp_path, {"type": "FeatureCollection", "features": [feature, feature]}, "a.geojson"
    )
    assert parsed.text.count("properties.name: Gare du Nord") == 2
    assert parsed.blocks[-1].place == PointerPlace(pointer="/features/1")


def test_the_same_bytes_give_equal_blocks(tmp_path: Path) -> None:
    _load(tmp_path, {"a": [{"b": 1}, {"b": 2}]})
    assert loader.load(tmp_path / "a.json") == loader.load(tmp_path / "a.json")
