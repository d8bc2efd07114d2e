"""From a draft to a text with checked markers: which sentence rests on what (SPEC A1, A2, A6)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_source.domain.answers import CitationStatus
from rag_source.domain.sentences import split_sentences
from rag_source.generation.facts import facts_of
from rag_source.generation.markers import Marker, code_ranges, insert_markers, read_markers
from rag_source.generation.shelf import Shelf
from rag_source.generation.support import Support, is_near, support_everywhere, support_in
from rag_source.generation.terms import terms_of

__all__ = ["CheckedDraft", "CheckedMarker", "check_draft"]

_CLOSING = ".!?…؟۔:;؛\"'»”’)"
_PARTS = re.compile(
    r"\s*;\s*|,\s+(?=\D)|\s+(?:et|and|tandis que|while|whereas|mais|but)\s+|\s+و(?=\S)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedMarker:
    """A marker of the final text: the sentence it stands for, and its verdict.

    `support` is None for a rejected marker: it names no passage.
    """

    number: int
    status: CitationStatus
    support: Support | None
    reason: str
    sentence: tuple[int, int]
    added: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDraft:
    """The final text and its markers, in order of appearance.

    `supported` says that at least one sentence was verified, and that the first which can be
    checked is not refuted: what a small model adds after a wrong answer is often copied, and true,
    and beside the question. `uncited_figures` are the sentences
    that state a figure and carry no marker that names a passage.
    """

    text: str
    markers: tuple[CheckedMarker, ...]
    uncited_figures: tuple[str, ...]
    supported: bool


@dataclass(frozen=True, slots=True)
class _Verdict:
    marker: Marker
    status: CitationStatus
    support: Support | None
    reason: str
    added: bool
    sentence: tuple[int, int]


def _wrong_from_the_start(
    text: str,
    sentences: Sequence[tuple[int, int]],
    verdicts: Sequence[_Verdict],
    shelf: Shelf,
) -> bool:
    """Whether every passage refutes the first sentence that states a fact."""
    for place in sentences:
        sentence = text[place[0] : place[1]]
        if facts_of(sentence):
            if any(v.sentence == place and v.status == "verified" for v in verdicts):
                return False
            return all(support.refuted for support in support_everywhere(sentence, shelf))
    return False


def check_draft(draft: str, shelf: Shelf) -> CheckedDraft:
    """Check every sentence of a draft against the passages; add and correct its markers.

    A marker the model wrote stays where its passage supports the sentence. Where another passage
    does, the program's marker takes its place; where none does, it stays, unverified. A sentence
    without a marker gets one where support is clear. A number that names no passage is kept, as
    rejected. A sentence that says what a document ordered it to say is dropped.
    """
    parsed = read_markers(_without_heads(_without_obeyed(draft, shelf).strip(), shelf))
    text = parsed.text
    code = code_ranges(text)
    sentences = [(place.start, place.end) for place in split_sentences(text)]
    verdicts: list[_Verdict] = []
    uncited: list[str] = []
    for i, (start, end) in enumerate(sentences):
        own = [marker for marker in parsed.markers if _owner(marker.position, sentences) == i]
        if any(start < b and a < end for a, b in code):
            found = _rejected_only(own, shelf, (start, end))
        else:
            found = _check_sentence(text[start:end], (start, end), own, shelf)
        verdicts += found
        cited = any(verdict.status != "rejected" for verdict in found)
        if not cited and any(f.kind in ("number", "date") for f in facts_of(text[start:end])):
            uncited.append(text[start:end])
    if not any(verdict.status != "rejected" for verdict in verdicts):
        prose = [p for p in sentences if not any(p[0] < b and a < p[1] for a, b in code)]
        verdicts += _near_ones(text, prose, shelf)
    written = _written(text, verdicts, tuple(uncited))
    if written.supported and _wrong_from_the_start(text, sentences, verdicts, shelf):
        return replace(written, supported=False)
    return written


def _near_ones(text: str, sentences: Sequence[tuple[int, int]], shelf: Shelf) -> list[_Verdict]:
    """Unverified citations for an answer that would have none: where its sentences come near.

    They are shown as what they are, and the reader sees what they were compared with.
    """
    found = []
    for place in sentences:
        sentence = text[place[0] : place[1]]
        near = [s for s in support_everywhere(sentence, shelf) if is_near(s)]
        if near:
            marker = Marker(near[0].marker, _end_of(sentence, place))
            found.append(_Verdict(marker, "unverified", near[0], near[0].reason, True, place))
    return found


def _without_obeyed(draft: str, shelf: Shelf) -> str:
    """The draft without sentences that have a word which only orders of the documents have."""
    if not shelf.ordered:
        return draft
    kept, end = [], 0
    for place in split_sentences(draft):
        if terms_of(draft[place.start : place.end]) & shelf.ordered:
            kept.append(draft[end : place.start])
            end = place.end
    return "".join([*kept, draft[end:]])


def _without_heads(draft: str, shelf: Shelf) -> str:
    """A draft without lines that only repeat a passage's head: small models copy it first."""
    paths = [shelved.passage.chunk.path for shelved in shelf.passages]
    lines = draft.split("\n")
    kept = [line for line in lines if not any(_is_head(line, path) for path in paths)]
    return "\n".join(kept).strip()


