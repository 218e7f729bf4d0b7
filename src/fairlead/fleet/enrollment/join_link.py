"""The link with which a machine joins: a gateway's address, and a one-time code in the fragment.

Programs send no fragment to a server, so the code is in no log of a proxy.
"""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import urlsplit

from fairlead.errors import UsageError
from fairlead.server.access.requests.public_url import PublicUrl

__all__ = ["check_secure", "join_link", "join_number", "parse_join_link"]

FRAGMENT = "join="
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def join_link(base_url: str, code: str) -> str:
    """The link for a gateway at this address."""
    return f"{base_url}/#{FRAGMENT}{code}"


def parse_join_link(link: str) -> tuple[PublicUrl, str]:
    """The gateway and the code; raises `UsageError`."""
    address, _, fragment = link.strip().partition("#")
    code = fragment.removeprefix(FRAGMENT)
    if not fragment.startswith(FRAGMENT) or not code or urlsplit(address).query:
        raise UsageError(
            "This link cannot join a fleet. Get one with `fairlead fleet invite` on the gateway, "
            "and give it in quotes: it ends with #join= and a code."
        )
    return PublicUrl.parse(address.rstrip("/")), code


def check_secure(gateway: PublicUrl, *, plain_allowed: bool) -> None:
    """Refuse to join over a network without TLS."""
    is_local = gateway.authority.rsplit(":", 1)[0] in LOOPBACK
    if not (gateway.secure or is_local or plain_allowed):
        raise UsageError(
            f"{gateway.base} has no TLS, so others on the network could join in your place. Use "
            "an https address, or --i-understand-plain-http."
        )


def join_number(code: str, public: str) -> str:
    """The number that both screens show: it proves that the gateway got this machine's key, from
    someone who knows the code."""
    digest = hmac.new(code.encode(), public.encode(), hashlib.sha256).digest()
    return f"{int.from_bytes(digest[:8], 'big') % 1_000_000:06}"
