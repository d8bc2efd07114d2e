"""Real child processes: started once, restarted after a crash, never left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from rag_source.domain.errors import BackendUnavailableError, ModelMissingError
from rag_source.runtime.supervisor import ManagedServer, SupervisionPolicy

HERE = Path(__file__).parent
QUICK = SupervisionPolicy(ready_s=60, poll_s=0.01, grace_s=0.5, backoff_s=8, crash_limit=3)


class Clock:
    """Time that passes only when someone sleeps."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.sleeps: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        if seconds:
            self.sleeps.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


class Servers:
    """Makes servers over the child program, and knows which processes were started."""

    def __init__(self, http: httpx.AsyncClient, log: Path) -> None:
        self.http = http
        self.clock = Clock()
        self._log = log
        self._made: list[ManagedServer] = []

    def command(self, how: str) -> list[str]:
        return [sys.executable, str(HERE / "child_program.py"), how, str(self._log)]

    def make(self, how: str = "serve", **options: Any) -> ManagedServer:
        options = {"policy": QUICK, "now": self.clock.now, "sleep": self.clock.sleep, **options}
        server = ManagedServer("tiny model", self.command(how), http=self.http, **options)
        self._made.append(server)
        return server

    def pids(self) -> list[int]:
        return [int(line) for line in self._log.read_text(encoding="ascii").split()]

    async def ask(self, server: ManagedServer, path: str = "/") -> dict[str, Any]:
        address = await server.address()
        headers = {"Authorization": f"Bearer {address.api_key}"}
        reply = await self.http.get(address.base_url + path, headers=headers, timeout=30)
        found: dict[str, Any] = reply.json()
        return found

    async def crash(self, server: ManagedServer) -> None:
        with pytest.raises(httpx.TransportError):
            await self.ask(server, "/crash")
        async with asyncio.timeout(10):
            while server.running:  # noqa: ASYNC110  # the kernel tells the loop in its own time
                await asyncio.sleep(0.005)

    async def stop(self) -> None:
        for server in self._made:
            await server.stop()


@pytest.fixture
async def servers(tmp_path: Path) -> AsyncIterator[Servers]:
    async with httpx.AsyncClient(trust_env=False, verify=False) as http:
        made = Servers(http, tmp_path / "pids")
        yield made
        await made.stop()


def is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie of someone else's counts as ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text(encoding="ascii").split()[2] == "Z")


@pytest.fixture
def _proc() -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("this system has no /proc")


def open_pipes() -> set[str]:
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.add(f"{entry.name} {entry.readlink()}")
    return {entry for entry in found if "pipe:" in entry}


def visible_to_others(pid: int) -> bytes:
    process = Path(f"/proc/{pid}")
    return (process / "cmdline").read_bytes() + (process / "environ").read_bytes()


async def until_gone(pid: int) -> None:
    async with asyncio.timeout(10):
        while is_alive(pid):  # noqa: ASYNC110  # not a child of this process: nothing to wait on
            await asyncio.sleep(0.01)


async def test_nothing_is_started_before_it_is_asked(servers: Servers, tmp_path: Path) -> None:
    server = servers.make()
    assert not server.running
    assert not (tmp_path / "pids").exists()


async def test_callers_at_the_same_time_share_one_start(servers: Servers) -> None:
    server = servers.make()
    addresses = await asyncio.gather(*(server.address() for _ in range(8)))
    assert len(set(addresses)) == 1
    assert len(servers.pids()) == 1


async def test_child_listens_on_loopback_and_knows_the_key(servers: Servers) -> None:
    server = servers.make()
    address = await server.address()
    assert address.base_url.startswith("http://127.0.0.1:")
    assert len(address.api_key) >= 32
    assert (await servers.ask(server))["authorized"]


@pytest.mark.usefixtures("_proc")
async def test_key_is_neither_on_the_command_line_nor_in_the_environment(
    servers: Servers,
) -> None:
    address = await servers.make().address()
    shown = visible_to_others(servers.pids()[0])
    assert b"child_program" in shown
    assert address.api_key.encode() not in shown


async def test_caller_that_gives_up_does_not_end_the_start(servers: Servers) -> None:
    server = servers.make()
    first = asyncio.create_task(server.address())
    await asyncio.sleep(0.01)
    first.cancel()
    await server.address()
    assert len(servers.pids()) == 1


async def test_stop_ends_the_child_and_leaves_no_zombie(servers: Servers) -> None:
    server = servers.make()
    await server.address()
    await server.stop()
    [pid] = servers.pids()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(BackendUnavailableError, match="was stopped"):
        await server.address()


async def test_stop_during_the_start_ends_the_child(servers: Servers, tmp_path: Path) -> None:
    server = servers.make("never-ready")
    start = asyncio.create_task(server.address())
    async with asyncio.timeout(30):
        while not (tmp_path / "pids").exists():  # noqa: ASYNC110  # written by another process
            await asyncio.sleep(0.01)
    await server.stop()
    with pytest.raises(asyncio.CancelledError):
        await start
    with pytest.raises(ProcessLookupError):
        os.kill(servers.pids()[0], 0)


