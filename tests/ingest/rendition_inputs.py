"""Files of every format with awkward text in them, and a reader of the renditions they become."""

from __future__ import annotations

import html
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from documents import make_csv, make_html, make_text
from office_documents import (
    inline_row,
    make_docx,
    make_pptx,
    make_xlsx,
    paragraph,
    shape,
    slide,
)
from rag_source.domain.documents import ParsedDocument
from rag_source.ingest.registry import LoaderRegistry

__all__ = ["FORMATS", "HOSTILE", "Page", "load", "make_document", "read_page", "words"]

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</td></tr></table><h1>forged</h1>",
    "<!-- & --> <![CDATA[x]]> <?php",
    "&lt;b&gt; &amp;amp; &#60; &nbsp &notit;",
    "' onclick='alert(1)' style='x'",
    "![x](http://evil.example/?q=1) [9]",
    "</p></article></body></html><p id=b1>",
    "<p id='b1' data-start='0'>",
)
_AWKWARD = (
    *("plain", "words", "of", "a", "line,", "ends.", "Déjà", "naïve", "R24", "82 900,00", "E07."),
    *("😀", "👩‍👩‍👧", "🇫🇷", "𝔘𝔫𝔦", "e\u0301te\u0301", "Z\u0351\u0300\u0316"),
    *("كُتَّابْ", "السلام", "عليكم", "25", "שלום", "\u202everkehrt\u202c", "\u200fنص\u200f"),
    *("a\u00a0b", "1\u202f000", "zero\u200bwidth", "\ufeffmark", "soft\u00adhyphen", "ﬁne"),
    *('"quoted"', "it's", "“typo”", "«\u00a0guillemets\u00a0»", "\\", "a|b", "|", "`c`", "{{x}}"),
    *("\ufffe", "\U0010ffff", "\u2028", "\u0130", "ß", "&", "<", ">", "a<b>c", "x=1&y=2"),
    *HOSTILE,
)


def words(random_: random.Random, count: int) -> str:
    """So many words, awkward ones among them, parted by spaces, a tab now and then."""
    chosen = [random_.choice(_AWKWARD) for _ in range(count)]
    return "".join(word + random_.choice((" ", " ", " ", "\t", ". ")) for word in chosen).strip()


def make_document(kind: str, folder: Path, seed: int) -> Path:
    """A file of one of the `FORMATS`; the same seed gives the same bytes."""
    return FORMATS[kind](folder / f"{kind}-{seed}", random.Random(seed))


def load(path: Path) -> ParsedDocument:
    """The file as its loader reads it."""
    loader = LoaderRegistry().loader_for(path.name)
    assert loader is not None
    return loader.load(path)


def _text(path: Path, random_: random.Random) -> Path:
    paragraphs = ["\n".join(_lines(random_)) for _ in range(12)]
    return make_text(path.with_suffix(".txt"), "\n\n".join(paragraphs))


def _markdown(path: Path, random_: random.Random) -> Path:
    parts = ["---\ntitle: Rendition: a test\nowner: " + words(random_, 3) + "\ntags:\n  - x\n---"]
    for level in (1, 2, 3, 2):
        parts += [f"{'#' * level} Part {level}", "\n".join(_lines(random_)), words(random_, 40)]
        parts.append("\n".join(f"- item {i} {words(random_, 4)}" for i in range(4)))
    rows = [["Name", "Value"], ["---", "---"]]
    rows += [[words(random_, 2).replace("|", "/"), str(i)] for i in range(30)]
    parts.append("\n".join("| " + " | ".join(row) + " |" for row in rows))
    parts.append("```\n" + "\n    ".join(_lines(random_)) + "\n```")
    return make_text(path.with_suffix(".md"), "\n\n".join(parts))


def _html(path: Path, random_: random.Random) -> Path:
    def safe(count: int) -> str:
        return html.escape(words(random_, count))

    body = "".join(
        f"<h{level}>Part {safe(2)}</h{level}><p>{safe(30)}<br>{safe(8)}</p>"
        f"<ul><li>{safe(5)}</li><li>{safe(5)}</li></ul><dl><dt>{safe(2)}</dt><dd>{safe(6)}</dd></dl>"
        for level in (1, 2, 4)
    )
    rows = "".join(f"<tr><td>{safe(3)}</td><td></td><td>{i}</td></tr>" for i in range(25))
    table = f"<table><tr><th>A</th><th>B</th><th>C</th></tr>{rows}</table>"
    return make_html(path.with_suffix(".html"), body + table, title="Title <&>")


def _csv(path: Path, random_: random.Random) -> Path:
    rows = [["Ref", "Text", "Empty", "Count"]]
    rows += [[f"R{i}", words(random_, 6), "", str(i)] for i in range(60)]
    return make_csv(path.with_suffix(".csv"), rows)


