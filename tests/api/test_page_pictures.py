"""Pictures of pages through the routes: the ink is where the words are said to be, and a hostile
file costs the worker that draws it, no more."""

from __future__ import annotations

import io
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

from api.services import TOKEN, FakeService
from api.test_app import AUTH, client
from documents import PdfPage, PdfText, make_pdf, paragraph
from rag_source.api.app import create_app
from rag_source.domain.errors import SourceError
from rag_source.ingest.ocr import OcrPolicy
from rag_source.ingest.parsing import ParseFailure, ParsingPolicy
from rag_source.ingest.pictures import Picture, PictureRequest, picture_outcome
from rag_source.ingest.workers import ParserPool, WorkerPolicy
from rag_source.viewing import DocumentViews, Picturer
from reading import read

_LINES = [
    PdfText(text="Quarterly turnover rose", x=150, y=200, size=14),
    PdfText(text="by 12 percent.", x=150, y=240, size=14),
    PdfText(text="Largest customer: Jessen", x=150, y=500, size=11),
]
_LAYOUTS = {
    "plain": PdfPage(lines=_LINES),
    "cropped": PdfPage(lines=_LINES, crop=(100, 100, 500, 600)),
    "moved": PdfPage(lines=_LINES, origin=(36, 45)),
    "moved and cropped": PdfPage(lines=_LINES, origin=(-50, 300), crop=(60, 120, 560, 700)),
}


class _InProcess:
    """Draws here: starting a worker takes longer than all else in most of these tests."""

    async def picture(self, request: PictureRequest) -> Picture:
        outcome = picture_outcome(request, 1 << 30)
        if isinstance(outcome, ParseFailure):
            raise SourceError(outcome.message, code=outcome.code, hint=outcome.hint)
        return outcome


@asynccontextmanager
async def _drawn_by_a_worker(
    path: Path, *, timeout_s: float = 20
) -> AsyncIterator[httpx.AsyncClient]:
    workers = WorkerPolicy(workers=1, memory_bytes=1024**3)
    async with (
        ParserPool(
            ParsingPolicy(timeout_s=timeout_s), workers=workers, ocr=OcrPolicy(mode="off")
        ) as pool,
        _shown(path, pool) as http,
    ):
        yield http


