"""Clients of a hub in the same process: they apply what they receive, as any client would, and
nothing more.

A client that finds a gap or is told that it is wrong opens again, which is the one rule of
docs/server.md for a client that does not know where it is. Everything passes through JSON, as on a
socket.
"""

from __future__ import annotations

from typing import Any

import msgspec

from fairlead.server.hub.hub import Hub
from fairlead.server.protocol.messages import (
    Changes,
    FromServer,
    Page,
    Problem,
    Released,
    Snapshot,
)
from fairlead.transcript.state.changes import apply


class HubClient:
    """One client of one document."""

    def __init__(self, hub: Hub, name: str, document: str, window: int) -> None:
        self.hub = hub
        self.name = name
        self.document = document
        self.window = window
        self.state: dict[str, Any] | None = None
        self.seq: int | None = None
        self.epoch: str | None = None
        self.connected = False
        self.before = 0
        """Items before the ones it has."""
        self.snapshots = 0
        self.bytes_at_once = 0

    def open(self, now: float, *, lie: int | None = None) -> None:
        """Follow the document, from where it is or from where it says it is."""
        last = self.seq if lie is None else lie
        oldest = self.state["items"][0]["id"] if self.state and self.state.get("items") else None
        self.connected = True
        self.take(
            self.hub.subscribe(
                self.name, self.document, last, self.epoch, self.window, now, oldest=oldest
            ),
            now,
        )

    def drop(self) -> None:
        """Lose the socket, and keep what it has."""
        self.hub.drop(self.name)
        self.connected = False

    def forget(self) -> None:
        """Reload the page: nothing is left."""
        self.drop()
        self.state = self.seq = self.epoch = None

    def drain(self, now: float) -> None:
        """Take what there is."""
        self.take(self.hub.drain(self.name, now), now)

    def look(self, looking: bool, now: float) -> None:
        """Look at the document, or away."""
        self.take(self.hub.look(self.name, self.document, looking, now), now)

    def fetch(self, count: int, now: float) -> None:
        """Get older items."""
        if self.state and self.state.get("items"):
            before = self.state["items"][0]["id"]
            self.take(self.hub.fetch(self.name, self.document, before, count, now), now)

    def release(self, count: int, now: float) -> None:
        """Let go of its oldest items."""
        if self.state and len(self.state.get("items", ())) > count:
            oldest = self.state["items"][count]["id"]
            self.take(self.hub.release(self.name, self.document, oldest), now)

    def ack(self) -> None:
        """Say where it is."""
        if self.seq is not None:
            self.hub.ack(self.name, self.document, self.seq)

    def take(self, messages: list[FromServer], now: float) -> None:
        """Apply messages as they would come over a socket."""
        self.bytes_at_once = sum(len(msgspec.json.encode(message)) for message in messages)
        for message in messages:
            plain = msgspec.json.decode(msgspec.json.encode(message))
            if isinstance(message, Snapshot):
                self.snapshots += 1
                self.state, self.seq = plain["state"], plain["seq"]
                self.epoch = plain["epoch"]
                self.before = plain["window"]["first"]
            elif isinstance(message, Changes):
                if plain["from_seq"] != self.seq:
                    self.hub.unsubscribe(self.name, self.document)
                    self.state = self.seq = None
                    self.open(now)
                    return
                assert self.state is not None
                self.state = apply(self.state, plain["changes"])
                self.seq = plain["seq"]
            elif isinstance(message, Page):
                assert self.state is not None
                assert self.state["items"][0]["id"] == plain["before"]
                self.state = {**self.state, "items": [*plain["items"], *self.state["items"]]}
                self.before = plain["window"]["first"]
            elif isinstance(message, Released):
                assert self.state is not None
                items = self.state["items"]
                place = next((n for n, row in enumerate(items) if row["id"] == plain["oldest"]), 0)
                self.state = {**self.state, "items": items[place:]}
                self.before = plain["window"]["first"]
            else:
                assert isinstance(message, Problem)
                assert message.code in ("stale", "not_found", "too_many", "unavailable")
