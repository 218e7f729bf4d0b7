"""Unknown lines and blocks: stored unchanged and shown collapsed, never dropped, never fatal."""

from __future__ import annotations

from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import UnknownItem
from fairlead.wire.events import Malformed, Unknown
from fairlead.wire.system import UnknownSystem

__all__ = ["on_malformed", "on_unknown", "on_unknown_system"]


def on_unknown(fold: Fold, message: Unknown) -> None:
    """A line of an unknown type."""
    _show(fold, message, message.type_name)


def on_unknown_system(fold: Fold, message: UnknownSystem) -> None:
    """A `system` line of an unknown subtype."""
    _show(fold, message, f"system/{message.subtype_name}")


def on_malformed(fold: Fold, message: Malformed) -> None:
    """Output that is not JSON; adjacent lines become one item."""
    text = message.raw.decode("utf-8", "replace")
    order = fold.document.order["items"]
    last = fold.memory.last_noise
    if last is not None and order and order[-1] == last:
        fold.append("items", last, "text", "\n" + text)
        return
    fold.memory.last_noise = item_id = fold.number("noise")
    fold.show(
        UnknownItem(
            id=item_id,
            turn=fold.memory.turn,
            at=fold.at,
            problem=message.problem,
            text=text,
        )
    )


def _show(fold: Fold, message: Unknown | UnknownSystem, kind: str) -> None:
    fold.show(
        UnknownItem(
            id=fold.unused(message.uuid or fold.number("unknown")),
            turn=fold.memory.turn,
            at=fold.at,
            type=kind,
            problem=message.problem,
            data=message.data,
        )
    )
