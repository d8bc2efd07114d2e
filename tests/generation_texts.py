"""For tests of generation: chunks of short texts, cut into lines as the chunker cuts them."""

from __future__ import annotations

from rag_source.domain.chunks import Chunk, Segment, TextRange
from rag_source.domain.languages import detect_language
from rag_source.domain.sentences import split_sentences
from rag_source.generation.shelf import Passage, Shelf, shelve

DELIVERY = """Bon de livraison n° BL-2024-118
Date : 14 mars 2024
Client : Atelier Benali, Casablanca
Désignation | Quantité | Prix unitaire | Montant
Carrelage grès 30x30 | 2 400 unités | 25,00 DH | 60 000,00 DH
Plinthe 8x30 | 840 unités | 27,26 DH | 22 900,00 DH
Total : 3 240 unités - 82 900,00 DH
Livraison effectuée par Transports Rahal, camion 4471-B-6."""

ERRORS = """Codes d'erreur du four MW-104
E05 : sonde de température défectueuse. Contacter le service après-vente.
E07 : porte mal fermée. Fermer la porte puis appuyer sur Stop pendant trois secondes.
E09 : surchauffe du magnétron. Laisser refroidir trente minutes avant de relancer.
Ne jamais faire fonctionner l'appareil à vide."""

PRICES = """référence | désignation | code | prix unitaire EUR | conditionnement
40564101 | Projecteur LED 50 W | VT-COB/SKU98496 | 6.00 | 10
40564102 | Projecteur LED 100 W | VT-COB/SKU98497 | 11.40 | 5
40564110 | Ruban LED 5 m | VT-STR/SKU77120 | 8.25 | 20"""

WARRANTY = (
    "La garantie est de 24 mois à compter de la livraison, hors pièces d'usure et sauf mention "
    "contraire. Le client doit signaler tout défaut par écrit dans les dix jours."
)

CONTRACTS = (
    "La période d'essai des contrats à durée déterminée ne peut dépasser un mois lorsque le "
    "contrat est conclu pour une durée supérieure à six mois."
)

PUMP = (
    "The P-220 pump must be serviced every 500 operating hours or once a year, whichever comes "
    "first. Operating voltage 230 V AC, 50 Hz; do not connect to 110 V supplies."
)

INVOICE = (
    "Invoice INV-2024-0871 is due within 45 days; late payment bears interest at 1.5% per month. "
    "Net weight 12.5 kg, gross weight 14.0 kg. Delivered by Northline Freight on 3 June 2024 to "
    "the Leeds warehouse."
)

ARABIC_DELIVERY = (
    "إذن تسليم رقم 4412 بتاريخ 12 مارس 2024. المبلغ الإجمالي ٨٢٩٠٠ درهم يدفع خلال 30 يوما من تاريخ "
    "الفاتورة. سلمت البضاعة بواسطة السائق كريم العلوي."
)

ARABIC_WARRANTY = (
    "مدة الضمان 24 شهرا ولا يشمل قطع الغيار المستهلكة. يجب على الزبون الإبلاغ عن أي عيب كتابيا "
    "خلال عشرة أيام."
)


def make_chunk(
    text: str,
    *,
    path: str = "notes/a.md",
    section: tuple[str, ...] = (),
    chunk_id: str = "",
    document_start: int = 0,
) -> Chunk:
    """A chunk that is one stretch of its document's text."""
    lines: list[TextRange] = []
    offset = 0
    for line in text.split("\n"):
        ranges = (
            [TextRange(start=0, end=len(line))] if "|" in line and line else split_sentences(line)
        )
        lines += [TextRange(start=r.start + offset, end=r.end + offset) for r in ranges]
        offset += len(line) + 1
    return Chunk(
        chunk_id=chunk_id or path,
        doc_id=path,
        path=path,
        ordinal=0,
        text=text,
        segments=(Segment(start=0, end=len(text), document_start=document_start),),
        sentences=tuple(lines),
        block_id="b1",
        section=section,
        language=detect_language(text),
    )


def make_shelf(*texts: str, question: str = "") -> Shelf:
    """Passages 1, 2 … of these texts."""
    return shelve(
        [Passage(marker=i, chunk=make_chunk(text)) for i, text in enumerate(texts, start=1)],
        question=question,
    )
