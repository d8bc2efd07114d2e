"""What the stand-in answer model says to each question of the browser tests, and how fast."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import anyio

from rag_source.domain.ports import ChatMessage

__all__ = ["ANSWERS", "Line", "ScriptedGenerator"]


@dataclass(frozen=True)
class Line:
    """An answer; `pause_s` passes before each word after the first."""

    answer: str
    pause_s: float = 0.0


ANSWERS: dict[str, Line] = {
    # The corpus of the tests.
    "Combien de temps dure la qualification du fournisseur ?": Line(
        "La qualification du fournisseur dure deux ans au plus [1]. "
        "Elle est renouvelée par le comité d'achat [1]."
    ),
    "What is the torque of the blue valve?": Line(
        "The blue valve is tightened to 42 newton metres [1]. "
        "It is checked every 90 days by the night shift [1]. The red valve is from Ostrava [9]."
    ),
    "ما مدة ضمان المحرك؟": Line("مدة ضمان المحرك خمس سنوات من تاريخ التسليم [1]."),
    **{
        f"Which word stands on the page turned by {turn}?": Line(
            f"The word on this page is {word} [1]."
        )
        for turn, word in ((0, "jasmine"), (90, "hibiscus"), (180, "oleander"), (270, "verbena"))
    },
    "What is the unit price of the brass hinge?": Line("The brass hinge costs 17.45 EUR [1]."),
    "What did the scanned delivery note say about the pallets?": Line(
        "Seven pallets were returned to Harbour Lane [1]."
    ),
    "When does the lantern festival begin?": Line("The lantern festival begins on 14 March [1]."),
    "Which clause limits the liability of the carrier?": Line(
        "Clause 288 limits the liability of the carrier to 8000 units [1]."
    ),
    "Who wrote the hostile page?": Line(
        "The hostile page was written by Mallory <img src=x onerror=alert(1)> "
        "![x](http://203.0.113.9/?q=1) [1]."
    ),
    "Which quay number of the harbour is for grain?": Line(
        " ".join(f"The harbour has a quay number {n} for grain." for n in range(1, 41)), 0.05
    ),
    # The samples, for the screenshots.
    "Quel est le total du bon de livraison BL-2026-0312 ?": Line(
        "Le total du bon de livraison BL-2026-0312 est de 3 240 unités, soit 82 900,00 DH [1]."
    ),
    "What does error code E07 mean on the MW-104 microwave?": Line(
        "E07 means that the door switch does not close [1]."
    ),
    "For how long at most shall delivery notes be kept?": Line(
        "Delivery notes shall be kept for two years at most [1]."
    ),
    "ما هي مدة ضمان الجهاز من تاريخ الشراء؟": Line(
        "مدة ضمان الجهاز سنتان ابتداءً من تاريخ الشراء، ومدة ضمان المغنطرون خمس سنوات [1]."
    ),
}


class ScriptedGenerator:
    """Says the line of the question that it finds in its prompt, word by word."""

    async def context_tokens(self) -> int:
        return 4096

    async def stream(
        self, messages: Sequence[ChatMessage], *, limit_tokens: int
    ) -> AsyncIterator[str]:
        asked = str(messages[-1])
        line = next((line for question, line in ANSWERS.items() if question in asked), None)
        if line is None:
            yield "NOT FOUND"
            return
        for i, word in enumerate(line.answer.split(" ")):
            if i:
                await anyio.sleep(line.pause_s)
            yield word if i == 0 else f" {word}"
