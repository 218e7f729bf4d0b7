"""Refuses what needs the bus while the bus fails."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from fairlead.fleet.bus.bus import BusError, Conflict
from fairlead.server.refusal import Refusal

__all__ = ["refused_without_bus"]


@contextlib.contextmanager
def refused_without_bus(message: str) -> Iterator[None]:
    """Turn a failure of the bus into a refusal with this message; `Conflict` passes.

    `{problem}` in the message is replaced by the sentence of the bus.
    """
    try:
        yield
    except Conflict:
        raise
    except BusError as problem:
        raise Refusal("unavailable", message.replace("{problem}", str(problem))) from problem