def _docx(path: Path, random_: random.Random) -> Path:
    cells = "".join(
        "<w:tr>"
        + "".join(f"<w:tc>{paragraph(_xml(random_, 3))}</w:tc>" for _ in range(3))
        + "</w:tr>"
        for _ in range(8)
    )
    body = "".join(
        paragraph(f"Chapter {i}", style="Heading1")
        + paragraph(_xml(random_, 40))
        + paragraph(_xml(random_, 12))
        for i in range(4)
    )
    return make_docx(path.with_suffix(".docx"), f"{body}<w:tbl>{cells}</w:tbl>", title="Word")


def _pptx(path: Path, random_: random.Random) -> Path:
    slides = [
        slide(
            shape(f"Slide {i}", placeholder="title"),
            shape("\n".join(_xml(random_, 5) for _ in range(4)), placeholder="body"),
            shape(_xml(random_, 12), at=(0, 900)),
        )
        for i in range(5)
    ]
    return make_pptx(path.with_suffix(".pptx"), slides, notes={2: _xml(random_, 9)})


def _xlsx(path: Path, random_: random.Random) -> Path:
    rows = inline_row(1, ["Name", "Text", "Count"])
    rows += "".join(
        inline_row(i, [f"N{i}", _xml(random_, 4), float(i)] if i % 7 else [f"N{i}", None, 1.0])
        for i in range(2, 40)
    )
    other = inline_row(3, [_xml(random_, 30)])
    return make_xlsx(path.with_suffix(".xlsx"), {"Prices & <b>": rows, 'It\'s "x"': other})


def _json(path: Path, random_: random.Random) -> Path:
    value = {
        "title": words(random_, 3),
        "a/b~c <i>": {"x": words(random_, 5), "deep": {"er": "line one\nline two: yes"}},
        "items": [{"name": f"n{i}", "text": words(random_, 4), "count": i} for i in range(30)],
        "list": [words(random_, 3) for _ in range(5)],
        "mixed": [{"name": "one", "parts": [{"k": words(random_, 20)}]}, "half \ud800 a pair", 4],
    }
    return make_text(path.with_suffix(".json"), json.dumps(value))


def _lines(random_: random.Random) -> list[str]:
    return [words(random_, random_.randint(1, 12)) for _ in range(random_.randint(1, 5))]


def _xml(random_: random.Random, count: int) -> str:
    """Words that XML can hold."""
    return words(random_, count).replace("\ufffe", "")


FORMATS: dict[str, Callable[[Path, random.Random], Path]] = {
    "csv": _csv,
    "docx": _docx,
    "html": _html,
    "json": _json,
    "markdown": _markdown,
    "pptx": _pptx,
    "text": _text,
    "xlsx": _xlsx,
}
"""Every format without pages, by name."""


@dataclass
class Element:
    """An element with a `data-start`: where it stands and all its text."""

    tag: str
    start: int
    text: str = ""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass
class Page:
    """A rendition as a browser would read it, without any knowledge of the parse.

    `ids` are all of them in order, `stray` the text outside of bearers and of the title, `tags`
    every tag with its attributes, `ancestors` the tags around each bearer.
    """

    bearers: dict[str, Element] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    stray: str = ""
    title: str = ""
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    ancestors: dict[str, list[str]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    """The nearest `data-place` of each bearer."""

    @property
    def attributes(self) -> set[str]:
        return {name for _, attributes in self.tags for name in attributes}

    def under(self, tag: str) -> list[str]:
        """The texts of the bearers that are, or are in, such an element."""
        return [
            bearer.text
            for name, bearer in self.bearers.items()
            if tag in (bearer.tag, *self.ancestors[name])
        ]


def read_page(rendition: str) -> Page:
    """Read back with the standard library's parser; fails on unbalanced tags."""
    reader = _Reader()
    reader.feed(rendition)
    reader.close()
    assert reader.open == []
    return reader.page


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.bearer: Element | None = None

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.page.tags.append((tag, attributes))
        name = attributes.get("id")
        if name is not None:
            self.page.ids.append(name)
        if tag == "meta":
            return
        self.open.append((tag, attributes))
        start = attributes.get("data-start")
        if start is not None:
            assert self.bearer is None, "a bearer inside a bearer"
            assert name
            self.bearer = self.page.bearers[name] = Element(tag, int(start))
            self.page.ancestors[name] = [tag for tag, _ in self.open[:-1]]
            around = [a["data-place"] for _, a in self.open if a.get("data-place")]
            self.page.places[name] = around[-1] or "" if around else ""

    def handle_endtag(self, tag: str) -> None:
        opened, attributes = self.open.pop()
        assert opened == tag
        if "data-start" in attributes:
            self.bearer = None

    def handle_data(self, data: str) -> None:
        if self.bearer is not None:
            self.bearer.text += data
        elif self.open and self.open[-1][0] == "title":
            self.page.title += data
        else:
            self.page.stray += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data!r}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data!r}")
