"""The routes of one document: its pages, words and places, its rendition, its original bytes."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest

from api.services import TOKEN, FakeService
from api.test_app import AUTH, client
from rag_source.api.app import create_app

CONTENT = b"%PDF-1.7 not really one, but bytes all the same\n" * 400


@pytest.fixture
def service(tmp_path: Path) -> FakeService:
    """A service whose one document is on disk as it was indexed."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    service = FakeService(root=folder)
    put(service, CONTENT)
    return service


def put(service: FakeService, content: bytes, name: str = "bl.pdf") -> None:
    """Let the file hold these bytes, and the record agree."""
    path = service.root / name
    path.write_bytes(content)
    stat = path.stat()
    source = replace(
        service.record.source,
        path=name,
        fingerprint=hashlib.sha256(content).hexdigest(),
        size_bytes=len(content),
        mtime_ns=stat.st_mtime_ns,
    )
    service.catalogue.save(replace(service.record, source=source))


async def test_document_tells_how_it_is_shown_and_the_displayed_size_of_each_page() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        body = (await http.get("/v1/documents/d1")).json()
        listed = (await http.get("/v1/documents")).json()["documents"][0]
    assert body["view"] == "pages"
    assert body["pages"] == [
        {"number": 1, "width": 200, "height": 400},
        {"number": 2, "width": 400, "height": 200},
    ]
    assert body["length"] == 40
    assert {name: value for name, value in body.items() if name in listed and name != "pages"} == {
        name: value for name, value in listed.items() if name != "pages"
    }


async def test_document_of_flowing_text_is_shown_as_a_rendition() -> None:
    service = FakeService()
    source = replace(service.record.source, path="bl.docx")
    parsed = replace(service.catalogue.parses["d1"], pages=())
    service.catalogue.save(replace(service.record, source=source), parsed)
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        body = (await http.get("/v1/documents/d1")).json()
        page = await http.get("/v1/documents/d1/pages/1")
    assert (body["view"], body["pages"]) == ("rendition", [])
    assert page.status_code == 404


async def test_document_that_could_not_be_read_is_there_without_text() -> None:
    service = FakeService()
    failed = replace(service.record, status="failed", code="damaged", message="It is damaged.")
    service.catalogue.parses.clear()
    service.catalogue.save(failed)
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        body = (await http.get("/v1/documents/d1")).json()
        words = await http.get("/v1/documents/d1/pages/1/words")
        rendition = await http.get("/v1/documents/d1/rendition")
    assert (body["status"], body["code"], body["length"]) == ("failed", "damaged", 0)
    assert [(r.status_code, r.json()["code"]) for r in (words, rendition)] == [
        (404, "not_indexed"),
        (404, "not_indexed"),
    ]


@pytest.mark.parametrize(
    "path",
    ["", "/file", "/rendition", "/pages/1", "/pages/1/words"],
)
@pytest.mark.parametrize("doc_id", ["unknown", "..%2F..%2Fetc%2Fpasswd", "d1%00", "é"])
async def test_unknown_document_is_404_on_every_route(path: str, doc_id: str) -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        response = await http.get(f"/v1/documents/{doc_id}{path}")
    assert response.status_code == 404
    assert response.json()["code"] == "not_found"


async def test_words_have_their_text_and_boxes_of_the_displayed_page() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        first = (await http.get("/v1/documents/d1/pages/1/words")).json()
        turned = (await http.get("/v1/documents/d1/pages/2/words")).json()
    assert (first["number"], first["width"], first["height"]) == (1, 200, 400)
    assert first["text_start"] == 0
    assert first["words"][0] == {
        "text": "Total",
        "start": 0,
        "end": 5,
        "x0": 0.1,
        "y0": 0.1,
        "x1": 0.3,
        "y1": 0.15,
        "confidence": 100.0,
    }
    assert (first["words"][1]["text"], first["words"][1]["confidence"]) == ("3 240", 88.0)
    assert (turned["width"], turned["height"], turned["text_start"]) == (400, 200, 35)
    word = turned["words"][0]
    assert (word["text"], word["x0"], word["y0"]) == ("suite", 0.85, 0.1)
    assert (word["x1"], word["y1"]) == (0.9, 0.3)


