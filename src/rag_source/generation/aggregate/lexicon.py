"""Words of business tables in three languages, and the words a question is asked with.

A *concept* is one name for what French, English and Arabic call a column or a kind of document:
`quantity` for `Qté`, `Quantity` and `الكمية`. So one question reads tables of three languages.
The list holds common words of trade and administration; a word that is not in it stands for itself.
"""

from __future__ import annotations

from functools import lru_cache

from rag_source.domain.folding import fold
from rag_source.generation.terms import STOP_WORDS, stem
from rag_source.generation.words import word_key

__all__ = [
    "FLOWS",
    "IDENTIFYING",
    "IGNORED",
    "MEASURES",
    "PIECES",
    "ROWS",
    "SOFT",
    "base",
    "concept",
    "is_arabic",
]

_CONCEPTS = {
    "quantity": "quantity quantities qty qte quantité quantités كمية كميات",
    "price": "price prices priced cost costs prix tarif tarifs coût coûts coûte coûtent ثمن سعر "
    "أسعار اسعار اثمان يكلف تكلفة",
    "unit": "unit unitary unitaire unitaires وحدة",
    "amount": "amount amounts montant montants mt mnt مبلغ مبالغ",
    "value": "value values valeur valeurs قيمة",
    "weight": "weight weights weigh weighs poids pèse pèsent وزن أوزان يزن",
    "gross": "gross brut bruts",
    "net": "net nets nett صافي صاف",
    "pallet": "pallet pallets palette palettes منصة منصات طبلية طبليات",
    "box": "box boxes carton cartons caisse caisses صندوق صناديق كرتون",
    "reference": "reference references ref refs référence références réf réfs code codes sku مرجع "
    "مراجع رمز رموز",
    "description": "description descriptions designation désignation désignations libellé libellés "
    "item items article articles product products produit produits صنف أصناف اصناف منتج منتجات "
    "بضاعة بيان مادة مواد",
    "supplier": "supplier suppliers vendor vendors fournisseur fournisseurs مورد موردين موردون",
    "customer": "customer customers client clients buyer buyers acheteur زبون زبناء زبائن عميل "
    "عملاء",
    "warehouse": "warehouse warehouses depot depots dépôt dépôts entrepôt entrepôts مستودع "
    "مستودعات مخزن مخازن",
    "stock": "stock stocks inventory inventories مخزون",
    "delivery": "delivery deliveries delivered livraison livraisons livré livrée livrés livrées "
    "تسليم تسليمات مسلم مسلمة توصيل سلمت",
    "note": "note notes slip slips bon bons bordereau bordereaux إذن اذن أذون وصل وصولات سند سندات",
    "invoice": "invoice invoices invoiced facture factures facturé facturée facturés facturées "
    "فاتورة فواتير",
    "order": "order orders ordered commande commandes commandé commandée commandés commandées "
    "طلبية طلبيات طلب طلبات",
    "list": "list lists listing liste listes قائمة لائحة",
    "quote": "quote quotes quotation quotations devis",
    "category": "category categories catégorie catégories famille familles family families فئة "
    "فئات",
    "country": "country countries pays بلد بلدان دولة دول",
    "city": "city cities town towns ville villes مدينة مدن",
    "region": "region regions région régions منطقة مناطق جهة",
    "department": "department departments service services département قسم أقسام",
    "employee": "employee employees employé employés salarié salariés موظف موظفين",
    "salary": "salary salaries wage wages salaire salaires راتب رواتب أجر اجور",
    "currency": "currency currencies devise devises monnaie عملة عملات",
    "date": "date dates تاريخ",
    "month": "month months mois شهر أشهر",
    "year": "year years an ans année années سنة سنوات عام",
    "day": "day days jour jours يوم أيام",
    "threshold": "threshold thresholds seuil seuils عتبة حد",
    "discount": "discount discounts remise remises rabais خصم تخفيض",
    "tax": "tax taxes vat tva taxe ضريبة ضرائب",
    "expense": "expense expenses dépense dépenses مصروف مصاريف نفقات",
    "sale": "sale sales sold vente ventes vendu vendue vendus vendues مبيعات بيع",
    "purchase": "purchase purchases bought achat achats مشتريات شراء",
    "project": "project projects projet projets مشروع مشاريع",
    "hour": "hour hours heure heures ساعة ساعات",
}

