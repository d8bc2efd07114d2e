"""Which collections there are, whose they are, and which are leftovers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rag_source.domain.errors import ConfigurationError
from rag_source.store.collection import bind_collection, bound_model
from rag_source.store.collections import clear_collections, collection_name
from store_inputs import MODEL


def test_collection_says_whose_it_is(tmp_path: Path) -> None:
    model = replace(MODEL, limit_tokens=96, query_prefix="query: ", passage_prefix="p: ")
    assert bound_model(tmp_path / "vectors") is None
    bind_collection(tmp_path / "vectors", model)
    assert bound_model(tmp_path / "vectors") == model


def test_collection_from_before_limits_were_kept_is_of_the_one_model_there_was(
    tmp_path: Path,
) -> None:
    bind_collection(tmp_path, MODEL)
    path = tmp_path / "collection.json"
    values = json.loads(path.read_text())
    del values["limit_tokens"]
    path.write_text(json.dumps(values))
    assert bound_model(tmp_path) == replace(MODEL, limit_tokens=512)
    bind_collection(tmp_path, MODEL)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"model": 1'])
def test_damaged_metadata_is_an_error_that_says_what_to_do(tmp_path: Path, content: str) -> None:
    (tmp_path / "collection.json").write_text(content)
    with pytest.raises(ConfigurationError) as caught:
        bound_model(tmp_path)
    assert caught.value.code == "index_damaged"
    assert caught.value.hint


def test_other_limit_alone_is_no_other_collection_to_open(tmp_path: Path) -> None:
    bind_collection(tmp_path, MODEL)
    bind_collection(tmp_path, replace(MODEL, limit_tokens=96))


def test_name_tells_models_and_limits_apart() -> None:
    others = [
        MODEL,
        replace(MODEL, name="other"),
        replace(MODEL, dimension=5),
        replace(MODEL, pooling="cls"),
        replace(MODEL, query_prefix="q"),
        replace(MODEL, passage_prefix="q"),
        replace(MODEL, limit_tokens=96),
    ]
    names = [collection_name(model) for model in others]
    assert len(set(names)) == len(names)
    assert collection_name(replace(MODEL, languages=("en",))) == names[0]


def test_leftovers_are_deleted_and_nothing_else(tmp_path: Path) -> None:
    kept, left = collection_name(MODEL), collection_name(replace(MODEL, name="other"))
    others = ["vectors-of-mine", "spool", "vectors-0123456789abcdef"]
    for name in ("vectors", kept, left, *others):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("x")
    (tmp_path / "vectors-0123456789ab").write_text("a file")
    clear_collections(tmp_path, {"vectors", kept})
    found = sorted(path.name for path in tmp_path.iterdir())
    assert found == sorted(["vectors", kept, *others, "vectors-0123456789ab"])