async def test_half_of_a_surrogate_pair_in_a_document_leaves_as_a_replacement() -> None:
    service = FakeService()
    parsed = service.catalogue.parses["d1"]
    service.catalogue.save(service.record, replace(parsed, text="\ud800" + parsed.text[1:]))
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        words = await http.get("/v1/documents/d1/pages/1/words")
        rendition = await http.get("/v1/documents/d1/rendition")
    assert words.json()["words"][0]["text"] == "\ufffdotal"
    assert "\ufffdotal" in rendition.text


@pytest.mark.parametrize("number", ["0", "-1", "3", "x", "1e3", "99999999999999999999"])
async def test_page_that_is_not_there_is_a_request_error(number: str) -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        for path in (f"/v1/documents/d1/pages/{number}", f"/v1/documents/d1/pages/{number}/words"):
            assert (await http.get(path)).status_code in (400, 404)


async def test_ranges_are_located_on_the_page_and_in_the_rendition() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        body = {"doc_id": "d1", "ranges": [[0, 13], [35, 40]]}
        found = (await http.post("/v1/locate", json=body)).json()
    assert found["place"] == "pp. 1–2"
    assert [(box["page"], box["x0"], box["x1"]) for box in found["boxes"]] == [
        (1, 0.1, 0.5),
        (2, 0.85, 0.9),
    ]
    assert found["anchors"] == [
        {"element": "b1", "start": 0, "end": 13},
        {"element": "b3", "start": 0, "end": 5},
    ]


async def test_cell_of_a_table_is_located_in_its_element() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        body = {"doc_id": "d1", "ranges": [[32, 33]]}
        found = (await http.post("/v1/locate", json=body)).json()
    assert found["anchors"] == [{"element": "b2-r2-c2", "start": 0, "end": 1}]
    assert found["place"] == "p. 1"


async def test_range_beyond_the_text_lies_nowhere() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        body = {"doc_id": "d1", "ranges": [[4000, 4001]]}
        found = (await http.post("/v1/locate", json=body)).json()
    assert found == {"boxes": [], "anchors": [], "place": ""}


@pytest.mark.parametrize(
    "ranges",
    [[], [[1, 1]], [[2, 1]], [[-1, 3]], [[0, 2**40]], [[0]], [[0, "x"]], [[0, 1]] * 201, "x", [[]]],
    ids=str,
)
async def test_senseless_ranges_are_400(ranges: object) -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        response = await http.post("/v1/locate", json={"doc_id": "d1", "ranges": ranges})
    assert (response.status_code, response.json()["code"]) == (400, "bad_request")


async def test_more_than_can_be_shown_at_once_is_refused() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        body = {"doc_id": "d1", "ranges": [[0, 100_001]]}
        response = await http.post("/v1/locate", json=body)
    assert (response.status_code, response.json()["code"]) == (400, "too_wide")


async def test_rendition_runs_nothing_and_comes_in_parts() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        whole = await http.get("/v1/documents/d1/rendition")
        part = await http.get("/v1/documents/d1/rendition?start=35&end=36")
        same = await http.get(
            "/v1/documents/d1/rendition", headers={"If-None-Match": whole.headers["etag"]}
        )
    assert whole.headers["content-type"] == "text/html; charset=utf-8"
    assert whole.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert 'data-from="0" data-to="40" data-length="40"' in whole.text
    assert 'data-from="35" data-to="40"' in part.text
    assert "Total" not in part.text
    assert part.headers["etag"] != whole.headers["etag"]
    assert (same.status_code, same.content) == (304, b"")


@pytest.mark.parametrize("query", ["start=-1", "end=x", "start=1.5", f"start={2**31}"])
async def test_senseless_part_of_a_rendition_is_400(query: str) -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        assert (await http.get(f"/v1/documents/d1/rendition?{query}")).status_code == 400


