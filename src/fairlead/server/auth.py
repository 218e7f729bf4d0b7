"""Tokens, the one-time codes that turn into them, and a brake on guessing.

A token is 256 random bits, kept by the device and stored here only as a hash. A code lives for a
minute and works once; it is what stands in the launch link's fragment and in the QR code. There
is no mode without any of this. Time and randomness come in as values; `http` and `sockets` ask.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass, field

from fairlead.errors import UsageError
from fairlead.server.limits import Limits
from fairlead.server.roles import ROLES

__all__ = ["Codes", "Throttle", "hash_token"]


def hash_token(token: str) -> str:
    """What is stored of a token. It has 256 random bits, so a plain hash cannot be reversed."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _nobody() -> None:
    """Who asks, where nobody knows."""


@dataclass(frozen=True, slots=True)
class _Code:
    digest: bytes
    role: str
    expires: float
    user: int | None = None
    """The only user of this machine who may use it."""

    def is_for(self, user: Callable[[], int | None]) -> bool:
        return self.user is None or user() in (None, self.user)


@dataclass(slots=True)
class Codes:
    """The one-time codes that are out."""

    limits: Limits
    _codes: list[_Code] = field(default_factory=list)

    def issue(self, code: str, role: str, now: float, user: int | None = None) -> None:
        """Make a code good for one use, by one user of this machine if one is named."""
        if role not in ROLES:
            raise UsageError(f"role {role!r} is not one of {', '.join(ROLES)}")
        self._forget_old(now)
        self._codes.append(_Code(_digest(code), role, now + self.limits.code_s, user))

    def redeem(self, code: str, now: float, user: Callable[[], int | None] = _nobody) -> str | None:
        """The role that a code gives, and its end; None if it is unknown, used or too old.

        `user` tells who asks, if the system does; a code of somebody else's is not theirs to use.
        """
        self._forget_old(now)
        wanted = _digest(code)
        for known in self._codes:
            if hmac.compare_digest(known.digest, wanted) and known.is_for(user):
                self._codes.remove(known)
                return known.role
        return None

    def _forget_old(self, now: float) -> None:
        self._codes = [code for code in self._codes if code.expires > now]


@dataclass(slots=True)
class Throttle:
    """Slows down whoever guesses; a device with a good token is never held up."""

    limits: Limits
    _failures: dict[str, list[float]] = field(default_factory=dict)

    def too_many(self, source: str, now: float) -> bool:
        """Whether this source, or all together, failed too often in the last minute."""
        self._forget_old(now)
        own = len(self._failures.get(source, ()))
        everybody = sum(map(len, self._failures.values()))
        return own >= self.limits.tries_per_minute or everybody >= 10 * self.limits.tries_per_minute

    def failed(self, source: str, now: float) -> None:
        """A token or a code was wrong."""
        failures = self._failures.setdefault(source, [])
        failures.append(now)
        # More than this many change nothing, and somebody who guesses fast must not cost more.
        del failures[: -self.limits.tries_per_minute]

    def _forget_old(self, now: float) -> None:
        fresh = {s: [t for t in times if t > now - 60.0] for s, times in self._failures.items()}
        self._failures = {source: times for source, times in fresh.items() if times}


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
