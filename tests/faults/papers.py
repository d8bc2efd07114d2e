"""A corpus of mixed documents whose every sentence says which version of which paper it is of."""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from documents import make_csv, make_html, make_pdf, make_text
from documents import paragraph as pdf_lines
from office_documents import inline_row, make_docx, make_xlsx, paragraph

__all__ = ["MARK", "Papers"]

MARK = re.compile(r"paper\d+x\d+")
"""A text: `paper17x53` is the 53rd that was written, and one of the paper 17."""

_WORDS = (
    "pump valve invoice warehouse delivery contract pressure supplier warranty driver total "
    "garantie livraison facture entrepôt pompe vanne fournisseur chauffeur montant échéance"
).split()
_PDF_LINES = 40


class Papers:
    """Papers in a folder, and what happens to them between kills; all from one seed."""

    def __init__(self, root: Path, rng: random.Random) -> None:
        self.root = root
        self.marks: dict[str, str] = {}
        """Every fingerprint that a file ever had, with its mark."""
        self._rng = rng
        self._papers = 0
        self._texts = 0
        self._numbers: dict[str, int] = {}
        root.mkdir()

    def paths(self) -> list[str]:
        """The files that are there."""
        return sorted(self._numbers)

    def fingerprints(self) -> dict[str, str]:
        """The files that are there, by path."""
        return {path: _fingerprint(self.root / path) for path in self.paths()}

    def gone(self) -> set[str]:
        """The marks of texts that no file has any more."""
        present = {self.marks[digest] for digest in self.fingerprints().values()}
        return set(self.marks.values()) - present

    def add(self, count: int, *, copies: bool = False) -> None:
        """New papers, of each format in turn, in folders; with `copies` each sixth twice."""
        for _ in range(count):
            self._papers += 1
            suffix = _SUFFIXES[self._papers % len(_SUFFIXES)]
            folder = self._rng.choice(("", "offers/", "offers/2026/", "manuals/"))
            path = f"{folder}file-{self._papers}{suffix}"
            self._write(path, self._papers)
            if copies and self._papers % 6 == 0:
                copy = f"copies/file-{self._papers}{suffix}"
                self._place(self.root / path, copy)
                self._numbers[copy] = self._papers

    def rewrite(self, path: str) -> None:
        """Another text, in one step."""
        self._write(path, self._numbers[path])

    def happen(self) -> None:
        """A few changes of every kind: new texts, new names, moves, copies of times, deletions."""
        for path in self._some(2):
            self.rewrite(path)
        for path in self._some(2):
            folder, _, name = path.rpartition("/")
            # A table without a title is known by its name, which is therefore kept.
            other = f"moved-{self._rng.randrange(10**6)}"
            new = (
                f"{folder}/{other}/{name}" if name.endswith(".csv") else f"{folder}/{other}-{name}"
            )
            self._move(path, new.lstrip("/"))
        for path in self._some(1):
            (self.root / path).touch()
        for path in self._some(1):
            (self.root / path).unlink()
            del self._numbers[path]
        self.add(2)

    def move_folder(self) -> None:
        """Another name for a whole folder."""
        folders = sorted({path.split("/")[0] for path in self.paths() if "/" in path})
        if not folders:
            return
        old, new = self._rng.choice(folders), f"folder-{self._rng.randrange(10**6)}"
        os.rename(self.root / old, self.root / new)
        for path in self.paths():
            if path.startswith(f"{old}/"):
                self._numbers[f"{new}{path.removeprefix(old)}"] = self._numbers.pop(path)

    def copy_to(self, folder: Path) -> Path:
        """The same files elsewhere, times included."""
        return Path(shutil.copytree(self.root, folder))

    def _some(self, count: int) -> list[str]:
        return self._rng.sample(self.paths(), min(count, len(self._numbers)))

    def _write(self, path: str, number: int) -> None:
        self._texts += 1
        mark = f"paper{number}x{self._texts}"
        # Beside the corpus first: the watch must not be the one that finds half a file.
        unfinished = self.root.parent / f"unfinished{Path(path).suffix}"
        sentences = [self._sentence(mark, n) for n in range(self._rng.randrange(3, 36))]
        _WRITERS[Path(path).suffix](unfinished, mark, sentences)
        self.marks[_fingerprint(unfinished)] = mark
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        unfinished.replace(self.root / path)
        self._numbers[path] = number

    def _place(self, source: Path, path: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)

    def _move(self, old: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        os.rename(self.root / old, self.root / new)
        self._numbers[new] = self._numbers.pop(old)

    def _sentence(self, mark: str, number: int) -> str:
        words = " ".join(self._rng.choice(_WORDS) for _ in range(self._rng.randrange(4, 14)))
        return f"Line {number} of {mark} says {words} {self._rng.randrange(10**5)}."


def _fingerprint(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _text(path: Path, mark: str, sentences: list[str]) -> None:
    make_text(path, f"About {mark}\n\n" + "\n\n".join(sentences) + "\n")


def _markdown(path: Path, mark: str, sentences: list[str]) -> None:
    body = "\n\n".join(
        f"## Part {n} of {mark}\n\n{sentence}" if n % 6 == 0 else sentence
        for n, sentence in enumerate(sentences)
    )
    make_text(path, f"# About {mark}\n\n{body}\n")


def _table(path: Path, mark: str, sentences: list[str]) -> None:
    rows = [[str(n), mark, sentence] for n, sentence in enumerate(sentences)]
    make_csv(path, [_columns(mark), *rows])


def _page(path: Path, mark: str, sentences: list[str]) -> None:
    body = "".join(f"<p>{sentence}</p>" for sentence in sentences)
    make_html(path, f"<h1>About {mark}</h1>{body}", title=f"About {mark}")


def _letter(path: Path, mark: str, sentences: list[str]) -> None:
    make_docx(path, "".join(map(paragraph, sentences)), title=f"About {mark}")


def _columns(mark: str) -> list[str]:
    """Even a header is of one text only: whatever is embedded twice can then be told."""
    return [f"number in {mark}", "paper", "remark"]


def _workbook(path: Path, mark: str, sentences: list[str]) -> None:
    rows = [_columns(mark)]
    rows += [[str(n), mark, sentence] for n, sentence in enumerate(sentences)]
    sheet = "".join(inline_row(n, row) for n, row in enumerate(rows, 1))
    make_xlsx(path, {f"Sheet of {mark}": sheet}, title=f"About {mark}")


def _print(path: Path, mark: str, sentences: list[str]) -> None:
    pages = [
        pdf_lines(sentences[start : start + _PDF_LINES], size=8, y=80)
        for start in range(0, len(sentences), _PDF_LINES)
    ]
    make_pdf(path, pages, title=f"About {mark}")


_WRITERS: dict[str, Callable[[Path, str, list[str]], None]] = {
    ".txt": _text,
    ".csv": _table,
    ".html": _page,
    ".docx": _letter,
    ".md": _markdown,
    ".xlsx": _workbook,
    ".pdf": _print,
}
_SUFFIXES = tuple(_WRITERS)
