"""How a model server is spoken to: our own children and llama.cpp, or any OpenAI-like service."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["OURS", "Dialect"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What differs between servers of one kind.

    Args:
        server: What messages call it, such as `embedding service llm.example.org`; empty for the
            client's own word.
        api: The path before `/embeddings` and `/chat/completions`.
        model: The name by which the server knows its model; empty to send none.
        is_ours: The server is a child of this program or speaks its additions: it tells questions
            from passages, adds prefixes itself and has `/v1/token-counts`.
        has_llama_routes: Whether llama.cpp's `/props` and `/tokenize` are worth asking for.
    """

    server: str = ""
    api: str = "/v1"
    model: str = ""
    is_ours: bool = True
    has_llama_routes: bool = True


OURS = Dialect()
"""The child processes of the embedded profile."""
