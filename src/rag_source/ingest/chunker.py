"""Pack a document's units into chunks: by structure first, then by size.

Pure and synchronous. Token counts are measured beforehand and come in as a table, so that the
embedding server is asked once for a document, not once for a sentence:

    found = units(parsed)
    counts = ...                      # of every text in `texts_to_count(parsed, found)`
    packed = pack(parsed, found, counts, policy, identity)
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_source.domain.chunks import Chunk, Segment, TextRange
from rag_source.domain.documents import ParsedDocument
from rag_source.domain.languages import detect_language
from rag_source.ingest.sections import Piece, pieces_of
from rag_source.ingest.units import Unit, context_of, cut_unit

__all__ = [
    "ChunkIdentity",
    "ChunkingPolicy",
    "PackedChunk",
    "Tokens",
    "fit",
    "pack",
    "texts_to_count",
]

_NAMESPACE = uuid.UUID("5f0c1c9e-4a0b-5d0e-9a51-6a3d1f2b7c44")
# A header or an introduction that takes more than half a chunk is not repeated in each part.
_MOST_REPEATED = 0.5
# A unit leaves room for the heading above or below it, so that no heading is a chunk alone.
_FULLEST_UNIT = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkingPolicy:
    """How large chunks are.

    `target_tokens` is in the answer model's vocabulary (SPEC I6). `embed_limit_tokens` bounds
    the situating text and the chunk together in the embedding model's own: 480 leaves room below
    the 512 of multilingual-e5 for what joining pieces adds; beyond the limit a model truncates
    or averages windows. `overlap` is the share of a chunk repeated at the start of the next.
    Sections under `smallest_section_tokens` join a neighbour, and prose of at most
    `introduction_tokens` before a table goes into the table's chunk.
    """

    target_tokens: int = 700
    embed_limit_tokens: int = 480
    overlap: float = 0.15
    smallest_section_tokens: int = 60
    introduction_tokens: int = 80

    def __post_init__(self) -> None:
        if not 64 <= self.target_tokens <= 8192:
            raise ValueError(f"target_tokens must be 64 to 8192, not {self.target_tokens}")
        if not 64 <= self.embed_limit_tokens <= 8192:
            raise ValueError(
                f"embed_limit_tokens must be 64 to 8192, not {self.embed_limit_tokens}"
            )
        if not 0 <= self.overlap <= 0.5:
            raise ValueError(f"overlap must be 0 to 0.5, not {self.overlap}")
        if self.smallest_section_tokens < 0 or self.introduction_tokens < 0:
            raise ValueError("section and introduction sizes cannot be negative")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Lengths of one text: for the answer model, and for the embedder without its overhead."""

    llm: int
    embed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkIdentity:
    """What chunks inherit from their file; ids depend on all of it but the path."""

    doc_id: str
    path: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedChunk:
    """A chunk and, for each of its `sentences`, the text that is embedded for it alone."""

    chunk: Chunk
    sentence_texts: tuple[str, ...]


def texts_to_count(parsed: ParsedDocument, found: Sequence[Unit]) -> list[str]:
    """Every text whose length `fit` and `pack` look up, each once; the first is the empty text."""
    texts = dict.fromkeys([""])
    texts.update(dict.fromkeys(unit.text(parsed.text) for unit in found))
    texts.update(dict.fromkeys(context_of(parsed.title, path) for path in _paths(found)))
    return list(texts)


def fit(
    parsed: ParsedDocument,
    found: Sequence[Unit],
    counts: Mapping[str, Tokens],
    policy: ChunkingPolicy,
) -> tuple[Unit, ...]:
    """The units, those that fit no chunk cut in pieces; the same units if all fit.

    A cut changes what must be counted: count again, and call again until nothing changes.
    """
    fitted: list[Unit] = []
    for unit in found:
        tokens = counts[unit.text(parsed.text)]
        room = _room(parsed.title, [unit], counts, policy)
        load = max(tokens.llm / room.llm, tokens.embed / room.embed)
        if load <= _FULLEST_UNIT:
            fitted.append(unit)
        else:
            fitted += cut_unit(unit, parsed.text, int(load * 1.15) + 1)
    return tuple(fitted)


def pack(
    parsed: ParsedDocument,
    found: Sequence[Unit],
    counts: Mapping[str, Tokens],
    policy: ChunkingPolicy,
    identity: ChunkIdentity,
) -> tuple[PackedChunk, ...]:
    """The chunks of a document in reading order; none for a document without units."""
    packer = _Packer(parsed, counts, policy)
    groups: list[_Group] = []
    for piece in pieces_of(
        found,
        size=lambda unit: counts[unit.text(parsed.text)].llm,
        smallest=policy.smallest_section_tokens,
        largest=policy.target_tokens,
        introduction=policy.introduction_tokens,
    ):
        groups += packer.table(piece) if piece.rows else packer.prose(piece)
    return tuple(
        _composed(parsed, group, identity, ordinal) for ordinal, group in enumerate(groups)
    )


