"""Ask: search, generate, verify, as a stream of events that ends in exactly one result."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import cast

from rag_source.domain.answers import (
    Answer,
    AnswerDone,
    AnswerEvent,
    AnswerFailed,
    Citation,
    CitationChecked,
    NearMiss,
    SearchDone,
    TokenDelta,
)
from rag_source.domain.errors import BackendError, BackendOverflowError, RagError
from rag_source.domain.evidence import NO_FILTER, SearchFilter, SearchMode, SearchResult
from rag_source.domain.languages import answer_language
from rag_source.domain.ports import (
    Catalogue,
    ChatMessage,
    Retriever,
    TextGenerator,
    TokenCounter,
)
from rag_source.domain.questions import check_question
from rag_source.generation.aggregate import Calculator, Computed
from rag_source.generation.citing import CheckedDraft, CheckedMarker, check_draft
from rag_source.generation.extractive import best_extracts, coverage, is_copy
from rag_source.generation.facts import facts_of, ledger_of
from rag_source.generation.loops import finished_part, loop_start
from rag_source.generation.places import resolve
from rag_source.generation.prompts import GenerationPolicy, Prompt, build_prompt
from rag_source.generation.shelf import Passage, Shelf, shelve
from rag_source.generation.support import is_near, whole_line
from rag_source.generation.wording import WORDING, badge, is_decline, starts_like_decline

__all__ = ["Answerer"]

logger = logging.getLogger(__name__)

_MARGIN_TOKENS = 64  # between our count and the server's: template, byte-level surprises
_CHECK_CHARS = 48  # a draft is looked at for loops each time it has grown by so much


@dataclass(slots=True)
class _Draft:
    """What has been generated so far; `failed` is the backend error that ended it."""

    text: str = ""
    first_token_ms: float | None = None
    failed: BackendError | None = None


@dataclass(slots=True)
class _Run:
    """One question on its way."""

    question: str
    language: str
    started: float
    result: SearchResult | None = None
    timings: dict[str, float] = field(default_factory=dict)


class Answerer:
    """Answers questions over what the retriever finds.

    Args:
        clock: Seconds, monotonic.
    """

    def __init__(
        self,
        *,
        retriever: Retriever,
        generator: TextGenerator,
        catalogue: Catalogue,
        counter: TokenCounter,
        policy: GenerationPolicy | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._retriever = retriever
        self._generator = generator
        self._catalogue = catalogue
        self._counter = counter
        self._policy = policy or GenerationPolicy()
        self._clock = clock
        self._calculator = Calculator(catalogue)

    async def ask(
        self,
        question: str,
        *,
        filter: SearchFilter = NO_FILTER,
        mode: SearchMode = "hybrid+rerank",
        extractive: bool = False,
    ) -> AsyncGenerator[AnswerEvent, None]:
        """The answer as it comes: `SearchDone`, the draft in `TokenDelta`s, one `CitationChecked`
        for each citation, and last exactly one of `AnswerDone` and `AnswerFailed`.

        Errors of the tree become `AnswerFailed` with their code. Closing or cancelling the
        iterator ends the generation on the server. With `extractive` no model is asked.
        """
        try:
            run = _Run(
                question=check_question(question, limit_chars=self._policy.limit_question_chars),
                language=answer_language(question),
                started=self._clock(),
            )
            async with aclosing(self._events(run, filter, mode, extractive)) as events:
                async for event in events:
                    yield event
        except RagError as error:
            logger.info("answer failed: %s", error.code)
            yield AnswerFailed(code=error.code, message=error.message, hint=error.hint)

    async def _events(
        self, run: _Run, filter: SearchFilter, mode: SearchMode, extractive: bool
    ) -> AsyncGenerator[AnswerEvent, None]:
        policy = self._policy
        run.result = await self._retriever.search(
            run.question, mode=mode, limit=policy.limit_passages, filter=filter
        )
        run.timings["search"] = self._since(run.started)
        yield SearchDone(search=run.result)
        passages = tuple(
            Passage(marker=i, chunk=evidence.chunk)
            for i, evidence in enumerate(run.result.kept[: policy.limit_passages], start=1)
        )
        began = self._clock()
        computed = await self._calculator.answer(
            run.question,
            language=run.language,
            search=run.result,
            passages=passages,
            filter=filter,
        )
        if computed is not None:
            run.timings["calculate"] = self._since(began)
            for citation in computed.citations:
                yield CitationChecked(citation=citation)
            yield AnswerDone(answer=self._computed(run, computed))
            return
        if not passages or not _names_known(run.question, passages):
            yield AnswerDone(answer=self._refusal(run, self._why_nothing(run.result)))
            return
        draft = _Draft()
        prompt = Prompt(messages=(), passages=passages)
        if not extractive:
            async with aclosing(self._generate(run, passages, draft)) as pieces:
                async for latest, delta in pieces:
                    prompt = latest
                    if delta:
                        yield TokenDelta(text=delta)
        began = self._clock()
        shelf = shelve(prompt.passages, question=run.question)
        text, checked, reason = self._verdict(run, draft, shelf, extractive)
        if reason:
            run.timings["verify"] = self._since(began)
            yield AnswerDone(answer=self._refusal(run, reason))
            return
        chunks = {passage.marker: passage.chunk for passage in prompt.passages}
        citations = tuple(
            resolve(marker, chunks.get(marker.number), self._catalogue)
            for marker in checked.markers
        )
        run.timings["verify"] = self._since(began)
        for citation in citations:
            yield CitationChecked(citation=citation)
        yield AnswerDone(answer=self._answer(run, text, checked, citations))

    async def _generate(
        self, run: _Run, passages: tuple[Passage, ...], draft: _Draft
    ) -> AsyncGenerator[tuple[Prompt, str], None]:
        """The draft in pieces, with the prompt it answers; an overflow is tried again at half."""
        limit = self._policy.limit_prompt_tokens
        for attempt in (1, 2):
            prompt = Prompt(messages=(), passages=passages)
            try:
                context = await self._generator.context_tokens()
                room = context - self._policy.answer_tokens - _MARGIN_TOKENS
                prompt = build_prompt(
                    run.question,
                    passages,
                    language=run.language,
                    counter=self._counter,
                    limit_tokens=max(256, min(limit, room)),
                    may_decline=self._policy.may_decline,
                )
                yield prompt, ""
                async with aclosing(self._stream(run, prompt.messages, draft)) as pieces:
                    async for piece in pieces:
                        yield prompt, piece
            except BackendOverflowError as error:
                draft.failed = error
                limit = min(limit, room) // 2
                if attempt == 1 and not draft.text:
                    draft.failed = None
                    continue
            except BackendError as error:
                # SPEC A12: the answer becomes extractive, and says so.
                logger.warning("no answer model: %s", error.code)
                draft.failed = error
            return

    async def _stream(
        self, run: _Run, messages: tuple[ChatMessage, ...], draft: _Draft
    ) -> AsyncGenerator[str, None]:
        """The model's words, held back while they may be its word for "no answer"."""
        began = self._clock()
        stream = self._generator.stream(messages, limit_tokens=self._policy.answer_tokens)
        held, looked = "", 0
        # A generator function, as every implementation of the port is: it can be closed.
        async with aclosing(cast(AsyncGenerator[str, None], stream)) as words:
            async for word in words:
                if draft.first_token_ms is None:
                    draft.first_token_ms = self._since(began)
                draft.text += word
                held += word
                if not starts_like_decline(draft.text):
                    yield held
                    held = ""
                if len(draft.text) - looked >= _CHECK_CHARS:
                    looked = len(draft.text)
                    loop = loop_start(draft.text)
                    if loop is not None:
                        draft.text = draft.text[:loop].rstrip()
                        break
        run.timings["generate"] = self._since(began)
        run.timings["first_token"] = draft.first_token_ms or run.timings["generate"]
        if self._counter.count(draft.text) >= self._policy.answer_tokens - 2:
            draft.text = finished_part(draft.text)

    def _verdict(
        self, run: _Run, draft: _Draft, shelf: Shelf, extractive: bool
    ) -> tuple[str, CheckedDraft, str]:
        """The text to show and its markers, or the reason for a refusal."""
        wording = WORDING[run.language]
        if extractive or draft.failed is not None:
            return self._extract(run, shelf, wording.extractive_unavailable)
        if is_copy(draft.text, shelf) and coverage(shelf) >= self._policy.copied_coverage:
            return self._extract(run, shelf, wording.extractive_declined)
        checked = check_draft(draft.text, shelf)
        declined = not draft.text.strip() or is_decline(draft.text)
        if declined and not checked.supported:
            if self._trusts_evidence(run, shelf):
                return self._extract(run, shelf, wording.extractive_declined)
            return "", checked, "declined"
        if not checked.supported and not _nearly_supported(checked):
            if self._trusts_evidence(run, shelf):
                return self._extract(run, shelf, wording.extractive_unverified)
            return "", checked, "unsupported"
        return checked.text, checked, ""

    def _extract(self, run: _Run, shelf: Shelf, notice: str) -> tuple[str, CheckedDraft, str]:
        """The closest lines, each quoted and cited."""
        text, markers = notice, []
        chunks = {shelved.passage.marker: shelved.passage.chunk for shelved in shelf.passages}
        for extract in best_extracts(shelf):
            line = chunks[extract.marker].text[extract.start : extract.end]
            quoted = WORDING[run.language].quote.format(quote=line.replace("\n", " "))
            start = len(text) + 3
            text += f"\n- {quoted} [{extract.marker}]"
            support = whole_line(extract.marker, extract.start, extract.end)
            markers.append(
                CheckedMarker(
                    number=extract.marker,
                    status="verified",
                    support=support,
                    reason="",
                    sentence=(start, len(text)),
                    added=True,
                )
            )
        checked = CheckedDraft(
            text=text, markers=tuple(markers), uncited_figures=(), supported=bool(markers)
        )
        return text, checked, "" if markers else "unsupported"

    def _trusts_evidence(self, run: _Run, shelf: Shelf) -> bool:
        """Whether the evidence is too good for the model's "no answer" to be believed."""
        result = run.result
        if result is None or result.threshold is None or not result.evidence:
            return False
        return (
            result.evidence[0].score >= self._policy.trusted_score
            and coverage(shelf) >= self._policy.trusted_coverage
        )

    def _answer(
        self, run: _Run, text: str, checked: CheckedDraft, citations: tuple[Citation, ...]
    ) -> Answer:
        verified = sum(citation.status == "verified" for citation in citations)
        self._log(run, f"{verified} of {len(citations)} verified")
        return Answer(
            question=run.question,
            text=text,
            refused=False,
            reason="",
            language=run.language,
            citations=citations,
            uncited_figures=checked.uncited_figures,
            badge=badge(run.language, verified=verified, total=len(citations)),
            timings_ms=self._timings(run),
        )

    def _computed(self, run: _Run, computed: Computed) -> Answer:
        """An answer by calculation, or the reason why there is no result to show."""
        verified = sum(citation.status == "verified" for citation in computed.citations)
        self._log(run, computed.reason or f"computed, {verified} rows verified")
        return Answer(
            question=run.question,
            text=computed.text,
            refused=bool(computed.reason),
            reason=computed.reason,
            language=run.language,
            citations=computed.citations,
            uncited_figures=(),
            badge=badge(run.language, verified=verified, total=len(computed.citations)),
            timings_ms=self._timings(run),
            calculation=computed.calculation,
        )

    def _refusal(self, run: _Run, reason: str) -> Answer:
        self._log(run, reason)
        return Answer(
            question=run.question,
            text=WORDING[run.language].refusals[reason],
            refused=True,
            reason=reason,
            language=run.language,
            citations=(),
            uncited_figures=(),
            badge="",
            timings_ms=self._timings(run),
            near_miss=_near_miss(run.result),
        )

    def _why_nothing(self, result: SearchResult) -> str:
        if result.evidence or any(d.status == "ready" for d in self._catalogue.documents()):
            return "nothing_relevant"
        return "empty_index"

    def _timings(self, run: _Run) -> dict[str, float]:
        return run.timings | {"total": self._since(run.started)}

    def _since(self, began: float) -> float:
        return round((self._clock() - began) * 1000, 1)

    def _log(self, run: _Run, outcome: str) -> None:
        logger.info("answered in %.0f ms: %s", self._since(run.started), outcome)