_MEASURES = "quantity price amount value weight salary sale purchase expense stock".split()
MEASURES = frozenset(_MEASURES)
"""Concepts whose column is meant even by a question that leaves out its other words."""
IDENTIFYING = frozenset({"reference", "description"})
"""Concepts of the columns that say what a row is about."""

FLOWS = frozenset("delivery invoice order sale purchase expense".split())
"""Concepts of documents that record what happened: each counts, though it names the same things."""


def is_arabic(key: str) -> bool:
    """Whether a word key is Arabic."""
    return bool(key) and "\u0600" <= key[0] <= "\u06ff"


@lru_cache(maxsize=16384)
def base(key: str) -> str:
    """A word key without its plural, never cut short: two words of one base are one word."""
    if is_arabic(key):
        return stem(key)
    if len(key) <= 3 or key[-1] not in "sx":
        return key
    if key.endswith(("ss", "us", "is")):
        return key
    if key.endswith("ies"):
        return f"{key[:-3]}y"
    if key.endswith(("ches", "shes", "xes", "sses")):
        return key[:-2]
    if key.endswith("aux") and not key.endswith("eaux"):
        return f"{key[:-2]}l"
    return key[:-1]


def _bases(words: str) -> frozenset[str]:
    return frozenset(base(fold(word_key(word)).text) for word in words.split())


_CONCEPT_OF = {form: name for name, words in _CONCEPTS.items() for form in _bases(words)}


@lru_cache(maxsize=16384)
def concept(key: str) -> str:
    """The concept of a word key; its base where it has none."""
    found = _CONCEPT_OF.get(base(key))
    if found is None and is_arabic(key) and key[0] in "وفبلك" and len(key) > 4:
        found = _CONCEPT_OF.get(base(key[1:]))
    return found or base(key)


ROWS = _bases(
    "row rows line lines entry entries record records ligne lignes enregistrement enregistrements "
    "entrée entrées سطر أسطر اسطر صف صفوف"
)
"""What a table's rows are called whatever they hold."""
PIECES = _bases("unit units piece pieces pcs unité unités pièce pièces وحدة وحدات قطعة قطع")
"""What a quantity counts where it does not say what."""
SOFT = _bases(
    "list lists liste listes table tables tableau tableaux sheet sheets feuille feuilles document "
    "documents doc docs file files fichier fichiers catalogue catalog corpus dossier folder data "
    "données قائمة لائحة جدول جداول وثيقة وثائق ملف ملفات مستند مستندات"
)
"""What a document is called whatever it is; may stand in a question that means any."""

_ASKING = (
    "what whats is are the give show tell compute calculate find please could can you me us i want "
    "need know would like get let determine work out there do does did we our have has had in of "
    "donne donner donnez calcule calculer calculez affiche affichez montre dis dites indique "
    "indiquez peux tu pouvez vous moi nous veux voudrais connaître savoir avons avez ai "
    "stp svp plaît il faut quel quelle quels quelles est sont y t a "
    "أعطني احسب أحسب اعطني اريد أريد من فضلك كم ما هو هي ماهو ماهي لدينا لدي يوجد توجد هناك "
    "all every tous toutes tout toute ensemble chaque each both كل جميع كافة "
    "number nombre numbers count عدد "
    "listed contained included contient contiennent contain contains figurant figurent stated "
    "mentionné mentionnée mentionnés mentionnées indiqué indiquée indiqués indiquées "
    "المذكورة المذكور الموجودة الموجود الواردة الوارد "
    "en together across over among within through "
    "parmi sur dans"
)
IGNORED = frozenset(STOP_WORDS) | frozenset(fold(word_key(word)).text for word in _ASKING.split())
"""Word keys that say nothing of what is computed."""
