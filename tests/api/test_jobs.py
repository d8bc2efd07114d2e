"""The routes of the queue: what is listed, what may be done, and the events of its progress."""

from __future__ import annotations

import json

import httpx
import pytest

from api.services import TOKEN, FakeService, make_job
from api.test_app import AUTH, client, served
from rag_source.api.app import create_app


async def test_queue_lists_jobs_with_their_progress() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        response = await http.get("/v1/jobs")
    assert response.json() == {
        "paused": False,
        "jobs": [
            {
                "path": "été.pdf",
                "state": "embedding",
                "done": 3,
                "total": 9,
                "priority": 0,
                "queued_at": "2026-01-02T03:04:05+00:00",
            }
        ],
    }


@pytest.mark.parametrize("action", ["pause", "resume", "cancel", "retry", "prefer"])
async def test_action_reaches_the_service_with_its_path(action: str) -> None:
    service = FakeService()
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        one = await http.post(f"/v1/jobs/{action}", json={"path": "été.pdf"})
        everything = await http.post(f"/v1/jobs/{action}")
    assert (one.status_code, everything.status_code) == (200, 200)
    assert service.controlled == [(action, "été.pdf"), (action, None)]
    assert one.json()["paused"] is (action == "pause")


async def test_unknown_file_and_unknown_action_are_errors_in_the_outward_form() -> None:
    async with client(create_app(FakeService(), token=TOKEN), AUTH) as http:
        file = await http.post("/v1/jobs/pause", json={"path": "unknown.pdf"})
        action = await http.post("/v1/jobs/destroy")
        empty = await http.post("/v1/jobs/pause", json={"path": ""})
    assert [r.status_code for r in (file, action, empty)] == [400, 400, 400]
    assert file.json()["code"] == "not_found"
    assert set(action.json()) == set(empty.json()) == {"code", "message", "hint"}


async def test_stream_tells_the_queue_at_once_and_after_each_change() -> None:
    service = FakeService()
    found: list[list[str]] = []
    async with (
        served(service) as url,
        httpx.AsyncClient(base_url=url, headers=AUTH, timeout=30) as http,
        http.stream("GET", "/v1/jobs/stream") as response,
    ):
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                event = json.loads(line.removeprefix("data: "))
                found.append([job["path"] for job in event["jobs"]])
                service.jobs.append(make_job(f"{len(found)}.pdf"))
            if len(found) == 3:
                break
    assert found == [["été.pdf"], ["été.pdf", "1.pdf"], ["été.pdf", "1.pdf", "2.pdf"]]


async def test_checks_are_listed_with_their_remedies_and_repair_is_asked_for() -> None:
    service = FakeService()
    async with client(create_app(service, token=TOKEN), AUTH) as http:
        found = await http.post("/v1/checks")
        assert service.repaired == 0
        await http.post("/v1/checks?repair=true")
    assert [(c["name"], c["ok"], c["remedy"]) for c in found.json()["checks"]] == [
        ("disk", True, ""),
        ("ocr", False, "install it"),
    ]
    assert service.repaired == 1
