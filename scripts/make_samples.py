"""Write the PDF files of `data/samples/`; the other samples are plain text and written by hand.

    python -m scripts.make_samples            write them anew
    python -m scripts.make_samples --check    exit 1 if a committed file says something else

Every company, person, number and rule in them is invented. Several papers resemble one another on
purpose (two delivery notes, neighbouring error codes, close dates), so that only an exact citation
is a right one.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from scripts.paper import Column, Paper, pymupdf

__all__ = ["SAMPLES", "main"]

FOLDER = Path(__file__).resolve().parent.parent / "data" / "samples"

BLUE = (0.1, 0.27, 0.5)
GREEN = (0.07, 0.38, 0.3)
RED = (0.55, 0.14, 0.16)
PALMIER = (
    "14, rue des Orangers - 20250 Casablanca",
    "Tél. 05 22 00 41 12 - contact@palmier-bleu.example",
    "RC 318 442 - IF 40 226 118 - ICE 001 934 220 000 047",
)
LINES = (
    Column(title="Référence", width=104),
    Column(title="Désignation", width=187),
    Column(title="Quantité", width=60, right=True),
    Column(title="P.U. (DH)", width=60, right=True),
    Column(title="Montant (DH)", width=80, right=True),
)


def _palmier(*, title: str, date: str) -> Paper:
    paper = Paper(
        title=title,
        author="Palmier Bleu Distribution",
        date=date,
        accent=BLUE,
        footer="Palmier Bleu Distribution SARL au capital de 400 000 DH - Casablanca",
    )
    paper.letterhead("Palmier Bleu Distribution", PALMIER)
    return paper


def delivery_note_0312() -> Paper:
    """The delivery note whose total the demonstration asks for."""
    paper = _palmier(title="Bon de livraison BL-2026-0312", date="D:20260312080000Z")
    paper.title("Bon de livraison n° BL-2026-0312", under="Casablanca, le 12 mars 2026")
    paper.boxes(
        (
            "LIVRÉ À",
            (
                "Comptoir Tafoukt",
                "Zone industrielle Tassila, lot 38",
                "80650 Agadir",
                "À l'attention de M. Idir Belkadi",
            ),
        ),
        (
            "RÉFÉRENCES",
            (
                "Commande : BC-7781 du 2 mars 2026",
                "Transporteur : Trans-Argan",
                "Véhicule : 48213-A-6",
                "27 palettes, poids brut 4 860 kg",
            ),
        ),
    )
    paper.table(
        LINES,
        (
            ("VT-BOL/SKU98112", "Bol en verre trempé 15 cm", "1 200", "18,50", "22 200,00"),
            ("VT-CAR/SKU98230", "Carafe graduée 1,2 L", "960", "32,00", "30 720,00"),
            ("VT-PLT/SKU98347", "Plat à four ovale 32 cm", "600", "27,30", "16 380,00"),
            ("VT-SAL/SKU98405", "Saladier conique 23 cm", "280", "20,00", "5 600,00"),
            ("VT-BTE/SKU98410", "Boîte hermétique 0,8 L", "200", "40,00", "8 000,00"),
        ),
    )
    paper.total("Total : 3 240 unités - 82 900,00 DH")
    paper.heading("Réserves à la réception")
    paper.paragraph(
        "Deux cartons de carafes ont été ouverts pendant le transport ; le contenu a été compté "
        "devant le chauffeur et se trouve intact. Aucune casse n'est signalée sur les autres "
        "palettes. Les palettes consignées sont à rendre sous 30 jours."
    )
    paper.paragraph("Marchandise reçue le 13 mars 2026 à 9 h 40, quai n° 3.")
    paper.signatures("Le chauffeur", "Le magasinier", "Cachet du client")
    return paper


def delivery_note_0318() -> Paper:
    """A note very like the first one, with other figures."""
    paper = _palmier(title="Bon de livraison BL-2026-0318", date="D:20260318080000Z")
    paper.title("Bon de livraison n° BL-2026-0318", under="Casablanca, le 18 mars 2026")
    paper.boxes(
        (
            "LIVRÉ À",
            (
                "Bazar Ennakhil",
                "212, avenue des Remparts",
                "40000 Marrakech",
                "À l'attention de Mme Safia Ouardi",
            ),
        ),
        (
            "RÉFÉRENCES",
            (
                "Commande : BC-7794 du 9 mars 2026",
                "Transporteur : Messagerie du Haouz",
                "Véhicule : 17604-B-1",
                "19 palettes, poids brut 3 275 kg",
            ),
        ),
    )
    paper.table(
        LINES,
        (
            ("VT-POE/SKU98511", "Poêle en aluminium 24 cm", "1 000", "30,00", "30 000,00"),
            ("VT-FAI/SKU98526", "Faitout inox 5 L", "740", "40,00", "29 600,00"),
            ("VT-COU/SKU98540", "Couscoussier 8 L", "400", "50,00", "20 000,00"),
            ("VT-THE/SKU98552", "Théière ciselée 0,9 L", "200", "48,00", "9 600,00"),
        ),
    )
    paper.total("Total : 2 340 unités - 89 200,00 DH")
    paper.heading("Réserves à la réception")
    paper.paragraph(
        "Une palette de faitouts est arrivée avec un film déchiré ; douze couvercles sont rayés "
        "et seront repris au prochain passage. Un avoir sera établi pour ces douze pièces."
    )
    paper.paragraph("Marchandise reçue le 19 mars 2026 à 14 h 15, quai n° 1.")
    paper.signatures("Le chauffeur", "Le magasinier", "Cachet du client")
    return paper


def invoice_118() -> Paper:
    """The invoice of the first delivery note: net, tax, total and due date."""
    paper = _palmier(title="Facture FA-2026-118", date="D:20260316090000Z")
    paper.title("Facture n° FA-2026-118", under="Casablanca, le 16 mars 2026")
    paper.boxes(
        (
            "FACTURÉ À",
            (
                "Comptoir Tafoukt",
                "Zone industrielle Tassila, lot 38",
                "80650 Agadir",
                "ICE 002 117 560 000 031",
            ),
        ),
        (
            "RÉFÉRENCES",
            (
                "Bon de livraison : BL-2026-0312",
                "Commande : BC-7781",
                "Conditions : 45 jours date de facture",
                "Échéance : 30 avril 2026",
            ),
        ),
    )
    paper.table(
        LINES,
        (
            ("VT-BOL/SKU98112", "Bol en verre trempé 15 cm", "1 200", "18,50", "22 200,00"),
            ("VT-CAR/SKU98230", "Carafe graduée 1,2 L", "960", "32,00", "30 720,00"),
            ("VT-PLT/SKU98347", "Plat à four ovale 32 cm", "600", "27,30", "16 380,00"),
            ("VT-SAL/SKU98405", "Saladier conique 23 cm", "280", "20,00", "5 600,00"),
            ("VT-BTE/SKU98410", "Boîte hermétique 0,8 L", "200", "40,00", "8 000,00"),
        ),
    )
    paper.total(
        "Total hors taxes : 82 900,00 DH",
        "TVA 20 % : 16 580,00 DH",
        "Net à payer : 99 480,00 DH",
    )
    paper.heading("Règlement")
    paper.paragraph(
        "Règlement par virement au plus tard le 30 avril 2026 sur le compte 011 780 0000 "
        "2100 0044 18 ouvert à la Banque du Littoral. Aucun escompte n'est accordé pour paiement "
        "anticipé."
    )
    paper.paragraph(
        "Tout retard de paiement entraîne, sans mise en demeure, une pénalité de 1,5 % par mois "
        "sur le montant restant dû. Les réclamations sont reçues par écrit dans les huit jours."
    )
    return paper


def microwave_manual() -> Paper:
    """Two pages of an appliance manual, with codes that differ by one character."""
    paper = Paper(
        title="MW-104 Microwave Oven - User Manual",
        author="Orvane Home Appliances",
        date="D:20260105090000Z",
        accent=GREEN,
        footer="Orvane MW-104 - User manual, edition 3 - January 2026",
    )
    paper.letterhead(
        "Orvane Home Appliances",
        ("Customer service: +44 20 7946 0104", "Monday to Friday, 9 am to 5 pm", "orvane.example"),
    )
    paper.title("Microwave oven MW-104", under="User manual - keep it near the appliance")
    paper.heading("1. Before first use")
    paper.paragraph(
        "Remove all packing and the film on the control panel. Do not remove the grey mica plate "
        "inside the cavity: it covers the microwave outlet. Stand the oven on a flat surface at "
        "least 85 cm above the floor and leave 10 cm free behind it and 20 cm above it."
    )
    paper.paragraph(
        "Heat a cup of water at full power for two minutes. A slight smell during this first run "
        "is normal and disappears."
    )
    paper.heading("2. Power levels")
    paper.table(
        (
            Column(title="Level", width=90),
            Column(title="Output", width=80, right=True),
            Column(title="Use", width=321),
        ),
        (
            ("High", "800 W", "Boiling water, reheating drinks, cooking vegetables"),
            ("Medium high", "640 W", "Reheating plates, cooking fish"),
            ("Medium", "480 W", "Simmering, cooking eggs and cheese"),
            ("Defrost", "240 W", "Defrosting meat, turn the piece over half way"),
            ("Low", "120 W", "Softening butter, keeping warm for up to 30 minutes"),
        ),
    )
    paper.heading("3. Maintenance")
    paper.paragraph("3.1 Turntable", font="hebo")
    paper.paragraph(
        "Let the glass plate cool before you wash it. Wash the glass plate in warm soapy water or "
        "in the dishwasher. Wipe the roller ring and the floor of the cavity once a week, "
        "otherwise the plate becomes noisy. Never run the oven without the plate."
    )
    paper.paragraph("3.2 Door and seal", font="hebo")
    paper.paragraph(
        "Wipe the door, the window and the seal with a damp cloth every day. Do not use scouring "
        "powder, steel wool or a steam cleaner. If the seal is torn the oven must not be used "
        "until a technician has replaced it."
    )
    paper.paragraph("3.3 Lamp", font="hebo")
    paper.paragraph(
        "The cavity lamp (20 W, base T170) is replaced by the service only. Unplug the oven before "
        "the cover is opened and wait ten minutes: the capacitor keeps its charge."
    )
    paper.heading("4. Error codes")
    paper.paragraph(
        "When a fault is found the oven stops, beeps three times and shows a code. Note the code "
        "before you unplug the oven."
    )
    paper.table(
        (
            Column(title="Code", width=44),
            Column(title="Meaning", width=190),
            Column(title="What to do", width=257),
        ),
        (
            ("E01", "Temperature sensor open", "Call the service; the sensor must be replaced."),
            ("E02", "Temperature sensor shorted", "Unplug for ten minutes. If it returns, call."),
            ("E03", "A key is stuck", "Clean the control panel with a dry cloth and dry it."),
            ("E05", "Cavity too hot", "Open the door and let the oven cool for 20 minutes."),
            (
                "E07",
                "Door switch does not close",
                "Close the door firmly. If E07 returns after three attempts, do not use the oven "
                "and call the service.",
            ),
            ("E08", "Humidity sensor out of range", "Dry the cavity and start again."),
            ("E09", "Magnetron current too low", "Call the service; do not open the casing."),
        ),
    )
    paper.heading("5. Technical data")
    paper.table(
        (Column(title="Item", width=220), Column(title="MW-104", width=271)),
        (
            ("Mains supply", "230 V, 50 Hz, fuse 10 A"),
            ("Rated power input", "1 250 W"),
            ("Microwave output", "800 W"),
            ("Frequency", "2 450 MHz"),
            ("Capacity", "23 litres"),
            ("Turntable diameter", "270 mm"),
            ("Weight", "12.4 kg"),
        ),
    )
    paper.heading("6. Guarantee")
    paper.paragraph(
        "The appliance is guaranteed for two years from the date of purchase, the magnetron for "
        "five years. The glass plate, the lamp and damage from running the oven empty are not "
        "covered. Keep the receipt: without it no repair is free of charge."
    )
    return paper


def records_regulation() -> Paper:
    """A regulation whose articles set different periods for different records."""
    paper = Paper(
        title="Regulation 2026/14 on the keeping of records in the free zone",
        author="Saltmere Port Authority",
        date="D:20251215090000Z",
        accent=RED,
        footer="Saltmere Port Authority - Regulation 2026/14",
    )
    paper.letterhead(
        "Saltmere Port Authority", ("Harbour House, Quay Street", "Saltmere", "port.example")
    )
    paper.title(
        "Regulation 2026/14", under="on the keeping of records by undertakings in the free zone"
    )
    articles = (
        (
            "Article 1 - Subject",
            "This regulation lays down how long undertakings established in the free zone keep "
            "the records of goods that enter, stay in or leave the zone, and how the records are "
            "destroyed.",
        ),
        (
            "Article 2 - Definitions",
            "A delivery note is the paper or electronic document that travels with the goods. A "
            "register is the list of movements kept by the warehouse keeper. A record is either of "
            "these, and any paper attached to it.",
        ),
        (
            "Article 3 - Form",
            "Records may be kept on paper or in electronic form. An electronic copy replaces the "
            "paper when it is complete, legible and sealed with the date on which it was made.",
        ),
        (
            "Article 4 - Delivery notes",
            "Delivery notes shall be kept for two years at most from the day on which the goods "
            "were received. They shall be destroyed within one month of the end of that period, "
            "unless a dispute is pending.",
        ),
        (
            "Article 5 - Registers and invoices",
            "Registers shall be kept for at least five years after the last entry. Invoices shall "
            "be kept for at least ten years from the end of the financial year.",
        ),
        (
            "Article 6 - Temperature logs",
            "Temperature logs of refrigerated warehouses shall be kept for six months. Where a log "
            "shows a rise of more than three degrees, it shall be kept for one year.",
        ),
        (
            "Article 7 - Data on drivers",
            "Names, telephone numbers and vehicle plates of drivers shall be erased 30 days after "
            "the vehicle has left the zone. Video recordings of the gates shall be erased after "
            "15 days.",
        ),
        (
            "Article 8 - Inspection",
            "Records shall be shown to an inspector of the Authority within two working days of a "
            "written request. The inspector may take copies but not originals.",
        ),
        (
            "Article 9 - Penalties",
            "Whoever destroys a record before the end of its period is liable to a fine of up to "
            "4 000 crowns. Whoever keeps data on drivers longer than Article 7 allows is liable to "
            "a fine of up to 9 000 crowns. Fines are doubled for a second breach within three "
            "years.",
        ),
        (
            "Article 10 - Derogations",
            "The Director may, on a reasoned request, extend a period by not more than six months. "
            "No extension is granted for video recordings.",
        ),
        (
            "Article 11 - Transitional provision",
            "Delivery notes received before 1 July 2025 remain under Regulation 2019/3, which set "
            "a period of three years.",
        ),
        (
            "Article 12 - Entry into force",
            "This regulation enters into force on 1 January 2026. It shall be reviewed before "
            "31 December 2029.",
        ),
    )
    for heading, text in articles:
        paper.heading(heading)
        paper.paragraph(text)
    paper.signatures("The Director", "The Registrar")
    return paper


SAMPLES: dict[str, Callable[[], Paper]] = {
    "bon-de-livraison-BL-2026-0312.pdf": delivery_note_0312,
    "bon-de-livraison-BL-2026-0318.pdf": delivery_note_0318,
    "facture-FA-2026-118.pdf": invoice_118,
    "microwave-MW-104-manual.pdf": microwave_manual,
    "regulation-2026-14-records.pdf": records_regulation,
}


def _words(path: Path) -> list[list[tuple[float, float, str]]]:
    """The words of every page and where they stand, in whole points.

    Compared instead of bytes: a compressor of another version packs the same page differently.
    """
    with pymupdf.open(path) as document:
        return [
            [(round(word[0]), round(word[1]), word[4]) for word in page.get_text("words")]
            for page in document
        ]


def main(arguments: list[str]) -> int:
    """Write or check the files; the exit status."""
    if arguments not in ([], ["--check"]):
        print("usage: python -m scripts.make_samples [--check]", file=sys.stderr)
        return 2
    if not arguments:
        for name, make in SAMPLES.items():
            make().save(FOLDER / name)
            print(f"{name}: {(FOLDER / name).stat().st_size / 1024:.1f} kB")
        return 0
    stale = []
    with tempfile.TemporaryDirectory() as folder:
        for name, make in SAMPLES.items():
            fresh = Path(folder) / name
            make().save(fresh)
            if not (FOLDER / name).is_file() or _words(fresh) != _words(FOLDER / name):
                stale.append(name)
    for name in stale:
        print(f"{name} is not what scripts/make_samples.py writes; run it again", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
