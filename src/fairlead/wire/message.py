"""The base of every line the CLI writes: its exact bytes, and its whole object on demand.

Typed fields cover what a host needs; whatever else a line holds stays reachable through
`data`, so nothing the CLI says is lost when it learns a new field.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from fairlead.wire.blocks import NEVER
from fairlead.wire.json_text import NotJson, parse

__all__ = ["Message", "SessionMessage"]


class Message(Struct, frozen=True):
    """One line of the CLI's stdout."""

    raw: bytes = field(default=b"", name=f"{NEVER}raw")
    """The exact line, without its line end."""

    @property
    def type(self) -> str:
        """The line's `type`, as the CLI wrote it."""
        return str(self.__struct_config__.tag)

    @property
    def data(self) -> Any:
        """The whole line as plain values, with the fields that have no typed twin.

        None where there are no values to give: the line is nested too deep for the stack that
        is left, or the message was not read from a line.
        """
        try:
            return parse(self.raw)
        except NotJson:
            return None


class SessionMessage(Message, frozen=True):
    """A line that belongs to a session and has an id of its own."""

    uuid: str | None = None
    session_id: str | None = None
