"""Reads the forwarded headers of trusted proxies; those of other peers are ignored.

Clients can write anything into forwarded headers, so they are read only if the connection itself
comes from an address that `--trusted-proxy` names. Of X-Forwarded-For the rightmost address that
is not a trusted proxy counts: the client wrote everything to the left of it. Pure.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fairlead.errors import OptionError

__all__ = ["Forwarded", "TrustedProxies"]

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Ip = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Forwarded:
    """A request as the proxy received it; None if the proxy does not report a value."""

    address: str
    secure: bool | None
    host: str | None


class TrustedProxies:
    """The addresses whose forwarded headers are believed."""

    def __init__(self, addresses: Iterable[str] = ()) -> None:
        self._networks = tuple(_network(address) for address in addresses)

    def read(self, peer: str, headers: Sequence[tuple[bytes, bytes]]) -> Forwarded | None:
        """What a trusted proxy reports; None if the peer is not one, or did not forward a request.

        A list of addresses that cannot be read still means that the request was forwarded: then
        the proxy's own address counts as the client's.
        """
        address = _ip(peer)
        hops = _values(headers, b"x-forwarded-for")
        if address is None or not hops or not self._trusts(address):
            return None
        protocols = _values(headers, b"x-forwarded-proto")
        hosts = _values(headers, b"x-forwarded-host")
        return Forwarded(
            address=self._client(hops) or peer,
            secure=protocols[-1].lower() == "https" if protocols else None,
            host=hosts[-1] if hosts else None,
        )

    def _client(self, hops: list[str]) -> str | None:
        for hop in reversed(hops):
            address = _ip(hop)
            if address is None:
                return None
            if not self._trusts(address):
                return str(address)
        return None

    def _trusts(self, address: Ip) -> bool:
        return any(address in network for network in self._networks)


def _values(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> list[str]:
    """All values of a header in order, from one line or from several."""
    lines = (value.decode("latin-1") for key, value in headers if key.lower() == name)
    return [part for line in lines for value in line.split(",") if (part := value.strip())]


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text.strip(), strict=False)
    except ValueError:
        raise OptionError(
            "trusted_proxy",
            f"{text!r} is neither an IP address nor a network.",
            "Give the address that the proxy connects from, such as 127.0.0.1 or 10.0.0.0/24.",
        ) from None


def _ip(text: str) -> Ip | None:
    """An address, without the port or brackets that some proxies write."""
    plain = text.strip()
    if plain.startswith("["):
        plain = plain[1:].partition("]")[0]
    elif plain.count(":") == 1:
        plain = plain.partition(":")[0]
    try:
        address = ipaddress.ip_address(plain)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address