@dataclass(frozen=True, slots=True)
class _Group:
    """The units of one chunk in the order they are written, and what situates it."""

    units: tuple[Unit, ...]
    kind: str
    caption: str = ""


class _Packer:
    """Fills chunks up to both limits."""

    def __init__(
        self, parsed: ParsedDocument, counts: Mapping[str, Tokens], policy: ChunkingPolicy
    ) -> None:
        self._parsed = parsed
        self._counts = counts
        self._policy = policy

    def prose(self, piece: Piece) -> list[_Group]:
        """Whole units up to the limit, evenly; the next chunk starts with the last sentences."""
        room = _room(self._parsed.title, piece.body, self._counts, self._policy)
        loads = [self._load(unit, room) for unit in piece.body]
        left = sum(loads)
        soft = _even_share(left, self._policy.overlap)
        groups: list[_Group] = []
        current: list[Unit] = []
        for unit, load in zip(piece.body, loads, strict=True):
            filled = self._filled(current, room)
            over, under = filled + load - soft, soft - filled
            if current and (filled + load > 1 or over > under):
                closed, carried = _without_last_headings(current)
                groups.append(_text_group(closed))
                space = 1 - load - self._filled(carried, room)
                current = self._overlap(closed, room, space) + carried
                soft = _even_share(left + self._filled(current, room), self._policy.overlap)
            current.append(unit)
            left -= load
        if groups and _are_headings(current):
            # Nothing follows these headings: they go with the last words before them.
            words = [unit for unit in groups[-1].units if unit.kind not in ("heading", "note")]
            current = [*words[-1:], *current]
        if current:
            groups.append(_text_group(current))
        return groups

    def table(self, piece: Piece) -> list[_Group]:
        """Whole rows up to the limit, each part with the introduction and the header."""
        everything = (*piece.body, *piece.rows)
        room = _room(self._parsed.title, everything, self._counts, self._policy)
        header = [row for row in piece.rows if row.header]
        rows = [row for row in piece.rows if not row.header]
        repeated = [*piece.introduction, *header]
        if self._filled(repeated, room) > _MOST_REPEATED:
            repeated = header if self._filled(header, room) <= _MOST_REPEATED else []
        caption = " ".join(unit.standalone for unit in piece.introduction)
        first = [*piece.body, *(u for u in piece.introduction if u not in piece.body), *header]
        if self._filled(first, room) > 1:
            # A header wider than a chunk is text like any row: it comes once.
            first, rows, repeated = [], [*first, *rows], []
        groups: list[_Group] = []
        current = first
        for row in rows:
            if current and self._filled([*current, row], room) > 1:
                groups.append(_table_group(current, repeated, caption))
                current = list(repeated)
                if self._filled([*current, row], room) > 1:
                    current = []
            current.append(row)
        if groups and _are_headings([unit for unit in current if unit not in repeated]):
            last = [unit for unit in groups[-1].units if unit not in repeated][-1:]
            current = [*last, *(unit for unit in current if unit not in repeated)]
        if current:
            groups.append(_table_group(current, repeated, caption))
        return groups

    def _load(self, unit: Unit, room: Tokens) -> float:
        tokens = self._counts[unit.text(self._parsed.text)]
        # One token more for the border between two units.
        return max((tokens.llm + 1) / (room.llm + 1), (tokens.embed + 1) / (room.embed + 1))

    def _filled(self, chosen: Iterable[Unit], room: Tokens) -> float:
        llm = embed = 0
        for unit in chosen:
            tokens = self._counts[unit.text(self._parsed.text)]
            llm += tokens.llm + 1
            embed += tokens.embed + 1
        return max(llm / (room.llm + 1), embed / (room.embed + 1))

    def _overlap(self, closed: Sequence[Unit], room: Tokens, left: float) -> list[Unit]:
        """The last whole sentences of a chunk that make up at most the policy's share."""
        allowed = min(self._policy.overlap, left)
        taken: list[Unit] = []
        for unit in reversed([unit for unit in closed if unit.kind != "note"]):
            if unit.kind == "heading" or self._filled([unit, *taken], room) > allowed:
                break
            taken.insert(0, unit)
        return taken if len(taken) < len(closed) else []


def _room(
    title: str, chosen: Sequence[Unit], counts: Mapping[str, Tokens], policy: ChunkingPolicy
) -> Tokens:
    """What a chunk of these units may hold beside its situating text."""
    context = max((counts[context_of(title, path)].embed for path in _paths(chosen)), default=0)
    overhead = counts[""].embed
    return Tokens(
        llm=policy.target_tokens,
        # The line break after the context, and half the window at least, whatever the context.
        embed=max(
            policy.embed_limit_tokens // 2, policy.embed_limit_tokens - context - overhead - 1
        ),
    )


