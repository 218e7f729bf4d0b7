"""The address of a push service, which a client gives: checked before anything is sent to it (R24).

Without these checks a device could make the server send requests to other services of its machine
or its network (SSRF, abuse case T-140).
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from msgspec import Struct

__all__ = ["Endpoint", "is_public"]

LONGEST = 2_048

_EMBEDDING = tuple(
    ipaddress.ip_network(text) for text in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16")
)
"""Networks whose addresses contain an IPv4 address, which may be a private one."""


class Endpoint(Struct, frozen=True, kw_only=True):
    """The parts of an address."""

    scheme: str
    host: str
    port: int
    target: str
    """Path and query."""

    @property
    def origin(self) -> str:
        """Scheme, host and port, as a VAPID token names them."""
        usual = self.port == {"https": 443, "http": 80}[self.scheme]
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if usual else f":{self.port}")

    @classmethod
    def parse(cls, url: str, *, loopback: bool = False) -> Endpoint:
        """Check an address; raises `ValueError` with the reason.

        `loopback` is for tests: it allows addresses of this machine, without TLS and on any port.
        """
        if len(url) > LONGEST or not url.isascii() or any(c.isspace() for c in url):
            raise ValueError("it is too long or has characters that a URL cannot have")
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        scheme = parts.scheme.lower()
        own = loopback and host == "127.0.0.1"
        if scheme != "https" and not (own and scheme == "http"):
            raise ValueError("it does not begin with https://")
        if parts.username is not None or parts.password is not None or not host:
            raise ValueError("it has no host, or a user name")
        if not own and (port not in (None, 443) or _is_address(host) or "." not in host):
            raise ValueError("it is not the address of a public push service")
        target = parts.path or "/"
        target += f"?{parts.query}" if parts.query else ""
        usual = 443 if scheme == "https" else 80
        return cls(scheme=scheme, host=host, port=port or usual, target=target)


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        if any(ip in network for network in _EMBEDDING):
            return False
    return ip.is_global and not ip.is_multicast


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host.rstrip(".").rpartition(".")[2].isdigit()  # Such as 127.1
    return True
