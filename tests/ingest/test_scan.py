"""Walking the corpus folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag_source.domain.errors import ConfigurationError
from rag_source.ingest.scan import scan


def _paths(root: Path) -> list[str]:
    return [found.path for found in scan(root).files]


def _write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text", encoding="utf-8")


def test_files_are_listed_by_relative_path_in_order(tmp_path: Path) -> None:
    _write(tmp_path, "b.txt", "a/deep/c.md", "a/b.xyz")

    assert _paths(tmp_path) == ["a/b.xyz", "a/deep/c.md", "b.txt"]


def test_size_and_time_come_from_the_stat(tmp_path: Path) -> None:
    _write(tmp_path, "a.txt")
    os.utime(tmp_path / "a.txt", ns=(5, 7))

    (found,) = scan(tmp_path).files

    assert (found.size_bytes, found.mtime_ns) == (4, 7)


@pytest.mark.parametrize(
    "name",
    [
        ".hidden.txt",
        ".git/config.txt",
        ".DS_Store",
        "Thumbs.db",
        "~$report.docx",
        "a.tmp",
        "b.txt~",
    ],
)
def test_hidden_files_and_left_overs_are_passed_over(tmp_path: Path, name: str) -> None:
    _write(tmp_path, name)

    assert _paths(tmp_path) == []


@pytest.mark.parametrize("name", ["e\u0301te\u0301.txt", "\u00e9t\u00e9.txt"], ids=["nfd", "nfc"])
def test_names_are_kept_as_they_are_on_disk(tmp_path: Path, name: str) -> None:
    _write(tmp_path, name)

    assert _paths(tmp_path) == [name]


def test_links_that_leave_the_root_are_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    _write(tmp_path, "secret.txt", "outside/other.txt")
    _write(root, "real.txt")
    (root / "file.txt").symlink_to(tmp_path / "secret.txt")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "broken.txt").symlink_to(tmp_path / "nothing")

    assert _paths(root) == ["real.txt"]


def test_link_to_a_file_of_the_root_is_a_second_name(tmp_path: Path) -> None:
    _write(tmp_path, "real.txt")
    (tmp_path / "alias.txt").symlink_to(tmp_path / "real.txt")

    assert _paths(tmp_path) == ["alias.txt", "real.txt"]


def test_folder_that_links_to_itself_ends(tmp_path: Path) -> None:
    _write(tmp_path, "a.txt")
    (tmp_path / "loop").symlink_to(tmp_path)

    assert _paths(tmp_path) == ["a.txt"]


def test_name_that_is_not_utf8_is_reported(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("x", encoding="utf-8")

    found = scan(tmp_path)

    assert found.files == ()
    assert found.unreadable_files == ("caf\\xe9.txt",)


def test_missing_root_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="does not exist"):
        scan(tmp_path / "nowhere")


def test_file_as_root_is_a_configuration_error(tmp_path: Path) -> None:
    _write(tmp_path, "a.txt")

    with pytest.raises(ConfigurationError, match="is not a folder"):
        scan(tmp_path / "a.txt")


def test_root_that_cannot_be_listed_is_a_configuration_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "open", _refuse(""))

    with pytest.raises(ConfigurationError, match="cannot be read"):
        scan(tmp_path)


def test_files_of_a_folder_that_cannot_be_listed_may_still_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, "open.txt", "locked/inside.txt")
    monkeypatch.setattr(os, "open", _refuse("locked"))

    found = scan(tmp_path)

    assert [file.path for file in found.files] == ["open.txt"]
    assert found.hides("locked/inside.txt")
    assert not found.hides("gone.txt")


def _refuse(name: str) -> object:
    """An `open` that is not allowed into folders whose path ends with the name."""
    real = os.open

    def refusing(path: Path, flags: int, *rest: int) -> int:
        if str(path).endswith(name):
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *rest)

    return refusing
