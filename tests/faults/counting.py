"""What the embedder was asked to do twice, and whether it had to be."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Paid", "paid_in"]


@dataclass
class Paid:
    """Counts of texts. `again` are those that had been answered already, `in_flight` those of them
    that were in the last batch before a kill, `beyond` the others, which must not be."""

    embedded: int = 0
    answered: int = 0
    largest_batch: int = 0
    in_flight: int = 0
    beyond: list[str] = field(default_factory=list)

    @property
    def again(self) -> int:
        return self.in_flight + len(self.beyond)


def paid_in(log: Path) -> Paid:
    """Count the log of the stand-in embedder, kills included."""
    paid = Paid()
    batches: dict[str, list[str]] = {}
    answered: set[str] = set()
    excused: set[str] = set()
    last: list[str] = []
    for line in log.read_text(encoding="utf-8").splitlines():
        entry: dict[str, Any] = json.loads(line)
        if "killed" in entry:
            excused.update(last)
            last = []
        elif "sent" in entry:
            texts = batches.pop(entry["sent"])
            answered.update(texts)
            paid.answered += len(texts)
        else:
            last = batches[entry["batch"]] = entry["texts"]
            _count(paid, last, answered, excused)
    return paid


def _count(paid: Paid, texts: list[str], answered: set[str], excused: set[str]) -> None:
    paid.embedded += len(texts)
    paid.largest_batch = max(paid.largest_batch, len(texts))
    for text in texts:
        if text not in answered:
            continue
        if text in excused:
            paid.in_flight += 1
            excused.discard(text)
        else:
            paid.beyond.append(text)
