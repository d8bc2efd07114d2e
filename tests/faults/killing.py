"""Kill the service at many moments of an ingestion, and see what is left after each.

Shared by `test_kills.py`, which tries a few moments, and `scripts/fault_run.py`, which tries many.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from faults.counting import Paid, paid_in
from faults.papers import Papers
from faults.processes import Embedder, Installation, Service, wait_for
from faults.state_checks import faults_of, index_of, left_over, opened

__all__ = ["CatalogueEye", "KillReport", "KillRun", "Moment"]

Phase = Literal["start", "look", "parse", "embed", "swap", "any"]
_PHASES: tuple[Phase, ...] = ("start", "embed", "swap", "look", "parse", "any")
_JITTER_S: dict[Phase, float] = {
    "look": 0.03,
    "parse": 0.05,
    "embed": 0.15,
    "swap": 0.008,
    "any": 4.0,
}
"""How long after a phase was reached at most; a start is spread over its own whole time."""
_TEXT_MS = 10.0


@dataclass(frozen=True, kw_only=True)
class Moment:
    """One kill of the service: where it was meant to strike, and what it left behind."""

    phase: Phase
    after_s: float
    left: str
    children: str = ""


@dataclass(kw_only=True)
class KillReport:
    """What came of a run."""

    moments: list[Moment] = field(default_factory=list)
    killed_parsers: int = 0
    killed_embedders: int = 0
    documents: int = 0
    lost: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)
    paid: Paid = field(default_factory=Paid)
    seconds: float = 0.0

    def wrong(self) -> dict[str, list[str]]:
        """All that must not be, by what it is; empty for a good run."""
        found = {
            "faults": self.faults,
            "lost documents": self.lost,
            "documents other than undisturbed": self.different,
            "left in queue and spool": self.left_over,
            "embedded again beyond the batch in flight": self.paid.beyond,
        }
        kills = len(self.moments) + self.killed_embedders + self.killed_parsers
        if self.paid.in_flight > 8 * kills:
            found["embedded again at kills"] = [f"{self.paid.in_flight} texts at {kills} kills"]
        return {what: list(all_of_it) for what, all_of_it in found.items() if all_of_it}

    def lines(self) -> list[str]:
        """For people."""
        struck = Counter(moment.left for moment in self.moments)
        return [
            f"{len(self.moments)} kills of the service, {self.killed_parsers} of parsers, "
            f"{self.killed_embedders} of the embedder, {self.seconds:.0f} s",
            "left behind: " + ", ".join(f"{n} {left}" for left, n in struck.most_common()),
            f"{self.documents} documents at the end, {len(self.lost)} lost, "
            f"{len(self.different)} other than undisturbed",
            f"half answers, orphans and other faults: {len(self.faults)}",
            f"{self.paid.embedded} texts embedded, {self.paid.again} of them again: "
            f"{self.paid.in_flight} of batches in flight (at most 8 a kill), "
            f"{len(self.paid.beyond)} beyond",
            "left in queue and spool: " + (", ".join(self.left_over) or "nothing"),
        ]


class KillRun:
    """One run in a folder of its own, from one seed."""

    def __init__(
        self,
        folder: Path,
        *,
        seed: int,
        moments: int,
        papers: int = 36,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._folder = folder
        self._rng = random.Random(seed)
        self._moments = moments
        self._say = say
        self._start_s = 2.0
        self._papers = Papers(folder / "corpus", self._rng)
        self._papers.add(papers, copies=True)
        self._embedder = Embedder(folder, text_ms=_TEXT_MS)
        self._installation = Installation(folder / "corpus", folder / "state", self._embedder)
        self._eye = CatalogueEye(folder / "state" / "catalogue.db")
        self.report = KillReport()

    def run(self) -> KillReport:
        """All of it; the report says what was wrong."""
        started = time.monotonic()
        try:
            for number in range(self._moments):
                self._strike(number)
            self._finish()
        finally:
            self._embedder.kill()
        self.report.seconds = time.monotonic() - started
        return self.report

    def _strike(self, number: int) -> None:
        phase = _PHASES[number % len(_PHASES)]
        if phase == "look":
            self._papers.happen()
            self._papers.move_folder()
        service = self._installation.start()
        begun = time.monotonic()
        killed = ""
        try:
            if phase not in ("start", "look"):
                # What the last kill left behind is not to be taken for this service's work.
                service.url()
                self._start_s = 1.2 * (time.monotonic() - begun)
            if phase in ("embed", "any"):
                killed = self._kill_child(service, number)
            if phase == "any" and number:
                self._papers.happen()
            self._until(phase, service)
            time.sleep(self._rng.uniform(0, _JITTER_S.get(phase, self._start_s)))
        finally:
            alive = service.running
            outlived = service.kill()
            self._embedder.note(killed="service")
        moment = Moment(
            phase=phase,
            after_s=time.monotonic() - begun,
            left=self._eye.left_behind(),
            children=killed,
        )
        self.report.moments.append(moment)
        if not alive:
            self.report.faults.append(f"the service ended by itself: {service.words[-2000:]}")
        self.report.faults += [f"process {pid} outlived the service" for pid in outlived]
        found = self._faults()
        self.report.faults += [f"moment {number} ({phase}): {fault}" for fault in found]
        self._say(
            f"{number + 1:3} {phase:6} {moment.after_s:5.1f} s  left: {moment.left:28} "
            f"{moment.children:9} {len(found)} faults"
        )

    def _until(self, phase: Phase, service: Service) -> None:
        """Until the service is where it is to be killed, or for as long as that may take."""
        if phase == "start":
            return
        known, before = self._eye.documents(), self._eye.states()
        arrived: dict[str, Callable[[], bool]] = {
            "look": lambda: self._eye.documents() != known or self._eye.states() != before,
            "parse": lambda: "parsing" in self._eye.states(),
            "embed": lambda: "embedding" in self._eye.states(),
            "swap": self._eye.is_swapping,
            "any": lambda: True,
        }
        try:
            wait_for(
                lambda: arrived[phase]() or not service.running, phase, timeout_s=25, step_s=0.001
            )
        except TimeoutError:
            self._say(f"    {phase} was not reached")

    def _kill_child(self, service: Service, number: int) -> str:
        """A parser or the embedder in turn, while there is work; the service lives on."""
        try:
            wait_for(lambda: "embedding" in self._eye.states(), "there is work", timeout_s=25)
        except TimeoutError:
            return ""
        time.sleep(self._rng.uniform(0, 0.3))
        parsers = service.parsers()
        if number % 4 == 1 or not parsers:
            self._embedder.kill()
            time.sleep(self._rng.uniform(0, 0.5))
            self._embedder.start()
            self.report.killed_embedders += 1
            return "embedder"
        os.kill(self._rng.choice(parsers), signal.SIGKILL)
        self.report.killed_parsers += 1
        return "parser"

    def _faults(self) -> list[str]:
        """Of a copy, so that the service itself has to recover from what the kill left behind."""
        copy = self._folder / "copy"
        if not (self._folder / "state").exists():
            return []
        shutil.copytree(self._folder / "state", copy)

        async def look() -> list[str]:
            async with opened(self._papers.root, copy, self._embedder.url) as application:
                return await faults_of(application, self._papers.marks)

        try:
            return asyncio.run(look())
        finally:
            shutil.rmtree(copy)

    def _finish(self) -> None:
        self._embedder.set(text_ms=0)
        service = self._installation.start()
        wanted = self._papers.fingerprints()
        try:
            wait_for(lambda: self._eye.has_all(wanted), "all is indexed", timeout_s=120)
        except TimeoutError:
            known = self._eye.fingerprints()
            self.report.lost = [path for path in wanted if known.get(path) != wanted[path]]
        code = service.stop()
        # The server raises the signal again once it has closed everything.
        if code not in (0, -signal.SIGTERM):
            self.report.faults.append(f"the service ended with {code}: {service.words[-2000:]}")
        self.report.left_over = left_over(self._folder / "state")
        self.report.paid = paid_in(self._embedder.log)
        asyncio.run(self._compare())

    async def _compare(self) -> None:
        """With an index that nothing disturbed."""
        root = self._papers.root
        async with opened(root, self._folder / "state", self._embedder.url) as application:
            records = await application.documents()
            self.report.documents = len(records)
            self.report.faults += await faults_of(application, self._papers.marks)
            ours = index_of(application, records)
        async with opened(root, self._folder / "undisturbed", self._embedder.url) as application:
            await application.ingest()
            theirs = index_of(application, await application.documents())
        self.report.different = sorted(
            path for path in ours.keys() | theirs.keys() if ours.get(path) != theirs.get(path)
        )


class CatalogueEye:
    """Looks into the catalogue's file while the service writes it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def states(self) -> dict[str, int]:
        """How many jobs are in each state."""
        rows = self._rows("SELECT state, count(*) FROM jobs GROUP BY state")
        return {state: int(count) for state, count in rows}

    def is_swapping(self) -> bool:
        return bool(self._rows("SELECT 1 FROM staged"))

    def documents(self) -> list[tuple[str, int]]:
        rows = self._rows("SELECT path, mtime_ns FROM documents")
        return [(path, int(mtime_ns)) for path, mtime_ns in rows]

    def fingerprints(self) -> dict[str, str]:
        """Of the documents that are ready and not stale, by path."""
        sql = "SELECT path, fingerprint FROM documents WHERE status = 'ready' AND code = ''"
        return {path: str(fingerprint) for path, fingerprint in self._rows(sql)}

    def has_all(self, wanted: dict[str, str]) -> bool:
        """Whether these files are indexed, no other, and nothing is left to do."""
        return self.fingerprints() == wanted and not self.states()

    def left_behind(self) -> str:
        """What a dead service was doing."""
        if not self._path.exists():
            return "nothing"
        left = []
        if self.is_swapping():
            journal = (self._path.parent / "vectors" / "swap.json").exists()
            left.append("swap under way" if journal else "version staged")
        active = [state for state in self.states() if state not in ("queued", "paused")]
        left += active or (["jobs queued"] if self.states() else [])
        return " + ".join(left) or "no job"

    def _rows(self, sql: str) -> list[tuple[str, str | int]]:
        try:
            with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as database:
                return database.execute(sql).fetchall()
        except sqlite3.Error:
            # Not made yet, or being made.
            return []
