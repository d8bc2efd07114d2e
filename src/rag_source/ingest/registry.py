"""Which loader reads which file. Adding a format is adding a module under `ingest/loaders/`."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from importlib import import_module
from pathlib import PurePath

import rag_source.ingest.loaders as loaders_package
from rag_source.domain.ports import DocumentLoader
from rag_source.ingest.loader_tools import LoaderTools, ToolUser

__all__ = ["LoaderRegistry", "discover_loaders"]


def discover_loaders() -> tuple[DocumentLoader, ...]:
    """The object named `loader` of each module of the loaders package, by module name.

    Raises:
        TypeError: A module there has no `loader`.
    """
    found: list[DocumentLoader] = []
    for module_info in pkgutil.iter_modules(loaders_package.__path__):
        module = import_module(f"{loaders_package.__name__}.{module_info.name}")
        loader = getattr(module, "loader", None)
        if loader is None:
            raise TypeError(f"{module.__name__!r} has no object named 'loader'")
        found.append(loader)
    return tuple(found)


class LoaderRegistry:
    """Maps suffixes to loaders.

    Args:
        loaders: Those to use; by default all that the package holds.
        tools: For the loaders that want them; by default those of the default policies.

    Raises:
        ValueError: Two loaders claim one suffix.
    """

    def __init__(
        self, loaders: Iterable[DocumentLoader] | None = None, *, tools: LoaderTools | None = None
    ) -> None:
        self._by_suffix: dict[str, DocumentLoader] = {}
        for found in discover_loaders() if loaders is None else loaders:
            # Without tools given, a loader has those of the default policies already.
            loader = found.with_tools(tools) if tools and isinstance(found, ToolUser) else found
            for suffix in loader.suffixes:
                other = self._by_suffix.setdefault(suffix, loader)
                if other is not loader:
                    raise ValueError(f"{loader.name!r} and {other.name!r} both claim {suffix!r}")

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Every known suffix, sorted."""
        return tuple(sorted(self._by_suffix))

    def loader_for(self, path: str | PurePath) -> DocumentLoader | None:
        """The loader of the file's suffix, whatever its case; None for an unknown format."""
        return self._by_suffix.get(PurePath(path).suffix.lower())
