"""What counts as this machine and its private network."""

from __future__ import annotations

import pytest

from rag_source.domain.sovereignty import is_local, is_local_address, is_local_name


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.9.10", "::1", "0.0.0.0"),  # this machine
        *("10.1.2.3", "172.16.0.1", "172.31.255.254", "192.168.1.1"),  # private ranges
        *("169.254.1.1", "fe80::1", "fe80::1%eth0"),  # link-local
        *("fd00::1", "fc12:3456::1"),  # private, IPv6
        *("::ffff:127.0.0.1", "::ffff:192.168.1.1"),  # the same, written as IPv6
    ],
)
def test_address_of_this_machine_or_a_private_network_is_local(address: str) -> None:
    assert is_local_address(address)


@pytest.mark.parametrize(
    "address",
    [
        *("8.8.8.8", "172.15.255.255", "172.32.0.1", "192.169.0.1", "11.0.0.1", "126.255.255.255"),
        *("2001:4860:4860::8888", "fec0::1", "::ffff:8.8.8.8", "64:ff9b::a00:1"),
        *("100.64.0.1", "203.0.113.7", "255.255.255.255"),
        *("", "llm", "127.0.0.1.example.org", "0x7f000001"),
    ],
)
def test_any_other_address_is_external(address: str) -> None:
    assert not is_local_address(address)


@pytest.mark.parametrize(
    "name",
    ["localhost", "LOCALHOST.", "api.localhost", "host.docker.internal", "llm", "embed-1", "gpu_2"],
)
def test_name_that_only_a_machine_or_a_stack_gives_is_local(name: str) -> None:
    assert is_local_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("api.example.org", "localhost.example.org", "docker.internal", "llm.internal"),
        *("134744072", "0x08080808", "010.8.8.8", "8", "", "::1"),
    ],
)
def test_any_other_name_is_external(name: str) -> None:
    assert not is_local_name(name)


def test_addresses_count_more_than_the_name() -> None:
    assert is_local("llm.example.org", ["10.0.0.7"])
    assert not is_local("llm", ["8.8.8.8"])
    assert not is_local("localhost", ["203.0.113.7"])


def test_name_with_one_address_outside_is_external() -> None:
    assert not is_local("llm", ["10.0.0.7", "2001:db8::7"])
