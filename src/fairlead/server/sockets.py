"""WebSockets to clients: decode strictly, authenticate first, never wait for one.

Each socket has a task that reads and one that writes. What a client says is carried out in order;
only an intent may take its time. The rules are B1 … of docs/server.md. Neighbours: `entrance` lets
in, `flusher` gives out what the hub has, `client_socket` writes. Below: `hub` (pure), `registry`
(acts). Above: Starlette.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, Protocol

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from fairlead.server.allowance import Allowance
from fairlead.server.client_socket import ClientSocket
from fairlead.server.entrance import TOO_MANY, UNAUTHENTICATED, Doorkeeper, Entrance
from fairlead.server.flusher import Flusher
from fairlead.server.frames import receive, say_goodbye
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
    Hello,
    IntentResult,
    Look,
    Open,
    Problem,
    SendIntent,
    Welcome,
)
from fairlead.server.refusal import Refusal
from fairlead.server.roles import require
from fairlead.store.devices import Device

__all__ = ["Desk", "Sockets"]

_decode = msgspec.json.Decoder(FromClient)

ECHOED = 200
"""Letters of what somebody sent that an error repeats."""


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
        self._limits = limits
        self._version = version
        self._agent = agent
        self._epoch = epoch
        self._sockets: dict[str, ClientSocket] = {}
        self._entrance = Entrance(doorkeeper, limits)
        self._flusher = Flusher(desk.hub, self._sockets, limits)

    @property
    def count(self) -> int:
        """How many clients are connected."""
        return len(self._sockets)

    @property
    def strangers(self) -> int:
        """How many are connected that have not said yet who they are."""
        return self._entrance.strangers

    # Life of the server

    def start(self) -> None:
        """Begin to flush."""
        self._flusher.start()

    async def stop(self) -> None:
        """Tell everybody that the server ends, and end."""
        goodbye = Bye(reason="the server ends", again=True)
        everybody = tuple(self._sockets.values())
        await asyncio.gather(*(one.let_go(goodbye, 1001) for one in everybody))
        await self._flusher.stop()

    async def cut_off(self, device: str) -> None:
        """Close every socket of a device whose token was taken away."""
        goodbye = Bye(reason="this device was revoked", again=False)
        theirs = [one for one in self._sockets.values() if one.device.id == device]
        await asyncio.gather(*(one.let_go(goodbye, UNAUTHENTICATED) for one in theirs))

    # Life of a socket

    async def serve(self, websocket: WebSocket) -> None:
        """One client from its first byte to its last; Host and Origin were checked before."""
        await websocket.accept()
        if self.count >= self._limits.sockets:
            await say_goodbye(websocket, Bye(reason="too many sockets", again=True), TOO_MANY)
            return
        entered = await self._entrance.let_in(websocket)
        if entered is None:
            return
        device, hello = entered
        socket = ClientSocket(websocket, device, hello.client, self._limits.send_buffer_bytes)
        self._flusher.take_on(socket)
        await self._attend(socket, hello)

    async def _attend(self, socket: ClientSocket, hello: Hello) -> None:
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

    async def _welcome(self, socket: ClientSocket) -> Welcome:
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

    async def _read_forever(self, socket: ClientSocket, tasks: set[asyncio.Task[None]]) -> None:
        allowance = Allowance(self._limits.messages_per_s, time.monotonic())
        while True:
            await socket.has_room()
            try:
                raw = await receive(socket.websocket)
            except WebSocketDisconnect:
                return
            # Who says more than its share is heard later: nothing it said may be lost.
            if wait_s := allowance.take(time.monotonic()):
                await asyncio.sleep(wait_s)
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
                await self._handle(socket, message)

    async def _handle(self, socket: ClientSocket, message: FromClient) -> None:
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

    async def _open(self, socket: ClientSocket, asked: Open) -> None:
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

    async def _act(self, socket: ClientSocket, asked: SendIntent) -> None:
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
