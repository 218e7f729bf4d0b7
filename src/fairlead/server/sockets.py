"""WebSockets to clients: decode strictly, authenticate first, pump the hub, never wait for one.

Each socket has a task that reads and one that writes. One flusher for all wakes every few
milliseconds, asks the hub who is ready, and gives each socket that can take it one frame; a
socket that is still busy with the last is passed by, and gets a merged frame later. The rules
are B1 … of docs/server.md. Below: `hub` (pure), `registry` (acts). Above: Starlette.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Sequence
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

    def __init__(self, websocket: WebSocket, device: Device, client: str) -> None:
        self.id = uuid.uuid4().hex
        self.websocket = websocket
        self.device = device
        self.client = client
        self.intents = 0
        self.sent_at = time.monotonic()
        self._waiting: list[FromServer] = []
        self._writing = False
        self._wake = asyncio.Event()

    @property
    def busy(self) -> bool:
        """Whether something still waits to be written."""
        return self._writing or bool(self._waiting)

    def send(self, messages: Sequence[FromServer]) -> None:
        """Queue messages; the writer takes them in order."""
        if messages:
            self._waiting += messages
            self._wake.set()

    async def write_forever(self) -> None:
        """Write what is queued; a slow network holds up nobody but this task."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            messages, self._waiting = self._waiting, []
            self._writing = True
            for message in messages:
                await self.websocket.send_text(_encode.encode(message).decode())
            self._writing = False
            self.sent_at = time.monotonic()


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
        self._strangers = 0
        self._flusher: asyncio.Task[None] | None = None

    @property
    def count(self) -> int:
        """How many clients are connected."""
        return len(self._sockets)

    # Life of the server

    def start(self) -> None:
        """Begin to flush."""
        self._flusher = asyncio.create_task(self._flush_forever())

    async def stop(self) -> None:
        """Tell everybody that the server ends, and end."""
        for socket in list(self._sockets.values()):
            await self._close(socket.websocket, Bye(reason="the server ends", again=True), 1001)
        if self._flusher is not None:
            self._flusher.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._flusher

    async def cut_off(self, device: str) -> None:
        """Close every socket of a device whose token was taken away."""
        for socket in list(self._sockets.values()):
            if socket.device.id == device:
                goodbye = Bye(reason="this device was revoked", again=False)
                await self._close(socket.websocket, goodbye, UNAUTHENTICATED)

    # Life of a socket

    async def serve(self, websocket: WebSocket) -> None:
        """One client from its first byte to its last; Host and Origin were checked before."""
        crowded = (
            self._strangers >= self._limits.unauthenticated_sockets
            or self.count >= self._limits.sockets
        )
        await websocket.accept()
        if crowded:
            await self._close(websocket, Bye(reason="too many sockets", again=True), TOO_MANY)
            return
        self._strangers += 1
        try:
            entered = await self._enter(websocket)
        finally:
            self._strangers -= 1
        if entered is not None:
            await self._attend(*entered)

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
        return _Socket(websocket, device, hello.client), hello

    async def _first_message(self, websocket: WebSocket) -> Hello:
        try:
            async with asyncio.timeout(self._limits.hello_s):
                hello = _decode.decode(await self._receive(websocket))
        except TimeoutError:
            raise _Refused("no hello came in time", UNAUTHENTICATED) from None
        except msgspec.DecodeError:
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
            done, _ = await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
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
            try:
                raw = await self._receive(socket.websocket)
            except WebSocketDisconnect:
                return
            if not allowance.take(time.monotonic()):
                socket.send([Problem(code="too_many", message="slower, please")])
                continue
            try:
                message = _decode.decode(raw)
            except msgspec.DecodeError as problem:
                socket.send([_unreadable(raw, problem)])
                continue
            task = asyncio.create_task(self._handle(socket, message))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            if not isinstance(message, SendIntent):
                await task  # In order; only an intent may take its time.

    async def _handle(self, socket: _Socket, message: FromClient) -> None:
        hub, now = self._desk.hub, time.monotonic()
        if isinstance(message, Open):
            await self._open(socket, message)
        elif isinstance(message, Close):
            hub.unsubscribe(socket.id, message.document)
        elif isinstance(message, Ack):
            hub.ack(socket.id, message.document, message.seq)
        elif isinstance(message, Look):
            socket.send(hub.look(socket.id, message.document, message.looking, now))
        elif isinstance(message, Fetch):
            found = hub.fetch(socket.id, message.document, message.before, message.count, now)
            socket.send(found)
        elif isinstance(message, SendIntent):
            await self._act(socket, message)
        else:
            socket.send([Problem(code="bad_message", message="hello was said before")])

    async def _open(self, socket: _Socket, asked: Open) -> None:
        if not await self._desk.open(asked.document, socket.device):
            said = f"there is no document {asked.document!r}"
            socket.send([Problem(code="not_found", message=said, document=asked.document)])
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
        pinged = time.monotonic()
        while True:
            await asyncio.sleep(self._limits.flush_s)
            now = time.monotonic()
            for name in self._desk.hub.ready(now):
                socket = self._sockets.get(name)
                if socket is not None and not socket.busy:
                    socket.send(self._desk.hub.drain(name, now))
            if now - pinged >= self._limits.ping_s:
                pinged = now
                await self._ping_and_cull(now)

    async def _ping_and_cull(self, now: float) -> None:
        for socket in list(self._sockets.values()):
            if not socket.busy:
                socket.send([Pong(time=time.time())])
            elif now - socket.sent_at > self._limits.slow_s:
                goodbye = Bye(reason="this socket takes nothing", again=True)
                await self._close(socket.websocket, goodbye, TOO_SLOW)

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
                await websocket.send_text(_encode.encode(goodbye).decode())
                await websocket.close(code)


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


def _unreadable(raw: bytes, problem: msgspec.DecodeError) -> Problem:
    """An unknown type is answered as such; anything else that cannot be read says why."""
    try:
        kind = msgspec.json.decode(raw)["type"]
    except (msgspec.DecodeError, LookupError, TypeError, RecursionError):
        return Problem(code="bad_message", message=str(problem))
    known = {one.__struct_config__.tag for one in FromClient.__args__}
    if kind not in known:
        return Problem(code="unsupported_message", message=f"no message has the type {kind!r}")
    return Problem(code="bad_message", message=str(problem))


def _refused(n: int, code: str, message: str) -> IntentResult:
    return IntentResult(n=n, ok=False, code=code, message=message)
