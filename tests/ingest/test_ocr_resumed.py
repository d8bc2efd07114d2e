"""A scan that is cut short goes on at the page where it stopped: no page is recognised twice."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image

from documents import paragraph
from fakes import FakeEmbedder, WordCounter
from ingest.indexing_world import PlainSparse, World
from rag_source.domain.documents import ParsedDocument
from rag_source.domain.reports import IngestReport
from rag_source.ingest.indexer import Indexer
from rag_source.ingest.loader_tools import LoaderTools
from rag_source.ingest.ocr import OcrEngine, OcrPolicy
from rag_source.ingest.ocr_pages import PageRecogniser
from rag_source.ingest.page_spool import SpooledPages
from rag_source.ingest.page_texts import PageText
from rag_source.ingest.registry import LoaderRegistry
from rag_source.ingest.workers import ParserPool, WorkerPolicy
from rag_source.store.catalogue import SqliteCatalogue
from rag_source.store.spool import SqliteSpool
from scans import (
    counting_tesseract,
    needs_tesseract,
    picture_of,
    scanned_pdf,
    tesseract_saying,
    tsv_row,
    without_tesseract,
)

pytestmark = pytest.mark.processes

ENGLISH = OcrPolicy(languages=("eng",))
ONE = WorkerPolicy(workers=1)


def _pictures(tmp_path: Path, count: int) -> list[Image.Image]:
    return [
        picture_of(
            tmp_path,
            paragraph(
                [f"Delivery note number {n} of March", f"{n} boxes of hexagonal bolts."],
                x=40,
                y=60,
                size=14,
                step=26,
            ),
        )
        for n in range(1, count + 1)
    ]


def _scan(tmp_path: Path, count: int = 4) -> Path:
    return scanned_pdf(tmp_path / "scan.pdf", _pictures(tmp_path, count))


def _tiff(tmp_path: Path, count: int) -> Path:
    path = tmp_path / "scan.tiff"
    first, *others = _pictures(tmp_path, count)
    first.save(path, save_all=True, append_images=others, dpi=(200, 200))
    return path


def _load(path: Path, spool: Path | None, policy: OcrPolicy = ENGLISH) -> ParsedDocument:
    tools = LoaderTools(ocr=OcrEngine(policy), page_spool=spool)
    loader = LoaderRegistry(tools=tools).loader_for(path)
    assert loader is not None
    return loader.load(path)


def _files(spool: Path) -> list[Path]:
    return sorted(spool.glob("*/*.page"))


@needs_tesseract
async def test_killed_worker_costs_the_page_at_hand_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, spool = _scan(tmp_path), tmp_path / "pages"
    uninterrupted = _load(path, None)
    runs = counting_tesseract(tmp_path, monkeypatch, hangs_at=3)
    told: list[tuple[int, int]] = []

    async with ParserPool(workers=ONE, ocr=ENGLISH, page_spool=spool) as pool:
        parsing = asyncio.create_task(
            pool.parse(path, on_progress=lambda done, total: told.append((done, total)))
        )
        async with asyncio.timeout(60):
            while runs() < 3:  # noqa: ASYNC110 - processes tell no event
                await asyncio.sleep(0.02)
        (first,) = pool.pids
        assert len(_files(spool)) == 2
        os.kill(first, signal.SIGKILL)
        parsed = await parsing

    # One for each page, and one more for the page that was at hand.
    assert runs() == 5
    assert parsed == uninterrupted
    again = told.index((0, 4), 1)
    for part in (told[:again], told[again:]):
        assert part == sorted(part)
        assert part[0] == (0, 4)
    assert told[again - 1] == (2, 4)
    assert told[-1] == (4, 4)


@needs_tesseract
@pytest.mark.parametrize("make", [_scan, _tiff], ids=["pdf", "tiff"])
def test_page_that_was_read_before_costs_nothing_and_reads_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path, int], Path]
) -> None:
    path, spool = make(tmp_path, 2), tmp_path / "pages"
    runs = counting_tesseract(tmp_path, monkeypatch)

    first = _load(path, spool)
    second = _load(path, spool)

    assert runs() == 2
    assert first == second == _load(path, None)


def _recogniser(spool: Path | None, policy: OcrPolicy, made_by: str = "pdf:1") -> PageRecogniser:
    return PageRecogniser(
        OcrEngine(policy), SpooledPages(spool, b"bytes") if spool else None, made_by
    )


class _Page:
    """One page, and how often its picture has been asked for."""

    def __init__(self, tmp_path: Path) -> None:
        self._picture = picture_of(tmp_path, paragraph(["Words."], x=20, y=40))
        self.pictures = 0

    def read(self, recogniser: PageRecogniser, *, dpi: float = 200, damaged: bool = False) -> str:
        page = PageText(
            number=1, width=9, height=9, rotation=0, frames=(), glyphs=False, damaged=damaged
        )
        read = recogniser.read(page, self._picture_of, dpi=dpi)
        return " ".join(f.text for _, fragments in read.frames for f in fragments)

    def _picture_of(self) -> Image.Image:
        self.pictures += 1
        return self._picture


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Page:
    tesseract_saying(tmp_path, monkeypatch, tsv_row("Words.", (100, 130, 120, 30)))
    return _Page(tmp_path)


def test_kept_page_is_not_even_drawn(page: _Page, tmp_path: Path) -> None:
    for _ in range(2):
        assert page.read(_recogniser(tmp_path / "pages", ENGLISH)) == "Words."

    assert page.pictures == 1


def test_other_settings_read_the_page_anew(page: _Page, tmp_path: Path) -> None:
    spool = tmp_path / "pages"
    page.read(_recogniser(spool, ENGLISH))
    for policy in (
        OcrPolicy(languages=("eng", "fra")),
        OcrPolicy(languages=("eng",), dpi=200),
        OcrPolicy(languages=("eng",), mode="force"),
    ):
        page.read(_recogniser(spool, policy))
    page.read(_recogniser(spool, ENGLISH, made_by="pdf:2"))
    page.read(_recogniser(spool, ENGLISH), dpi=150)
    page.read(_recogniser(spool, ENGLISH), damaged=True)

    assert page.pictures == len(_files(spool)) == 7


def test_other_tesseract_reads_the_page_anew(
    page: _Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = tmp_path / "pages"
    page.read(_recogniser(spool, ENGLISH))
    former = tmp_path / "bin" / "tesseract"
    newer = tmp_path / "newer" / "tesseract"
    newer.parent.mkdir()
    newer.write_text(former.read_text(encoding="utf-8").replace("5.9", "6.0"), encoding="utf-8")
    newer.chmod(0o755)
    monkeypatch.setenv("PATH", f"{newer.parent}:/usr/bin:/bin")

    page.read(_recogniser(spool, ENGLISH))

    assert page.pictures == 2


def test_page_that_could_not_be_read_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, spool = _Page(tmp_path), tmp_path / "pages"
    with monkeypatch.context() as missing:
        without_tesseract(tmp_path, missing)
        assert page.read(_recogniser(spool, ENGLISH)) == ""
    tesseract_saying(tmp_path, monkeypatch, tsv_row("Words.", (100, 130, 120, 30)))

    assert page.read(_recogniser(spool, ENGLISH)) == "Words."


class _State:
    """A corpus with one scan, its spool on disk; `indexer()` is a new process on them."""

    def __init__(self, tmp_path: Path, catalogue: SqliteCatalogue) -> None:
        self.pages = tmp_path / "pages"
        (tmp_path / "corpus").mkdir()
        self.world = World(tmp_path / "corpus")
        self.spool = SqliteSpool(catalogue.database, model="m", pages=self.pages)
        _scan(tmp_path).rename(self.world.root / "scan.pdf")

    def indexer(self, parser: ParserPool) -> Indexer:
        return Indexer(
            catalogue=self.world.catalogue,
            store=self.world.store,
            jobs=self.world.jobs,
            spool=self.spool,
            embedder=FakeEmbedder(),
            sparse=PlainSparse(),
            counter=WordCounter(),
            parser=parser,
            registry=self.world.registry,
        )

    def progress(self) -> tuple[str, int, int]:
        job = self.world.jobs.job("scan.pdf")
        return (job.state, job.done, job.total) if job else ("", 0, 0)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[_State]:
    with SqliteCatalogue(tmp_path / "catalogue.db") as catalogue:
        yield _State(tmp_path, catalogue)


@needs_tesseract
async def test_scan_that_is_paused_goes_on_where_it_stopped(
    state: _State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = counting_tesseract(tmp_path, monkeypatch, hangs_at=3)
    root = state.world.root
    async with ParserPool(workers=ONE, ocr=ENGLISH, page_spool=state.pages) as parser:
        indexer = state.indexer(parser)
        running = asyncio.create_task(indexer.run(root))
        async with asyncio.timeout(60):
            while runs() < 3 or state.progress()[1] < 2:  # noqa: ASYNC110 - no event is told
                await asyncio.sleep(0.02)
        assert state.progress() == ("parsing", 2, 4)
        indexer.queue.pause("scan.pdf")
        await asyncio.wait_for(running, 30)

    assert len(_files(state.pages)) == 2
    async with ParserPool(workers=ONE, ocr=ENGLISH, page_spool=state.pages) as parser:
        indexer = state.indexer(parser)
        await indexer.reconcile(root)
        assert len(_files(state.pages)) == 2
        indexer.queue.resume("scan.pdf")
        await indexer.drain(root)

    assert state.world.record("scan.pdf").status == "ready"
    assert state.world.record("scan.pdf").pages == 4
    assert runs() == 5
    assert state.spool.contents() == set()
    assert list(state.pages.iterdir()) == []


@needs_tesseract
async def test_cancelled_scan_leaves_no_page_behind_and_force_reads_all_again(
    state: _State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = counting_tesseract(tmp_path, monkeypatch, hangs_at=3)
    root = state.world.root

    async def interrupted(indexer: Indexer) -> IngestReport:
        running = asyncio.create_task(indexer.run(root))
        async with asyncio.timeout(60):
            while runs() < 3:  # noqa: ASYNC110 - processes tell no event
                await asyncio.sleep(0.02)
        indexer.queue.cancel("scan.pdf")
        return await asyncio.wait_for(running, 30)

    async with ParserPool(workers=ONE, ocr=ENGLISH, page_spool=state.pages) as parser:
        indexer = state.indexer(parser)
        await interrupted(indexer)
        assert _files(state.pages) == []

        await indexer.run(root, force=True)

    assert runs() == 3 + 4
    assert state.world.record("scan.pdf").status == "ready"
