"""How points are handed to the engine: how many at a time, and with how much room to spare."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qdrant_edge import Point

__all__ = ["WritePolicy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePolicy:
    """How points are handed to the engine.

    `batch_points` and `batch_bytes` bound one operation: the engine's log has segments of 32 MiB,
    its server refuses larger requests, and in process nothing else runs until the operation is
    over (some 50 ms at these bounds). `flush_bytes` is how much may be written between two
    flushes: a flush stops the process for 0.1 to 0.4 s, and what was not flushed is replayed from
    the log at the start after a crash. `room_bytes` must be free on the disk, besides what a
    write takes, and half of it for a deletion: without room the engine does not fail, the process
    ends (see `room`). What is left then is enough to open the shard again.
    """

    batch_points: int = 128
    batch_bytes: int = 4_000_000
    flush_bytes: int = 256_000_000
    room_bytes: int = 96 << 20

    def __post_init__(self) -> None:
        if not 1 <= self.batch_points <= 10_000:
            raise ValueError(f"batch_points is {self.batch_points}, not in 1..10000")
        if not 1 <= self.batch_bytes <= 30_000_000:
            raise ValueError(f"batch_bytes is {self.batch_bytes}, not in 1..30000000")
        if self.flush_bytes < 1:
            raise ValueError(f"flush_bytes is {self.flush_bytes}, less than 1")
        if self.room_bytes < 0:
            raise ValueError(f"room_bytes is {self.room_bytes}, less than 0")

    def batches(self, sized: Iterable[tuple[Point, int]]) -> list[list[Point]]:
        """The points of one write as operations of the engine, each within the bounds.

        Args:
            sized: Each point and about how many bytes it takes.
        """
        found: list[list[Point]] = []
        batch: list[Point] = []
        batch_bytes = 0
        for point, size_bytes in sized:
            full = batch_bytes + size_bytes > self.batch_bytes
            if batch and (full or len(batch) == self.batch_points):
                found.append(batch)
                batch, batch_bytes = [], 0
            batch.append(point)
            batch_bytes += size_bytes
        if batch:
            found.append(batch)
        return found
