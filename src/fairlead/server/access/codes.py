"""Tokens, and the one-time codes that are exchanged for them.

A token is 256 random bits; the device has it and the server stores only its hash. A code works once
and for a limited time; it is the fragment of the launch link and the content of the QR code. The
server never works without them. Times and random values are passed in.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass, field

from fairlead.errors import UsageError
from fairlead.server.access.roles import ROLES
from fairlead.server.limits import Limits

__all__ = ["UNKNOWABLE", "Codes", "hash_token"]


def hash_token(token: str) -> str:
    """The stored form of a token. It has 256 random bits, so a plain hash cannot be reversed."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


UNKNOWABLE = -1
"""The user of a connection on a system that does not report users."""


def _unknowable() -> int:
    return UNKNOWABLE


@dataclass(frozen=True, slots=True)
class _Code:
    digest: bytes
    role: str
    expires: float
    user: int | None = None
    """The only local user who may use the code."""

    def is_for(self, user: Callable[[], int | None]) -> bool:
        """Whether the caller may use the code; a caller who is unknown (None) may not."""
        return self.user is None or user() in (UNKNOWABLE, self.user)


@dataclass(slots=True)
class Codes:
    """The one-time codes that can still be used."""

    limits: Limits
    _codes: list[_Code] = field(default_factory=list)

    def issue(
        self,
        code: str,
        role: str,
        now: float,
        user: int | None = None,
        valid_s: float | None = None,
    ) -> None:
        """Accept a code once, only from this local user if one is given."""
        if role not in ROLES:
            raise UsageError(f"role {role!r} is not one of {', '.join(ROLES)}")
        self._remove_expired(now)
        valid_s = self.limits.code_s if valid_s is None else valid_s
        self._codes.append(_Code(_digest(code), role, now + valid_s, user))

    def redeem(
        self, code: str, now: float, user: Callable[[], int | None] = _unknowable
    ) -> str | None:
        """Use up a code and return its role; None if it is unknown, used or expired.

        `user` returns the caller's user: a code that is bound to a user is refused to all others
        and to an unknown caller (None). Only UNKNOWABLE passes.
        """
        self._remove_expired(now)
        wanted = _digest(code)
        for known in self._codes:
            if hmac.compare_digest(known.digest, wanted) and known.is_for(user):
                self._codes.remove(known)
                return known.role
        return None

    def _remove_expired(self, now: float) -> None:
        self._codes = [code for code in self._codes if code.expires > now]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
