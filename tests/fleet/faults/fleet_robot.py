"""A client of a fleet that connects to any of its gateways, and keeps what a good client keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.faults.faulty_client import FaultyClient

__all__ = ["FleetRobot"]


@dataclass(slots=True)
class FleetRobot(FaultyClient):
    """Chooses a gateway for each connection."""

    gateways: tuple[int, ...] = field(default=())
    """The ports of the gateways."""

    node: str = ""
    """The machine for a new session."""

    async def connect_once(self) -> None:
        self.port = self.rng.choice(self.gateways)
        self.server = f"127.0.0.1:{self.port}"
        await FaultyClient.connect_once(self)

    async def _say(self, **message: Any) -> None:
        if message["type"] == "intent" and message["intent"]["kind"] == "new_session":
            message["node"] = self.node
        await FaultyClient._say(self, **message)

    async def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "error" and message["code"] == "unavailable":
            # The machine does not answer or the gateway has just started: connect again.
            self.counts["not available now"] += 1
            raise ConnectionError(message["message"])
        await FaultyClient._take(self, message)

    def _result(self, message: dict[str, Any]) -> None:
        # A repetition that finds its machine away is refused, also of what was done long ago.
        if message.get("code") == "unavailable" and message["n"] not in self._open:
            self.counts["repeated to a machine that was away"] += 1
            return
        FaultyClient._result(self, message)

    def _look(self) -> None:
        # How long the analysis of a command may take depends on the load of the machine.
        rows = (self.state or {}).get("pending", ())
        if not any(row.get("choices_note", "").startswith("Too long") for row in rows):
            FaultyClient._look(self)
