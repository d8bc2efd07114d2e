"""A document is made anew when the settings that shaped it have changed, and only then."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from documents import PdfPage, make_pdf, paragraph
from ingest.indexing_world import World
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.documents import ParseWarning, SourceFile
from rag_source.ingest.changes import compare, split_by_content
from rag_source.ingest.chunker import ChunkingPolicy
from rag_source.ingest.ocr import OcrMode, OcrPolicy
from rag_source.ingest.recipes import Recipes
from rag_source.ingest.registry import LoaderRegistry
from rag_source.ingest.scan import FoundFile, Scan

REGISTRY = LoaderRegistry()


def recipes(
    *,
    target_tokens: int = 700,
    mode: OcrMode = "auto",
    languages: tuple[str, ...] = ("eng", "fra"),
    situating: str = "headings",
    ocr_works: bool = True,
) -> Recipes:
    """Those of an installation with these settings."""
    return Recipes(
        chunking=ChunkingPolicy(target_tokens=target_tokens),
        ocr=OcrPolicy(mode=mode, languages=languages),
        situating=situating,
        ocr_works=lambda: ocr_works,
    )


def record_of(path: str, *codes: str, pages: int = 0, failed: str = "") -> DocumentRecord:
    """A file that was read with these warnings, or not for this reason."""
    loader = REGISTRY.loader_for(path)
    assert loader is not None
    return DocumentRecord(
        doc_id=path,
        source=SourceFile(path=path, fingerprint="f", size_bytes=3, mtime_ns=5),
        status="failed" if failed else "ready",
        code=failed,
        message=failed,
        warnings=tuple(ParseWarning(code=code, message=code) for code in codes),
        loader=loader.name,
        loader_version=loader.version,
        pages=pages,
        chunks=0 if failed else 1,
    )


TEXT = record_of("a.txt")
TYPED = record_of("typed.pdf", pages=3)
SCAN = record_of("scan.pdf", "ocr_pages", pages=3)
BLANK = record_of("blank.pdf", "pages_without_text", pages=3)
DAMAGED = record_of("damaged.pdf", "text_layer_damaged", pages=3)
LABELLED = record_of("labelled.pdf", "ocr_off", pages=3)
UNREAD = record_of("unread.pdf", failed="ocr_unavailable")
ALL = [TEXT, TYPED, SCAN, BLANK, DAMAGED, LABELLED, UNREAD]


def changed(before: Recipes, after: Recipes) -> set[str]:
    """The documents that a pass with other settings makes anew."""
    return {r.source.path for r in ALL if before.of(r) != after.of(r)}


def everything() -> set[str]:
    return {record.source.path for record in ALL}


def test_same_settings_make_nothing_anew() -> None:
    assert changed(recipes(), recipes()) == set()


@pytest.mark.parametrize(
    "after",
    [recipes(target_tokens=500), recipes(situating="llm")],
    ids=["size of chunks", "situating"],
)
def test_settings_of_chunks_make_everything_anew(after: Recipes) -> None:
    assert changed(recipes(), after) == everything()


def test_other_languages_make_only_what_ocr_has_a_say_in_anew() -> None:
    after = recipes(languages=("eng", "fra", "ara"))
    assert changed(recipes(), after) == everything() - {"a.txt", "typed.pdf"}


def test_switching_ocr_on_makes_only_what_it_might_read_anew() -> None:
    assert changed(recipes(mode="off"), recipes()) == everything() - {"a.txt", "typed.pdf"}


def test_forcing_ocr_makes_every_file_with_pages_anew() -> None:
    assert changed(recipes(), recipes(mode="force")) == everything() - {"a.txt"}


def test_recipe_of_a_parse_depends_on_ocr_alone() -> None:
    assert recipes().parsing == recipes(target_tokens=500, situating="llm").parsing
    assert recipes().parsing != recipes(languages=("ara",)).parsing


def test_installing_tesseract_makes_what_missed_it_anew() -> None:
    assert changed(recipes(ocr_works=False), recipes()) == {"unread.pdf"}


def test_tesseract_that_goes_away_makes_nothing_worse() -> None:
    ready = [r for r in ALL if not r.code]
    assert all(recipes(ocr_works=False).of(r) == recipes().of(r) for r in ready)


def test_one_look_asks_once_whether_ocr_works() -> None:
    asked: list[int] = []

    def works() -> bool:
        asked.append(1)
        return True

    made = Recipes(chunking=ChunkingPolicy(), ocr=OcrPolicy(), ocr_works=works)
    recipe = made.for_all()
    assert recipe(TEXT) == made.of(TEXT)
    assert asked == []
    assert len({recipe(UNREAD) for _ in range(3)}) == 1
    assert asked == [1]


def scan_of(*records: DocumentRecord, mtime_ns: int = 5) -> Scan:
    """A folder that holds the files of these records."""
    files = [FoundFile(path=r.source.path, size_bytes=3, mtime_ns=mtime_ns) for r in records]
    return Scan(files=tuple(files))


def kept_by(made: Recipes, *records: DocumentRecord) -> list[DocumentRecord]:
    return [replace(record, recipe=made.of(record)) for record in records]


def test_unchanged_file_of_another_recipe_is_a_suspect_and_is_parsed() -> None:
    records = kept_by(recipes(), TEXT, SCAN)
    recipe = recipes(languages=("ara",)).for_all()
    stored = {record.doc_id for record in records}

    found = compare(scan_of(*records), records, REGISTRY, stored=stored, force=False, recipe=recipe)

    assert [record.source.path for record in found.same] == ["a.txt"]
    assert [file.path for file, _ in found.suspects] == ["scan.pdf"]
    (scan,) = records[1:]
    plan = split_by_content(
        [(scan.source, scan)], [], REGISTRY, stored=stored, force=False, recipe=recipe
    )
    assert [work.known for work in plan.work] == [scan]
    assert plan.touched == []


def test_record_without_a_recipe_is_made_anew_once() -> None:
    recipe = recipes().for_all()
    files = scan_of(TEXT)

    before = compare(files, [TEXT], REGISTRY, stored={"a.txt"}, force=False, recipe=recipe)
    (made,) = kept_by(recipes(), TEXT)
    after = compare(files, [made], REGISTRY, stored={"a.txt"}, force=False, recipe=recipe)

    assert len(before.suspects) == 1
    assert after.same == (made,)


def test_failed_file_is_tried_again_by_other_settings_and_not_by_the_same() -> None:
    (failed,) = kept_by(recipes(), UNREAD)
    files = scan_of(failed)

    def suspects(today: Recipes) -> int:
        recipe = today.for_all()
        found = compare(files, [failed], REGISTRY, stored=set(), force=False, recipe=recipe)
        return len(found.suspects)

    assert suspects(recipes()) == 0
    assert suspects(recipes(languages=("eng",))) == 1


def test_moved_file_of_another_recipe_is_parsed_at_its_new_place() -> None:
    (record,) = kept_by(recipes(target_tokens=500), TEXT)
    source = replace(record.source, path="b.txt")

    def plan(today: Recipes) -> tuple[int, int]:
        recipe = today.for_all()
        found = split_by_content(
            [(source, None)], [record], REGISTRY, stored={"a.txt"}, force=False, recipe=recipe
        )
        return len(found.moved), len(found.work)

    assert plan(recipes(target_tokens=500)) == (1, 0)
    assert plan(recipes()) == (0, 1)


def test_stale_record_whose_bytes_come_back_has_the_recipe_of_a_sound_one() -> None:
    sound = record_of("a.txt")
    stale = replace(sound, code="damaged", message="Cut short.")
    (stale,) = kept_by(recipes(), stale)

    plan = split_by_content(
        [(stale.source, stale)],
        [],
        REGISTRY,
        stored={"a.txt"},
        force=False,
        recipe=recipes().for_all(),
    )

    (mended,) = plan.touched
    assert (mended.code, mended.recipe) == ("", recipes().of(sound))


async def test_pass_after_a_change_of_settings_parses_what_they_shape_and_no_more(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    world.write("a.txt", "Words of a text file.")
    world.write("empty.txt", "")
    make_pdf(tmp_path / "blank.pdf", [paragraph(["Words of a page."]), PdfPage()])
    world.recipes = recipes(mode="off")
    await world.run()
    again = await world.run()
    assert (again.unchanged, world.parsed) == (2, [])

    world.recipes = recipes(mode="off", languages=("ara",))
    await world.run()
    assert sorted(world.parsed) == ["blank.pdf", "empty.txt"]

    world.recipes = recipes(mode="off", languages=("ara",), target_tokens=500)
    await world.run()
    assert sorted(world.parsed) == ["a.txt", "blank.pdf", "empty.txt"]
    await world.run()
    assert world.parsed == []
