"""Which machine carries out an intent, and the intent as that machine knows it. Pure.

Intents about a session go to the machine of the session; those about several sessions are divided.
Intents about a folder come with a machine, or go to one that has sessions in that folder. Names of
sessions at the gateway are replaced by the ids that the machine uses.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct, structs

from fairlead.fleet.protocol.names import name_of, split_name
from fairlead.server.protocol.intent import BaseIntent
from fairlead.server.protocol.intents import ContinueAtResetByDefault
from fairlead.server.protocol.terminal_intents import CloseTerminal, OpenTerminal
from fairlead.server.refusal import Refusal

__all__ = ["Routed", "merged_result", "routed", "sparse", "terminal_owner"]

Owner = Callable[[str], tuple[str, str]]
"""The machine of a session and its id there; raises a `Refusal`."""


class Routed(Struct, frozen=True):
    """An intent for one machine."""

    node: str
    intent: BaseIntent
    names: dict[str, str]
    """Id on the machine -> name at the gateway, of the sessions in the intent."""


def routed(intent: BaseIntent, node: str, owner: Owner, here: list[str]) -> list[Routed] | None:
    """The parts of an intent by machine; None if a machine has to be chosen for its folder.

    `node` is the machine that the client chose for an intent that names no session.
    """
    if isinstance(intent, CloseTerminal):
        machine, own = terminal_owner(intent.terminal)
        return [Routed(machine, structs.replace(intent, terminal=own), {})]
    if isinstance(intent, ContinueAtResetByDefault):
        return [Routed(node, intent, {}) for node in here]
    fields = type(intent).__struct_fields__
    if "session" not in fields and "sessions" not in fields:
        return [Routed(node, intent, {})] if node else None
    if "sessions" in fields:
        return _divided(intent, getattr(intent, "sessions"), owner)  # noqa: B009
    session = str(getattr(intent, "session", ""))
    machine, own = owner(session)
    if own != session:
        intent = structs.replace(intent, session=own)
    return [Routed(machine, intent, {own: session})]


def terminal_owner(name: str) -> tuple[str, str]:
    """The machine of a terminal, and its id there."""
    parts = split_name(name)
    if parts is None:
        raise Refusal("not_found", "This terminal was closed.")
    return parts


def _divided(intent: BaseIntent, sessions: tuple[str, ...], owner: Owner) -> list[Routed]:
    parts: dict[str, dict[str, str]] = {}
    for session in sessions:
        node, own = owner(session)
        parts.setdefault(node, {})[own] = session
    return [
        Routed(node, structs.replace(intent, sessions=tuple(names)), names)
        for node, names in parts.items()
    ]


def sparse(intent: BaseIntent) -> bytes:
    """An intent without the fields that have their defaults, which an older machine may not know."""
    given = msgspec.to_builtins(intent)
    for each in _fields(type(intent)):
        if each.name == "node" or (
            not each.required and getattr(intent, each.name) == _default(each)
        ):
            given.pop(each.encode_name, None)
    return msgspec.json.encode(given)


@functools.cache
def _fields(kind: type[BaseIntent]) -> tuple[structs.FieldInfo, ...]:
    """msgspec evaluates the annotations of a class each time."""
    return structs.fields(kind)


def _default(field: structs.FieldInfo) -> Any:
    return field.default_factory() if callable(field.default_factory) else field.default


def merged_result(results: list[tuple[Routed, dict[str, Any]]]) -> dict[str, Any]:
    """The results of all parts as one: lists are joined, sessions have their names at the gateway."""
    merged: dict[str, Any] = {}
    for part, result in results:
        if isinstance(part.intent, OpenTerminal) and "terminal" in result:
            result = {**result, "terminal": name_of(part.node, str(result["terminal"]), "cli")}
        for key, value in _renamed(result, part.names).items():
            if isinstance(value, list) and isinstance(merged.get(key), list):
                merged[key] = [*merged[key], *value]
            elif isinstance(value, dict) and isinstance(merged.get(key), dict):
                merged[key] = {**merged[key], **value}
            else:
                merged[key] = value
    return merged


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return [_renamed(each, names) for each in value]
    if isinstance(value, dict):
        return {names.get(key, key): _renamed(each, names) for key, each in value.items()}
    return value
