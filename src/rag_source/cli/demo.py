"""The demonstration: the samples, one question in each language, and one they do not answer."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from rag_source.cli.ask import print_answer
from rag_source.cli.backends import LocalBackend
from rag_source.cli.output import EMPTY, OK, Bar, note, print_json, say
from rag_source.domain.errors import ConfigurationError
from rag_source.settings import Settings

__all__ = ["QUESTIONS", "run_demo", "samples_dir"]

QUESTIONS = (
    ("fr", "Quel est le total du bon de livraison BL-2026-0312 ?", False),
    ("en", "What does error code E07 mean on the MW-104 microwave?", False),
    ("ar", "ما هو المبلغ الإجمالي في إذن التسليم رقم 077/2026؟", False),
    ("en", "What is the name of the company's cafeteria manager?", True),
)
"""Language, question, and whether the samples leave it unanswered."""


def run_demo(settings_of: Callable[..., Settings], context: typer.Context, *, as_json: bool) -> int:
    """Run it; 0 if every answer has a verified citation and the refusal is one, otherwise 1."""
    samples = samples_dir()
    settings = settings_of(context, data={"dir": samples}, state={"dir": _demo_state(samples)})
    started = time.monotonic()

    async def run() -> list[dict[str, Any]]:
        bar = Bar("indexing")
        answers = []
        async with LocalBackend(settings, "rag-source demo") as backend:
            report = await backend.ingest(force=False, on_progress=bar.update)
            bar.close()
            note(
                f"{report.added + report.updated} documents indexed, {report.unchanged} unchanged, "
                f"{len(report.failed)} failed ({report.seconds:.1f} s)"
            )
            for _, question, _unanswered in QUESTIONS:
                answer = await backend.ask(
                    question, mode="hybrid+rerank", sources=[], on_token=lambda text: None
                )
                answers.append(answer.model_dump(mode="json"))
                if not as_json:
                    say(f"\n? {question}\n")
                    print_answer(answer)
        return answers

    answers = asyncio.run(run())
    good = [
        answer["refused"]
        if unanswered
        else any(citation["status"] == "verified" for citation in answer["citations"])
        for answer, (_, _, unanswered) in zip(answers, QUESTIONS, strict=True)
    ]
    if as_json:
        print_json({"answers": answers, "seconds": round(time.monotonic() - started, 1)})
    else:
        say(f"\n{sum(good)} of {len(good)} as they should be ({time.monotonic() - started:.0f} s)")
    return OK if all(good) else EMPTY


def samples_dir() -> Path:
    """The samples: beside the package once installed, in `data/samples` of a checkout.

    Raises:
        ConfigurationError: Neither is there.
    """
    package = Path(__file__).resolve().parent.parent
    for candidate in (package / "samples", package.parent.parent / "data" / "samples"):
        if candidate.is_dir():
            return candidate
    raise ConfigurationError(
        "the samples are not part of this installation", hint="clone the repository to get them"
    )


def _demo_state(samples: Path) -> Path:
    """A state of its own for each checkout, so that the demo never touches a real index."""
    digest = hashlib.sha256(str(samples).encode()).hexdigest()[:10]
    # Lazy knowledge of the user's directories stays in settings.
    return Settings().cache_dir() / f"demo-{digest}"
