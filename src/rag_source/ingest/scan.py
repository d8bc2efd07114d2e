"""Walk the corpus folder: names and stats only, nothing is opened."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rag_source.domain.errors import ConfigurationError

__all__ = ["FoundFile", "Scan", "is_passed_over", "scan"]

# What systems and editors leave behind; nobody means to ask them questions.
_JUNK_NAMES = frozenset({"thumbs.db", "desktop.ini", "icon\r", "ehthumbs.db"})
_JUNK_PREFIXES = ("~$", ".~", "._")
_JUNK_SUFFIXES = (".tmp", ".part", ".crdownload", ".swp", "~")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file as the folder lists it; `path` is relative, with `/` between names as on disk."""

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
    files = sorted(walk.files(), key=lambda found: found.path)
    return Scan(
        files=tuple(files),
        unreadable_folders=tuple(sorted(walk.unreadable_folders)),
        unreadable_files=tuple(sorted(walk.unreadable_files)),
    )


class _Walk:
    def __init__(self, root: Path) -> None:
        self._root = root
        self.unreadable_folders: list[str] = []
        self.unreadable_files: list[str] = []

    def files(self) -> Iterator[FoundFile]:
        pending = [""]
        while pending:
            folder = pending.pop()
            try:
                entries = list(os.scandir(self._root / folder))
            except OSError as error:
                if not folder:
                    raise ConfigurationError(
                        f"the document folder {str(self._root)!r} cannot be read: {error.strerror}",
                        hint="Check the permissions of the folder, or that its disk is there.",
                    ) from error
                self.unreadable_folders.append(folder)
                continue
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if is_passed_over(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path)
                    continue
                found = self._file(entry, path)
                if found is not None:
                    yield found

    def _file(self, entry: os.DirEntry[str], path: str) -> FoundFile | None:
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            self.unreadable_files.append(os.fsencode(path).decode("utf-8", "backslashreplace"))
            return None
        try:
            if entry.is_symlink() and not self._is_inside(entry.path):
                return None
            if not entry.is_file():
                return None
            stat = entry.stat()
        except OSError:
            self.unreadable_files.append(path)
            return None
        return FoundFile(path=path, size_bytes=stat.st_size, mtime_ns=stat.st_mtime_ns)

    def _is_inside(self, link: str) -> bool:
        return Path(link).resolve().is_relative_to(self._root)


def is_passed_over(name: str) -> bool:
    """Whether a file or folder of this name is hidden, or an editor's or a browser's left-over."""
    lowered = name.lower()
    return (
        name.startswith(".")
        or lowered in _JUNK_NAMES
        or lowered.startswith(_JUNK_PREFIXES)
        or lowered.endswith(_JUNK_SUFFIXES)
    )
