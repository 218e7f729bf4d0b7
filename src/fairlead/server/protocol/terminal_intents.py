"""The intents about terminals; `server/intents/terminal` carries them out. Types only."""

from __future__ import annotations

from typing import ClassVar

from fairlead.server.protocol.intent import BaseIntent

__all__ = ["CloseTerminal", "OpenTerminal"]


class OpenTerminal(BaseIntent, frozen=True, kw_only=True, tag="open_terminal"):
    """Start a shell in the folder of a session; the result has `terminal`, its id.

    Refused unless the server was started with `--terminal`.
    """

    role: ClassVar[str] = "owner"
    session: str
    cols: int = 80
    rows: int = 24


class CloseTerminal(BaseIntent, frozen=True, kw_only=True, tag="close_terminal"):
    """End the shell of a terminal and what it started, and forget its output."""

    role: ClassVar[str] = "owner"
    terminal: str
