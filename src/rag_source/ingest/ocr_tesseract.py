"""Runs the `tesseract` program on one picture and reads its TSV output.

The picture goes in and the words come out through pipes, so there is no temporary file that a
killed process could leave behind. The TSV is parsed here because confidences have decimals.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rag_source.domain.errors import SourceError

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Tesseract", "TsvWord", "parse_tsv"]

_COLUMNS = 12
_WORD_LEVEL = "5"
# Marks of direction that Tesseract puts around Latin words in Arabic lines.
_DIRECTION_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Letters are normalised to the size they have at this resolution before they come here.
_ASSUMED_DPI = 300
_CHECK_TIMEOUT_S = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TsvWord:
    """A recognised word: its box in pixels, confidence (0..100) and line (block, paragraph, line).

    A confidence is about that of the word's weakest character; right Arabic words can have 0
    (tesseract-ocr/tesseract#2746), so a single one proves nothing.
    """

    text: str
    left: int
    top: int
    width: int
    height: int
    confidence: float
    line: tuple[int, int, int]


def parse_tsv(tsv: str) -> list[TsvWord]:
    """The words of Tesseract's TSV in its order; rows cut short and rows without text left out."""
    words: list[TsvWord] = []
    for row in tsv.split("\n"):
        cells = row.rstrip("\r").split("\t", _COLUMNS - 1)
        if len(cells) < _COLUMNS or cells[0] != _WORD_LEVEL:
            continue
        text = _DIRECTION_MARKS.sub("", cells[11]).strip()
        if not text:
            continue
        block, paragraph, line, _, left, top, width, height = map(int, cells[2:10])
        words.append(
            TsvWord(
                text=text,
                left=left,
                top=top,
                width=width,
                height=height,
                confidence=max(0.0, float(cells[10])),
                line=(block, paragraph, line),
            )
        )
    return words


class Tesseract:
    """The installed program with a set of languages.

    Args:
        languages: Tesseract's names, such as `eng`.
        timeout_s: After which one run is killed.
    """

    def __init__(self, languages: tuple[str, ...], timeout_s: float) -> None:
        self._languages = languages
        self._timeout_s = timeout_s
        self._checked = ""

    def check(self) -> None:
        """Make sure that the program and its languages are there; cheap once they are.

        Raises:
            SourceError: `ocr_unavailable`, with the command that installs what is missing.
        """
        program = shutil.which("tesseract")
        if program is None:
            raise _unavailable("Tesseract is not installed", self._languages)
        if program == self._checked:
            return
        missing = [one for one in self._languages if one not in _installed(program)]
        if missing:
            names = ", ".join(missing)
            raise _unavailable(f"Tesseract has no data for {names}", tuple(missing))
        self._checked = program

    def works(self) -> bool:
        """Whether `check` finds everything."""
        try:
            self.check()
        except SourceError:
            return False
        return True

    def version(self) -> str:
        """What the program says of its version and its libraries'; asked once for a program.

        Raises:
            SourceError: `ocr_unavailable`.
        """
        self.check()
        return _version(self._checked)

    def words(self, image: Image.Image, *, segmentation: int) -> list[TsvWord]:
        """The words of a grey picture whose lines are about horizontal.

        Args:
            image: Of mode `L`.
            segmentation: Tesseract's page segmentation mode: 3 for a page, 6 for one block, 11
                for scattered words.

        Raises:
            SourceError: `ocr_unavailable`, `timeout`, or `parser_error` if the program fails.
        """
        self.check()
        command = [
            *_one_thread(),
            self._checked,
            "stdin",
            "stdout",
            "-l",
            "+".join(self._languages),
            "--psm",
            str(segmentation),
            "--dpi",
            str(_ASSUMED_DPI),
            "tsv",
        ]
        header = b"P5\n%d %d\n255\n" % image.size
        try:
            done = subprocess.run(  # noqa: S603 - a fixed program and checked arguments
                command,
                input=header + image.tobytes(),
                capture_output=True,
                timeout=self._timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise SourceError(
                f"recognising a page took more than {self._timeout_s:g} s",
                code="timeout",
                hint="Scan the page at a lower resolution, or split the file.",
            ) from error
        except OSError as error:
            raise _unavailable(f"Tesseract does not start: {error}", self._languages) from error
        if done.returncode:
            raise SourceError(
                f"Tesseract failed on a page (exit code {done.returncode})",
                code="parser_error",
                hint="Run `tesseract --version`; 5.0 or newer is needed.",
            )
        return parse_tsv(done.stdout.decode("utf-8", errors="replace"))


def _one_thread() -> list[str]:
    """A prefix for a command: several pages are read at a time, one thread each is fastest."""
    env = shutil.which("env")
    return [env, "OMP_THREAD_LIMIT=1"] if env else []


def _installed(program: str) -> frozenset[str]:
    return frozenset(_said(program, "--list-langs").split())


@functools.lru_cache(maxsize=8)
def _version(program: str) -> str:
    return _said(program, "--version")


def _said(program: str, option: str) -> str:
    """What the program writes for an option.

    Raises:
        SourceError: `ocr_unavailable`.
    """
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program and fixed arguments
            [program, option],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_CHECK_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unavailable(f"{Path(program).name!r} does not run: {error}", ()) from error
    return done.stdout.decode("utf-8", errors="replace")


def _unavailable(what: str, languages: tuple[str, ...]) -> SourceError:
    packages = ["tesseract-ocr", *(f"tesseract-ocr-{_package(one)}" for one in languages)]
    return SourceError(
        what,
        code="ocr_unavailable",
        hint=f"Install it: apt-get install {' '.join(dict.fromkeys(packages))}",
    )


def _package(language: str) -> str:
    """Debian's name for a language's data: `chi_sim` is `chi-sim`."""
    return language.lower().replace("_", "-")
