"""Whether text leaves the machine, judged by addresses and never by labels.

Local are loopback, the private ranges of IPv4 and IPv6, link-local addresses, and the names that
only a machine or a stack of containers gives. Everything else is external, also what cannot be
judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Literal, TypeAlias

__all__ = ["Outflow", "Sovereignty", "is_local", "is_local_address", "is_local_name"]

Sovereignty: TypeAlias = Literal["local", "external"]

_LOCAL_NETWORKS = tuple(
    map(
        ip_network,
        (
            *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"),
            *("::1/128", "fc00::/7", "fe80::/10"),
            # A connection to "any address" goes to this machine.
            *("0.0.0.0/32", "::/128"),
        ),
    )
)
_HOST_OF_THE_CONTAINER = "host.docker.internal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outflow:
    """Text that leaves the machine: to which host, and what of it, as a clause for the user."""

    to: str
    what: str


def is_local(host: str, addresses: Sequence[str]) -> bool:
    """Whether a server is on this machine or its private network.

    Args:
        host: The name or address that the settings give.
        addresses: What the name stands for at the moment; empty if that cannot be found out, and
            then the name alone decides.
    """
    if not addresses:
        return is_local_name(host)
    return all(is_local_address(address) for address in addresses)


def is_local_address(address: str) -> bool:
    """Whether an IP address is of this machine or a private network; False for anything else."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    return any(ip.version == network.version and ip in network for network in _LOCAL_NETWORKS)


def is_local_name(host: str) -> bool:
    """Whether a name can only be of this machine or of a service of the stack.

    Such are `localhost` and what is under it, the name that containers have for their host, and
    names of one label, which no public server has. A number is no name: `0x08080808` is an address.
    """
    name = host.rstrip(".").lower()
    labels = name.split(".")
    if name == _HOST_OF_THE_CONTAINER or labels[-1] == "localhost":
        return True
    return len(labels) == 1 and name[:1].isalpha() and ":" not in name
