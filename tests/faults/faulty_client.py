"""A client over real sockets that behaves as badly as real clients do, and records everything.

What it keeps through every lost socket is what a good client keeps: its id, its position, its
state, and the intents without a result, which it sends again under the same numbers. At random it
disconnects, forgets its state (a reload), reads slowly, or reports a wrong position. It notes each
breach of the protocol's promises in `breaches`; the checker reads that, `seen` and `accepted`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import websockets

from fairlead.store.tables.intents import KEPT
from fairlead.transcript.state.changes import apply
from tests.faults.views import View, view_of_state

__all__ = ["FaultRates", "FaultyClient"]

PATIENCE_S = 1.0
"""After this time without data the network counts as dead; a working server sends something
before."""

VIEW_EVERY = 6
"""One of this many frames is recorded as a view; every snapshot is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRates:
    """How badly a client behaves; probabilities for each connection."""

    forgets: float = 0.15
    lies: float = 0.15
    slow: float = 0.1
    repeats: float = 0.3
    """Sends something again that it has the result of."""
    life_s: tuple[float, float] = (0.02, 0.5)


GOOD = FaultRates(forgets=0.0, lies=0.0, slow=0.0, repeats=0.0, life_s=(1e6, 1e6))


@dataclass(slots=True)
class FaultyClient:
    """One device with one client id, which follows one session and the lobby."""

    name: str
    server: str
    """The server's own authority, which the Host header must name."""
    port: int
    """Where to connect: the server or a proxy before it."""
    token: str
    session: str
    rng: random.Random
    fault_rates: FaultRates = field(default_factory=FaultRates)
    answers: bool = True
    """Whether it decides what waits for an answer."""
    client: str = field(default_factory=lambda: str(uuid.uuid4()))
    state: dict[str, Any] | None = None
    seq: int | None = None
    epoch: str | None = None
    lobby: dict[str, Any] | None = None
    lobby_seq: int = -1
    first: tuple[dict[str, Any], dict[str, Any]] | None = None
    """The session and the lobby as it first saw them since this was None."""
    counts: Counter[str] = field(default_factory=Counter)
    seen: dict[int, View] = field(default_factory=dict)
    highest: int = 0
    """The highest number it was ever shown."""
    accepted: dict[str, str] = field(default_factory=dict)
    """Prompts that the server accepted: uuid -> text."""
    decided: list[tuple[str, str]] = field(default_factory=list)
    """Requests that this client's answer decided: id, decision."""
    breaches: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    _n: int = 0
    _open: dict[int, dict[str, Any]] = field(default_factory=dict)
    _done: dict[int, dict[str, Any]] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)
    _sent: set[int] = field(default_factory=set)
    _lied: bool = False
    _frames: int = 0
    _socket: Any = None
    _results: dict[int, dict[str, Any]] = field(default_factory=dict)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    # What it wants

    def want(self, kind: str, **fields: Any) -> int:
        """Have something done, however many sockets it takes; gives its number."""
        self._n += 1
        self._open[self._n] = {"kind": kind, **fields}
        return self._n

    def prompt(self, text: str) -> int:
        """Send a prompt to the session."""
        return self.want("send", session=self.session, text=text, uuid=str(uuid.uuid4()))

    @property
    def waiting(self) -> int:
        """Intents without a result."""
        return len(self._open)

    async def say_now(self, n: int) -> None:
        """Write an intent on the socket there is, if there is one."""
        if self._socket is not None and n in self._open:
            with contextlib.suppress(websockets.ConnectionClosed, OSError):
                await self._say(type="intent", n=n, intent=self._open[n])

    # Connections

    async def run(self, until: asyncio.Event) -> None:
        """Connect, misbehave and reconnect until stopped."""
        while not until.is_set():
            try:
                await self.connect_once()
            except ConnectionRefusedError:
                await asyncio.sleep(0.01)  # A client's own pace: nobody tells it of a new server.
                continue
            except (OSError, TimeoutError, websockets.WebSocketException):
                pass
            self.counts["connections"] += 1

    async def catch_up(
        self, port: int, ready: Callable[[FaultyClient], bool], patience_s: float = 60.0
    ) -> None:
        """Behave, and follow until something is true and every intent has its result."""
        self.fault_rates, self.port = GOOD, port
        async with asyncio.timeout(patience_s):
            running = asyncio.create_task(self.run(asyncio.Event()))
            try:
                while self._open or not ready(self):
                    self._news.clear()
                    await self._news.wait()
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

    async def connect_once(self) -> None:
        """One connection from its handshake to its end."""
        rng, fault_rates = self.rng, self.fault_rates
        if rng.random() < fault_rates.forgets:
            self.counts["forgot"] += 1
            self.state = self.seq = self.epoch = None
        slow = rng.random() < fault_rates.slow
        async with asyncio.timeout(3 * PATIENCE_S):
            self._socket = await websockets.connect(
                f"ws://{self.server}/ws",
                host="127.0.0.1",
                port=self.port,
                proxy=None,
                max_size=None,
                max_queue=1 if slow else 16,
                ping_interval=None,
                close_timeout=0.1,
            )
        try:
            await self._hello()
            async with asyncio.timeout(rng.uniform(*fault_rates.life_s)):
                await self._listen(slow)
        except TimeoutError:
            self.counts["hung up"] += 1
        finally:
            socket, self._socket = self._socket, None
            if rng.random() < 0.5:
                socket.transport.abort()
            with contextlib.suppress(TimeoutError, OSError):
                await asyncio.wait_for(socket.close(), PATIENCE_S)

    async def _hello(self) -> None:
        last = self.seq
        self._lied = self.seq is not None and self.rng.random() < self.fault_rates.lies
        if self._lied:
            self.counts["lied"] += 1
            last = self.rng.choice((0, self.rng.randint(0, 2 * self.highest + 10), 2**40))
        oldest = self.state["items"][0]["id"] if self.state and self.state["items"] else None
        await self._say(
            type="hello",
            protocol=1,
            token=self.token,
            client=self.client,
            session=self.session,
            last_seq=last,
            epoch=self.epoch,
            oldest=oldest,
        )

    async def _listen(self, slow: bool) -> None:
        while True:
            async with asyncio.timeout(None if slow else PATIENCE_S) as patience:
                raw = await self._socket.recv()
            if patience.expired():
                raise ConnectionError("silence")
            await self._take(json.loads(raw))
            self._news.set()
            if slow:
                self.counts["read slowly"] += 1
                await asyncio.sleep(self.rng.uniform(0.0, 0.1))  # What makes it a slow one.

    # Messages

    async def _take(self, message: dict[str, Any]) -> None:
        kind, document = message["type"], message.get("document")
        self.counts[kind] += 1
        if kind == "welcome":
            for n in sorted(self._open):
                self.counts["sent again" if n in self._sent else "sent"] += 1
                self._sent.add(n)
                await self._say(type="intent", n=n, intent=self._open[n])
            known = tuple(n for n in self._done if n > self._n - KEPT)
            if known and self.rng.random() < self.fault_rates.repeats:
                # As if its result had been lost: the same must come again, and nothing be done.
                n = self.rng.choice(known)
                await self._say(type="intent", n=n, intent=self._done[n])
        elif kind in ("snapshot", "changes") and document == self.session:
            await self._follow(message)
        elif kind == "snapshot":
            self.lobby, self.lobby_seq = message["state"], message["seq"]
        elif kind == "changes":
            self._follow_lobby(message)
        elif kind == "intent_result":
            self._result(message)
        elif kind in ("error", "bye") and not message.get("again"):
            self.breaches.append(f"{self.name}: {message}")

    async def _follow(self, message: dict[str, Any]) -> None:
        if message["type"] == "snapshot":
            self._snapshot(message)
        elif message["from_seq"] != self.seq or self.state is None:
            if not self._lied:
                report = f"{self.name}: at {self.seq} came {message['from_seq']}-{message['seq']}"
                self.breaches.append(report)
            self.state = self.seq = None
            await self._say(type="open", document=self.session)
            return
        elif message["seq"] < self.seq:
            self.breaches.append(f"{self.name}: {message['seq']} after {self.seq}")
        else:
            self.state = apply(self.state, message["changes"])
            self.seq = message["seq"]
        assert self.state is not None
        assert self.seq is not None
        self.highest = max(self.highest, self.seq)
        if self.first is None and self.lobby is not None:
            self.first = self.state, self.lobby
        self._frames += 1
        if message["type"] == "snapshot" or self._frames % VIEW_EVERY == 0:
            self._look()
            await self._say(type="ack", document=self.session, seq=self.seq)
        await self._decide()

    def _snapshot(self, message: dict[str, Any]) -> None:
        older = self.seq is not None and message["seq"] < self.seq
        if older and message["epoch"] == self.epoch and not self._lied:
            self.breaches.append(f"{self.name}: a snapshot of {message['seq']} after {self.seq}")
        self.state, self.seq, self.epoch = message["state"], message["seq"], message["epoch"]
        self._lied = False

    def _look(self) -> None:
        assert self.state is not None
        assert self.seq is not None
        view = view_of_state(self.state, self.seq)
        before = self.seen.setdefault(self.seq, view)
        if before.items == view.items and before.digest != view.digest:
            self.breaches.append(f"{self.name}: two different views of {self.seq}")

    def _follow_lobby(self, message: dict[str, Any]) -> None:
        if self.lobby is None or message["from_seq"] != self.lobby_seq:
            self.breaches.append(f"{self.name}: the lobby skipped to {message['from_seq']}")
            return
        self.lobby, self.lobby_seq = apply(self.lobby, message["changes"]), message["seq"]

    def _result(self, message: dict[str, Any]) -> None:
        before = self._results.setdefault(message["n"], message)
        if before != message:
            self.breaches.append(f"{self.name}: two results of {message['n']}")
        intent = self._open.get(message["n"])
        if intent is None:
            self.counts["results again"] += 1
            return
        if message.get("code") in ("unavailable", "too_many"):
            del self._results[message["n"]]
            return  # Nothing was done; it goes again with the next connection.
        self._done[message["n"]] = self._open.pop(message["n"])
        if message["ok"] and intent["kind"] == "send":
            self.accepted[intent["uuid"]] = intent["text"]
        if message["ok"] and intent["kind"] == "decide":
            self.decided.append((intent["request_id"], intent["decision"]))
        if not message["ok"]:
            self.refusals.append(f"{message['code']}: {message['message']}")

    async def _decide(self) -> None:
        """Answer pending requests, as every other client does at the same time."""
        assert self.state is not None
        for row in self.state["pending"] if self.answers else ():
            if row["id"] in self._asked:
                continue
            self._asked.add(row["id"])
            n = self.want(
                "decide",
                session=self.session,
                request_id=row["id"],
                input_sha256=row["input_sha256"],
                decision=self.rng.choice(("allow", "deny")),
            )
            self._sent.add(n)
            await self._say(type="intent", n=n, intent=self._open[n])

    async def _say(self, **message: Any) -> None:
        await self._socket.send(json.dumps(message))
