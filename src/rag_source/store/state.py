"""The state directory: what lies where, its corpus, the token.

```
state/
  lock            held by the one process that has the state open; says where it answers
  corpus.json     the folder of documents this state was made from
  api-token       the generated bearer token, readable by its owner only
  sessions.json   the browsers that are let in (store/sessions.py)
  catalogue.db    documents and parses (store/catalogue.py)
  vectors/        the engine's collection (store/edge.py)
  vectors-…/      one made later, for another embedding model (store/collections.py)
  spool/pages/    pages of unfinished files that OCR has read (ingest/page_spool.py)
```
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from rag_source.domain.errors import ConfigurationError
from rag_source.store.room import unwritable

__all__ = ["StateDirectory"]

_TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class StateDirectory:
    """Paths and small files of one state directory."""

    path: Path

    @property
    def catalogue(self) -> Path:
        return self.path / "catalogue.db"

    @property
    def sessions(self) -> Path:
        return self.path / "sessions.json"

    @property
    def pages(self) -> Path:
        """Made when the first page is kept."""
        return self.path / "spool" / "pages"

    def prepare(self) -> None:
        """Create the directory, private to its owner.

        Raises:
            ConfigurationError: It cannot be created or written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise ConfigurationError(
                f"the state directory {str(self.path)!r} cannot be created: {error.strerror}",
                hint="set RAG_SOURCE_STATE_DIR to a folder that you may write",
                code="state_unwritable",
            ) from error
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise ConfigurationError(
                f"the state directory {str(self.path)!r} is read-only",
                hint="set RAG_SOURCE_STATE_DIR to a folder that you may write",
                code="state_unwritable",
            )

    def bind_corpus(self, root: Path) -> None:
        """Remember which folder this state belongs to; a folder that moved takes its state along.

        Raises:
            ConfigurationError: The state was made from another folder that is still there:
                indexing this one would silently drop that one's documents.
        """
        known = self.corpus()
        if known == root:
            return
        if known is not None and known.is_dir() and not _same_folder(known, root):
            raise ConfigurationError(
                f"the state {str(self.path)!r} belongs to the folder {str(known)!r}",
                hint=f"give {str(root)!r} a state of its own with RAG_SOURCE_STATE_DIR",
                code="state_of_another_corpus",
            )
        _write_private(self.path / "corpus.json", json.dumps({"root": str(root)}))

    def corpus(self) -> Path | None:
        """The folder this state was made from, if any was indexed."""
        value = _read_json(self.path / "corpus.json").get("root")
        return Path(value) if isinstance(value, str) else None

    def token(self) -> str:
        """The generated token, empty if there is none yet."""
        try:
            return (self.path / "api-token").read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return ""

    def keep_token(self, token: str) -> None:
        """Make this the token, so that commands on this state find the service that has it."""
        if self.token() != token:
            _write_private(self.path / "api-token", token + "\n")

    def make_token(self) -> str:
        """The generated token, made at first use."""
        token = self.token()
        if not token:
            token = secrets.token_urlsafe(_TOKEN_BYTES)
            _write_private(self.path / "api-token", token + "\n")
        return token


def _same_folder(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:
        return False


def _read_json(path: Path) -> dict[str, object]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _write_private(path: Path, text: str) -> None:
    """Write a file in one step, readable by its owner only."""
    temporary = path.with_name(path.name + ".new")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        temporary.replace(path)
    except OSError as error:
        raise unwritable(path.parent, error) from error
