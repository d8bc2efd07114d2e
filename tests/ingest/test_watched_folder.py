"""The watched folder itself: there or not, its sub-folders, its drive."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag_source.domain.errors import ConfigurationError
from rag_source.ingest.watched_folder import concerns, folders_below, probe, remote_kind

LOCAL = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw"


def _below(root: Path, *ignored: str) -> set[str]:
    found = folders_below(str(root), set(ignored), lambda: False)
    return {os.path.relpath(path, root) for path in found}


def test_folders_are_those_that_a_scan_enters(tmp_path: Path) -> None:
    for name in ("a/b/c", ".git/objects", "state/vectors"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "file.txt").touch()

    assert _below(tmp_path, str(tmp_path / "state")) == {".", "a", "a/b", "a/b/c"}


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "all").symlink_to("/")
    (tmp_path / "loop").symlink_to(tmp_path)

    assert _below(tmp_path) == {"."}


def test_folder_whose_name_is_not_utf8_is_left_out(tmp_path: Path) -> None:
    os.mkdir(os.fsencode(tmp_path) + b"/caf\xe9")

    assert _below(tmp_path) == {"."}


def test_walk_ends_when_it_is_told_to(tmp_path: Path) -> None:
    assert folders_below(str(tmp_path), set(), lambda: True) == frozenset()


@pytest.mark.parametrize("name", ["a.txt", "sub/b.pdf", "", "sub"])
def test_changes_of_documents_and_folders_concern(name: str) -> None:
    assert concerns(f"/data/{name}".rstrip("/"), "/data", {"/data/state"})


@pytest.mark.parametrize("name", [".git/config", "sub/~$a.docx", "a.part", "state/x", "state"])
def test_changes_of_left_overs_and_of_our_own_do_not_concern(name: str) -> None:
    assert not concerns(f"/data/{name}", "/data", {"/data/state"})


def test_hidden_folder_above_the_root_hides_nothing() -> None:
    assert concerns("/home/x/.data/a.txt", "/home/x/.data", set())


def test_identity_stays_with_the_folder_and_not_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = probe(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "c")
    (tmp_path / "b").rename(tmp_path / "a")

    assert probe(tmp_path / "c").identity == first.identity
    assert probe(tmp_path / "a").identity != first.identity


def test_folder_of_left_overs_only_is_empty(tmp_path: Path) -> None:
    (tmp_path / ".keep").touch()
    assert probe(tmp_path).is_empty
    (tmp_path / "a.txt").touch()
    assert not probe(tmp_path).is_empty


def test_links_to_the_root_are_resolved(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert probe(tmp_path / "link").path == str(tmp_path / "real")


@pytest.mark.parametrize(
    ("make", "what"),
    [(lambda path: None, "does not exist"), (Path.touch, "is not a folder")],
    ids=["missing", "file"],
)
def test_root_that_cannot_be_watched_is_a_configuration_error(
    tmp_path: Path, make: object, what: str
) -> None:
    assert callable(make)
    make(tmp_path / "root")
    with pytest.raises(ConfigurationError, match=what) as caught:
        probe(tmp_path / "root")

    assert caught.value.code == "corpus_missing"
    assert caught.value.hint


def test_drive_that_does_not_answer_is_a_configuration_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dead(path: str) -> None:
        raise OSError(107, "Transport endpoint is not connected")

    monkeypatch.setattr(os, "scandir", dead)
    with pytest.raises(ConfigurationError, match="Transport endpoint is not connected"):
        probe(tmp_path)


@pytest.mark.parametrize(
    ("root", "line", "kind"),
    [
        ("/data", "30 22 0:50 / /data rw - nfs4 server:/x rw", "nfs4"),
        ("/data/sub", "30 22 0:50 / /data rw shared:5 master:1 - cifs //s/x rw", "cifs"),
        ("/data", "30 22 0:50 / /data/below rw - fuse.sshfs x: rw", "fuse.sshfs"),
        ("/my data", "30 22 0:50 / /my\\040data rw - virtiofs x rw", "virtiofs"),
        ("/database", "30 22 0:50 / /data rw - nfs server:/x rw", ""),
        ("/data", "30 22 8:1 / /data rw - fuseblk /dev/sda1 rw", ""),
        ("/data", "30 22 8:1 / /data rw - ext4 /dev/sda1 rw", ""),
    ],
    ids=["root", "above", "below", "space", "like-named", "ntfs-disk", "disk"],
)
def test_network_drives_are_known_by_their_mounts(root: str, line: str, kind: str) -> None:
    assert remote_kind(root, f"{LOCAL}\n{line}\n") == kind


def test_disk_mounted_over_a_network_drive_counts() -> None:
    lines = [
        LOCAL,
        "30 22 0:50 / /data rw - nfs server:/x rw",
        "31 30 8:1 / /data rw - ext4 /dev/sda1 rw",
    ]
    assert remote_kind("/data", "\n".join(lines)) == ""


def test_system_without_a_table_of_mounts_has_none() -> None:
    assert remote_kind("/data", "") == ""
