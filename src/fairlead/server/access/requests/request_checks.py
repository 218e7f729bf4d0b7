"""The first check of every request: it must be addressed to this server and come from its own page.

Pure, on header values. The Host must be one that this server serves; it is parsed and compared
as a whole (rule R3). That stops DNS rebinding, because a rebound page sends a matching Origin. On
upgrades and unsafe methods the Origin must match exactly (R4); it may be absent only if a bearer
token is sent, which a page of another origin cannot do. The server uses no cookies.
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
    """The values of Host that are accepted."""
    names = {host, *extra}
    if _is_loopback(host) or _is_any(host):  # Listening on all addresses includes loopback.
        names |= {"localhost", "127.0.0.1", "[::1]", "fairlead.localhost"}
    authorities = {f"{_bracketed(name.lower())}:{port}" for name in names if not _is_any(name)}
    if port in (80, 443):
        authorities |= {_bracketed(name.lower()) for name in names if not _is_any(name)}
    return frozenset(authorities)


def check_host(values: Sequence[str], allowed: frozenset[str]) -> Refusal | None:
    """Why the Host is refused, or None; `values` are all Host headers of the request."""
    if len(values) != 1:
        return 421, "The request must have exactly one Host header."
    if values[0].lower() not in allowed:
        return 421, "Unknown Host header. Start the server with --name HOST to allow it."
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
    """Why the Origin is refused, or None."""
    if not upgrade and method in SAFE_METHODS and not values:
        return None
    if not values:
        return (
            None
            if has_bearer or upgrade
            else (403, "The request needs an Origin header or a token.")
        )
    if len(values) != 1 or not _same_origin(values[0], host, secure=secure):
        return 403, "Requests from pages of other origins are refused."
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
    """`0.0.0.0` and `::` are for binding; a request that has them as Host is an attack."""
    try:
        return ipaddress.ip_address(name.strip("[]")).is_unspecified
    except ValueError:
        return not name
