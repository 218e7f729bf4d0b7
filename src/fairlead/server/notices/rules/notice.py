"""A notice: something that happened in a session and that a user who is away wants to know."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["KINDS", "Notice"]

KINDS = ("approval", "question", "plan", "finished", "failed", "limit", "budget")
"""What users are notified of; each can be turned off for each device and each channel."""


class Notice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One notice, as it is stored."""

    kind: str
    key: str
    """Unique in its session."""
    at: float
    title: str = ""
    """The session's title."""
    tool: str = ""
    """For an approval, the tool."""
    subject: str = ""
    """For an approval, the beginning of the command, path or address. Sent only if allowed."""
    waiting: int = 0
    """Open requests of the session, with this one."""
    request: str = ""
    """The id of the request that can be denied from the notification; empty if none can."""
    sha256: str = ""
    """The hash of that request's input (B8)."""
    outcome: str = ""
    """For the end of a turn, how it ended."""
    resets_at: float | None = None
    """For a usage limit, when it resets."""
    text: str = ""
    """For a budget or a test, what to say."""
    number: int = 0
    """The number of the notice at the machine that made it; 0 if this server made it."""
