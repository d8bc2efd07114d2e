"""The service and its children are killed at random moments of an ingestion; nothing is lost."""

from __future__ import annotations

import pytest

from faults.killing import KillReport, KillRun

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]

# `python scripts/fault_run.py --moments 40` tries more, and other seeds.
_MOMENTS, _SEED = 9, 7


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> KillReport:
    folder = tmp_path_factory.mktemp("kills")
    return KillRun(folder, seed=_SEED, moments=_MOMENTS, papers=24).run()


def test_kills_strike_while_there_is_work(report: KillReport) -> None:
    struck = {moment.left for moment in report.moments}
    assert len(report.moments) == _MOMENTS
    assert len(struck) >= 4, struck
    assert any("embedding" in left for left in struck)
    assert report.killed_parsers + report.killed_embedders >= 2


def test_state_after_a_kill_is_whole_versions_and_nothing_else(report: KillReport) -> None:
    assert report.faults == []


def test_no_document_is_lost_to_kills(report: KillReport) -> None:
    assert report.lost == []
    assert report.documents >= 24


def test_kills_leave_nothing_in_queue_and_spool(report: KillReport) -> None:
    assert report.left_over == []


def test_index_after_kills_is_the_one_of_an_undisturbed_run(report: KillReport) -> None:
    assert report.different == []


def test_kill_costs_no_more_than_the_batch_in_flight(report: KillReport) -> None:
    kills = len(report.moments) + report.killed_embedders + report.killed_parsers
    assert report.paid.largest_batch == 8
    assert report.paid.in_flight <= 8 * kills
    assert report.paid.beyond == []
    assert report.paid.answered > 200
