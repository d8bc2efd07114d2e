"""When a page is to be read by OCR, what becomes of the result, and what the user is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_source.domain.errors import SourceError
from rag_source.domain.ports import DocumentLoader
from rag_source.ingest.builder import DocumentBuilder
from rag_source.ingest.frames import Frame
from rag_source.ingest.layout import Fragment
from rag_source.ingest.loader_tools import LoaderTools
from rag_source.ingest.ocr import OcrEngine, OcrPage
from rag_source.ingest.ocr_fragments import ocr_fragments
from rag_source.ingest.page_spool import SpooledPages
from rag_source.ingest.page_texts import PageText, listed

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Box", "PageRecogniser"]

Box = tuple[float, float, float, float]

# Read the right way up, printed pages have a mean of 85 to 96; below this some words are wrong.
_UNSURE = 75.0
# What replaces a text layer must be surer than that, and not lose half of the page.
_LEAST_SHARE = 0.5


@dataclass(slots=True)
class PageRecogniser:
    """Reads the pages of one file that need it and remembers what happened to them.

    A failure costs its page: the others are kept. Pages that are in `spool`, made by the loader
    that `made_by` names, are not recognised again.
    """

    engine: OcrEngine
    spool: SpooledPages | None = None
    made_by: str = ""
    _failed: dict[int, SourceError] = field(default_factory=dict)
    _off: list[int] = field(default_factory=list)
    _unread: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, tools: LoaderTools, loader: DocumentLoader, data: bytes) -> PageRecogniser:
        """For the file of these bytes, as a loader with these tools reads it."""
        folder = tools.page_spool
        spool = SpooledPages(folder, data) if folder is not None else None
        return cls(tools.ocr, spool, f"{loader.name}:{loader.version}")

    def wants(self, page: PageText, *, mostly_picture: bool) -> bool:
        """Whether the page should be rendered and read.

        Args:
            page: As its text layer has it.
            mostly_picture: A picture covers most of it and the text is a stamp or a label at most.
        """
        if self.engine.policy.mode == "force":
            return True
        needed = not page.frames or page.damaged or mostly_picture
        if needed and self.engine.policy.mode == "off":
            self._off.append(page.number)
        return needed and self.engine.policy.mode == "auto"

    def read(
        self,
        page: PageText,
        picture: Callable[[], Image.Image],
        *,
        dpi: float,
        place: Callable[[Box], Box] = lambda box: box,
    ) -> PageText:
        """The page with what its picture says, or as it was if that is no better.

        Args:
            page: As its text layer has it.
            picture: Gives the page as a viewer shows it; not called if it has been read before.
            dpi: Of the picture.
            place: From points of the shown page to points of the unrotated page.
        """
        try:
            seen = self._seen(page, picture, dpi)
        except SourceError as error:
            self._failed[page.number] = error
            return page
        if not seen.words or (page.frames and not self._is_better(page, seen)):
            if page.frames:
                self._unread.append(page.number)
            return page
        fragments = tuple(_placed(fragment, place) for fragment in ocr_fragments(seen))
        frame = Frame(0, seen.width, seen.height)
        return replace(
            page,
            frames=((frame, fragments),),
            glyphs=False,
            damaged=False,
            recognised=seen.confidence,
        )

    def _seen(self, page: PageText, picture: Callable[[], Image.Image], dpi: float) -> OcrPage:
        """What is read on a page, from the spool if it was paid for before."""
        # Where there is a text layer, the page is shown the way its text runs.
        upright = page.damaged
        if self.spool is None:
            with self.engine.page():
                return self.engine.recognise(picture(), dpi=dpi, upright=upright)
        recipe = f"{self.engine.recipe()} {self.made_by} {dpi!r} {upright}"
        seen = self.spool.get(page.number, recipe)
        if seen is None:
            with self.engine.page():
                seen = self.engine.recognise(picture(), dpi=dpi, upright=upright)
            self.spool.keep(page.number, recipe, seen)
        return seen

    def check(self, name: str, pages: Sequence[PageText]) -> None:
        """Refuse a file without a word.

        Raises:
            SourceError: `no_text`, or the reason why its pages could not be read.
        """
        if any(page.frames for page in pages):
            return
        for error in self._failed.values():
            raise SourceError(
                f"{name!r} holds only pictures of pages, and {_lowered(error.message)}",
                code=error.code,
                hint=error.hint,
            )
        what = f"{name!r} has no text on any of its {len(pages)} pages"
        if self._off:
            raise SourceError(
                f"{what}, and OCR is off",
                code="no_text",
                hint="It is probably a scan: set RAG_SOURCE_OCR_MODE=auto to read it by OCR.",
            )
        raise SourceError(
            what,
            code="no_text",
            hint="OCR found no words either: scan it again, sharper and at 300 dpi.",
        )

    def warn(self, builder: DocumentBuilder, pages: Sequence[PageText]) -> None:
        """Say which pages were recognised, how surely, and which were not."""
        recognised = [page.number for page in pages if page.recognised is not None]
        if recognised:
            builder.warn("ocr_pages", f"These pages were read by OCR: {listed(recognised)}.")
        unsure = [p.number for p in pages if p.recognised is not None and p.recognised < _UNSURE]
        if unsure:
            builder.warn(
                "ocr_low_confidence",
                f"OCR is not sure of these pages, words may be wrong: {listed(unsure)}. "
                "A sharper scan or other RAG_SOURCE_OCR_LANGUAGES may help.",
            )
        if self._unread:
            builder.warn(
                "ocr_low_confidence",
                "OCR made no better sense of these pages than the text that was in the file: "
                f"{listed(self._unread)}.",
            )
        labelled = [p.number for p in pages if p.number in self._off and p.frames and not p.damaged]
        if labelled:
            builder.warn(
                "ocr_off",
                f"These pages are pictures, of which only a label was read: {listed(labelled)}. "
                "Set RAG_SOURCE_OCR_MODE=auto to read them by OCR.",
            )
        for code, (numbers, error) in self._failures().items():
            # `ocr_unavailable` says so itself; other codes must not read as the whole file's.
            name = code if code.startswith("ocr_") else f"ocr_{code}"
            builder.warn(
                name, f"These pages were not read: {listed(numbers)}. {error.message}. {error.hint}"
            )

    def _failures(self) -> dict[str, tuple[list[int], SourceError]]:
        grouped: dict[str, tuple[list[int], SourceError]] = {}
        for number, error in self._failed.items():
            grouped.setdefault(error.code, ([], error))[0].append(number)
        return grouped

    def _is_better(self, page: PageText, seen: OcrPage) -> bool:
        layer = sum(len(f.text) for _, fragments in page.frames for f in fragments)
        read = sum(len(word.text) for word in seen.words)
        if self.engine.policy.mode == "force":
            return read >= _LEAST_SHARE * layer
        return seen.confidence >= _UNSURE and read >= _LEAST_SHARE * layer


def _placed(fragment: Fragment, place: Callable[[Box], Box]) -> Fragment:
    items = tuple(replace(item, source=place(item.source)) for item in fragment.items)
    return replace(fragment, items=items)


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:] if not message.startswith("Tesseract") else message
