"""Which projects there are: a small file beside their states.

```
base/
  projects.json        name and folder of each
  projects/NAME/       the state of each (store/state.py)
```
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag_source.domain.errors import (
    ConfigurationError,
    NotFoundError,
    RequestError,
    StateInUseError,
)
from rag_source.domain.projects import DEFAULT_PROJECT, Project, check_project_name
from rag_source.store.lock import current_holder

__all__ = ["ProjectRegistry"]


class ProjectRegistry:
    """The projects of one base folder; several processes may use it at the same time.

    Args:
        base: The folder; made when the first project is added.
    """

    def __init__(self, base: Path) -> None:
        self._base = base

    @property
    def path(self) -> Path:
        """The file; it changes when a project comes or goes."""
        return self._base / "projects.json"

    def projects(self) -> list[Project]:
        """All of them, by name.

        Raises:
            ConfigurationError: The file is damaged.
        """
        return [self._project(name, folder) for name, folder in sorted(self._read().items())]

    def project(self, name: str) -> Project:
        """The project of that name.

        Raises:
            NotFoundError: There is none.
            ConfigurationError: The file is damaged.
        """
        folder = self._read().get(name)
        if folder is None:
            raise NotFoundError(
                f"there is no project {name[:80]!r}",
                hint="`rag-source projects` lists them, `rag-source projects add` makes one",
            )
        return self._project(name, folder)

    def add(self, name: str, folder: Path) -> Project:
        """Make a project of a folder.

        Raises:
            RequestError: The name or the folder cannot be taken.
            ConfigurationError: The file is damaged or cannot be written.
        """
        check_project_name(name)
        folder = folder.expanduser().absolute()
        self._check_folder(folder)
        with self._changing() as known:
            if name in known:
                raise RequestError(
                    f"there is a project {name!r} already, of {known[name]!r}",
                    code="conflict",
                    hint="choose another name, or remove that one first",
                )
            for other, taken in known.items():
                if Path(taken).resolve() == folder.resolve():
                    raise RequestError(
                        f"the folder {str(folder)!r} is that of the project {other!r}",
                        code="conflict",
                        hint=f"use --project {other}",
                    )
            known[name] = str(folder)
        return self._project(name, str(folder))

    def remove(self, name: str) -> Project:
        """Forget a project and delete its index; its documents stay untouched.

        Raises:
            NotFoundError: There is none of that name.
            StateInUseError: A process works on it.
            ConfigurationError: The file is damaged or cannot be written.
        """
        project = self.project(name)
        holder = current_holder(project.state) if project.state.is_dir() else None
        if holder is not None:
            raise StateInUseError(
                f"the project {name!r} is in use by {holder.purpose!r} (process {holder.pid})",
                hint="remove it through that service, or stop it first",
            )
        with self._changing() as known:
            known.pop(name, None)
        shutil.rmtree(project.state, ignore_errors=True)
        return project

    def _check_folder(self, folder: Path) -> None:
        if not folder.is_dir():
            raise RequestError(
                f"{str(folder)!r} is no folder",
                code="bad_request",
                hint="give the path of the folder that holds the documents",
            )
        base, real = self._base.resolve(), folder.resolve()
        if real.is_relative_to(base) or base.is_relative_to(real):
            raise RequestError(
                f"the folder {str(folder)!r} holds this program's own files, or lies among them",
                code="bad_request",
                hint="keep documents and index apart: set RAG_SOURCE_STATE_DIR elsewhere",
            )

    def _project(self, name: str, folder: str) -> Project:
        return Project(name=name, folder=Path(folder), state=self._base / "projects" / name)

    def _read(self) -> dict[str, str]:
        try:
            value = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise self._damaged(str(error)) from error
        folders = value.get("projects") if isinstance(value, dict) else None
        if not isinstance(folders, dict) or not all(
            isinstance(folder, str) and name != DEFAULT_PROJECT for name, folder in folders.items()
        ):
            raise self._damaged("it is not a list of projects")
        return dict(folders)

    @contextmanager
    def _changing(self) -> Iterator[dict[str, str]]:
        """The projects to be changed; written back in one step, one process at a time."""
        try:
            self._base.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._base / "projects.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise ConfigurationError(
                f"the list of projects cannot be written: {error.strerror}",
                hint="set RAG_SOURCE_STATE_DIR to a folder that you may write",
                code="state_unwritable",
            ) from error
        with os.fdopen(descriptor, "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = self._read()
            yield known
            temporary = self.path.with_name("projects.json.new")
            temporary.write_text(
                json.dumps({"projects": known}, ensure_ascii=False, indent=2) + "\n",
                encoding="utf-8",
            )
            temporary.replace(self.path)

    def _damaged(self, reason: str) -> ConfigurationError:
        return ConfigurationError(
            f"the list of projects {str(self.path)!r} is damaged: {reason}",
            hint="mend the file, or move it away and add the projects again",
        )
