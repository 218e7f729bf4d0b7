"""The address at which clients reach the server through a proxy: a scheme, a name and a path. Pure.

Only requests with the name of this address as their Host have the path in front of every route; it
is removed before any route sees the request. The path is compared as it was sent: a spelling with
percent signs is another path, because a proxy could treat it differently (rules R17, R19).
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.types import Scope

from fairlead.errors import OptionError

__all__ = ["BASE_PATH", "PublicUrl", "base_path_of", "below_path"]

BASE_PATH = "fairlead.base_path"
"""The key of a request's scope for the path in front of the routes, without a slash at its end."""

_SEGMENT = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9._~-]*")
"""A part of a path that every program spells the same way; `.` and `..` are none."""

_DEFAULT_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class PublicUrl:
    """The address of a server behind a proxy; its origin is compared as a whole."""

    authority: str
    """The value of Host in lower case, with the port unless it is the scheme's default."""
    secure: bool
    path: str = ""
    """`/fairlead` if the server is below a path; empty at the root."""

    @property
    def origin(self) -> str:
        """The origin of the app's pages."""
        return f"{'https' if self.secure else 'http'}://{self.authority}"

    @property
    def base(self) -> str:
        """The address for links, without a slash at its end."""
        return self.origin + self.path

    @classmethod
    def parse(cls, text: str) -> PublicUrl:
        """Parse `https://name[:port][/path]`; raises `OptionError` for anything else."""
        try:
            parts = urlsplit(text.strip())
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        default = _DEFAULT_PORTS.get(parts.scheme)
        rest = (parts.query, parts.fragment, parts.username)
        if default is None or not parts.hostname or any(rest):
            raise OptionError(
                "public_url",
                f"{text!r} is not the address of a server.",
                "Give a scheme, a name, and if needed a port and a path, such as "
                "https://agents.example.org/fairlead.",
            )
        name = _bracketed(parts.hostname.lower())
        authority = name if port in (None, default) else f"{name}:{port}"
        return cls(authority, parts.scheme == "https", _path(text, parts.path))

    def is_addressed(self, host: str) -> bool:
        """Whether a request with this Host came to the public address."""
        return host.lower() == self.authority


def below_path(scope: Scope, base: str) -> Scope | None:
    """The request without the path in front of its route; None if it is not below that path."""
    if not base:
        return scope
    prefix, path = f"{base}/", str(scope["path"])
    raw = scope.get("raw_path") or path.encode()
    if not path.startswith(prefix) or not raw.startswith(prefix.encode()):
        return None
    return {**scope, "path": path[len(base) :], "raw_path": raw[len(base) :], BASE_PATH: base}


def base_path_of(scope: Scope) -> str:
    """The path in front of the routes of this request; empty at the root."""
    return str(scope.get(BASE_PATH, ""))


def _path(text: str, path: str) -> str:
    plain = path.removesuffix("/")
    if plain and not all(_SEGMENT.fullmatch(part) for part in plain[1:].split("/")):
        raise OptionError(
            "public_url",
            f"the path {path!r} of {text!r} cannot be used.",
            "Use letters, digits and - . _ ~ between single slashes, such as /fairlead.",
        )
    return plain


def _bracketed(name: str) -> str:
    try:
        return f"[{name}]" if ipaddress.ip_address(name).version == 6 else name
    except ValueError:
        return name
