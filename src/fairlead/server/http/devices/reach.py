"""The addresses at which other devices reach this server. Pure.

A server answers only to names that it was given (rule R3), so an address that a phone could reach
is useful only if it is one of them.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from msgspec import Struct

__all__ = ["Reach", "reach_of"]


class Reach(Struct, frozen=True, kw_only=True):
    """How the server listens, and the addresses another device can open."""

    listens: str
    """`loopback`: this machine only; `named`: other machines too; `unnamed`: other machines, but no name is known."""
    port: int
    secure: bool
    addresses: tuple[str, ...]


def reach_of(
    host: str, port: int, names: Iterable[str], *, secure: bool, public: str | None = None
) -> Reach:
    """The addresses that another device can open, best first; `public` is the address of a proxy."""
    if public is not None:
        return Reach(
            listens="named", port=port, secure=public.startswith("https:"), addresses=(public,)
        )
    usable = [name for name in dict.fromkeys((*names, host)) if not _is_local(name)]
    scheme = "https" if secure else "http"
    if _is_loopback(host):
        # A name leads here only through a proxy, which has its own address.
        return Reach(listens="loopback", port=port, secure=secure, addresses=())
    return Reach(
        listens="named" if usable else "unnamed",
        port=port,
        secure=secure,
        addresses=tuple(f"{scheme}://{_bracketed(name)}:{port}" for name in usable),
    )


def _is_local(name: str) -> bool:
    return _is_loopback(name) or _is_any(name)


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def _is_any(name: str) -> bool:
    try:
        return ipaddress.ip_address(name.strip("[]")).is_unspecified
    except ValueError:
        return not name


def _bracketed(name: str) -> str:
    plain = name.strip("[]")
    return f"[{plain}]" if ":" in plain else plain
