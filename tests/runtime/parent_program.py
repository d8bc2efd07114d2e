"""A parent that brings up one child, says so, and then waits to be killed."""

from __future__ import annotations

import asyncio
import sys

import httpx

from rag_source.runtime.supervisor import ManagedServer


async def main() -> None:
    async with httpx.AsyncClient(trust_env=False, verify=False) as http:
        await ManagedServer("tiny", sys.argv[1:], http=http).address()
        print("up", flush=True)  # noqa: T201  # the test waits for it
        await asyncio.sleep(600)


asyncio.run(main())
