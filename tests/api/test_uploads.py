"""The route that takes a new file."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.services import TOKEN, FakeService
from api.test_app import AUTH, client
from rag_source.api.app import LIMIT_BODY_BYTES, create_app
from rag_source.ingest import uploads

OCTETS = {"Content-Type": "application/octet-stream"}


async def test_file_larger_than_other_bodies_may_be_is_taken(tmp_path: Path) -> None:
    content = bytes(range(256)) * (LIMIT_BODY_BYTES // 100)
    async with client(create_app(FakeService(root=tmp_path), token=TOKEN), AUTH) as http:
        response = await http.post("/v1/documents?path=sub/a.pdf", content=content, headers=OCTETS)
    assert response.status_code == 201
    assert response.json() == {"path": "sub/a.pdf", "size_bytes": len(content), "replaced": False}
    assert (tmp_path / "sub" / "a.pdf").read_bytes() == content


async def test_file_of_that_name_is_409_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"old")
    async with client(create_app(FakeService(root=tmp_path), token=TOKEN), AUTH) as http:
        kept = await http.post("/v1/documents?path=a.pdf", content=b"new", headers=OCTETS)
        replaced = await http.post(
            "/v1/documents?path=a.pdf&overwrite=true", content=b"new", headers=OCTETS
        )
    assert (kept.status_code, kept.json()["code"]) == (409, "conflict")
    assert (replaced.status_code, replaced.json()["replaced"]) == (201, True)


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "chunked"])
async def test_too_large_a_file_is_413_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, declared: bool
) -> None:
    limit = uploads.LIMIT_UPLOAD_BYTES
    monkeypatch.setattr(
        uploads.receive_upload, "__kwdefaults__", {"overwrite": False, "limit_bytes": 1000}
    )

    async def parts() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"x" * 500

    async with client(create_app(FakeService(root=tmp_path), token=TOKEN), AUTH) as http:
        if declared:
            headers = OCTETS | {"Content-Length": str(limit + 1)}
            response = await http.post("/v1/documents?path=a.pdf", headers=headers)
        else:
            response = await http.post("/v1/documents?path=a.pdf", content=parts(), headers=OCTETS)
    assert (response.status_code, response.json()["code"]) == (413, "body_too_large")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("path", ["", "../a.pdf", "%2e%2e/a.pdf", "a%00.pdf", ".a.pdf", "a.exe"])
async def test_name_that_cannot_be_taken_is_400(tmp_path: Path, path: str) -> None:
    async with client(create_app(FakeService(root=tmp_path), token=TOKEN), AUTH) as http:
        response = await http.post(f"/v1/documents?path={path}", content=b"x", headers=OCTETS)
    assert response.status_code == 400
    assert os.listdir(tmp_path) == []


async def test_form_of_a_web_page_is_no_file(tmp_path: Path) -> None:
    async with client(create_app(FakeService(root=tmp_path), token=TOKEN), AUTH) as http:
        response = await http.post("/v1/documents?path=a.pdf", data={"a": "b"})
    assert (response.status_code, response.json()["code"]) == (400, "bad_request")


async def test_missing_folder_is_told(tmp_path: Path) -> None:
    service = FakeService(root=tmp_path / "gone")
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        response = await http.post("/v1/documents?path=a.pdf", content=b"x", headers=OCTETS)
    assert (response.status_code, response.json()["code"]) == (503, "corpus_missing")
