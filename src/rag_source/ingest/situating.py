"""Situating texts by the answer model: a sentence or two that place each chunk in its document.

What the model wrote goes before the free text (title, section path, caption) in `Chunk.context`,
which is embedded and never shown or cited. The free text alone remains where the model fails or
what it wrote cannot be used. Each answer is kept, by the file's fingerprint, as soon as it is
there: neither a second ingestion nor one that was cut short pays twice.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, cast

from rag_source.domain.chunks import Chunk
from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import BackendError, BackendUnavailableError
from rag_source.domain.ports import Embedder, SituatingCache, TextGenerator, TokenCounter
from rag_source.ingest.chunker import PackedChunk
from rag_source.ingest.situating_prompt import PROMPT_VERSION, PromptSizes, situating_prompt
from rag_source.ingest.situating_text import KEPT_VERSION, fewer_words, kept_text

__all__ = ["LlmSituator", "SituatingPolicy", "SituatingProgress", "Situator"]

logger = logging.getLogger(__name__)

SituatingProgress: TypeAlias = Callable[[int, int], None]
"""Called with the chunks of the document that are situated, and all of them."""

_OPENING_CHARS_PER_TOKEN = 8  # more than any language has on average: the prompt cuts exactly
_LANGUAGES = ("fr", "en", "ar")


@dataclass(frozen=True, slots=True, kw_only=True)
class SituatingPolicy:
    """Sizes in tokens of the answer model.

    `opening_tokens` of the document's beginning and `chunk_tokens` of the chunk are read for each
    text of at most `text_tokens`. The embedded model reads 90 tokens a second on two quiet cores
    and writes 35: a whole chunk of 700 would take it ten seconds instead of five, and what a chunk
    is about shows in its first third.
    """

    opening_tokens: int = 160
    chunk_tokens: int = 256
    text_tokens: int = 60

    def __post_init__(self) -> None:
        if not 32 <= self.opening_tokens <= 8192 or not 64 <= self.chunk_tokens <= 8192:
            raise ValueError("opening_tokens is 32 to 8192, chunk_tokens 64 to 8192")
        if not 16 <= self.text_tokens <= 256:
            raise ValueError(f"text_tokens must be 16 to 256, not {self.text_tokens}")


class Situator(Protocol):
    """Writes the situating texts of a document's chunks."""

    @property
    def digest(self) -> str:
        """A text that differs if the same chunks would be situated otherwise."""

    async def situated(
        self,
        parsed: ParsedDocument,
        packed: Sequence[PackedChunk],
        *,
        fingerprint: str,
        on_progress: SituatingProgress = ...,
    ) -> tuple[PackedChunk, ...]:
        """The same chunks in order, their `context` written anew, nothing else changed.

        What ends it between two chunks, `on_progress` included, loses nothing; a chunk that was
        under way is asked about again.

        Args:
            parsed: The document.
            packed: All its chunks; their `context` is the free text.
            fingerprint: That of the file's bytes alone.
            on_progress: Called before the first chunk and after each.

        Raises:
            BackendUnavailableError: The model cannot be reached; what is written stays written.
            ConfigurationError: Its file is not there.
        """


@dataclass(slots=True, kw_only=True)
class _Work:
    """One document under way. `context_tokens` is 0 until the model has to be asked."""

    fingerprint: str
    opening: str
    language: str
    known: dict[str, str]
    context_tokens: int = 0
    asked: int = 0
    failed: int = 0


