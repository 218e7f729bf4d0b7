"""Every intent that a client can send has a machine that carries it out."""

from __future__ import annotations

import typing
from typing import Any

import pytest
from msgspec import structs

from fairlead.fleet.gateway.intent_routes import routed
from fairlead.server.protocol.intent import BaseIntent
from fairlead.server.protocol.intents import ContinueAtResetByDefault, Intent
from fairlead.server.protocol.terminal_intents import CloseTerminal

KINDS: tuple[type[BaseIntent], ...] = typing.get_args(Intent)
VALUES: dict[Any, Any] = {str: "a", int: 1, bool: True, float: 1.0}
OWNERS = {"a": ("node1", "a"), "node2__b": ("node2", "b")}


def sample(kind: type[BaseIntent], **given: Any) -> BaseIntent:
    """An intent with plain values in the fields that it needs."""
    types = typing.get_type_hints(kind)
    for field in structs.fields(kind):
        if field.required and field.name not in given:
            wanted = types[field.name]
            origin = typing.get_origin(wanted)
            if origin is None:
                given[field.name] = VALUES[wanted]
            else:
                given[field.name] = None if type(None) in typing.get_args(wanted) else origin()
    return kind(**given)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_N18_every_intent_goes_to_its_machine(kind: type[BaseIntent]) -> None:
    fields = kind.__struct_fields__
    here = ["node1", "node2"]
    if kind is CloseTerminal:
        parts = routed(sample(kind, terminal="node2__t"), "", OWNERS.__getitem__, here)
        assert parts is not None
        assert [(part.node, part.intent) for part in parts] == [
            ("node2", CloseTerminal(terminal="t"))
        ]
    elif kind is ContinueAtResetByDefault:
        parts = routed(sample(kind), "", OWNERS.__getitem__, here)
        assert parts is not None
        assert [part.node for part in parts] == here
    elif "sessions" in fields:
        parts = routed(sample(kind, sessions=("a", "node2__b")), "", OWNERS.__getitem__, here)
        assert parts is not None
        assert [(part.node, part.intent.sessions) for part in parts] == [  # type: ignore[attr-defined]
            ("node1", ("a",)),
            ("node2", ("b",)),
        ]
    elif "session" in fields:
        parts = routed(sample(kind, session="node2__b"), "", OWNERS.__getitem__, here)
        assert parts is not None
        assert [(part.node, part.intent.session) for part in parts] == [("node2", "b")]  # type: ignore[attr-defined]
    else:  # The client names the machine, or the gateway chooses one.
        parts = routed(sample(kind), "node2", OWNERS.__getitem__, here)
        assert parts is not None
        assert [part.node for part in parts] == ["node2"]
        assert routed(sample(kind), "", OWNERS.__getitem__, here) is None
