"""The route that finds where a sentence comes from."""

from __future__ import annotations

from api.services import TOKEN, FakeService
from api.test_app import AUTH, client
from rag_source.api.app import create_app
from rag_source.api.verify_wire import VerifyResponse
from rag_source.domain.errors import NotFoundError
from rag_source.domain.evidence import SearchFilter
from rag_source.domain.verification import Verification


async def test_verdict_has_the_documented_fields() -> None:
    service = FakeService()
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        body = {"quote": "3 240 unités", "sources": ["bl.pdf"]}
        found = (await http.post("/v1/verify", json=body)).json()
    assert {name: found[name] for name in ("status", "score", "reason", "path", "doc_id")} == {
        "status": "verified",
        "score": 100.0,
        "reason": "",
        "path": "bl.pdf",
        "doc_id": "d1",
    }
    assert (found["page"], found["ranges"]) == (1, [[0, 20]])
    assert found["source_words"] == "Total : 3 240 unités"
    assert found["boxes"] == [{"page": 1, "x0": 0.1, "y0": 0.1, "x1": 0.5, "y1": 0.15}]
    assert found["candidates"][0]["path"] == "bl.pdf"
    assert service.verified == [("3 240 unités", SearchFilter(paths=("bl.pdf",)))]


async def test_unknown_source_is_404() -> None:
    service = FakeService(error=NotFoundError("there is no document 'x.pdf'"))
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        response = await http.post("/v1/verify", json={"quote": "x", "sources": ["x.pdf"]})
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_quote_that_was_not_found_names_no_place() -> None:
    found = VerifyResponse.of_verification(Verification(quote="x", status="not_found", best=None))
    assert (found.status, found.path, found.ranges, found.candidates) == ("not_found", "", [], [])
    assert found.reason
