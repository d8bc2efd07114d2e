"""Strictness for every test: no outside network, no inherited settings."""

from __future__ import annotations

import os

import pytest
from pytest_socket import socket_allow_hosts


@pytest.fixture(autouse=True)
def _loopback_only() -> None:
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)


@pytest.fixture(autouse=True)
def _scrubbed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("RAG_SOURCE_"):
            monkeypatch.delenv(name)
