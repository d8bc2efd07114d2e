"""Kill the service at many random moments of an ingestion, and report what was left each time.

    python scripts/fault_run.py [--moments 40] [--seed 1] [--papers 60] [--runs 1] [--keep]

The long form of `tests/faults/test_kills.py`, with which it shares all code; what it promises and
what it found stand in `docs/reliability.md`. Exits 1 if anything was lost, half, or paid for twice.
`--runs 3` makes three runs with seeds that follow each other. Needs neither models nor network.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1] / "tests"


def main() -> int:
    """One or several runs."""
    parser = argparse.ArgumentParser(description="Kill the service at many random moments.")
    parser.add_argument("--moments", type=int, default=40, help="kills of the service in a run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--papers", type=int, default=60, help="documents at the beginning")
    parser.add_argument("--runs", type=int, default=1, help="how many, each with the next seed")
    parser.add_argument("--keep", action="store_true", help="keep the folder of a run that failed")
    arguments = parser.parse_args()
    sys.path.insert(0, str(_TESTS))
    # By way of an exception, so that no service and no embedder is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    good = [_run(arguments, arguments.seed + number) for number in range(arguments.runs)]
    return 0 if all(good) else 1


def _run(arguments: argparse.Namespace, seed: int) -> bool:
    # Lazy: the tests' folder was not on the path before.
    from faults.killing import KillRun

    folder = Path(tempfile.mkdtemp(prefix=f"fault-run-{seed}-"))
    print(f"seed {seed}, {arguments.moments} moments, {arguments.papers} papers")
    run = KillRun(
        folder,
        seed=seed,
        moments=arguments.moments,
        papers=arguments.papers,
        say=lambda line: print(line, flush=True),
    )
    report = run.run()
    for line in report.lines():
        print(f"  {line}")
    for what, found in report.wrong().items():
        print(f"  {what}:")
        for one in found[:20]:
            print(f"    {one}")
    good = not report.wrong()
    if good or not arguments.keep:
        shutil.rmtree(folder)
    else:
        print(f"  kept: {folder}")
    print("  nothing was wrong" if good else "  FAILED", flush=True)
    return good


if __name__ == "__main__":
    sys.exit(main())
