"""Time and size of renditions made on demand, beside those of a stored copy.

    python eval/bench/rendition.py [--megabytes 1]

Two files are written by a seeded generator, prose as Markdown and a table of eight columns as CSV,
parsed, and stored in a catalogue. Times are those of the processor, the best of several runs: other
programs on the machine do not count.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path

from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import TextRange
from rag_source.domain.documents import SourceFile
from rag_source.ingest.registry import LoaderRegistry
from rag_source.ingest.rendition import anchors, render
from rag_source.store.catalogue import SqliteCatalogue
from rag_source.store.parse_codec import pack_blocks, pack_text

_WORDS = (
    "the motor échéance délai facture door sensor replaced livraison سنتان ضمان R24 82,50".split()
)
_PART_CHARS = 20_000
_RUNS = 7


def main() -> None:
    """Measure and print a line for each file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--megabytes", type=float, default=1.0, help="size of each file")
    size = int(parser.parse_args().megabytes * 1e6)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        with SqliteCatalogue(root / "catalogue.db") as catalogue:
            _measure(catalogue, _prose(root / "prose.md", size))
            _measure(catalogue, _table(root / "table.csv", size))


def _measure(catalogue: SqliteCatalogue, path: Path) -> None:
    loader = LoaderRegistry().loader_for(path.name)
    assert loader is not None
    catalogue.save(_record(path), loader.load(path))
    parsed = catalogue.parsed(path.name)
    assert parsed is not None
    middle = len(parsed.text) // 2
    part = TextRange(start=middle, end=middle + _PART_CHARS)
    html = render(parsed).html.encode()
    copy = zlib.compress(html, 3)
    parse = len(pack_text(parsed.text)) + len(pack_blocks(parsed.blocks))
    cells = sum(len(row.cells) for block in parsed.blocks for row in block.rows)
    print(
        f"{path.name}: {len(parsed.blocks):,} blocks, {cells:,} cells\n"
        f"  on demand: parse read back in {_best(lambda: catalogue.parsed(path.name)):.1f} ms, "
        f"whole rendition {_best(lambda: render(parsed)):.1f} ms, "
        f"a part of {_PART_CHARS:,} characters {_best(lambda: render(parsed, part)):.2f} ms, "
        f"anchors of 300 characters {_best(lambda: anchors(parsed, middle, middle + 300)):.3f} ms\n"
        f"  stored: {len(html) / 1e3:,.0f} kB of HTML, {len(copy) / 1e3:,.0f} kB compressed beside "
        f"{parse / 1e3:,.0f} kB of parse, inflated in {_best(lambda: zlib.decompress(copy)):.1f} ms"
    )


def _best(work: Callable[[], object]) -> float:
    """Milliseconds of the processor."""
    times = []
    for _ in range(_RUNS):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times) * 1e3


def _record(path: Path) -> DocumentRecord:
    source = SourceFile(path=path.name, fingerprint="", size_bytes=0, mtime_ns=0)
    return DocumentRecord(doc_id=path.name, source=source, status="ready", chunks=1)


def _prose(path: Path, size: int) -> Path:
    random_ = random.Random(1)  # noqa: S311 - text, not secrets.
    parts: list[str] = []
    length = 0
    while length < size:
        heading = f"## {' '.join(random_.choices(_WORDS, k=4))}"
        paragraph = " ".join(random_.choices(_WORDS, k=70)) + "."
        parts.append(heading if len(parts) % 8 == 0 else paragraph)
        length += len(parts[-1].encode()) + 2
    path.write_text("\n\n".join(parts), encoding="utf-8")
    return path


def _table(path: Path, size: int) -> Path:
    random_ = random.Random(2)  # noqa: S311 - text, not secrets.
    lines = ["Ref,Name,Quantity,Price,Date,Site,Note,Code"]
    length = 0
    while length < size:
        i = len(lines)
        note = " ".join(random_.choices(_WORDS[:6], k=4))
        lines.append(
            f"R{i:06},{_WORDS[i % 6]},{i % 997},{i / 7:.2f},2026-04-0{1 + i % 9},A,{note},VT-{i}"
        )
        length += len(lines[-1].encode()) + 1
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    main()
