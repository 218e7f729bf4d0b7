"""WebSockets to clients: decode strictly, authenticate first, pump the hub, never wait for one.

Each socket has a task that reads and one that writes. One flusher for all sleeps until the hub
has something, asks it who is ready, and gives each socket that can take it one frame; a socket
that is still busy with the last is passed by, and gets a merged frame later. The longer a round
takes, the longer the flusher rests after it, so that a crowd gets fewer and larger frames, and
control does not wait for them. The rules are B1 … of docs/server.md. Below: `hub` (pure),
`registry` (acts). Above: Starlette.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from fairlead.server.hub import Hub
from fairlead.server.limits import Limits
from fairlead.server.messages import (
    LOBBY,
    PROTOCOL,
    Ack,
    Bye,
    Close,
    Fetch,
    FromClient,
    FromServer,
    Hello,
    IntentResult,
    Look,
    Open,
    Pong,
    Problem,
    SendIntent,
    Welcome,
)
from fairlead.server.refusal import Refusal
from fairlead.server.roles import require
from fairlead.store.devices import Device

__all__ = ["Desk", "Doorkeeper", "Sockets"]

_decode = msgspec.json.Decoder(FromClient)
_encode = msgspec.json.Encoder()

SLICE = 32
"""Sockets that are served before everybody else has a turn: about a millisecond."""

REST = 2.0
"""How many times as long as a round took the flusher rests after it."""

ECHOED = 200
"""Letters of what somebody sent that an error repeats."""

TOO_SLOW, UNAUTHENTICATED, PROTOCOL_MISMATCH, TOO_MANY = 4008, 4401, 4426, 4429


class Desk(Protocol):
    """What sockets need of the registry."""

    hub: Hub

    async def open(self, document: str, device: Device) -> bool:
        """Make a document available to the hub; False if there is none for this device."""

    async def act(self, device: Device, client: str, n: int, intent: Any) -> IntentResult:
        """Carry out an intent, once for each (client, n)."""

    async def last_intent(self, client: str) -> int:
        """The highest n of a client that was acted on."""

    def arrived(self, device: Device, socket: str) -> None:
        """A device is connected."""

    def left(self, device: Device, socket: str) -> None:
        """A device is gone."""


class Doorkeeper(Protocol):
    """Who a token belongs to."""

    async def device_of(self, token: str, source: str) -> Device | None:
        """The device with this token, unless it is unknown, revoked or too long idle."""


class _Socket:
    """One connected client."""

    def __init__(
        self,
        websocket: WebSocket,
        device: Device,
        client: str,
        written: Callable[[_Socket], None],
        most: int,
    ) -> None:
        self.id = uuid.uuid4().hex
        self.websocket = websocket
        self.device = device
        self.client = client
        self.intents = 0
        self.sent_at = time.monotonic()
        self.passed_by = False
        """Whether it was ready for a frame while it was busy with the last."""
        self.hurried = False
        """Whether that frame was urgent."""
        self._written = written
        self._waiting: list[str] = []
        self._writing = False
        self._wake = asyncio.Event()
        self._letters = 0
        self._most = most
        self._room = asyncio.Event()
        self._room.set()
        self.over = asyncio.Event()
        """Set when it is to go, whether it reads or not."""

    async def has_room(self) -> None:
        """Wait while too much waits to be written: who asks and does not read waits too."""
        await self._room.wait()

    @property
    def busy(self) -> bool:
        """Whether something still waits to be written."""
        return self._writing or bool(self._waiting)

    def send(self, messages: Sequence[FromServer]) -> None:
        """Queue messages; the writer takes them in order."""
        self.send_texts([_text(message) for message in messages])

    def send_texts(self, texts: list[str]) -> None:
        """Queue messages that are written as JSON already."""
        if texts:
            self._waiting += texts
            self._letters += sum(map(len, texts))
            if self._letters > self._most:
                self._room.clear()
            self._wake.set()

    async def write_forever(self) -> None:
        """Write what is queued; a slow network holds up nobody but this task."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            texts, self._waiting = self._waiting, []
            self._writing = True
            texts.reverse()
            while texts:
                # Nothing is held on to: a snapshot is long, and the next frame may be far away.
                self._letters -= len(texts[-1])
                await self.websocket.send_text(texts.pop())
                if self._letters <= self._most:
                    self._room.set()
            self._writing = False
            self.sent_at = time.monotonic()
            if self.passed_by:
                self.passed_by = False
                self._written(self)


