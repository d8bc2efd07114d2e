"""How soon an answer begins, event by event, and what a proxy adds to it.

    python eval/bench/stream.py URL TOKEN_FILE [--proxy URL] [--rounds 5] [--question TEXT]

A running service is asked the same question in turn, directly and through the proxy, once to warm
up and then for so many rounds. Times are medians in milliseconds from the moment the question is
sent: `byte` is the first of the body, then the first event of each kind. `gap` is the longest
silence between two events after the first word: a proxy that buffers shows there. What counts is
the ratio of both in one run.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import httpx

_TARGET_MS = 300.0
_KINDS = ("byte", "search", "token", "citation", "done", "gap")


def main() -> None:
    """Measure and print one line for each way to the service."""
    arguments = _arguments()
    token = arguments.token_file.read_text(encoding="ascii").strip()
    ways = {"direct": arguments.url} | ({"proxy": arguments.proxy} if arguments.proxy else {})
    found: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for i in range(arguments.rounds + 1):
        for name, url in ways.items():
            times = _asked(url, token, arguments.question)
            if i:
                found[name].append(times)
    medians = {name: _medians(rounds) for name, rounds in found.items()}
    for name, times in medians.items():
        print(f"{name:>8}", *(f"{kind} {times[kind]:8.1f}" for kind in _KINDS if kind in times))
    first = medians["direct"].get("search", float("inf"))
    print(f"first event {first:.0f} ms, target {_TARGET_MS:.0f}: {_verdict(first <= _TARGET_MS)}")
    if "proxy" in medians:
        for kind in ("search", "done", "gap"):
            direct, proxied = medians["direct"].get(kind, 0.0), medians["proxy"].get(kind, 0.0)
            print(f"proxy / direct, {kind}: {proxied / direct if direct else float('nan'):.2f}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("url", help="of the service, such as http://127.0.0.1:8321")
    parser.add_argument("token_file", type=Path, help="where its token is kept")
    parser.add_argument("--proxy", default="", help="URL of a proxy before the same service")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--question", default="What does error code E07 mean?")
    return parser.parse_args()


def _asked(url: str, token: str, question: str) -> dict[str, float]:
    """Milliseconds to the first event of each kind."""
    times: dict[str, float] = {}
    last = 0.0
    headers = {"Authorization": f"Bearer {token}"}
    body = {"question": question, "keep": False}
    with httpx.Client(base_url=url, headers=headers, timeout=600, trust_env=False) as http:
        http.get("/health")  # a page has its connection already
        began = time.perf_counter()
        with http.stream("POST", "/v1/ask/stream", json=body) as response:
            response.raise_for_status()
            for line in response.iter_lines():
                now = (time.perf_counter() - began) * 1000
                times.setdefault("byte", now)
                if line.startswith("event: "):
                    times.setdefault(line.removeprefix("event: "), now)
                    if "token" in times and last:
                        times["gap"] = max(times.get("gap", 0.0), now - last)
                    last = now
    return times


def _medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    kinds = [kind for kind in _KINDS if all(kind in times for times in rounds)]
    return {kind: statistics.median(times[kind] for times in rounds) for kind in kinds}


def _verdict(good: bool) -> str:
    return "reached" if good else "MISSED"


if __name__ == "__main__":
    main()