def _is_head(line: str, path: str) -> bool:
    return re.match(rf"\s*(?:\[\d+\]\s*)?{re.escape(path)}(?:\s*>.*)?\s*$", line) is not None


def _owner(position: int, sentences: Sequence[tuple[int, int]]) -> int:
    """The sentence that a marker stands for: the one it is in, begins, or comes right after."""
    return max((i for i, (start, _) in enumerate(sentences) if start <= position), default=0)


def _check_sentence(
    sentence: str, place: tuple[int, int], own: Sequence[Marker], shelf: Shelf
) -> list[_Verdict]:
    verdicts = _rejected_only(own, shelf, place)
    judged = [
        (marker, support)
        for marker in own
        if (support := support_in(sentence, marker.number, shelf)) is not None
    ]
    if not any(support.verified for _, support in judged):
        better = _support_elsewhere(sentence, shelf)
        if better:
            inside = [marker.position for marker, _ in judged if marker.position > place[0]]
            spot = inside[0] if inside else _end_of(sentence, place)
            return verdicts + [_added(support, spot, place) for support in better]
    for marker, support in judged:
        if marker.position == place[0]:  # "[1] The total is …": readers expect it at the end
            marker = Marker(marker.number, _end_of(sentence, place))
        status: CitationStatus = "verified" if support.verified else "unverified"
        verdicts.append(_Verdict(marker, status, support, support.reason, False, place))
    return verdicts


def _support_elsewhere(sentence: str, shelf: Shelf) -> list[Support]:
    """A verified quote for the sentence, or one for each of its parts; empty if there is none."""
    if len(terms_of(sentence)) < 2:
        return []
    found = support_everywhere(sentence, shelf)
    if found and found[0].verified:
        return found[:1]
    parts = [part for part in _PARTS.split(sentence) if part]
    if len(parts) < 2 or not all(facts_of(part) and len(terms_of(part)) > 1 for part in parts):
        return []
    each = [support_everywhere(part, shelf)[0] for part in parts] if found else []
    return _distinct(each) if each and all(support.verified for support in each) else []


def _distinct(supports: list[Support]) -> list[Support]:
    seen: set[int] = set()
    kept = []
    for support in supports:
        if support.marker not in seen:
            seen.add(support.marker)
            kept.append(support)
    return kept


def _rejected_only(own: Sequence[Marker], shelf: Shelf, place: tuple[int, int]) -> list[_Verdict]:
    return [
        _Verdict(marker, "rejected", None, "no passage has this number", False, place)
        for marker in own
        if shelf.passage(marker.number) is None
    ]


def _added(support: Support, position: int, place: tuple[int, int]) -> _Verdict:
    return _Verdict(Marker(support.marker, position), "verified", support, "", True, place)


def _end_of(sentence: str, place: tuple[int, int]) -> int:
    """Where a marker goes: before the punctuation that ends the sentence."""
    return place[0] + len(sentence.rstrip(_CLOSING + " ")) if sentence else place[1]


def _written(text: str, verdicts: list[_Verdict], uncited: tuple[str, ...]) -> CheckedDraft:
    verdicts = sorted(verdicts, key=lambda verdict: verdict.marker.position)
    final, moved = insert_markers(text, [verdict.marker for verdict in verdicts])
    markers: list[CheckedMarker] = []
    seen: set[tuple[int, int]] = set()
    for verdict in verdicts:
        start, end = verdict.sentence
        key = (verdict.marker.number, start)
        if key in seen:
            continue
        seen.add(key)
        markers.append(
            CheckedMarker(
                number=verdict.marker.number,
                status=verdict.status,
                support=verdict.support,
                reason=verdict.reason,
                sentence=(moved[start - 1] + 1 if start else 0, moved[end]),
                added=verdict.added,
            )
        )
    return CheckedDraft(
        text=final,
        markers=tuple(markers),
        uncited_figures=uncited,
        supported=any(verdict.status == "verified" for verdict in verdicts),
    )
