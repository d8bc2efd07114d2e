"""The answer model's process: llama.cpp's HTTP server on a loopback port.

Started by `supervisor.py`; speaks nothing but llama.cpp's own contract.
"""

from __future__ import annotations

import argparse
import os
import threading
from pathlib import Path
from urllib.parse import urlsplit

from rag_source.runtime.child import announce_port, take_orders

__all__ = ["main"]

_CACHE_RAM_MIB = 256
"""Prompts kept for reuse beyond the slot's own; llama.cpp's default of 8 GiB is a whole machine."""


_SPIN_COUNT = "2000"


def main(argv: list[str] | None = None) -> None:
    """Serve until the parent ends."""
    parser = argparse.ArgumentParser(prog="llm_server")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--alias", default="")
    parser.add_argument("--context-tokens", type=int, default=4096)
    parser.add_argument("--threads", type=int, default=0, help="0: one for each core")
    arguments = parser.parse_args(argv)
    orders = take_orders()
    # Read by the OpenMP runtime when it is loaded. Its threads otherwise spin for milliseconds at
    # every barrier, and on a busy machine wait for a thread that waits for their core: 2 threads
    # on 2 cores with a load of nine made 0.2 tokens/s with the default and 2.3 with this.
    os.putenv("GOMP_SPINCOUNT", _SPIN_COUNT)
    # 100 MB of native code that only this process needs.
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(arguments.model)
    params.model_alias = {arguments.alias or arguments.model.stem}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [orders["api_key"]]
    params.n_ctx = arguments.context_tokens
    params.n_parallel = 1
    params.cache_ram_mib = _CACHE_RAM_MIB
    threads = arguments.threads or os.cpu_count() or 1
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.endpoint_slots = True
    params.ui = False
    params.offline = True
    params.warmup = True
    params.verbosity = 0
    # No browser page has business here; by default llama.cpp reflects any origin.
    params.cors_origins = "http://127.0.0.1"
    params.cors_credentials = False
    server = xllamacpp.Server(params)
    announce_port(urlsplit(server.listening_address).port or 0)
    threading.Event().wait()


if __name__ == "__main__":
    main()
