"""The recipe of `docs/adding-a-format.md` works as it stands there."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rag_source.ingest.loaders as loaders_package
from documents import make_text
from rag_source.domain.documents import ParsedDocument, RowPlace
from rag_source.domain.errors import SOURCE_CODES, SourceError
from rag_source.domain.ports import DocumentLoader
from rag_source.ingest.inspection import inspect, select_files
from rag_source.ingest.parsing import InProcessParser
from rag_source.ingest.registry import LoaderRegistry

PAGE = Path(__file__).resolve().parents[2] / "docs" / "adding-a-format.md"
TALK = """1
00:00:01,000 --> 00:00:04,000
The oven <i>must</i> be cold
before you open it.

2
0:00:05.500 --> 0:00:07.000 X1:100 X2:200
{\\an8}Then unplug it.

3
00:00:08,000 --> 00:00:09,000

4
00:00:09,000 --> 00:00:11,000
The guarantee is two years."""


def recipe() -> str:
    """The module that the page tells the reader to save."""
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    return str(code)


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoaderRegistry]:
    """Discovers the recipe among the loaders, as if it had been saved there."""
    folder = tmp_path / "loaders"
    folder.mkdir()
    (folder / "srt.py").write_text(recipe(), encoding="utf-8")
    monkeypatch.setattr(loaders_package, "__path__", [*loaders_package.__path__, str(folder)])
    yield LoaderRegistry()
    sys.modules.pop(f"{loaders_package.__name__}.srt", None)
    vars(loaders_package).pop("srt", None)


def loader_of(registry: LoaderRegistry) -> DocumentLoader:
    loader = registry.loader_for("talk.srt")
    assert loader is not None
    return loader


def load(registry: LoaderRegistry, path: Path) -> ParsedDocument:
    return loader_of(registry).load(path)


def test_recipe_is_short_enough_to_be_read() -> None:
    lines = [line for line in recipe().splitlines() if line.strip()]
    assert len(lines) <= 50


def test_saved_module_is_found_without_being_listed(registry: LoaderRegistry) -> None:
    loader = loader_of(registry)
    assert (loader.name, loader.version, loader.suffixes) == ("subtitles", 1, (".srt",))
    assert registry.loader_for("page.html") is not None


def test_blocks_hold_the_words_and_say_their_lines(
    registry: LoaderRegistry, tmp_path: Path
) -> None:
    parsed = load(registry, make_text(tmp_path / "talk.srt", TALK))

    assert [parsed.text[block.start : block.end] for block in parsed.blocks] == [
        "The oven must be cold\nbefore you open it.",
        "Then unplug it.",
        "The guarantee is two years.",
    ]
    assert [block.place for block in parsed.blocks] == [
        RowPlace(row=3),
        RowPlace(row=8),
        RowPlace(row=15),
    ]
    assert parsed.language == "en"


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_lines_and_ids_do_not_depend_on_line_ends_or_encoding(
    registry: LoaderRegistry, tmp_path: Path, encoding: str
) -> None:
    unix = load(registry, make_text(tmp_path / "talk.srt", TALK))
    windows = make_text(tmp_path / "talk2.srt", TALK.replace("\n", "\r\n"), encoding=encoding)

    assert load(registry, windows).blocks == unix.blocks


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        ("Not subtitles at all.", "damaged"),
        ("1\n00:00:01,000 --> 00:00:04,000\n\n", "no_text"),
        ("%PDF-1.7\n1 0 obj", "unsupported"),
    ],
    ids=["nothing", "no times", "no words", "another format"],
)
def test_file_that_cannot_be_used_fails_with_a_reason(
    registry: LoaderRegistry, tmp_path: Path, text: str, code: str
) -> None:
    with pytest.raises(SourceError) as caught:
        load(registry, make_text(tmp_path / "talk.srt", text))

    assert caught.value.code == code
    assert caught.value.code in SOURCE_CODES
    assert caught.value.hint


async def test_inspect_shows_the_new_format(registry: LoaderRegistry, tmp_path: Path) -> None:
    path = make_text(tmp_path / "talk.srt", TALK)
    parser = InProcessParser(registry)

    (file,) = [f async for f in inspect(select_files(path), parser=parser, registry=registry)]

    assert (file.status, file.format, file.loader, file.blocks) == ("ready", "srt", "subtitles", 3)
    assert file.chunks == 1
