"""Documents and token counts for the chunker's tests."""

from __future__ import annotations

from collections.abc import Sequence

from rag_source.domain.documents import PagePlace, ParsedDocument
from rag_source.ingest.builder import DocumentBuilder, RowText
from rag_source.ingest.chunker import (
    ChunkIdentity,
    ChunkingPolicy,
    PackedChunk,
    Tokens,
    fit,
    pack,
    texts_to_count,
)
from rag_source.ingest.units import units

OVERHEAD = 4
IDENTITY = ChunkIdentity(doc_id="doc", path="folder/file.md", fingerprint="f" * 64)


def words(text: str) -> Tokens:
    """A token for each started run of six characters of a word: long words are many tokens."""
    tokens = sum(-(-len(word) // 6) for word in text.split())
    return Tokens(tokens, tokens)


def chunks_of(
    parsed: ParsedDocument, policy: ChunkingPolicy | None = None
) -> tuple[PackedChunk, ...]:
    """Units, counts, cuts and packing as the indexer runs them."""
    policy = policy or ChunkingPolicy(target_tokens=64, embed_limit_tokens=96)
    found = units(parsed)
    while True:
        counts = {text: words(text) for text in texts_to_count(parsed, found)}
        counts[""] = Tokens(0, OVERHEAD)
        fitted = fit(parsed, found, counts, policy)
        if fitted == found:
            return pack(parsed, found, counts, policy, IDENTITY)
        found = fitted


def document(
    *blocks: tuple[str, object], title: str = "Title", paged: bool = False
) -> ParsedDocument:
    """A document of (kind, content) pairs: `h1` to `h6`, `p`, `li`, `note`, `table`.

    The content of a table is its rows, the first one the header; `page` starts a new page.
    """
    builder = DocumentBuilder()
    page = 1
    for kind, content in blocks:
        if kind == "page":
            page += 1
            continue
        place = {"place": PagePlace(page=page)} if paged else {}
        if kind == "table":
            assert isinstance(content, Sequence)
            rows = [RowText(cells=tuple(row), header=i == 0) for i, row in enumerate(content)]
            builder.table(rows, **place)
        elif kind.startswith("h"):
            builder.heading(str(content), int(kind[1:]), **place)
        else:
            names = {"p": "paragraph", "li": "list_item", "note": "note"}
            builder.text(str(content), names[kind], **place)  # type: ignore[arg-type]
    return builder.build(title=title, loader="test", version=1)


def sentence(n: int, length: int = 8) -> str:
    """A sentence of so many words that no other number gives."""
    return f"Sentence {n} " + " ".join(f"word{n}x{i}" for i in range(length - 2)) + "."
