"""The clients that act and measure times: intents until their result, permissions until shown.

They run in the benchmark's own process, which does nothing else meanwhile, so that what they
measure is the server's time and not their own. Each is a `follower`, like the viewers.
"""

from __future__ import annotations

import asyncio
import json
import time
from itertools import count
from typing import Any

from bench.server_load.follower import Follower, Tally, connect

__all__ = ["ActiveClient", "IntentRefused"]

PATIENCE_S = 60.0
"""The timeout for an answer of the server."""

PENDING = b'"to":"pending"'
RESULT = b'{"type":"intent_result"'


class IntentRefused(Exception):
    """The server refused an intent of the benchmark."""


class ActiveClient:
    """A client that follows a session, may answer its requests, and may send intents."""

    def __init__(self, *, decides: bool = False) -> None:
        self.shown: dict[str, float] = {}
        """Request -> when this client received it."""
        self.decided: set[str] = set()
        self._decides = decides
        self._waiting: dict[int, asyncio.Future[tuple[dict[str, Any], float]]] = {}
        self._numbers = count(1)
        self._follower: Follower | None = None
        self._session = ""

    async def connect(self, port: int, token: str, tally: Tally, session: str = "") -> ActiveClient:
        """Connect, and follow the lobby and a session."""
        self._session = session
        hello = {"token": token, **({"session": session} if session else {})}
        self._follower = await connect(port, hello, tally, self._heard)
        return self

    @property
    def positions(self) -> dict[bytes, int]:
        """The position of this client in each document."""
        return self._at().positions

    async def intend(
        self, kind: str, *, node: str = "", **fields: Any
    ) -> tuple[dict[str, Any], float]:
        """Send an intent, to a machine of a fleet if named; its result, and the seconds until it arrived."""
        n, answer = self._ask(kind, fields)
        began = time.monotonic()
        at = {"node": node} if node else {}
        self._at().say({"type": "intent", "n": n, **at, "intent": {"kind": kind, **fields}})
        async with asyncio.timeout(PATIENCE_S):
            result, came = await answer
        if not result["ok"]:
            raise IntentRefused(f"{kind}: {result['code']}: {result['message']}")
        return result["result"], came - began

    def close(self) -> None:
        """Go."""
        self._at().close()

    def _at(self) -> Follower:
        assert self._follower is not None
        return self._follower

    def _ask(
        self, kind: str, fields: dict[str, Any]
    ) -> tuple[int, asyncio.Future[tuple[dict[str, Any], float]]]:
        n = next(self._numbers)
        answer = asyncio.get_running_loop().create_future()
        self._waiting[n] = answer
        return n, answer

    def _heard(self, payload: bytes) -> None:
        now = time.monotonic()
        if payload.startswith(RESULT):
            result = json.loads(payload)
            waiting = self._waiting.pop(result["n"], None)
            if waiting is not None:
                waiting.set_result((result, now))
        elif self._decides and PENDING in payload:
            self._look(json.loads(payload), now)

    def _look(self, message: dict[str, Any], now: float) -> None:
        for change in message.get("changes", ()):
            if change["to"] == "pending" and change["op"] == "add":
                self._decide(change["row"], now)

    def _decide(self, row: dict[str, Any], now: float) -> None:
        self.shown[row["id"]] = now
        fields = {
            "session": self._session,
            "request_id": row["id"],
            "input_sha256": row["input_sha256"],
            "decision": "allow",
        }
        n, answer = self._ask("decide", fields)
        answer.add_done_callback(lambda completed: self._told(row["id"], completed))
        self._at().say({"type": "intent", "n": n, "intent": {"kind": "decide", **fields}})

    def _told(self, request: str, completed: asyncio.Future[tuple[dict[str, Any], float]]) -> None:
        if not completed.cancelled() and completed.result()[0]["ok"]:
            self.decided.add(request)
