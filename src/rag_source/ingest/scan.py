"""Walk the corpus folder: names and stats only, nothing is opened."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from rag_source.domain.errors import ConfigurationError

__all__ = ["FoundFile", "Scan", "is_passed_over", "scan"]

# What systems and editors leave behind; nobody means to ask them questions.
_JUNK_NAMES = frozenset({"thumbs.db", "desktop.ini", "icon\r", "ehthumbs.db"})
_JUNK_SUFFIXES = (".tmp", ".part", ".crdownload", ".swp", "~")


class FoundFile(NamedTuple):
    """A file as the folder lists it; `path` is relative, with `/` between names as on disk.

    A tuple, because a folder may hold a hundred thousand, and each look makes all of them.
    """

    path: str
    size_bytes: int
    mtime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """All files of a corpus, ordered by path.

    `unreadable_folders` could not be listed: what is known below them must not be taken for
    deleted. `unreadable_files` could not even be asked for their size, or their name is not text.
    """

    files: tuple[FoundFile, ...]
    unreadable_folders: tuple[str, ...] = ()
    unreadable_files: tuple[str, ...] = field(default=())

    def hides(self, path: str) -> bool:
        """Whether the file may still be there, in a folder that could not be listed."""
        return path in self.unreadable_files or any(
            path.startswith(f"{folder}/") for folder in self.unreadable_folders
        )


def scan(root: Path) -> Scan:
    """List the files below `root`.

    Hidden files and folders, editors' left-overs and links that leave the root are passed over.
    Links to folders are not followed: what they lead to inside the root is found by its own name.

    Raises:
        ConfigurationError: The root is missing, no folder, or cannot be read. Never an empty
            result for those: an unplugged disk is not a deleted corpus.
    """
    if not root.is_dir():
        problem = "is not a folder" if root.exists() else "does not exist"
        raise ConfigurationError(
            f"the document folder {str(root)!r} {problem}",
            hint="Set RAG_SOURCE_DATA_DIR to the folder that holds your documents.",
        )
    walk = _Walk(root.resolve())
    walk.run()
    return Scan(
        files=tuple(sorted(walk.found, key=itemgetter(0))),
        unreadable_folders=tuple(sorted(walk.unreadable_folders)),
        unreadable_files=tuple(sorted(walk.unreadable_files)),
    )


class _Walk:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._pending = [""]
        self.found: list[FoundFile] = []
        self.unreadable_folders: list[str] = []
        self.unreadable_files: list[str] = []

    def run(self) -> None:
        while self._pending:
            folder = self._pending.pop()
            try:
                # Names are looked up in the open folder: half the time of whole paths.
                descriptor = os.open(self._root / folder, os.O_RDONLY | os.O_DIRECTORY)
            except OSError as error:
                self._unlisted(folder, error)
                continue
            try:
                self._list(folder, descriptor)
            except OSError as error:
                self._unlisted(folder, error)
            finally:
                os.close(descriptor)

    def _unlisted(self, folder: str, error: OSError) -> None:
        if not folder:
            raise ConfigurationError(
                f"the document folder {str(self._root)!r} cannot be read: {error.strerror}",
                hint="Check the permissions of the folder, or that its disk is there.",
            ) from error
        self.unreadable_folders.append(folder)

    def _list(self, folder: str, descriptor: int) -> None:
        prefix = f"{folder}/" if folder else ""
        with os.scandir(descriptor) as listing:
            # All of them first: a folder that cannot be listed to its end has no part in the scan.
            entries = list(listing)
        for entry in entries:
            name = entry.name
            if is_passed_over(name):
                continue
            path = prefix + name
            if entry.is_dir(follow_symlinks=False):
                self._pending.append(path)
            else:
                self._look(entry, path)

    def _look(self, entry: os.DirEntry[str], path: str) -> None:
        if not path.isascii() and not _is_text(path):
            self.unreadable_files.append(os.fsencode(path).decode("utf-8", "backslashreplace"))
            return
        try:
            if entry.is_symlink() and not self._is_inside(path):
                return
            if not entry.is_file():
                return
            stat = entry.stat()
        except OSError:
            self.unreadable_files.append(path)
            return
        self.found.append(FoundFile(path, stat.st_size, stat.st_mtime_ns))

    def _is_inside(self, link: str) -> bool:
        return (self._root / link).resolve().is_relative_to(self._root)


def _is_text(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_passed_over(name: str) -> bool:
    """Whether a file or folder of this name is hidden, or an editor's or a browser's left-over."""
    # Asked for every name of every look. All other junk that begins oddly begins with a dot.
    first = name[:1]
    if first == "." or (first == "~" and name.startswith("~$")):
        return True
    lowered = name.lower()
    return lowered.endswith(_JUNK_SUFFIXES) or lowered in _JUNK_NAMES
