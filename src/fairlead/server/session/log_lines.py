"""Converts the stored events of a session to the values that the transcript is fed, and back.

Lines of the CLI and lines to it are stored unchanged; a fact is a JSON object with its name under
`fact`. Reading is total: a fact of a newer Fairlead feeds nothing, and stays in the log.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, get_args

import msgspec
from msgspec import Struct, structs

from fairlead.store.log import FACT, IN, OUT, Event, NewEvent
from fairlead.transcript.reduce import Fed
from fairlead.transcript.state.facts import Fact
from fairlead.wire import decoders
from fairlead.wire.decode import decode
from fairlead.wire.encode import decode_input, encode, to_object
from fairlead.wire.events import Malformed, StreamEvent
from fairlead.wire.inputs import Input, Prompt
from fairlead.wire.json_text import NotJson, parse, write
from fairlead.wire.message import Message

__all__ = ["event_of", "events_of", "fed_by"]

_KINDS: tuple[type[Struct], ...] = get_args(Fact)


def _name(kind: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


_BY_NAME = {_name(kind): kind for kind in _KINDS}
_SKIPPED = "line_skipped"


def events_of(shown: Sequence[tuple[Fed, float]], line: bytes | None = None) -> list[NewEvent]:
    """What to store for values that the transcript is fed, with their times; `line` as in
    `event_of`."""
    return [
        NewEvent(OUT, fed.raw, at) if type(fed) is StreamEvent else event_of(fed, at, line)
        for fed, at in shown
    ]


def event_of(fed: Fed, at: float, line: bytes | None = None) -> NewEvent:
    """What to store for a value that the transcript is fed.

    `line` is the line of a message to the CLI, if it is encoded already.
    """
    if isinstance(fed, Malformed) and fed.size > len(fed.raw):
        return NewEvent(FACT, write(_skipped(fed)), at)
    if isinstance(fed, Message):
        return NewEvent(OUT, fed.raw, at)
    if isinstance(fed, Input):
        return NewEvent(IN, (line or encode(fed)).rstrip(b"\n"), at)
    return NewEvent(FACT, write({"fact": _name(type(fed)), **_fields(fed)}), at)


def fed_by(event: Event) -> Fed | None:
    """What a stored event feeds; None if it is a fact that this Fairlead does not know."""
    if event.direction == OUT:
        return decode(event.line)
    if event.direction == IN:
        return decode_input(event.line)
    return _fact(event.line)


def _fields(fact: Any) -> dict[str, Any]:
    """The fields of a fact; a prompt is stored in it as the line that will be written."""
    return {
        name: to_object(value) if isinstance(value, Prompt) else msgspec.to_builtins(value)
        for name, value in structs.asdict(fact).items()
    }


def _fact(line: bytes) -> Fed | None:
    try:
        plain = parse(line)
    except NotJson:
        return None
    if not isinstance(plain, dict):
        return None
    name = plain.pop("fact", None)
    if name == _SKIPPED:
        return _unskipped(plain)
    kind = _BY_NAME.get(name) if isinstance(name, str) else None
    if kind is None:
        return None
    if "prompt" in plain:
        prompt = decode_input(write(plain["prompt"]))
        return kind(prompt) if isinstance(prompt, Prompt) else None  # type: ignore[return-value]
    try:
        fact: Fed = decoders.convert(plain, kind)
        return fact
    except msgspec.ValidationError:
        return None


def _skipped(line: Malformed) -> dict[str, Any]:
    """A line that was too long has only its head, which alone would be read as something else."""
    head = line.raw.decode("latin-1")
    return {"fact": _SKIPPED, "problem": line.problem, "size": line.size, "head": head}


def _unskipped(plain: dict[str, Any]) -> Malformed | None:
    head, problem, size = plain.get("head"), plain.get("problem"), plain.get("size")
    if not isinstance(head, str) or not isinstance(problem, str) or not isinstance(size, int):
        return None
    return Malformed(raw=head.encode("latin-1", "replace"), problem=problem, size=size)
