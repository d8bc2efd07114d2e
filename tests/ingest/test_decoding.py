"""Encodings found, binary refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_source.domain.errors import SourceError
from rag_source.ingest.decoding import decode, read_bytes

ARABIC = "المنتج;السعر;الكمية\nتفاح أحمر;12,50;3\nبرتقال;7;10\n"
FRENCH = "Désignation;Prix\n“Café moulu” d’été;12,50 €\nPâté de Noël;7\n"
CHINESE = "产品;价格;数量\n红苹果;12.5;3\n橙子汁;7;10\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        pytest.param(FRENCH, "utf-8", id="utf-8"),
        pytest.param(FRENCH, "utf-16-le", id="utf-16-le"),
        pytest.param(ARABIC, "utf-16-be", id="arabic-utf-16-be"),
        pytest.param(FRENCH, "utf-32-le", id="utf-32-le"),
    ],
)
def test_byte_order_mark_decides_and_is_no_part_of_the_text(text: str, encoding: str) -> None:
    assert decode(("\ufeff" + text).encode(encoding), name="a.csv").text == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        pytest.param(FRENCH, "utf-8", id="french-utf-8"),
        pytest.param(FRENCH, "cp1252", id="french-cp1252"),
        pytest.param("DÉSIGNATION;QUANTITÉ\nÀ L’ÉTÉ\n", "cp1252", id="capitals-cp1252"),
        pytest.param(ARABIC, "cp1256", id="arabic-cp1256"),
        pytest.param(CHINESE, "gb18030", id="chinese-gb18030"),
        pytest.param("合同编号：4711，货物已送达。\n", "gb18030", id="chinese-sentence"),
        pytest.param("產品;價格\n蘋果汁;12\n", "big5", id="chinese-big5"),
        pytest.param("품목;단가;수량\n볼트;12;3\n너트;7;10\n", "euc_kr", id="korean-euc-kr"),
        pytest.param("주문 번호 4711, 배송을 완료했습니다.\n", "euc_kr", id="korean-sentence"),
        pytest.param("gvim에서 Window를 쓸 수 없습니다\n", "euc_kr", id="korean-and-latin"),
        pytest.param("製品,価格\n高橋,名古屋\n", "cp932", id="japanese-cp932"),
        pytest.param("Товар;Цена\nЯблоко;12\n", "cp1251", id="russian-cp1251"),
        pytest.param(FRENCH, "utf-16-le", id="french-utf-16-le"),
        pytest.param(ARABIC, "utf-16-le", id="arabic-utf-16-le"),
    ],
)
def test_undeclared_encoding_is_read_right_from_three_rows(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), name="a.csv").text == text


def test_declared_latin_1_means_windows_1252() -> None:
    data = "prix “net” 5 €".encode("cp1252")

    assert decode(data, name="a.html", declared="iso-8859-1").text == "prix “net” 5 €"


def test_declared_utf_16_on_ascii_bytes_is_utf_8() -> None:
    assert decode(b"plain page", name="a.html", declared="utf-16").text == "plain page"


def test_wrong_declaration_of_utf_8_gives_way_to_the_bytes() -> None:
    text = "اللغة العربية هي واحدة من أكثر اللغات انتشارا"

    assert decode(text.encode("cp1256"), name="a.html", declared="utf-8").text == text


def test_declaration_decides_where_the_bytes_do_not() -> None:
    data = "Łódź".encode("iso8859-2")

    assert decode(data, name="a.html", declared="iso-8859-2").text == "Łódź"


def test_lines_of_two_encodings_are_each_read_right() -> None:
    data = "déjà vu\nété\n".encode() + "façade\n".encode("cp1252")

    decoded = decode(data, name="a.txt")

    assert decoded.text == "déjà vu\nété\nfaçade\n"
    assert decoded.repaired


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(bytes(range(256)) * 4, id="all-bytes"),
        pytest.param(b"\x00\x01\x02\x03" * 300, id="controls"),
        pytest.param(b"%PDF-1.7\nrest", id="pdf"),
        pytest.param(b"PK\x03\x04rest of a zip", id="zip"),
        pytest.param(b"\x89PNG\r\n\x1a\nrest", id="png"),
    ],
)
def test_binary_content_is_refused_as_unsupported(data: bytes) -> None:
    with pytest.raises(SourceError, match=r"'a\.txt'") as caught:
        decode(data, name="a.txt")
    assert caught.value.code == "unsupported"


def test_empty_file_is_refused_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.touch()

    with pytest.raises(SourceError) as caught:
        read_bytes(path)
    assert caught.value.code == "empty"


def test_file_that_cannot_be_opened_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        read_bytes(tmp_path)
    assert caught.value.code == "unreadable"
