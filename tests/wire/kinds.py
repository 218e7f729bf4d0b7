"""Every kind of message on the wire, and the carrier line in which a part of a message travels.

A kind is a tag of one of the unions of `fairlead.wire`: `system.init`, `block.text`,
`delta.text_delta`, `request.can_use_tool`. Taken from the unions themselves, so that a new type
cannot be forgotten by the tests that go through them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from fairlead.wire.blocks import NEVER, Block
from fairlead.wire.control import CliRequest, Control
from fairlead.wire.events import Event
from fairlead.wire.stream import ApiEvent, Delta
from fairlead.wire.system import System
from fairlead.wire.updates import PermissionUpdate

__all__ = ["FAMILIES", "KINDS", "SUBTYPES", "Carrier", "carrier_of", "kinds_of", "type_of"]

Carrier = tuple[Callable[[Any], Any], Callable[[Any], Any]]
"""How a part is put into a line, and how its typed value is found in the message."""

SUBTYPES: dict[str, tuple[str, ...]] = {
    "result": (
        "success",
        "error_during_execution",
        "error_max_turns",
        "error_max_budget_usd",
        "error_max_structured_output_retries",
    ),
    "control_response": ("success", "error"),
}
"""Types that one struct reads in several shapes; each shape is a kind of its own."""


def _whole(data: Any) -> Any:
    return data


def _stream(event: Any) -> dict[str, Any]:
    return {"type": "stream_event", "event": event}


def _request(request: Any) -> dict[str, Any]:
    return {"type": "control_request", "request_id": "r1", "request": request}


def _suggesting(update: Any) -> dict[str, Any]:
    fields = {"tool_name": "Bash", "input": {}, "permission_suggestions": [update]}
    return _request({"subtype": "can_use_tool", **fields})


FAMILIES: dict[str, tuple[Any, Carrier]] = {
    "": (Event | Control, (_whole, _whole)),
    "system": (System, (_whole, _whole)),
    "request": (CliRequest, (_request, lambda m: m.request)),
    "block": (
        Block,
        (
            lambda block: {"type": "assistant", "message": {"id": "m1", "content": [block]}},
            lambda m: m.message.content[0],
        ),
    ),
    "api_event": (ApiEvent, (_stream, lambda m: m.event)),
    "delta": (
        Delta,
        (
            lambda delta: _stream({"type": "content_block_delta", "index": 0, "delta": delta}),
            lambda m: m.event.delta,
        ),
    ),
    "update": (
        PermissionUpdate,
        (_suggesting, lambda m: m.request.permission_suggestions[0]),
    ),
}


def type_of(kind: str) -> type:
    """The struct that reads a kind."""
    return KINDS[kind]


def carrier_of(kind: str) -> Carrier:
    """How to put an example of a kind into a line, and where its value then is."""
    family = kind.split(".")[0] if "." in kind else ""
    return FAMILIES[family if family in FAMILIES else ""][1]


def kinds_of(family: str) -> dict[str, type]:
    """The kinds of one union."""
    kinds: dict[str, type] = {}
    for member in get_args(FAMILIES[family][0]):
        tag = member.__struct_config__.tag
        name = member.__name__.lower() if family == "" else "unknown"
        own = name if tag.startswith(NEVER) else tag
        prefix = f"{family}." if family else ""
        for shape in SUBTYPES.get(own, ("",)):
            kinds[f"{prefix}{own}.{shape}" if shape else f"{prefix}{own}"] = member
    return kinds


KINDS: dict[str, type] = {kind: t for family in FAMILIES for kind, t in kinds_of(family).items()}
