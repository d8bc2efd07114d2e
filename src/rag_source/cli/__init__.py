"""The command line: parses, calls one coroutine, prints. Data on stdout, all else on stderr.

Commands import what they need when they run: `--help` must not pay for FastAPI, the engine and
the model clients.
"""

from rag_source.cli.app import app, main

__all__ = ["app", "main"]
