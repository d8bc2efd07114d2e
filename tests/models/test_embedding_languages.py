"""Embedding models for English only, by their names."""

from __future__ import annotations

import pytest

from rag_source.models.embedding_languages import languages_of


@pytest.mark.parametrize(
    "name",
    [
        *("bge-small-en-v1.5", "jina-embeddings-v2-base-en", "gte-base-en-v1.5"),
        *("all-MiniLM-L6-v2", "sentence-transformers/all-mpnet-base-v2", "e5-small-v2"),
        *("intfloat/e5-large-v2", "nomic-embed-text", "mxbai-embed-large", "some-english-model"),
    ],
)
def test_name_of_an_english_model_says_so(name: str) -> None:
    assert languages_of(name) == ("en",)


@pytest.mark.parametrize(
    "name",
    [
        *("bge-m3", "multilingual-e5-small", "paraphrase-multilingual-MiniLM-L12-v2"),
        *("text-embedding-3-small", "Qwen3-Embedding-0.6B", "nomic-embed-text-v2-moe"),
        *("snowflake-arctic-embed-l-v2.0", "gte-multilingual-base", "embeddinggemma", "sentence-x"),
    ],
)
def test_any_other_name_promises_nothing_less_than_all_languages(name: str) -> None:
    assert languages_of(name) == ()


def test_what_the_operator_says_counts_more_than_the_name() -> None:
    assert languages_of("bge-small-en-v1.5", "fr,en") == ("fr", "en")
