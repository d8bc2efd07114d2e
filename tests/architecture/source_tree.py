"""What the checkout holds, for the tests in this folder."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "rag_source"


def project_files() -> list[Path]:
    """Every file that is in git or would be added to it."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = (ROOT / name for name in listing.split("\0") if name)
    return [path for path in paths if path.is_file()]


def python_files() -> list[Path]:
    """Every Python file of the project."""
    return [path for path in project_files() if path.suffix == ".py"]


def tree_of(path: Path) -> ast.Module:
    """Its syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def name_of(path: Path) -> str:
    """The path as a test id."""
    return path.relative_to(ROOT).as_posix()