@asynccontextmanager
async def _shown(path: Path, picturer: Picturer | None = None) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service that shows one real file."""
    service = FakeService(root=path.parent)
    stat = os.stat(path)
    source = replace(
        service.record.source, path=path.name, size_bytes=stat.st_size, mtime_ns=stat.st_mtime_ns
    )
    service.catalogue.save(
        replace(service.record, source=source),
        read(path) if path.suffix == ".pdf" else service.catalogue.parses["d1"],
    )
    service.views = DocumentViews(
        catalogue=service.catalogue, root=lambda: service.root, picturer=picturer or _InProcess()
    )
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        yield http


async def _dark(http: httpx.AsyncClient, page: int, width: int) -> np.ndarray:
    """Where the picture is dark: True at (row, column)."""
    response = await http.get(f"/v1/documents/d1/pages/{page}?width={width}")
    assert response.status_code == 200, response.text
    image = Image.open(io.BytesIO(response.content))
    assert image.format is not None
    assert response.headers["content-type"] == f"image/{image.format.lower()}"
    return np.asarray(image.convert("L")) < 128


def _cut(dark: np.ndarray, box: dict[str, float]) -> tuple[slice, slice]:
    height, width = dark.shape
    rows = slice(int(box["y0"] * height), int(np.ceil(box["y1"] * height)) + 1)
    return rows, slice(int(box["x0"] * width), int(np.ceil(box["x1"] * width)) + 1)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("layout", _LAYOUTS)
async def test_ink_of_the_picture_lies_in_the_boxes_of_the_words_and_nowhere_else(
    tmp_path: Path, layout: str, rotation: int
) -> None:
    path = make_pdf(tmp_path / "a.pdf", [replace(_LAYOUTS[layout], rotation=rotation)])
    async with _shown(path) as http:
        dark = await _dark(http, 1, 900)
        words = (await http.get("/v1/documents/d1/pages/1/words")).json()
        body = {"doc_id": "d1", "ranges": [[0, 200]]}
        located = (await http.post("/v1/locate", json=body)).json()
    assert dark.shape[1] == 900
    assert abs(dark.shape[0] / dark.shape[1] - words["height"] / words["width"]) < 0.01
    assert {"turnover", "Jessen"} <= {word["text"] for word in words["words"]}
    for word in words["words"]:
        assert dark[_cut(dark, word)].sum() > 20, word
    for boxes in (words["words"], located["boxes"]):
        outside = dark.copy()
        for box in boxes:
            outside[_cut(dark, box)] = False
        assert outside.sum() <= 0.01 * dark.sum()


@pytest.mark.parametrize("width", [300, 600, 2400])
async def test_each_page_has_its_own_size_at_every_zoom(tmp_path: Path, width: int) -> None:
    portrait = PdfPage(lines=[PdfText(text="portrait", x=72, y=100)])
    landscape = PdfPage(lines=[PdfText(text="landscape", x=1000, y=700, size=20)], size=(1191, 842))
    path = make_pdf(tmp_path / "a.pdf", [portrait, landscape])
    async with _shown(path) as http:
        for number, ratio in ((1, 842 / 595), (2, 842 / 1191)):
            dark = await _dark(http, number, width)
            (word,) = (await http.get(f"/v1/documents/d1/pages/{number}/words")).json()["words"]
            assert abs(dark.shape[0] / width - ratio) < 0.02
            assert dark[_cut(dark, word)].sum() == dark.sum() > 0


@pytest.mark.processes
async def test_last_page_of_300_comes_as_fast_as_the_first_and_without_the_file(
    tmp_path: Path,
) -> None:
    line = "The delivery note names the supplier, the date, the pallets and their weight."
    pages = [paragraph([f"Page {i}.", *[line] * 3], y=60) for i in range(300)]
    path = make_pdf(tmp_path / "a.pdf", pages)
    async with _drawn_by_a_worker(path) as http:
        await http.get("/v1/documents/d1/pages/1?width=200")  # starts the worker
        taken = []
        for number in (2, 300):
            began = time.monotonic()
            response = await http.get(f"/v1/documents/d1/pages/{number}?width=1200")
            taken.append(time.monotonic() - began)
            assert len(response.content) < path.stat().st_size / 4
        assert taken[1] < 2 * taken[0] + 1
        view = (await http.get("/v1/documents/d1")).json()
    assert len(view["pages"]) == 300


def _endless_pdf(path: Path) -> Path:
    """A page that draws a form which draws the next ten times over, twelve levels deep."""
    forms = 12
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R "
        "/Resources << /XObject << /F 5 0 R >> >> >>",
        _stream("", "/F Do"),
    ]
    for level in range(forms):
        is_last = level == forms - 1
        resources = "" if is_last else f"/Resources << /XObject << /F {6 + level} 0 R >> >>"
        drawn = "0 0 9 9 re f" if is_last else "/F Do " * 10
        kind = f"/Type /XObject /Subtype /Form /BBox [0 0 200 200] {resources}"
        objects.append(_stream(kind, drawn))
    out = b"%PDF-1.4\n"
    offsets = []
    for i, value in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{i} 0 obj\n{value}\nendobj\n".encode()
    xref = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
    out += f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\n".encode()
    path.write_bytes(out + f"startxref\n{xref}\n%%EOF\n".encode())
    return path


def _stream(entries: str, content: str) -> str:
    return f"<< {entries} /Length {len(content)} >>\nstream\n{content}\nendstream"


@pytest.mark.processes
async def test_page_that_never_ends_costs_its_worker_and_nothing_else(tmp_path: Path) -> None:
    good = make_pdf(tmp_path / "a.pdf", [paragraph(["Good words."])])
    async with _drawn_by_a_worker(good, timeout_s=2) as http:
        assert (await http.get("/v1/documents/d1/pages/1")).status_code == 200
        kept = good.read_bytes()
        _endless_pdf(good)
        hostile = await http.get("/v1/documents/d1/pages/1")
        good.write_bytes(kept)
        after = await http.get("/v1/documents/d1/pages/1?width=300")
    assert (hostile.status_code, hostile.json()["code"]) == (422, "timeout")
    assert after.status_code == 200


@pytest.mark.parametrize(
    ("content", "codes"),
    [(b"", {"damaged"}), (b"%PDF-1.4\n%%EOF", {"damaged"}), (os.urandom(5000), {"damaged"})],
    ids=["empty", "no page", "noise"],
)
@pytest.mark.processes
async def test_file_that_became_damaged_is_told_so(
    tmp_path: Path, content: bytes, codes: set[str]
) -> None:
    path = make_pdf(tmp_path / "a.pdf", [paragraph(["Good words."])])
    async with _drawn_by_a_worker(path) as http:
        path.write_bytes(content)
        response = await http.get("/v1/documents/d1/pages/1")
    assert response.status_code == 422
    assert response.json()["code"] in codes
    assert response.json()["hint"]


def _pictures() -> Iterator[tuple[str, Image.Image, dict[str, object]]]:
    """A black bar at the top left of white paper, in the ways in which files hold pictures."""
    grey = Image.new("L", (400, 200), 255)
    grey.paste(0, (0, 0, 200, 40))
    yield "grey.png", grey, {}
    yield "bit.tif", grey.convert("1"), {}
    yield "palette.gif", grey.convert("P"), {}
    yield "colour.webp", grey.convert("RGB"), {}
    yield "cmyk.jpg", grey.convert("CMYK"), {}
    deep = Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)
    yield "deep.png", deep, {}
    clear = Image.new("RGBA", (400, 200), (255, 255, 255, 0))
    clear.paste((0, 0, 0, 255), (0, 0, 200, 40))
    yield "clear.png", clear, {}
    exif = Image.Exif()
    exif[0x0112] = 6  # The camera was held upright: turn by 90 degrees to the right.
    yield "turned.jpg", grey.rotate(90, expand=True), {"exif": exif}


@pytest.mark.parametrize("picture", list(_pictures()), ids=lambda p: p[0])
async def test_picture_of_any_kind_is_shown_upright_on_white_paper(
    tmp_path: Path, picture: tuple[str, Image.Image, dict[str, object]]
) -> None:
    name, image, options = picture
    image.save(tmp_path / name, **options)  # type: ignore[arg-type]  # PIL takes any option
    async with _shown(tmp_path / name) as http:
        dark = await _dark(http, 1, 200)
        large = await _dark(http, 1, 4000)
    assert dark.shape == (100, 200)
    assert dark[2:18, 2:98].all()
    assert not dark[24:].any()
    assert not dark[:, 104:].any()
    assert large.shape == (200, 400)  # Never larger than it is: that would only cost.


async def test_frames_of_a_tiff_are_its_pages(tmp_path: Path) -> None:
    frames = [Image.new("L", (100, 100), 255), Image.new("L", (100, 300), 0)]
    frames[0].save(tmp_path / "a.tif", save_all=True, append_images=frames[1:])
    async with _shown(tmp_path / "a.tif") as http:
        assert (await _dark(http, 1, 100)).shape == (100, 100)
        assert (await _dark(http, 2, 100)).all()


async def test_endless_strip_comes_out_smaller_than_asked(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", [PdfPage(lines=_LINES, size=(300, 14_400))])
    async with _shown(path) as http:
        dark = await _dark(http, 1, 4000)
    assert dark.shape[0] <= 16_383
    assert dark.size <= 24_100_000