async def test_empty_part_of_a_rendition_is_empty() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        beyond = await http.get("/v1/documents/d1/rendition?start=4000")
        backwards = await http.get("/v1/documents/d1/rendition?start=10&end=2")
    assert (beyond.status_code, backwards.status_code) == (200, 200)
    assert "data-start" not in beyond.text


async def test_file_comes_as_it_is_to_be_saved(service: FakeService) -> None:
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        response = await http.get("/v1/documents/d1/file")
    headers = response.headers
    assert response.content == CONTENT
    assert headers["content-type"] == "application/pdf"
    assert headers["content-length"] == str(len(CONTENT))
    assert headers["content-disposition"] == "attachment; filename*=UTF-8''bl.pdf"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert "x-rag-source-stale" not in headers


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("bytes=0-3", slice(0, 4)),
        ("bytes=5-", slice(5, None)),
        ("bytes=-7", slice(-7, None)),
        ("bytes=0-99999999", slice(0, None)),
        (" bytes=2 - 4", slice(2, 5)),
    ],
)
async def test_range_of_a_file_is_sent_alone(
    service: FakeService, asked: str, expected: slice
) -> None:
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        response = await http.get("/v1/documents/d1/file", headers={"Range": asked})
    assert response.status_code == 206
    assert response.content == CONTENT[expected]
    first = range(len(CONTENT))[expected]
    assert response.headers["content-range"] == f"bytes {first[0]}-{first[-1]}/{len(CONTENT)}"
    assert response.headers["content-length"] == str(len(first))


@pytest.mark.parametrize("asked", ["bytes=999999-", "bytes=9-3", "bytes=-0"])
async def test_range_outside_of_a_file_is_416(service: FakeService, asked: str) -> None:
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        response = await http.get("/v1/documents/d1/file", headers={"Range": asked})
    assert response.status_code == 416
    assert response.json()["code"] == "bad_range"
    assert response.headers["content-range"] == f"bytes */{len(CONTENT)}"


@pytest.mark.parametrize("asked", ["bytes=", "lines=1-2", "bytes=0-1,4-5", "bytes=a-b", "x"])
async def test_other_ranges_are_answered_with_the_whole_file(
    service: FakeService, asked: str
) -> None:
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        response = await http.get("/v1/documents/d1/file", headers={"Range": asked})
    assert (response.status_code, response.content) == (200, CONTENT)


async def test_range_of_a_file_that_has_changed_since_comes_whole(service: FakeService) -> None:
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        tag = (await http.get("/v1/documents/d1/file")).headers["etag"]
        same = await http.get(
            "/v1/documents/d1/file", headers={"Range": "bytes=0-1", "If-Range": tag}
        )
        put(service, CONTENT + b"!")
        other = await http.get(
            "/v1/documents/d1/file", headers={"Range": "bytes=0-1", "If-Range": tag}
        )
    assert (same.status_code, other.status_code) == (206, 200)


async def test_file_that_is_no_longer_the_indexed_one_says_so(service: FakeService) -> None:
    path = service.root / "bl.pdf"
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        path.write_bytes(CONTENT)
        touched = await http.get("/v1/documents/d1/file")
        path.write_bytes(CONTENT.replace(b"not", b"NOT"))
        changed = await http.get("/v1/documents/d1/file")
        path.write_bytes(b"other")
        longer = await http.get("/v1/documents/d1/file")
        drawn = await http.get("/v1/documents/d1/pages/1")
    assert "x-rag-source-stale" not in touched.headers
    assert changed.headers["x-rag-source-stale"] == "1"
    assert (longer.headers["x-rag-source-stale"], longer.content) == ("1", b"other")
    assert drawn.headers["x-rag-source-stale"] == "1"


async def test_file_that_is_gone_is_404_with_what_to_do(service: FakeService) -> None:
    (service.root / "bl.pdf").unlink()
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        for path in ("file", "pages/1"):
            response = await http.get(f"/v1/documents/d1/{path}")
            assert (response.status_code, response.json()["code"]) == (404, "file_missing")
            assert response.json()["hint"]


