"""What is said of a computed figure, in French, English and Arabic; numbers as each writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from rag_source.domain.calculations import Operation

__all__ = ["CALCULATION_WORDING", "CalculationWording", "counted", "spell"]

_NO_BREAK_SPACE = "\u00a0"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalculationWording:
    """One language. Every text is one line.

    `titles` name what was computed of a column; `row_count` and `value_count` a number of rows
    and of values; `equals` gives the result. `basis` says that it is computed, and from what.
    `rows` and `documents` are patterns by number: one, more.
    """

    titles: dict[Operation, str]
    row_count: str
    value_count: str
    equals: str
    where: str
    bound: str
    basis: str
    rows: tuple[str, str]
    documents: tuple[str, str]
    group: str
    grouped_by: str
    document: str
    rounded: str
    missing: tuple[str, str]
    found: str
    more: str
    stated: str
    uncounted: str
    partly_read: str
    mixed_units: str
    mixed_columns: str
    ambiguous: str
    incomplete: str
    documents_differ: str
    no_unit: str
    quote: str
    comma: str
    colon: str


_ENGLISH = CalculationWording(
    titles={
        "sum": "The sum of {column}",
        "mean": "The average of {column}",
        "min": "The lowest {column}",
        "max": "The highest {column}",
        "count": "The number of values of {column}",
    },
    row_count="The number of rows",
    value_count="The number of different values of {column}",
    equals=" is {result}",
    where=" for the rows with {words}",
    bound=" ({bound})",
    basis="Computed by the program, not quoted, from {rows} of {documents}: {paths}.",
    rows=("1 row", "{count} rows"),
    documents=("1 document", "{count} documents"),
    group="{name}: {result} ({rows})",
    grouped_by=", by {name}",
    document="document",
    rounded=" (rounded)",
    missing=(
        "1 row has no figure in this column and is not included.",
        "{count} rows have no figure in this column and are not included.",
    ),
    found="What was found in the other documents:",
    more="{rows} more were used and are not listed here.",
    stated="{path} itself states {stated} there, not {computed}:",
    uncounted="Not included, because no such column was found in them: {paths}.",
    partly_read="Not everything in these files was read: {paths}.",
    mixed_units=(
        "No result was computed: {column} is given in different units ({units}), which cannot be "
        "added or compared."
    ),
    mixed_columns="No result was computed: the columns {units} do not mean the same.",
    ambiguous=(
        "No result was computed: figures of {column} such as {cell} can be read in two ways."
    ),
    incomplete=(
        "No result was computed, for it would be incomplete: no such column or figure was found in "
        "{paths}."
    ),
    documents_differ=(
        "No result was computed: the question speaks of {expected} documents, and {count} of the "
        "kind were found: {paths}."
    ),
    no_unit="no unit",
    quote="“{quote}”",
    comma=", ",
    colon=":",
)

_FRENCH = CalculationWording(
    titles={
        "sum": "La somme de {column}",
        "mean": "La moyenne de {column}",
        "min": "La plus petite valeur de {column}",
        "max": "La plus grande valeur de {column}",
        "count": "Le nombre de valeurs de {column}",
    },
    row_count="Le nombre de lignes",
    value_count="Le nombre de valeurs différentes de {column}",
    equals=" est {result}",
    where=" pour les lignes avec {words}",
    bound=" ({bound})",
    basis="Calculé par le programme, et non cité, sur {rows} de {documents} : {paths}.",
    rows=("1 ligne", "{count} lignes"),
    documents=("1 document", "{count} documents"),
    group="{name} : {result} ({rows})",
    grouped_by=", par {name}",
    document="document",
    rounded=" (arrondi)",
    missing=(
        "1 ligne n'a pas de nombre dans cette colonne et n'est pas comptée.",
        "{count} lignes n'ont pas de nombre dans cette colonne et ne sont pas comptées.",
    ),
    found="Ce qui a été trouvé dans les autres documents :",
    more="{rows} de plus ont servi et ne sont pas montrées ici.",
    stated="{path} indique lui-même {stated} à cet endroit, et non {computed} :",
    uncounted="Non comptés, faute d'une telle colonne : {paths}.",
    partly_read="Ces fichiers n'ont pas été lus en entier : {paths}.",
    mixed_units=(
        "Aucun résultat n'a été calculé : {column} est donné en unités différentes ({units}), qui "
        "ne s'additionnent ni ne se comparent."
    ),
    mixed_columns=(
        "Aucun résultat n'a été calculé : les colonnes {units} ne veulent pas dire la même chose."
    ),
    ambiguous=(
        "Aucun résultat n'a été calculé : des nombres de {column} comme {cell} se lisent de deux "
        "façons."
    ),
    incomplete=(
        "Aucun résultat n'a été calculé, car il serait incomplet : ni colonne ni nombre de ce nom "
        "n'ont été trouvés dans {paths}."
    ),
    documents_differ=(
        "Aucun résultat n'a été calculé : la question parle de {expected} documents, et {count} "
        "de cette sorte ont été trouvés : {paths}."
    ),
    no_unit="sans unité",
    quote="« {quote} »",
    comma=", ",
    colon=" :",
)

_ARABIC = CalculationWording(
    titles={
        "sum": "مجموع {column}",
        "mean": "متوسط {column}",
        "min": "أصغر قيمة في {column}",
        "max": "أكبر قيمة في {column}",
        "count": "عدد القيم في {column}",
    },
    row_count="عدد الأسطر",
    value_count="عدد القيم المختلفة في {column}",
    equals=": {result}",
    where=" في الأسطر التي فيها {words}",
    bound=" ({bound})",
    basis="حسبه البرنامج ولم يقتبسه، من {rows} ({documents}): {paths}.",
    rows=("سطر واحد", "{count} من الأسطر"),
    documents=("وثيقة واحدة", "{count} من الوثائق"),
    group="{name}: {result} ({rows})",
    grouped_by="، حسب {name}",
    document="الوثيقة",
    rounded=" (بعد التقريب)",
    missing=(
        "سطر واحد ليس فيه رقم في هذا العمود، ولم يحسب.",
        "{count} من الأسطر ليس فيها رقم في هذا العمود، ولم تحسب.",
    ),
    found="ما عثر عليه في الوثائق الأخرى:",
    more="استعمل أيضا {rows} لا تظهر هنا.",
    stated="تذكر {path} نفسها {stated} في هذا الموضع، وليس {computed}:",
    uncounted="لم تحسب هذه الوثائق لأنها بلا عمود كهذا: {paths}.",
    partly_read="لم تقرأ هذه الملفات كاملة: {paths}.",
    mixed_units=("لم تحسب أي نتيجة: {column} بوحدات مختلفة ({units}) لا تجمع ولا تقارن."),
    mixed_columns="لم تحسب أي نتيجة: الأعمدة {units} لا تعني الشيء نفسه.",
    ambiguous="لم تحسب أي نتيجة: أرقام في {column} مثل {cell} تقرأ على وجهين.",
    incomplete="لم تحسب أي نتيجة لأنها ستكون ناقصة: لا يوجد عمود أو رقم كهذا في {paths}.",
    documents_differ=(
        "لم تحسب أي نتيجة: يذكر السؤال {expected} من الوثائق، وعدد ما وجد من هذا النوع {count}: "
        "{paths}."
    ),
    no_unit="بلا وحدة",
    quote="«{quote}»",
    comma="، ",
    colon=":",
)

CALCULATION_WORDING: dict[str, CalculationWording] = {
    "fr": _FRENCH,
    "en": _ENGLISH,
    "ar": _ARABIC,
}


def spell(value: Decimal, language: str, unit: str = "") -> str:
    """A figure as the language writes it, with its unit: `82 900,00 DH`, `82,900.00 DH`."""
    plain = f"{value:,f}"
    if language != "en":  # a no-break space keeps a figure together in a line of Arabic as well
        plain = plain.replace(",", _NO_BREAK_SPACE).replace(".", ",")
    return f"{plain}{_NO_BREAK_SPACE}{unit}" if unit else plain


def counted(patterns: Sequence[str], count: int, language: str) -> str:
    """The pattern for this number, filled in."""
    return patterns[min(count, 2) - 1].format(count=spell(Decimal(count), language))
