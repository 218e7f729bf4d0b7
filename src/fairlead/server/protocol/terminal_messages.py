"""The messages of a socket about terminals, which are neither documents nor intents. Types only.

The output of a terminal is a sequence of bytes that is counted from the start of its shell. A client
attaches at an offset, gets pieces in order, and acknowledges the offset up to which it has drawn.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

__all__ = [
    "TerminalAck",
    "TerminalAttach",
    "TerminalDetach",
    "TerminalInput",
    "TerminalList",
    "TerminalMessage",
    "TerminalOutput",
    "TerminalRow",
    "TerminalSize",
    "Terminals",
]


# Client to server


class TerminalList(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="terminal_list"
):
    """Send the terminals of a session now and whenever they change; replaces the last such request."""

    session: str


class TerminalAttach(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="terminal_attach"
):
    """Send the stored output of a terminal from an offset on, and what follows."""

    terminal: str
    offset: int = 0


class TerminalDetach(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="terminal_detach"
):
    """Send no more output of a terminal; its shell keeps running."""

    terminal: str


class TerminalInput(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="terminal_input"
):
    """What the user typed or pasted."""

    terminal: str
    data: str


class TerminalSize(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="terminal_size"
):
    """The size of the client's window in characters."""

    terminal: str
    cols: int
    rows: int


class TerminalAck(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="terminal_ack"
):
    """The client has drawn everything before this offset."""

    terminal: str
    offset: int


TerminalMessage: TypeAlias = (
    TerminalList | TerminalAttach | TerminalDetach | TerminalInput | TerminalSize | TerminalAck
)


# Server to client


class TerminalRow(Struct, frozen=True, kw_only=True):
    """One terminal of a session."""

    id: str
    number: int
    """Counts the terminals of a session from 1."""
    ended: bool = False
    code: int | None = None
    """The exit code of an ended shell; negative if a signal ended it."""


class Terminals(Struct, frozen=True, kw_only=True, tag="terminals"):
    """The terminals of a session, the oldest first."""

    session: str
    terminals: tuple[TerminalRow, ...]


class TerminalOutput(Struct, frozen=True, kw_only=True, tag="terminal_output"):
    """A piece of a terminal's output."""

    terminal: str
    offset: int
    """Of the first byte of `data`."""
    data: bytes
    """In Base64."""
    replay: bool
    """Whether this was written before the client attached: requests in it were answered then."""
    lost: int
    """Bytes before this piece that the client does not get because they are no longer stored. If it
    is not 0, the client clears the screen."""
