"""Time and memory of parsing PDF files, as a ratio to what PyMuPDF needs for words and tables.

    python eval/bench/parse.py FOLDER [--files 5] [--scans 4] [--languages eng+fra]

Each file is parsed in a process of its own, by the loader and by bare PyMuPDF (`get_text("words")`
and `find_tables()` on every page), so that peaks of memory do not mix. Times are those of the
processor: other programs on the machine do not count. Then pages of the files are rendered as
scans and read by OCR, and the longest parse is carried from a worker to its parent.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pymupdf
from PIL import Image

from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.ingest.loader_tools import LoaderTools
from rag_source.ingest.loaders.pdf import loader
from rag_source.ingest.ocr import OcrEngine, OcrPolicy
from rag_source.ingest.parse_codec import packed, unpacked

_mupdf: Any = pymupdf  # It ships no type information.
_TARGET = 2.0
_SCAN_DPI = 200


def main() -> None:
    """Measure and print three small tables."""
    arguments = _arguments()
    if arguments.one:
        print(json.dumps(_measured(arguments.one, arguments.folder)))
        return
    files = sorted(arguments.folder.rglob("*.pdf"), key=lambda path: path.stat().st_size)
    if not files:
        sys.exit(f"no PDF files under {str(arguments.folder)!r}")
    step = max(1, len(files) // arguments.files)
    chosen = files[step // 2 :: step][: arguments.files]
    _compare(chosen)
    _recognise(chosen, arguments.scans, tuple(arguments.languages.split("+")))
    _carry(chosen[-1])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, help="folder of PDF files with text layers")
    parser.add_argument("--files", type=int, default=5, help="how many, spread over their sizes")
    parser.add_argument("--scans", type=int, default=4, help="how many pages to read by OCR")
    parser.add_argument("--languages", default="eng+fra", help="of OCR")
    parser.add_argument("--one", choices=("ours", "bare"), help=argparse.SUPPRESS)
    return parser.parse_args()


def _compare(files: list[Path]) -> None:
    print(
        f"{'file':32} {'pages':>5} {'bare s':>7} {'ours s':>7} {'ratio':>6} {'MB':>11} {'ratio':>6}"
    )
    sums = {"bare": 0.0, "ours": 0.0}
    peaks = {"bare": 0.0, "ours": 0.0}
    for path in files:
        runs = {method: _in_own_process(method, path) for method in ("bare", "ours")}
        if any("error" in run for run in runs.values()):
            print(f"{path.name[:32]:32} {runs['ours'].get('error') or runs['bare']['error']}")
            continue
        for method, run in runs.items():
            sums[method] += run["seconds"]
            peaks[method] = max(peaks[method], run["megabytes"])
        bare, ours = runs["bare"], runs["ours"]
        print(
            f"{path.name[:32]:32} {ours['pages']:5} {bare['seconds']:7.2f} {ours['seconds']:7.2f} "
            f"{ours['seconds'] / bare['seconds']:6.2f} "
            f"{bare['megabytes']:5.0f} {ours['megabytes']:5.0f} "
            f"{ours['megabytes'] / bare['megabytes']:6.2f}"
        )
    if sums["bare"]:
        ratio = sums["ours"] / sums["bare"]
        verdict = "within" if ratio <= _TARGET else "ABOVE"
        print(f"time {ratio:.2f} x bare PyMuPDF, {verdict} the target of {_TARGET:.1f} x")
        print(f"peak memory {peaks['ours'] / peaks['bare']:.2f} x bare PyMuPDF\n")


def _in_own_process(method: str, path: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, str(path), "--one", method]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["failed"])[-1]}
    # PyMuPDF advertises on the standard output.
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _measured(method: str, path: Path) -> dict[str, Any]:
    started = time.process_time()
    pages = _bare(path) if method == "bare" else _ours(path)
    return {
        "pages": pages,
        "seconds": time.process_time() - started,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _bare(path: Path) -> int:
    with _mupdf.open(path) as document:
        for page in document:
            page.get_text("words")
            page.find_tables()
        return int(document.page_count)


def _ours(path: Path) -> int:
    return len(_parsed(path).pages)


def _parsed(path: Path) -> ParsedDocument:
    # Scanned pages inside these files would measure Tesseract.
    tools = LoaderTools(ocr=OcrEngine(OcrPolicy(mode="off")))
    return loader.with_tools(tools).load(path)


def _recognise(files: list[Path], count: int, languages: tuple[str, ...]) -> None:
    engine = OcrEngine(OcrPolicy(languages=languages))
    words, read, wall = 0, 0, 0.0
    confidence = 0.0
    before = _processor_seconds()
    for i in range(count):
        image = _scan(files[i % len(files)], i)
        started = time.perf_counter()
        try:
            page = engine.recognise(image, dpi=_SCAN_DPI)
        except SourceError as error:
            print(f"OCR: {error.message}. {error.hint}\n")
            return
        wall += time.perf_counter() - started
        words += len(page.words)
        confidence += page.confidence
        read += 1
    if read:
        spent = _processor_seconds() - before
        print(
            f"OCR with {'+'.join(languages)}: {read / wall:.2f} pages/s by the clock, "
            f"{read / spent:.2f} pages per second of one core, {words / read:.0f} words a page, "
            f"confidence {confidence / read:.0f}\n"
        )


def _scan(path: Path, index: int) -> Image.Image:
    """A page as a scanner would give it; pages differ from one call to the next."""
    with _mupdf.open(path) as document:
        page = document[(7 + 11 * index) % document.page_count]
        pixmap = page.get_pixmap(dpi=_SCAN_DPI, colorspace=pymupdf.csGRAY)
        return Image.frombytes("L", (pixmap.width, pixmap.height), pixmap.samples)


def _processor_seconds() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _carry(path: Path) -> None:
    document = _parsed(path)
    words = sum(len(page.words) for page in document.pages)
    started = time.process_time()
    data = packed(document)
    sent = time.process_time()
    unpacked(data)
    done = time.process_time()
    print(
        f"worker to parent: {words:,} words of {len(document.pages)} pages, "
        f"{len(data) / 1e6:.1f} MB, packed in {sent - started:.2f} s, "
        f"unpacked in {done - sent:.2f} s"
    )


if __name__ == "__main__":
    main()
