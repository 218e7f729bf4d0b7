"""The base of every line the CLI writes: its exact bytes, and its whole object on demand.

Typed fields cover what a host needs; all other fields of a line are in `data`, so that new fields
of the CLI are not lost.
"""

from typing import Any

import msgspec
from msgspec import Struct, field

from fairlead.wire.blocks import NEVER
from fairlead.wire.json_text import NotJson, parse

__all__ = ["Message", "SessionMessage", "short_repr"]

_VALUE_CHARACTERS = 120
_REPR_CHARACTERS = 400


class Message(Struct, frozen=True, gc=False):
    """One line of the CLI's stdout. It consists of JSON, which has no cycles to collect."""

    raw: bytes = field(default=b"", name=f"{NEVER}raw")
    """The exact line, without its line end."""

    def __repr__(self) -> str:
        """A short form: the fields that differ from their defaults, without the line itself."""
        return short_repr(self)

    @property
    def type(self) -> str:
        """The line's `type`, as the CLI wrote it."""
        return str(self.__struct_config__.tag)

    @property
    def data(self) -> Any:
        """The whole line as plain values, including the fields without a typed counterpart.

        None if the line is nested too deeply for the remaining stack, or if the message was not
        read from a line.
        """
        try:
            return parse(self.raw)
        except NotJson:
            return None


class SessionMessage(Message, frozen=True):
    """A line that belongs to a session and has its own id."""

    uuid: str | None = None
    session_id: str | None = None


def short_repr(message: Message) -> str:
    """A message with the fields that differ from their defaults, each value shortened."""
    parts: list[str] = []
    for info in msgspec.structs.fields(message):
        value = getattr(message, info.name)
        if info.name == "raw" or value in (None, (), {}, info.default):
            continue
        text = repr(value)
        if len(text) > _VALUE_CHARACTERS:
            text = f"{text[:_VALUE_CHARACTERS]}…"
        parts.append(f"{info.name}={text}")
    fields = ", ".join(parts)
    if len(fields) > _REPR_CHARACTERS:
        fields = f"{fields[:_REPR_CHARACTERS]}…"
    return f"{type(message).__name__}({fields})"
