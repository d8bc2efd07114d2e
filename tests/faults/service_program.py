"""`rag-source` itself, with a stand-in for the model servers: the program that the tests kill.

    python service_program.py URL READ_S up --port 0

Everything but the models is what users run: command line, catalogue, queue, spool, vector engine,
parser processes, watch of the folder, API.
"""

from __future__ import annotations

import sys
from unittest.mock import patch

from faults.stand_in import open_stand_ins
from rag_source import wiring
from rag_source.application import Application
from rag_source.cli import main as cli

__all__ = ["main"]


def main() -> None:
    """Run a command of `rag-source`; its own arguments follow the two of this program."""
    url, read_s = sys.argv[1:3]
    sys.argv = ["rag-source", *sys.argv[3:]]
    with (
        patch.object(wiring, "open_models", open_stand_ins(url, read_s=float(read_s))),
        # No model file is there, and none is needed.
        patch.object(Application, "check_models", lambda self: None),
    ):
        cli()


if __name__ == "__main__":
    main()