class LlmSituator:
    """A `Situator` that asks the answer model about each chunk, one after the other.

    Args:
        generator: The answer model, for use by ingestion: questions go first.
        embedder: Measures what is embedded; a situating text is trimmed to its limit, a chunk
            never.
        counter: Counts in the answer model's vocabulary.
        cache: What was written before.
        model: The answer model's name: another model writes other texts.
        neutralise: Makes document text harmless for a model to read.
    """

    def __init__(
        self,
        *,
        generator: TextGenerator,
        embedder: Embedder,
        counter: TokenCounter,
        cache: SituatingCache,
        model: str,
        neutralise: Callable[[str], str],
        policy: SituatingPolicy | None = None,
    ) -> None:
        self._generator = generator
        self._embedder = embedder
        self._counter = counter
        self._cache = cache
        self._model = model
        self._neutralise = neutralise
        self._policy = policy or SituatingPolicy()

    @property
    def digest(self) -> str:
        return f"{self._asked}:{KEPT_VERSION}"

    @property
    def _asked(self) -> str:
        """What makes answers differ, whatever is kept of them."""
        policy = self._policy
        sizes = f"{policy.opening_tokens}/{policy.chunk_tokens}/{policy.text_tokens}"
        return f"llm:{self._model}:{PROMPT_VERSION}:{sizes}"

    async def situated(
        self,
        parsed: ParsedDocument,
        packed: Sequence[PackedChunk],
        *,
        fingerprint: str,
        on_progress: SituatingProgress = lambda done, total: None,
    ) -> tuple[PackedChunk, ...]:
        """As `Situator.situated`.

        A server that is gone stops the pass, as it does for the embedder: the chunks of all files
        to come would otherwise be situated by the free text without anybody having wished it. An
        answer that the server refuses costs that one chunk its text, until the next ingestion.
        """
        started = time.monotonic()
        work = self._begin(parsed, fingerprint)
        texts: list[str] = []
        on_progress(0, len(packed))
        for one in packed:
            texts.append(await self._text(work, one.chunk))
            on_progress(len(texts), len(packed))
        fitted = await self._fitted(packed, texts)
        logger.info(
            "situated %s: %d of %d chunks, %d asked, %d failed, in %.0f ms",
            packed[0].chunk.path if packed else "nothing",
            sum(bool(text) for text in fitted),
            len(packed),
            work.asked,
            work.failed,
            1000 * (time.monotonic() - started),
        )
        return tuple(
            replace(one, chunk=_with_text(one.chunk, text))
            for one, text in zip(packed, fitted, strict=True)
        )

    def _begin(self, parsed: ParsedDocument, fingerprint: str) -> _Work:
        opening_chars = self._policy.opening_tokens * _OPENING_CHARS_PER_TOKEN
        return _Work(
            fingerprint=fingerprint,
            opening=f"{parsed.title}\n{parsed.text[:opening_chars]}".strip(),
            language=parsed.language if parsed.language in _LANGUAGES else "",
            known=self._cache.situating(fingerprint),
        )

    async def _text(self, work: _Work, chunk: Chunk) -> str:
        """What may be embedded of the answer about this chunk; empty if nothing."""
        language = work.language or (chunk.language if chunk.language in _LANGUAGES else "en")
        key = self._key(work, chunk, language)
        answer = work.known.get(key)
        if answer is None:
            work.asked += 1
            try:
                answer = await self._answer(work, chunk, language)
            except BackendUnavailableError:
                raise
            except BackendError as error:
                work.failed += 1
                logger.warning("a chunk of %s has its free text only: %s", chunk.path, error.code)
                return ""
            self._cache.save_situating(chunk.doc_id, work.fingerprint, key, answer)
            work.known[key] = answer
        return kept_text(
            answer,
            document=f"{work.opening}\n{chunk.context}\n{chunk.text}",
            language=language,
            neutralise=self._neutralise,
        )

    def _key(self, work: _Work, chunk: Chunk, language: str) -> str:
        """Everything that the answer follows from, but the room in the server's context."""
        parts = [self._asked, language, work.opening, chunk.context, chunk.text]
        return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()

    async def _answer(self, work: _Work, chunk: Chunk, language: str) -> str:
        """The model's words."""
        policy = self._policy
        if not work.context_tokens:
            # Not before a text is missing: the server need not start where all is known.
            work.context_tokens = await self._generator.context_tokens()
        messages = situating_prompt(
            opening=work.opening,
            place=chunk.context,
            chunk=chunk.text,
            language=language,
            sizes=PromptSizes(
                opening=policy.opening_tokens,
                chunk=policy.chunk_tokens,
                room=work.context_tokens - policy.text_tokens,
            ),
            counter=self._counter,
            neutralise=self._neutralise,
        )
        stream = self._generator.stream(messages, limit_tokens=policy.text_tokens)
        # A generator function, as every implementation of the port is: it can be closed.
        async with aclosing(cast(AsyncGenerator[str, None], stream)) as words:
            answer = "".join([word async for word in words])
        # The catalogue holds UTF-8, which has no lone surrogates.
        return answer.encode("utf-8", "replace").decode("utf-8")

    async def _fitted(self, packed: Sequence[PackedChunk], texts: Sequence[str]) -> list[str]:
        """The texts, cut where text and chunk together exceed what the embedder reads."""
        fitted = list(texts)
        limit = self._embedder.model.limit_tokens
        unsure = [i for i, text in enumerate(fitted) if text]
        while unsure:
            counts = await self._embedder.count_tokens(
                [_with_text(packed[i].chunk, fitted[i]).embedded_text for i in unsure]
            )
            over = [(i, n - limit) for i, n in zip(unsure, counts, strict=True) if n > limit]
            for i, excess in over:
                fitted[i] = fewer_words(fitted[i], excess)
            unsure = [i for i, _ in over if fitted[i]]
        return fitted


def _with_text(chunk: Chunk, text: str) -> Chunk:
    """The chunk with this text before its free situating text."""
    if not text:
        return chunk
    return replace(chunk, context=f"{text}\n{chunk.context}" if chunk.context else text)
