"""Parse a folder of real files and compare what comes out with a manifest of expectations.

    python eval/check_files.py FOLDER [--ocr eng+fra+ara] [--only PART]

FOLDER holds `MANIFEST.tsv` with the columns `path`, `expect`, `must_contain`, `must_not_contain`
and `page`; strings are joined by `||`. `expect` is `text` or `ocr` (usable, with every string),
`empty` (ends `no_text`), `reject` (ends with a reason), `password` (ends `encrypted`: no password
is given) or `flag` (usable and with a warning). Strings are compared without white space, Arabic
marks and soft hyphens, after NFKC. Each file is parsed twice in worker processes: both parses must
be equal. Prints the misses, and exits 1 if there are any.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import re
import sys
import time
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.ingest.ocr import OcrPolicy
from rag_source.ingest.workers import ParserPool

_MARKS = re.compile("[\u064b-\u0652\u0670\u0640\u00ad]")


@dataclass(frozen=True)
class Row:
    """One line of the manifest."""

    path: str
    expect: str
    must: tuple[str, ...]
    must_not: tuple[str, ...]
    page: int


def read_manifest(folder: Path) -> list[Row]:
    """The rows in their order."""
    with (folder / "MANIFEST.tsv").open(encoding="utf-8", newline="") as file:
        found = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [
            Row(
                path=row["path"],
                expect=row["expect"],
                must=tuple(filter(None, row["must_contain"].split("||"))),
                must_not=tuple(filter(None, row["must_not_contain"].split("||"))),
                page=int(row["page"] or 0),
            )
            for row in found
        ]


def plain(text: str) -> str:
    """The text as both sides are compared."""
    folded = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    return "".join(_MARKS.sub("", folded).split())


async def outcome(parser: ParserPool, path: Path) -> ParsedDocument | SourceError:
    """What becomes of a file."""
    try:
        return await parser.parse(path)
    except SourceError as error:
        return error


def problems(row: Row, found: ParsedDocument | SourceError) -> list[str]:
    """What is not as the manifest expects; empty if all is."""
    if isinstance(found, SourceError):
        wanted = {"empty": "no_text", "password": "encrypted"}.get(row.expect)
        if row.expect == "reject" or found.code == wanted:
            return []
        return [f"ends {found.code}: {found.message}"]
    if row.expect in ("reject", "empty", "password"):
        return [f"is read, {len(found.text)} characters"]
    text = plain(found.text)
    wrong = [f"lacks {one!r}" for one in row.must if plain(one) not in text]
    wrong += [f"has {one!r}" for one in row.must_not if plain(one) in text]
    if row.expect == "flag" and not found.warnings:
        wrong.append("has no warning")
    return wrong


async def check(folder: Path, rows: list[Row], languages: str) -> int:
    """Parse all rows; returns how many are not as expected."""
    misses = 0
    policy = OcrPolicy(languages=tuple(languages.split("+")))
    async with ParserPool(ocr=policy) as parser:
        for row in rows:
            started = time.monotonic()
            both = await asyncio.gather(*(outcome(parser, folder / row.path) for _ in range(2)))
            seconds = time.monotonic() - started
            wrong = problems(row, both[0])
            if str(both[0]) != str(both[1]):
                wrong.append("two parses differ")
            if wrong:
                misses += 1
                sys.stdout.write(f"MISS {row.path} ({row.expect}): {'; '.join(wrong)}\n")
            elif seconds > 60:
                sys.stdout.write(f"slow {row.path}: {seconds:.0f} s\n")
            sys.stdout.flush()
    return misses


def main() -> int:
    """Entry point."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    options.add_argument("folder", type=Path)
    options.add_argument("--ocr", default="eng+fra", help="Tesseract's languages, joined by +")
    options.add_argument("--only", default="", help="rows whose path or kind contains this")
    given = options.parse_args()
    rows = [
        row
        for row in read_manifest(given.folder)
        if given.only in row.path or given.only == row.expect
    ]
    misses = asyncio.run(check(given.folder, rows, given.ocr))
    sys.stdout.write(f"{len(rows) - misses} of {len(rows)} as expected\n")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
