"""The first look at every request: is it addressed to us, and does it come from our own page?

Pure, on header values. The Host must be one we serve, parsed and compared whole (rule R3): that
is what stops DNS rebinding, for a rebound page sends a matching Origin. The Origin must be ours
exactly on upgrades and unsafe methods (R4); it may be absent only where a bearer token is sent,
which no foreign page can do. Nothing here reads a cookie, because there is none.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

__all__ = ["Refusal", "allowed_authorities", "check_host", "check_origin"]

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

Refusal = tuple[int, str]
"""An HTTP status and a text."""


def allowed_authorities(host: str, port: int, extra: Iterable[str] = ()) -> frozenset[str]:
    """The values of Host that mean this server."""
    names = {host, *extra}
    if _is_loopback(host) or _is_any(host):  # Who listens everywhere listens here, too.
        names |= {"localhost", "127.0.0.1", "[::1]", "fairlead.localhost"}
    authorities = {f"{_bracketed(name.lower())}:{port}" for name in names if not _is_any(name)}
    if port in (80, 443):
        authorities |= {_bracketed(name.lower()) for name in names if not _is_any(name)}
    return frozenset(authorities)


def check_host(values: Sequence[str], allowed: frozenset[str]) -> Refusal | None:
    """Why a request is not for us, or None; `values` are all its Host headers."""
    if len(values) != 1:
        return 421, "exactly one Host header is needed"
    if values[0].lower() not in allowed:
        return 421, "this server does not go by that name"
    return None


def check_origin(
    values: Sequence[str],
    *,
    host: str,
    secure: bool,
    method: str,
    upgrade: bool,
    has_bearer: bool,
) -> Refusal | None:
    """Why a request does not come from our own page, or None."""
    if not upgrade and method in SAFE_METHODS and not values:
        return None
    if not values:
        return None if has_bearer or upgrade else (403, "an Origin header is needed")
    if len(values) != 1 or not _same_origin(values[0], host, secure=secure):
        return 403, "requests from other pages are not answered"
    return None


def _same_origin(origin: str, host: str, *, secure: bool) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    wanted = "https" if secure else "http"
    plain = f"{parts.scheme}://{parts.netloc}"
    return parts.scheme == wanted and parts.netloc == host and plain == origin


def _bracketed(name: str) -> str:
    try:
        return f"[{name}]" if ipaddress.ip_address(name).version == 6 else name
    except ValueError:
        return name


def _is_loopback(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_any(name: str) -> bool:
    """`0.0.0.0` and `::` are for binding; as a Host they are an attack (security.md 0.3)."""
    try:
        return ipaddress.ip_address(name.strip("[]")).is_unspecified
    except ValueError:
        return not name
