"""What a second pass over the same folder does: the same, byte for byte, or nothing at all."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import office_documents as office
from documents import make_csv, make_html, make_pdf, make_text, paragraph
from ingest.indexing_world import World
from rag_source.ingest.registry import LoaderRegistry
from rag_source.store.parse_codec import pack_blocks, pack_text, pack_words
from scans import picture_of, tesseract_saying, tsv_row

MARKDOWN = "# Oven\n\nIt is warm.\n\n- one\n- two\n\n| part | price |\n|---|---|\n| bowl | 2 |\n"


def write_corpus(folder: Path) -> None:
    """A file of each format but pictures, which need OCR."""
    lines = paragraph(["The oven is warm. The plate is", "cold and must not be touched."])
    make_pdf(folder / "a.pdf", [lines, lines])
    make_text(folder / "b.txt", "First words of the file.\n\nLast words of the file.")
    make_text(folder / "c.md", MARKDOWN)
    make_html(folder / "d.html", "<h1>Oven</h1><p>It is warm.</p><ul><li>One</ul>")
    make_csv(folder / "e.csv", [["part", "price"], ["bowl", "2"], ["cup", "3"]])
    make_text(folder / "f.json", '[{"part": "bowl", "price": 2}, {"part": "cup"}]')
    office.make_docx(folder / "g.docx", office.paragraph("The oven is warm."))
    rows = office.inline_row(1, ["part", "price"]) + office.inline_row(2, ["bowl", 2.5])
    office.make_xlsx(folder / "h.xlsx", {"Prices": rows})
    office.make_pptx(folder / "i.pptx", [office.slide(office.shape("The oven is warm."))])


@pytest.fixture
def world(tmp_path: Path) -> World:
    root = tmp_path / "corpus"
    root.mkdir()
    return World(root)


def packed(world: World) -> dict[str, list[bytes]]:
    """Every parse as the catalogue stores it, by path."""
    stored: dict[str, list[bytes]] = {}
    for record in world.catalogue.documents():
        parsed = world.catalogue.parsed(record.doc_id)
        assert parsed is not None, record
        pages = world.catalogue.pages(record.doc_id, [page.number for page in parsed.pages])
        words = [pack_words(page) for page in pages]
        stored[record.source.path] = [pack_text(parsed.text), pack_blocks(parsed.blocks), *words]
    return stored


async def test_forced_pass_stores_the_same_bytes_for_every_format(world: World) -> None:
    write_corpus(world.root)
    first = await world.run()
    before = packed(world)

    second = await world.run(force=True)

    assert (first.added, second.updated) == (9, 9)
    assert {loader_of(path) for path in before} == loaders() - {"image"}
    assert packed(world) == before


async def test_second_corpus_of_the_same_files_stores_the_same_bytes(tmp_path: Path) -> None:
    worlds = [World(tmp_path / name) for name in ("one", "two")]
    worlds[0].root.mkdir()
    write_corpus(worlds[0].root)
    shutil.copytree(worlds[0].root, worlds[1].root)

    for world in worlds:
        await world.run()

    assert packed(worlds[0]) == packed(worlds[1])


@pytest.mark.processes
async def test_forced_pass_over_pictures_stores_the_same_words_and_confidences(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = paragraph(["Delivery note received"], x=40, y=60, size=14)
    picture_of(tmp_path, lines).save(world.root / "note.png")
    said = [("Delivery", 96.3), ("note", 12.0), ("received", 88.8)]
    rows = [
        tsv_row(word, (100 + 130 * i, 130, 120, 30), confidence=confidence)
        for i, (word, confidence) in enumerate(said)
    ]
    tesseract_saying(tmp_path, monkeypatch, *rows)

    await world.run()
    before = packed(world)
    await world.run(force=True)

    (page,) = world.catalogue.pages(world.record("note.png").doc_id, [1])
    assert [word.confidence for word in page.words] == [96.3, 12.0, 88.8]
    assert packed(world) == before


_DIGESTS = """
import hashlib, sys
from pathlib import Path
from rag_source.ingest.registry import LoaderRegistry
from rag_source.store.parse_codec import pack_blocks, pack_text, pack_words
registry = LoaderRegistry()
for path in sorted(Path(sys.argv[1]).iterdir()):
    parsed = registry.loader_for(path).load(path)
    parts = [pack_text(parsed.text), pack_blocks(parsed.blocks), *map(pack_words, parsed.pages)]
    print(path.name, hashlib.sha256(b"".join(parts)).hexdigest())
"""


@pytest.mark.processes
def test_parse_does_not_depend_on_the_order_of_sets_in_the_process(tmp_path: Path) -> None:
    write_corpus(tmp_path)
    runs = [
        subprocess.run(
            [sys.executable, "-c", _DIGESTS, str(tmp_path)],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert len(runs[0].splitlines()) == 9
    assert runs[0] == runs[1]


def loaders() -> set[str]:
    registry = LoaderRegistry()
    found = [registry.loader_for(f"a{suffix}") for suffix in registry.suffixes]
    return {loader.name for loader in found if loader is not None}


def loader_of(path: str) -> str:
    loader = LoaderRegistry().loader_for(path)
    assert loader is not None
    return loader.name


class _Opened:
    """Notes each file below a folder that anything in this process opens, by whatever function."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self._below: str | None = None
        sys.addaudithook(self._note)

    @contextmanager
    def watching(self, folder: Path) -> Iterator[list[str]]:
        self.paths.clear()
        self._below = f"{folder}/"
        try:
            yield self.paths
        finally:
            self._below = None

    def _note(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and self._below and str(arguments[0]).startswith(self._below):
            self.paths.append(str(arguments[0]))


@pytest.fixture(scope="module")
def opened() -> _Opened:
    """One for the module: a hook cannot be taken out again."""
    return _Opened()


async def test_pass_over_an_unchanged_folder_opens_none_of_its_files(
    world: World, opened: _Opened
) -> None:
    write_corpus(world.root)
    make_text(world.root / "empty.txt", "")
    make_text(world.root / "model.xyz", "of no format")
    with opened.watching(world.root) as paths:
        await world.run()
        assert {Path(path).name for path in paths} >= {"a.pdf", "h.xlsx", "empty.txt"}

    with opened.watching(world.root) as paths:
        report = await world.run()
        assert paths == []
    assert (report.unchanged, len(report.failed)) == (9, 2)


async def test_pass_opens_only_the_file_that_has_changed(world: World, opened: _Opened) -> None:
    write_corpus(world.root)
    await world.run()
    make_text(world.root / "b.txt", "Other words, and more of them.")

    with opened.watching(world.root) as paths:
        await world.run()
        assert {Path(path).name for path in paths} == {"b.txt"}