def _names_known(question: str, passages: tuple[Passage, ...]) -> bool:
    """Whether a reference that the question names stands in any passage.

    Who asks for `E09` or 40564199 is not served by the passage on a neighbour of it, however
    alike the two are; no model is needed to see that.
    """
    named = [fact for fact in facts_of(question) if _is_reference(fact.kind, fact.values)]
    if not named:
        return True
    ledgers = [
        ledger_of(f"{p.chunk.path} {p.chunk.title} {' '.join(p.chunk.section)}\n{p.chunk.text}")
        for p in passages
    ]
    return any(ledger.holds(fact) for fact in named for ledger in ledgers)


def _is_reference(kind: str, values: frozenset[str]) -> bool:
    digits = max(sum(c.isdigit() for c in value) for value in values)
    return digits >= 2 if kind == "code" else kind == "number" and digits >= 6


def _nearly_supported(checked: CheckedDraft) -> bool:
    """Whether some sentence comes close enough to its passage to be shown, as unverified."""
    return any(marker.support and is_near(marker.support) for marker in checked.markers)


def _near_miss(result: SearchResult | None) -> NearMiss | None:
    if result is None or not result.evidence:
        return None
    best = result.evidence[0]
    return NearMiss(
        path=best.chunk.path,
        page=best.chunk.page,
        section=best.chunk.section,
        text=best.chunk.text,
        score=best.score,
        threshold=result.threshold or 0.0,
    )