async def test_child_that_does_not_end_by_itself_is_killed(servers: Servers) -> None:
    server = servers.make("ignore-the-end")
    await server.address()
    await server.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(servers.pids()[0], 0)


@pytest.mark.usefixtures("_proc")
async def test_no_pipe_is_left_behind(servers: Servers) -> None:
    before = open_pipes()
    for _ in range(3):
        server = servers.make()
        await server.address()
        assert len(open_pipes()) > len(before)
        await server.stop()
    assert open_pipes() == before


async def test_crashed_child_is_restarted_after_a_pause(servers: Servers) -> None:
    server = servers.make()
    await servers.ask(server)
    first = await server.address()
    await servers.crash(server)
    second = await server.address()
    assert second.api_key != first.api_key
    assert servers.clock.sleeps == [8]
    assert len(servers.pids()) == 2


async def test_pause_doubles_with_each_crash_and_starts_again_after_a_stable_time(
    servers: Servers,
) -> None:
    server = servers.make(policy=SupervisionPolicy(poll_s=0.01, backoff_s=1, probe_s=9999))
    for _ in range(3):
        await servers.ask(server)
        await servers.crash(server)
    await servers.ask(server)
    assert servers.clock.sleeps == [1, 2, 4]
    servers.clock.time += 61
    await servers.crash(server)
    await servers.ask(server)
    assert servers.clock.sleeps == [1, 2, 4, 1]


async def test_crash_loop_is_an_error_with_the_childs_last_words(servers: Servers) -> None:
    server = servers.make("crash-at-start")
    with pytest.raises(BackendUnavailableError) as caught:
        await server.address()
    assert "tiny model could not be started" in caught.value.message
    assert "cannot load the model: bad magic" in caught.value.hint
    assert "\n" not in caught.value.hint
    assert len(servers.pids()) == QUICK.crash_limit
    # While the last back-off runs, nobody waits for a start that would fail again.
    with pytest.raises(BackendUnavailableError, match="3 times in a row"):
        await server.address()
    assert len(servers.pids()) == QUICK.crash_limit


async def test_crash_loop_is_tried_again_after_the_last_pause(servers: Servers) -> None:
    server = servers.make("crash-at-start")
    with pytest.raises(BackendUnavailableError):
        await server.address()
    servers.clock.time += 1000
    with pytest.raises(BackendUnavailableError, match="could not be started"):
        await server.address()
    assert len(servers.pids()) == QUICK.crash_limit + 1


async def test_start_that_takes_too_long_is_given_up(servers: Servers) -> None:
    server = servers.make("never-ready", policy=SupervisionPolicy(ready_s=1.5, grace_s=0.5))
    with pytest.raises(BackendUnavailableError, match=r"not ready after 1\.5 s"):
        await server.address()
    with pytest.raises(ProcessLookupError):
        os.kill(servers.pids()[0], 0)


async def test_hung_child_is_replaced(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "rag_source.runtime.supervisor._HEALTH_TIMEOUT", httpx.Timeout(0.3, connect=5)
    )
    server = servers.make(policy=SupervisionPolicy(poll_s=0.01, grace_s=0.5, probe_s=5))
    await server.address()
    os.kill(servers.pids()[0], signal.SIGSTOP)
    servers.clock.time += 6
    await asyncio.gather(server.address(), server.address())
    assert len(servers.pids()) == 2
    assert not is_alive(servers.pids()[0])


async def test_missing_model_is_said_before_any_process_starts(
    servers: Servers, tmp_path: Path
) -> None:
    def refuse() -> None:
        raise ModelMissingError("the model 'x' is not there", hint="fetch it")

    with pytest.raises(ModelMissingError):
        await servers.make(before_start=refuse).address()
    assert not (tmp_path / "pids").exists()


async def test_program_that_does_not_exist_is_an_error(servers: Servers) -> None:
    server = ManagedServer("tiny", ["/no/such/program"], http=servers.http)
    with pytest.raises(BackendUnavailableError, match="cannot be started"):
        await server.address()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=["kill-9", "terminate"])
async def test_child_ends_with_its_parent(servers: Servers, how: signal.Signals) -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable,
        str(HERE / "parent_program.py"),
        *servers.command("serve"),
        stdout=asyncio.subprocess.PIPE,
    )
    assert parent.stdout is not None
    assert await parent.stdout.readline() == b"up\n"
    [child] = servers.pids()
    assert is_alive(child)
    parent.send_signal(how)
    await parent.wait()
    await until_gone(child)


def test_backoff_is_bounded() -> None:
    policy = SupervisionPolicy(backoff_s=0.5, longest_backoff_s=30)
    assert [policy.backoff_after(n) for n in (0, 1, 2, 3, 7, 500)] == [0, 0.5, 1, 2, 30, 30]
