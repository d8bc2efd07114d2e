"""Say what was computed, from what, and show the rows, each with its citation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal

from rag_source.domain.answers import Citation
from rag_source.domain.calculations import CalculatedGroup, CalculatedRow, Calculation
from rag_source.generation.aggregate.computing import Result, ResultGroup, UsedRow
from rag_source.generation.aggregate.figures import Figure
from rag_source.generation.aggregate.pools import PooledRow
from rag_source.generation.aggregate.row_citations import CitedRow, RowCiter
from rag_source.generation.aggregate.selecting import Selection
from rag_source.generation.aggregate.stated import differing_totals
from rag_source.generation.aggregate.wishes import Wish
from rag_source.generation.aggregate.wording import (
    CALCULATION_WORDING,
    CalculationWording,
    counted,
    spell,
)

__all__ = ["Told", "tell"]

_SHOWN = 30  # rows that are shown and cited; more would bury the result
_SHOWN_MISSING = 5
_FEW_FOUND = 12
_LISTED = 500  # rows that the calculation itself lists
_PARTLY_READ = frozenset(
    "truncated pages_damaged part_damaged hidden_rows_skipped hidden_columns_skipped "
    "hidden_sheet_skipped rows_malformed".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The answer's text, its citations in order, and the calculation."""

    text: str
    citations: tuple[Citation, ...]
    calculation: Calculation


@dataclass(slots=True)
class _Page:
    """The answer under construction."""

    citer: RowCiter
    wording: CalculationWording
    language: str
    lines: list[str] = field(default_factory=list)
    cited: list[CitedRow] = field(default_factory=list)
    length: int = 0

    def say(self, line: str) -> None:
        self.lines.append(line)
        self.length += len(line) + 1

    def show(self, one: PooledRow, value: Decimal | None) -> None:
        """A row as a line: quoted, with its marker."""
        text = one.candidate.source.parsed.text[one.row.start : one.row.end]
        marker = self.citer.marker(one)
        line = f"- {self.wording.quote.format(quote=text)} [{marker}]"
        sentence = (self.length + 2, self.length + len(line))
        self.cited.append(CitedRow(pooled=one, sentence=sentence, marker=marker, value=value))
        self.say(line)

    def quoted(self, text: str) -> str:
        return self.wording.quote.format(quote=text)

    def joined(self, parts: Iterable[str]) -> str:
        return self.wording.comma.join(parts)

    def rows(self, count: int) -> str:
        return counted(self.wording.rows, count, self.language)


def tell(wish: Wish, selection: Selection, result: Result, language: str, citer: RowCiter) -> Told:
    """The answer in words. What must not be computed is said with its reason and its rows."""
    page = _Page(citer=citer, wording=CALCULATION_WORDING[language], language=language)
    result = _checked(selection, result)
    if result.reason:
        _say_refusal(page, selection, result)
    else:
        _say_result(page, wish, selection, result)
        _say_rest(page, selection, result)
    citations = tuple(citer.cite(row) for row in page.cited)
    return Told(
        text="\n".join(page.lines),
        citations=citations,
        calculation=_calculation(page, wish, selection, result),
    )


def _checked(selection: Selection, result: Result) -> Result:
    """The result, unless it would pass for one of documents that it is not computed from."""
    number = len(selection.documents) + len(selection.uncounted)
    if selection.expected and number != selection.expected:
        return replace(result, reason="documents_differ", clash=_found(result))
    few = len(selection.uncounted) < len(selection.documents)
    if selection.uncounted and (selection.surely or selection.expected or not few):
        return replace(result, reason="incomplete", clash=_found(result))
    return result


def _found(result: Result) -> tuple[UsedRow, ...]:
    """The rows that there are, if they are few enough to be shown without their sum."""
    rows = [row for group in result.groups for row in group.rows]
    return tuple(rows) if len(rows) <= _FEW_FOUND else ()


def _say_refusal(page: _Page, selection: Selection, result: Result) -> None:
    wording = page.wording
    column = page.quoted(result.column.name) if result.column else ""
    if result.reason == "mixed_units":
        columns = [r.pooled.candidate.target.column for r in result.clash]
        names = list(dict.fromkeys(page.quoted(c.name) for c in columns if c))
        units = [_unit(r.figure) or wording.no_unit for r in result.clash]
        same = len(set(units)) == 1
        text = wording.mixed_columns if same else wording.mixed_units
        page.say(text.format(column=column, units=page.joined(names if same else units)))
    elif result.reason == "ambiguous_figures":
        cells = [r.pooled.row.cell(result.column) for r in result.clash if result.column]
        page.say(wording.ambiguous.format(column=column, cell=page.quoted(cells[0])))
    elif result.reason == "incomplete":
        page.say(wording.incomplete.format(paths=page.joined(selection.uncounted)))
    else:
        paths = (*selection.documents, *selection.uncounted)
        page.say(
            wording.documents_differ.format(
                expected=selection.expected, count=len(paths), paths=page.joined(paths)
            )
        )
    if result.clash and result.reason in ("incomplete", "documents_differ"):
        page.say(wording.found)
    for row in result.clash[:_SHOWN]:
        page.show(row.pooled, row.figure.value if row.figure else None)


