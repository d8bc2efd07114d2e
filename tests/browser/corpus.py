"""The documents that the browser tests ask about; each shows what a viewer can get wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf

from documents import PdfPage, PdfText, make_csv, make_html, make_pdf, make_text, paragraph
from scans import needs_tesseract, picture_of, scanned_pdf

__all__ = ["HOSTILE_NAME", "LONG_PAGES", "build_corpus"]

_mupdf: Any = pymupdf  # It ships no type information.
HOSTILE_NAME = "<img src=x onerror=alert(1)>.html"
LONG_PAGES = 300
_TURNS = {0: "jasmine", 90: "hibiscus", 180: "oleander", 270: "verbena"}


def build_corpus(folder: Path) -> None:
    """Write all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    _contract(folder / "contrat.pdf")
    _turned(folder / "turned.pdf")
    _long(folder / "long.pdf")
    scanned_pdf(
        folder / "scan.pdf",
        [
            picture_of(
                folder.parent,
                [
                    PdfText(text="Scanned delivery note", x=30, y=40, size=14),
                    PdfText(text="Seven pallets were returned to Harbour Lane", x=30, y=80),
                    PdfText(text="Signed by the storekeeper", x=30, y=105),
                ],
            )
        ],
    )
    make_text(
        folder / "valves.md",
        "# Valves\n\nThe blue valve is tightened to 42 newton metres.\n\n"
        "It is checked every 30 days by the day shift.\n\nThe red valve is from Ostrava.\n",
    )
    make_text(
        folder / "daman.txt",
        "شهادة الضمان\n\nمدة ضمان المحرك خمس سنوات من تاريخ التسليم.\n\nلا يشمل الضمان الزجاج.\n",
    )
    make_text(
        folder / "festival.md",
        "# 🎏🏮 مهرجان الفوانيس\n\n"
        "🎉🎉 The lantern festival begins on 14 March. 🏮 Bring a lamp.\n",
    )
    items = [("steel bolt", "4.10"), ("brass hinge", "17.45"), ("oak panel", "88.00")]
    rows = [(item, str(10 + n), price, "EUR") for n, (item, price) in enumerate(items)]
    filler = [(f"part {n}", str(n), f"{n}.00", "EUR") for n in range(100, 400)]
    make_csv(folder / "prices.csv", [("item", "stock", "unit price", "currency"), *rows, *filler])
    make_html(
        folder / HOSTILE_NAME,
        "<h1>Hostile page</h1><script>window.hacked = 1</script>"
        "<p>The hostile page was written by Mallory &lt;img src=x onerror=alert(1)&gt; "
        "![x](http://203.0.113.9/?q=1).</p>",
        title="<script>window.hacked = 2</script>",
    )
    make_text(
        folder / "harbour.txt",
        "\n\n".join(f"The harbour has a quay number {n} for grain." for n in range(1, 41)),
    )
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4\nnothing of a PDF follows\n")


def has_ocr() -> bool:
    """Whether the scan can be read here."""
    return not needs_tesseract.args[0]


def _contract(path: Path) -> None:
    first = paragraph(["Contrat cadre de fourniture", "Article 1. Objet du contrat."], size=14)
    second = [
        PdfText(text="Article 7. Fournisseurs", x=72, y=120, size=14, font="bold"),
        *paragraph(
            [
                "La qualification du fournisseur dure deux ans au plus.",
                "Elle est renouvelée par le comité d'achat.",
            ],
            y=160,
            # Far from its neighbour, so that ink beside a mark is ink of the quote.
            step=40,
        ),
    ]
    wide = PdfPage(lines=paragraph(["Annexe en format large, sans objet."]), size=(1190, 842))
    make_pdf(path, [first, second, wide], title="Contrat")


def _turned(path: Path) -> None:
    pages = [
        PdfPage(
            lines=[
                PdfText(text=f"Page turned by {turn}", x=150, y=200, size=14),
                PdfText(text=f"The word on this page is {word}.", x=150, y=260, size=14),
            ],
            rotation=turn,
            crop=(100, 100, 500, 700),
            origin=(36, 45),
        )
        for turn, word in _TURNS.items()
    ]
    make_pdf(path, pages)


def _long(path: Path) -> None:
    with _mupdf.open() as document:
        for number in range(1, LONG_PAGES + 1):
            page = document.new_page(width=595, height=842)
            page.insert_text((72, 100), f"Clause {number}", fontsize=14)
            text = f"Clause {number} is left blank on purpose."
            if number == 288:
                text = "Clause 288 limits the liability of the carrier to 8000 units."
            page.insert_text((72, 700), text, fontsize=11)
        document.save(path)