def _even_share(total: float, overlap: float) -> float:
    """The filling at which to close a chunk, so that the last is not a scrap."""
    if total <= 1:
        return 1.0
    parts = -int(-(total - overlap) // (1 - overlap)) if overlap < 1 else 1
    return min(1.0, (total + (parts - 1) * overlap) / parts)


def _paths(chosen: Sequence[Unit]) -> list[tuple[str, ...]]:
    """The section paths whose contexts may stand before these units: their own and every prefix."""
    paths: dict[tuple[str, ...], None] = {}
    for unit in chosen:
        for depth in range(len(unit.path) + 1):
            paths[unit.path[:depth]] = None
    return list(paths)


def _are_headings(chosen: Sequence[Unit]) -> bool:
    """Whether these are headings, perhaps with a page's running lines among them."""
    kinds = {unit.kind for unit in chosen}
    return "heading" in kinds and kinds <= {"heading", "note"}


def _without_last_headings(chosen: list[Unit]) -> tuple[list[Unit], list[Unit]]:
    """A heading at the end of a chunk belongs to what follows it."""
    end = len(chosen)
    while end > 1 and chosen[end - 1].kind == "heading":
        end -= 1
    if _are_headings(chosen[:end]):
        end = len(chosen)
    return chosen[:end], chosen[end:]


def _text_group(chosen: Sequence[Unit]) -> _Group:
    body = [unit for unit in chosen if unit.kind != "note"]
    notes = [unit for unit in chosen if unit.kind == "note"]
    # Running headers and footers come last, so that a sentence is whole across a page break.
    return _Group((*body, *notes), "text")


def _table_group(chosen: Sequence[Unit], repeated: Sequence[Unit], caption: str) -> _Group:
    has_caption = all(unit in chosen for unit in repeated if unit.kind != "table")
    return _Group(tuple(chosen), "table", "" if has_caption else caption)


def _composed(
    parsed: ParsedDocument, group: _Group, identity: ChunkIdentity, ordinal: int
) -> PackedChunk:
    parts: list[str] = []
    segments: list[Segment] = []
    sentences: list[TextRange] = []
    alone: list[str] = []
    length = 0
    for unit in group.units:
        first_start: int | None = None
        for i, whole in enumerate(unit.ranges):
            gap = _gap(parsed.text, segments, whole)
            if gap is None:
                separator = "" if not segments else "\n" if i or unit.kind == "table" else "\n\n"
                parts += [separator, parsed.text[whole.start : whole.end]]
                start = length + len(separator)
                length = start + whole.end - whole.start
                segments.append(Segment(start=start, end=length, document_start=whole.start))
            else:
                parts += [gap, parsed.text[whole.start : whole.end]]
                start = length + len(gap)
                length = start + whole.end - whole.start
                last = segments[-1]
                segments[-1] = Segment(
                    start=last.start, end=length, document_start=last.document_start
                )
            first_start = start if first_start is None else first_start
        if unit.is_sentence and first_start is not None:
            sentences.append(TextRange(start=first_start, end=length))
            alone.append(unit.standalone)
    text = "".join(parts)
    section = _section(group.units)
    main = next((u for u in group.units if u.kind == "table"), group.units[0])
    # The version is part of the id: a re-parse must never overwrite the chunks that still answer.
    name = f"{identity.doc_id}:{identity.fingerprint}:{parsed.loader_version}:{ordinal}"
    chunk = Chunk(
        chunk_id=str(uuid.uuid5(_NAMESPACE, name)),
        doc_id=identity.doc_id,
        path=identity.path,
        ordinal=ordinal,
        text=text,
        segments=tuple(segments),
        sentences=tuple(sentences),
        block_id=parsed.blocks[main.block].id,
        section=section,
        page=group.units[0].page,
        kind=group.kind,
        title=parsed.title,
        language=_language(text, parsed.language),
        context=context_of(parsed.title, section, group.caption),
    )
    return PackedChunk(chunk=chunk, sentence_texts=tuple(alone))


def _gap(document: str, segments: Sequence[Segment], following: TextRange) -> str | None:
    """The white space between the last segment and a range that directly follows it."""
    if not segments:
        return None
    last = segments[-1]
    end = last.document_start + last.end - last.start
    if following.start < end or following.start - end > 64:
        return None
    gap = document[end : following.start]
    return gap if not gap.strip() else None


def _section(chosen: Sequence[Unit]) -> tuple[str, ...]:
    """The section path that all the units share; headings count only where nothing else is."""
    body = [u for u in chosen if u.kind not in ("heading", "note")]
    paths = [unit.path for unit in body or chosen]
    shared = paths[0]
    for path in paths[1:]:
        depth = 0
        while depth < min(len(shared), len(path)) and shared[depth] == path[depth]:
            depth += 1
        shared = shared[:depth]
    return shared


def _language(text: str, of_document: str) -> str:
    found = detect_language(text)
    return of_document if found == "und" else found
