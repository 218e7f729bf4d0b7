"""A transcript at one moment as JSON, with a schema number.

A client that joins late gets one of these, then changes. `SCHEMA` counts up when a field is
renamed or removed or changes its meaning; new fields do not change it.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from fairlead.transcript.state.document import Document
from fairlead.transcript.state.model import (
    Background,
    File,
    Item,
    Ledger,
    Pending,
    Session,
    Settled,
    Status,
    Task,
    Turn,
)

__all__ = ["SCHEMA", "Snapshot", "snapshot_of"]

SCHEMA = 1


class Snapshot(Struct, frozen=True, kw_only=True):
    """Everything a person would want to see."""

    schema: int = SCHEMA
    session: Session = Session()
    status: Status = Status()
    items: tuple[Item, ...] = ()
    turns: tuple[Turn, ...] = ()
    pending: tuple[Pending, ...] = ()
    settled: tuple[Settled, ...] = ()
    tasks: tuple[Task, ...] = ()
    background: tuple[Background, ...] = ()
    files: tuple[File, ...] = ()
    ledger: Ledger = Ledger()

    def plain(self) -> dict[str, Any]:
        """As plain JSON values, which `changes.apply` works on."""
        plain: dict[str, Any] = msgspec.json.decode(self.json())
        return plain

    def json(self) -> bytes:
        """As JSON text."""
        return msgspec.json.encode(self)


def snapshot_of(document: Document) -> Snapshot:
    """The state as it is now; rows are shared, not copied."""
    return Snapshot(
        session=document.parts["session"],
        status=document.parts["status"],
        items=document.all("items"),
        turns=document.all("turns"),
        pending=document.all("pending"),
        settled=document.all("settled"),
        tasks=document.all("tasks"),
        background=document.all("background"),
        files=document.all("files"),
        ledger=document.parts["ledger"],
    )