class Sockets:
    """All sockets of one server."""

    def __init__(
        self,
        desk: Desk,
        doorkeeper: Doorkeeper,
        limits: Limits,
        *,
        version: str,
        agent: str,
        epoch: str,
    ) -> None:
        self._desk = desk
        self._doorkeeper = doorkeeper
        self._limits = limits
        self._version = version
        self._agent = agent
        self._epoch = epoch
        self._sockets: dict[str, _Socket] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._strangers: dict[asyncio.Task[tuple[_Socket, Hello] | None], None] = {}
        """Sockets that have not said who they are, the oldest first."""
        self._flusher: asyncio.Task[None] | None = None
        self._due = asyncio.Event()
        """Set when the hub may have something for somebody who can take it."""
        self._urgent = asyncio.Event()
        """Set when it has something that a person waits for."""
        self._hurried: list[str] = []
        """Sockets that were too busy for it and are not any more."""

    @property
    def count(self) -> int:
        """How many clients are connected."""
        return len(self._sockets)

    # Life of the server

    def start(self) -> None:
        """Begin to flush."""
        self._desk.hub.on_ready = self._due.set
        self._desk.hub.on_urgent = self._urgent.set
        self._flusher = asyncio.create_task(self._flush_forever())

    async def stop(self) -> None:
        """Tell everybody that the server ends, and end."""
        goodbye = Bye(reason="the server ends", again=True)
        everybody = tuple(self._sockets.values())
        await asyncio.gather(*(self._let_go(one, goodbye, 1001) for one in everybody))
        if self._flusher is not None:
            self._flusher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._flusher

    async def cut_off(self, device: str) -> None:
        """Close every socket of a device whose token was taken away."""
        goodbye = Bye(reason="this device was revoked", again=False)
        theirs = [one for one in self._sockets.values() if one.device.id == device]
        await asyncio.gather(*(self._let_go(one, goodbye, UNAUTHENTICATED) for one in theirs))

    # Life of a socket

    async def serve(self, websocket: WebSocket) -> None:
        """One client from its first byte to its last; Host and Origin were checked before."""
        await websocket.accept()
        if self.count >= self._limits.sockets:
            await self._close(websocket, Bye(reason="too many sockets", again=True), TOO_MANY)
            return
        entering = asyncio.create_task(self._enter(websocket))
        self._make_room_for(entering)
        try:
            await asyncio.wait([entering])
        finally:
            self._strangers.pop(entering, None)
            entering.cancel()
        if entering.cancelled():
            await self._close(websocket, Bye(reason="too many sockets", again=True), TOO_MANY)
            return
        entered = entering.result()
        if entered is not None:
            await self._attend(*entered)

    def _make_room_for(self, newest: asyncio.Task[tuple[_Socket, Hello] | None]) -> None:
        """Somebody who says nothing goes before somebody who may be about to (T-30)."""
        while len(self._strangers) >= self._limits.unauthenticated_sockets:
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.cancel()
        self._strangers[newest] = None

    async def _enter(self, websocket: WebSocket) -> tuple[_Socket, Hello] | None:
        try:
            hello = await self._first_message(websocket)
            source = websocket.client.host if websocket.client else ""
            device = await self._doorkeeper.device_of(hello.token, source)
            if device is None:
                raise _Refused("this token is not good", UNAUTHENTICATED)
            if hello.protocol != PROTOCOL:
                said = f"this server speaks protocol {PROTOCOL}; reload the page"
                raise _Refused(said, PROTOCOL_MISMATCH)
        except WebSocketDisconnect:
            return None
        except _Refused as refusal:
            await self._close(websocket, Bye(reason=refusal.reason, again=False), refusal.code)
            return None
        return _Socket(
            websocket, device, hello.client, self._can_take, self._limits.send_buffer_bytes
        ), hello

    async def _first_message(self, websocket: WebSocket) -> Hello:
        try:
            async with asyncio.timeout(self._limits.hello_s):
                hello = _decode.decode(await self._receive(websocket))
        except TimeoutError:
            raise _Refused("no hello came in time", UNAUTHENTICATED) from None
        except (msgspec.DecodeError, RecursionError):
            raise _Refused("the first message is hello", UNAUTHENTICATED) from None
        if not isinstance(hello, Hello):
            raise _Refused("the first message is hello", UNAUTHENTICATED)
        return hello

    async def _attend(self, socket: _Socket, hello: Hello) -> None:
        self._sockets[socket.id] = socket
        self._desk.arrived(socket.device, socket.id)
        writing = asyncio.create_task(socket.write_forever())
        tasks: set[asyncio.Task[None]] = set()
        try:
            socket.send([await self._welcome(socket)])
            for document in filter(None, (LOBBY, hello.session)):
                asked = Open(document=document)
                if document == hello.session:
                    asked = Open(
                        document=document,
                        last_seq=hello.last_seq,
                        epoch=hello.epoch,
                        oldest=hello.oldest,
                    )
                await self._open(socket, asked)
            reading = asyncio.create_task(self._read_forever(socket, tasks))
            over = asyncio.create_task(socket.over.wait())
            tasks.add(over)  # type: ignore[arg-type]
            done, _ = await asyncio.wait(
                {reading, writing, over}, return_when=asyncio.FIRST_COMPLETED
            )
            for one in done:
                one.exception()
            reading.cancel()
        finally:
            writing.cancel()
            for task in tasks:
                task.cancel()
            self._sockets.pop(socket.id, None)
            self._desk.hub.drop(socket.id)
            self._desk.left(socket.device, socket.id)

    async def _welcome(self, socket: _Socket) -> Welcome:
        return Welcome(
            protocol=PROTOCOL,
            epoch=self._epoch,
            device=socket.device.id,
            role=socket.device.role,
            version=self._version,
            agent=self._agent,
            last_intent=await self._desk.last_intent(socket.client),
            time=time.time(),
        )

    async def _read_forever(self, socket: _Socket, tasks: set[asyncio.Task[None]]) -> None:
        allowance = _Allowance(self._limits.messages_per_s)
        while True:
            await socket.has_room()
            try:
                raw = await self._receive(socket.websocket)
            except WebSocketDisconnect:
                return
            if not allowance.take(time.monotonic()):
                socket.send([Problem(code="too_many", message="slower, please")])
                continue
            try:
                message = _decode.decode(raw)
            except (msgspec.DecodeError, RecursionError) as problem:
                socket.send([_unreadable(raw, problem)])
                continue
            if isinstance(message, SendIntent):
                task = asyncio.create_task(self._act(socket, message))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            else:
                await self._handle(socket, message)  # In order; only an intent may take its time.

    async def _handle(self, socket: _Socket, message: FromClient) -> None:
        hub, now = self._desk.hub, time.monotonic()
        if isinstance(message, Ack):  # First: there is one for every frame.
            hub.ack(socket.id, message.document, message.seq)
        elif isinstance(message, Open):
            await self._open(socket, message)
        elif isinstance(message, Close):
            hub.unsubscribe(socket.id, message.document)
        elif isinstance(message, Look):
            socket.send(hub.look(socket.id, message.document, message.looking, now))
        elif isinstance(message, Fetch):
            found = hub.fetch(socket.id, message.document, message.before, message.count, now)
            socket.send(found)
        else:
            socket.send([Problem(code="bad_message", message="hello was said before")])

    async def _open(self, socket: _Socket, asked: Open) -> None:
        if not await self._desk.open(asked.document, socket.device):
            name = asked.document[:ECHOED]
            said = f"there is no document {name!r}"
            socket.send([Problem(code="not_found", message=said, document=name)])
            return
        socket.send(
            self._desk.hub.subscribe(
                socket.id,
                asked.document,
                asked.last_seq,
                asked.epoch,
                asked.window,
                time.monotonic(),
                oldest=asked.oldest,
            )
        )

    async def _act(self, socket: _Socket, asked: SendIntent) -> None:
        if socket.intents >= self._limits.intents_in_flight:
            socket.send([_refused(asked.n, "too_many", "too many intents at once")])
            return
        action = str(asked.intent.__struct_config__.tag)
        try:
            require(socket.device.role, type(asked.intent).role, action)
        except Refusal as refusal:
            socket.send([_refused(asked.n, refusal.code, refusal.message)])
            return
        socket.intents += 1
        try:
            result = await self._desk.act(socket.device, socket.client, asked.n, asked.intent)
        finally:
            socket.intents -= 1
        socket.send([result])

    async def _flush_forever(self) -> None:
        ping_at = time.monotonic() + self._limits.ping_s
        while True:
            await self._something_due(ping_at)
            began = time.monotonic()
            await self._flush(self._desk.hub.ready(began), began)
            if began >= ping_at:
                ping_at = began + self._limits.ping_s
                await self._ping_and_cull(began)
            took = time.monotonic() - began
            await self._rest(max(began + self._limits.flush_s, began + took + REST * took))

    async def _something_due(self, ping_at: float) -> None:
        """Wait until the hub has something, or a client's or everybody's time has come."""
        due = self._desk.hub.next_due()
        until = ping_at if due is None else min(due, ping_at)
        wait_s = until - time.monotonic()
        if wait_s > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._due.wait()
        self._due.clear()

    async def _rest(self, until: float) -> None:
        """Let the others work; only what is urgent goes out meanwhile."""
        while (left := until - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._urgent.wait()
            await self._hurry()

    def _can_take(self, socket: _Socket) -> None:
        """A socket that was passed by has written what it had."""
        if socket.hurried:
            socket.hurried = False
            self._hurried.append(socket.id)
            self._urgent.set()
        self._due.set()

    async def _flush(self, names: list[str], now: float) -> None:
        """Give everybody who is named and can take it one frame, a few at a time."""
        for start in range(0, len(names), SLICE):
            await self._hurry()
            self._give(names[start : start + SLICE], now)
            await asyncio.sleep(0)

    async def _hurry(self) -> None:
        """Send what somebody waits for, before all that is only to be seen."""
        while self._urgent.is_set():
            self._urgent.clear()
            names, self._hurried = [*self._desk.hub.urgent(), *self._hurried], []
            for start in range(0, len(names), SLICE):
                self._give(names[start : start + SLICE], time.monotonic(), urgent=True)
                await asyncio.sleep(0)

    def _give(self, names: list[str], now: float, *, urgent: bool = False) -> None:
        # Many get the very same message: it is written as JSON once.
        texts: dict[int, tuple[FromServer, str]] = {}
        for name in names:
            socket = self._sockets.get(name)
            if socket is None:
                continue
            if socket.busy:
                socket.passed_by = True
                socket.hurried |= urgent
                continue
            out = []
            for message in self._desk.hub.drain(name, now):
                kept = texts.get(id(message))
                if kept is None:
                    kept = texts[id(message)] = message, _text(message)
                out.append(kept[1])
            socket.send_texts(out)

    async def _ping_and_cull(self, now: float) -> None:
        for socket in list(self._sockets.values()):
            if not socket.busy:
                socket.send([Pong(time=time.time())])
            elif now - socket.sent_at > self._limits.slow_s:
                # Beside everything else: it takes the goodbye no faster than the rest.
                goodbye = Bye(reason="this socket takes nothing", again=True)
                socket.sent_at = now
                task = asyncio.create_task(self._let_go(socket, goodbye, TOO_SLOW))
                self._leaving.add(task)
                task.add_done_callback(self._leaving.discard)

    async def _let_go(self, socket: _Socket, goodbye: Bye, code: int) -> None:
        """Say goodbye, and end it whether that is heard or not."""
        await self._close(socket.websocket, goodbye, code)
        socket.over.set()

    async def _receive(self, websocket: WebSocket) -> bytes:
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1005))
        text = message.get("text")
        if text is not None:
            return str(text).encode("utf-8", "surrogatepass")
        return bytes(message.get("bytes") or b"")

    async def _close(self, websocket: WebSocket, goodbye: Bye, code: int) -> None:
        if websocket.application_state is not WebSocketState.CONNECTED:
            return
        with contextlib.suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
            async with asyncio.timeout(1.0):
                await websocket.send_text(_text(goodbye))
                await websocket.close(code)


def _text(message: FromServer) -> str:
    return _encode.encode(message).decode()


class _Refused(Exception):
    """A socket may not come in."""

    def __init__(self, reason: str, code: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


class _Allowance:
    """So many messages a second, with bursts of as many."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._left = rate
        self._at = 0.0

    def take(self, now: float) -> bool:
        self._left = min(self._rate, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


def _unreadable(raw: bytes, problem: Exception) -> Problem:
    """An unknown type is answered as such; anything else that cannot be read says why."""
    try:
        kind = msgspec.json.decode(raw)["type"]
    except (msgspec.DecodeError, LookupError, TypeError, RecursionError):
        return Problem(code="bad_message", message=str(problem))
    known = {one.__struct_config__.tag for one in FromClient.__args__}
    if kind not in known:
        return Problem(code="unsupported_message", message=f"no message has the type {kind!r:.200}")
    return Problem(code="bad_message", message=str(problem))


def _refused(n: int, code: str, message: str) -> IntentResult:
    return IntentResult(n=n, ok=False, code=code, message=message)