@pytest.mark.parametrize("name", ['quote".pdf', "é ü.pdf", "a\nb.pdf", "<img src=x>.pdf", "؟.pdf"])
async def test_any_name_is_safe_in_the_header(service: FakeService, name: str) -> None:
    put(service, CONTENT, name)
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        header = (await http.get("/v1/documents/d1/file")).headers["content-disposition"]
    assert header.startswith("attachment; filename*=UTF-8''")
    assert header.isascii()
    assert not set(header) & set('"\n<>')


@pytest.mark.parametrize("path", ["file", "pages/1"])
async def test_link_that_leads_out_of_the_folder_is_not_followed(
    service: FakeService, tmp_path: Path, path: str
) -> None:
    secret = tmp_path / "secret.pdf"
    secret.write_bytes(b"secret")
    (service.root / "bl.pdf").unlink()
    (service.root / "bl.pdf").symlink_to(secret)
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        response = await http.get(f"/v1/documents/d1/{path}")
    assert response.status_code == 404
    assert b"secret" not in response.content
    assert service.picturer.asked == []


@pytest.mark.parametrize(
    "path",
    ["../secret.pdf", "/etc/passwd", "sub/../../secret.pdf", "bl.pdf\0.png", "", "out/s.pdf"],
)
async def test_path_of_a_record_never_leaves_the_folder(
    service: FakeService, tmp_path: Path, path: str
) -> None:
    (tmp_path / "secret.pdf").write_bytes(b"secret")
    (tmp_path / "s.pdf").write_bytes(b"secret")
    (service.root / "out").symlink_to(tmp_path)
    source = replace(service.record.source, path=path)
    service.catalogue.save(replace(service.record, source=source))
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        response = await http.get("/v1/documents/d1/file")
    assert response.status_code == 404


async def test_link_inside_of_the_folder_is_followed(service: FakeService) -> None:
    (service.root / "bl.pdf").rename(service.root / "real.pdf")
    (service.root / "bl.pdf").symlink_to(service.root / "real.pdf")
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        assert (await http.get("/v1/documents/d1/file")).content == CONTENT


async def test_pipe_in_the_place_of_a_file_does_not_hold_the_service_up(
    service: FakeService,
) -> None:
    (service.root / "bl.pdf").unlink()
    os.mkfifo(service.root / "bl.pdf")
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        response = await http.get("/v1/documents/d1/file")
    assert (response.status_code, response.json()["code"]) == (404, "file_missing")


async def test_picture_of_a_page_is_drawn_once_and_told_from_others(service: FakeService) -> None:
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        first = await http.get("/v1/documents/d1/pages/2?width=800")
        again = await http.get("/v1/documents/d1/pages/2?width=800")
        known = await http.get(
            "/v1/documents/d1/pages/2?width=800", headers={"If-None-Match": first.headers["etag"]}
        )
        wider = await http.get("/v1/documents/d1/pages/2?width=801")
    assert (first.content, first.headers["content-type"]) == (b"page 2", "image/png")
    assert first.headers["cache-control"] == "private, no-cache"
    assert again.content == first.content
    assert (known.status_code, known.content) == (304, b"")
    assert wider.headers["etag"] != first.headers["etag"]
    assert [(a.number, a.width_px) for a in service.picturer.asked] == [(2, 800), (2, 801)]
    assert all(asked.path == service.root / "bl.pdf" for asked in service.picturer.asked)


async def test_picture_of_a_file_that_has_changed_is_drawn_anew(service: FakeService) -> None:
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        first = await http.get("/v1/documents/d1/pages/1")
        put(service, CONTENT + b"more")
        second = await http.get(
            "/v1/documents/d1/pages/1", headers={"If-None-Match": first.headers["etag"]}
        )
    assert second.status_code == 200
    assert len(service.picturer.asked) == 2


@pytest.mark.parametrize("width", ["99", "4001", "0", "-5", "x", "1e3", "99999999999999999999"])
async def test_width_beyond_its_bounds_is_400(service: FakeService, width: str) -> None:
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        response = await http.get(f"/v1/documents/d1/pages/1?width={width}")
    assert (response.status_code, service.picturer.asked) == (400, [])