def _say_result(page: _Page, wish: Wish, selection: Selection, result: Result) -> None:
    wording = page.wording
    single = None if selection.grouped else result.groups[0]
    head = _title(page, result)
    if single is not None:
        head += wording.equals.format(result=_spelt(page, single))
    else:
        name = page.quoted(result.grouped_by) if result.grouped_by else wording.document
        head += wording.grouped_by.format(name=name)
    if selection.conditions:
        words = page.joined(page.quoted(word) for word in selection.conditions)
        head += wording.where.format(words=words)
    if wish.comparison:
        head += wording.bound.format(bound=wish.comparison.spelt)
    if single is not None and not single.exact:
        head += wording.rounded
    page.say(head + (wording.colon if single is None else "."))
    for group in result.groups if selection.grouped else ():
        named = wording.group.format(
            name=group.name, result=_spelt(page, group), rows=page.rows(len(group.rows))
        )
        page.say(f"- {named}{'' if group.exact else wording.rounded}")
    page.say(_basis(page, selection, result))
    shown = [row for group in result.groups for row in group.rows]
    for row in shown[:_SHOWN]:
        page.show(row.pooled, row.figure.value if row.figure else None)
    if len(shown) > _SHOWN:
        page.say(wording.more.format(rows=page.rows(len(shown) - _SHOWN)))


def _title(page: _Page, result: Result) -> str:
    """What was computed."""
    kind = result.groups[0].rows[0].pooled.candidate.target.kind
    wording = page.wording
    patterns = {"rows": wording.row_count, "values": wording.value_count}
    column = page.quoted(result.column.name) if result.column else ""
    return patterns.get(kind, wording.titles[result.operation]).format(column=column)


def _basis(page: _Page, selection: Selection, result: Result) -> str:
    """That it was computed, and from what."""
    documents = counted(page.wording.documents, len(selection.documents), page.language)
    return page.wording.basis.format(
        rows=page.rows(result.compared),
        documents=documents,
        paths=page.joined(selection.documents),
    )


def _say_rest(page: _Page, selection: Selection, result: Result) -> None:
    """Rows without a figure, documents without the column, totals that differ."""
    wording = page.wording
    if result.missing:
        page.say(counted(wording.missing, len(result.missing), page.language))
        for one in result.missing[:_SHOWN_MISSING]:
            page.show(one, None)
    if selection.uncounted:
        page.say(wording.uncounted.format(paths=page.joined(selection.uncounted)))
    partly = [
        candidate.source.path
        for candidate in selection.candidates
        if any(warning.code in _PARTLY_READ for warning in candidate.source.parsed.warnings)
    ]
    if partly:
        page.say(wording.partly_read.format(paths=page.joined(dict.fromkeys(partly))))
    for difference in differing_totals(selection, result):
        page.say(
            wording.stated.format(
                path=difference.row.candidate.source.path,
                stated=spell(difference.stated, page.language),
                computed=spell(difference.computed, page.language),
            )
        )
        page.show(difference.row, difference.stated)


def _spelt(page: _Page, group: ResultGroup) -> str:
    unit = "" if group.unit is None else _sign(group.unit.spelt)
    return spell(group.value, page.language, unit)


def _sign(spelt: str) -> str:
    return "%" if spelt.casefold() in ("%", "percent") else spelt


def _unit(figure: Figure | None) -> str:
    return figure.unit.spelt if figure and figure.unit else ""


def _calculation(page: _Page, wish: Wish, selection: Selection, result: Result) -> Calculation:
    places = {id(row.pooled): i for i, row in reversed(list(enumerate(page.cited)))}
    groups = () if result.reason else result.groups
    used = [row for group in groups for row in group.rows]
    single = groups[0] if groups and not selection.grouped else None
    units = {group.unit.spelt for group in groups if group.unit}
    conditions = (*selection.conditions, *((wish.comparison.spelt,) if wish.comparison else ()))
    return Calculation(
        operation=result.operation,
        column=result.column.name if result.column else "",
        unit=units.pop() if len(units) == 1 else "",
        result=f"{single.value:f}" if single else "",
        row_count=0 if result.reason else result.compared,
        documents=selection.documents,
        rows=tuple(_calculated(row, places) for row in used[:_LISTED]),
        missing=tuple(
            _calculated(UsedRow(pooled=one, figure=None), places)
            for one in result.missing[:_LISTED]
        ),
        missing_count=len(result.missing),
        conditions=conditions,
        grouped_by=result.grouped_by,
        groups=tuple(
            CalculatedGroup(
                name=group.name,
                result=f"{group.value:f}",
                unit=group.unit.spelt if group.unit else "",
                rows=len(group.rows),
            )
            for group in groups
            if selection.grouped
        ),
        exact=all(group.exact for group in groups),
        reason=result.reason,
    )


def _calculated(row: UsedRow, places: dict[int, int]) -> CalculatedRow:
    candidate = row.pooled.candidate
    return CalculatedRow(
        path=candidate.source.path,
        block=candidate.table.block.id,
        start=row.pooled.row.start,
        end=row.pooled.row.end,
        value=f"{row.figure.value:f}" if row.figure else "",
        citation=places.get(id(row.pooled)),
    )
