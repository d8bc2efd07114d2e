"""What every child process does first: take its orders, and end when its parent does.

The parent sends one JSON line on stdin and keeps the pipe open: the key is then neither on the
command line nor in the environment, which other programs may read, and the pipe's end tells the
child that its parent is gone, even by kill -9. The child answers one JSON line on stdout with the
port that it listens on.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import threading
from typing import Any

__all__ = ["Orders", "announce_port", "take_orders"]

_PR_SET_PDEATHSIG = 1
_stdout = -1

Orders = dict[str, Any]
"""`api_key`, `parent` (its process id) and whatever the child's program needs."""


def take_orders() -> Orders:
    """Read the orders, and from now on live no longer than the parent.

    Anything that a library prints to stdout goes to stderr from here on.
    """
    global _stdout
    # Ctrl+C reaches the whole group of processes; the parent decides when its children end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _stdout = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    line = sys.stdin.buffer.readline()
    if not line:
        os._exit(0)
    orders: Orders = json.loads(line)
    _die_with_parent(orders["parent"])
    threading.Thread(target=_exit_at_end_of_stdin, name="parent-watch", daemon=True).start()
    return orders


def announce_port(port: int) -> None:
    """Tell the parent where this child listens."""
    os.write(_stdout, json.dumps({"port": port}).encode("ascii") + b"\n")


def _die_with_parent(parent: int) -> None:
    """On Linux the kernel kills the child at once, even while native code holds the interpreter."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have died before the kernel was asked.
    if os.getppid() != parent:
        os._exit(0)


def _exit_at_end_of_stdin() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    # Neither finalisers nor other threads may hold it up: nothing here needs to be saved.
    os._exit(0)
