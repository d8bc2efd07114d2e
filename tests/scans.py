"""Pictures of pages as a scanner or a camera makes them, and stand-ins for Tesseract."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from PIL import Image

from documents import PdfPage, PdfText, make_pdf

__all__ = [
    "DPI",
    "arabic_picture",
    "counting_tesseract",
    "hanging_tesseract",
    "needs_arabic",
    "needs_tesseract",
    "picture_of",
    "scanned_pdf",
    "tesseract_saying",
    "tsv_row",
    "without_tesseract",
]

_mupdf: Any = pymupdf  # It ships no type information.
DPI = 200


def _languages() -> frozenset[str]:
    program = shutil.which("tesseract")
    if program is None:
        return frozenset()
    listed = subprocess.run([program, "--list-langs"], capture_output=True, text=True, check=False)
    return frozenset(listed.stdout.split())


_INSTALLED = _languages()
needs_tesseract = pytest.mark.skipif(
    "eng" not in _INSTALLED, reason="Tesseract with English is not installed"
)
needs_arabic = pytest.mark.skipif(
    "ara" not in _INSTALLED, reason="Tesseract with Arabic is not installed"
)


def picture_of(
    tmp_path: Path,
    lines: Sequence[PdfText],
    *,
    size: tuple[float, float] = (340, 150),
    turn: int = 0,
    skew: float = 0,
    dpi: int = DPI,
) -> Image.Image:
    """The lines on white paper, turned clockwise by `turn` and `skew` degrees."""
    path = make_pdf(tmp_path / "drawn.pdf", [PdfPage(lines=list(lines), size=size)])
    with _mupdf.open(path) as document:
        pixmap = document[0].get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY)
        image = Image.frombytes("L", (pixmap.width, pixmap.height), pixmap.samples)
    # PIL counts degrees against the clock.
    return image.rotate(-turn, expand=True).rotate(
        -skew, Image.Resampling.BICUBIC, expand=True, fillcolor=255
    )


def arabic_picture(tmp_path: Path, *paragraphs: str, dpi: int = DPI) -> Image.Image:
    """Paragraphs set in the Arabic font that MuPDF carries, shaped and from right to left."""
    with _mupdf.open() as document:
        page = document.new_page(width=420, height=200)
        html = "".join(f'<p dir="rtl" style="font-size:16px">{text}</p>' for text in paragraphs)
        page.insert_htmlbox(_mupdf.Rect(20, 20, 400, 180), html)
        pixmap = page.get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY)
        return Image.frombytes("L", (pixmap.width, pixmap.height), pixmap.samples)


def scanned_pdf(
    path: Path, pages: Sequence[Image.Image | Sequence[PdfText]], *, dpi: int = DPI
) -> Path:
    """A PDF of pictures that fill their pages, and of pages with a text layer."""
    with _mupdf.open() as document:
        for i, page in enumerate(pages):
            if isinstance(page, Image.Image):
                width, height = page.width * 72 / dpi, page.height * 72 / dpi
                png = path.with_suffix(f".{i}.png")
                page.save(png)
                document.new_page(width=width, height=height).insert_image(
                    _mupdf.Rect(0, 0, width, height), filename=str(png)
                )
            else:
                written = make_pdf(path.with_suffix(f".{i}.pdf"), [list(page)])
                with _mupdf.open(written) as other:
                    document.insert_pdf(other)
        document.save(path)
    return path


def tsv_row(
    text: str,
    box: tuple[int, int, int, int],
    *,
    confidence: float = 95.5,
    line: int = 1,
    block: int = 1,
) -> str:
    """A word as Tesseract's TSV has it; `box` is left, top, width, height in pixels."""
    return "\t".join(map(str, (5, 1, block, 1, line, 1, *box, confidence, text)))


def tesseract_saying(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *rows: str, languages: str = "eng\nfra"
) -> None:
    """Put a program in the place of Tesseract that reads these rows on every page."""
    tsv = tmp_path / "said.tsv"
    tsv.write_text("level\tpage_num\n" + "\n".join(rows) + "\n", encoding="utf-8")
    _install(tmp_path, monkeypatch, languages, f'cat > /dev/null\ncat "{tsv}"')


def hanging_tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program in the place of Tesseract that never ends; the file gets its process id."""
    pid = tmp_path / "pid"
    _install(tmp_path, monkeypatch, "eng\nfra", f'echo $$ > "{pid}"\nexec sleep 600')
    return pid


def counting_tesseract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, hangs_at: int = 0
) -> Callable[[], int]:
    """Count the pictures that the real Tesseract is given; the one of that number is never read."""
    real = shutil.which("tesseract")
    log = tmp_path / "runs"
    log.touch()
    program = tmp_path / "counting" / "tesseract"
    program.parent.mkdir()
    program.write_text(
        f"""#!/bin/sh
case "$1" in --*) exec "{real}" "$@" ;; esac
echo >> "{log}"
if [ "$(wc -l < "{log}")" -eq {hangs_at} ]; then exec sleep 600; fi
exec "{real}" "$@"
""",
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return lambda: len(log.read_text(encoding="utf-8"))


def without_tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave nothing to be found."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))


def _install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, languages: str, run: str) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "tesseract"
    program.write_text(
        "#!/bin/sh\n"
        f'if [ "$1" = --list-langs ]; then echo "{languages}"; exit; fi\n'
        f'if [ "$1" = --version ]; then echo "tesseract 5.9"; exit; fi\n{run}\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
