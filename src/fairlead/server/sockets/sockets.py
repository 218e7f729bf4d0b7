"""The WebSocket endpoint of clients: strict decoding, authentication first, no waiting for a client.

The messages of a client are processed in order; only intents run concurrently. The rules are B1 …
of docs/server.md. Neighbors: `handshake` authenticates, `connections` holds and serves all sockets
within their limits. Below: `hub` (pure) and the registry (carries out intents). Above: Starlette.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, Protocol

import msgspec
from starlette.websockets import WebSocket

from fairlead.server.access.roles import require
from fairlead.server.hub.hub import Hub
from fairlead.server.intents.context import check_number
from fairlead.server.limits import Limits
from fairlead.server.protocol.messages import (
    LOBBY,
    PROTOCOL,
    Ack,
    Close,
    Fetch,
    FromClient,
    Hello,
    IntentResult,
    Look,
    Open,
    Problem,
    Release,
    SendIntent,
    Welcome,
)
from fairlead.server.protocol.terminal_messages import TerminalMessage
from fairlead.server.refusal import Refusal
from fairlead.server.sockets.client_socket import ClientSocket
from fairlead.server.sockets.connections import SocketConnections
from fairlead.server.sockets.handshake import Authenticator, Handshake
from fairlead.server.terminal.channel import NOT_OFFERED, Channel, OpenChannel, ToClient
from fairlead.store.tables.devices import Device

__all__ = ["DocumentServer", "Sockets"]

_decode = msgspec.json.Decoder(FromClient)

ECHOED = 200
"""Most characters of a client's message that an error repeats."""


class DocumentServer(Protocol):
    """The part of the registry that sockets use."""

    hub: Hub

    async def open(self, document: str, device: Device) -> bool:
        """Make a document available to the hub; False if there is none for this device."""

    async def load_older(self, document: str, before: str, count: int) -> None:
        """Make the items before one available to the hub, if they are not yet."""

    async def act(
        self, device: Device, client: str, n: int, intent: Any, node: str = ""
    ) -> IntentResult:
        """Carry out an intent, once for each (device, client, n).

        `node` is the machine of a fleet for an intent that names no session.
        """

    async def last_intent(self, device: Device, client: str) -> int:
        """The highest n of a device's client that was carried out."""


class Sockets:
    """The /ws endpoint."""

    def __init__(
        self,
        documents: DocumentServer,
        authenticator: Authenticator,
        connections: SocketConnections,
        limits: Limits,
        *,
        version: str,
        agent: str,
        terminals: OpenChannel | None = None,
    ) -> None:
        """`terminals` opens the channel of a socket for terminals."""
        self._documents = documents
        self._connections = connections
        self._limits = limits
        self._version = version
        self._agent = agent
        self._terminals = terminals
        self._handshake = Handshake(authenticator, limits)

    @property
    def count(self) -> int:
        """The number of connected clients."""
        return self._connections.count

    @property
    def unauthenticated(self) -> int:
        """The number of sockets that are not authenticated yet."""
        return self._handshake.pending

    def start(self) -> None:
        """Begin to send changes to clients."""
        self._connections.start()

    async def stop(self) -> None:
        """Tell all clients that the server is stopping, and close their sockets."""
        await self._connections.stop()

    async def serve(self, websocket: WebSocket) -> None:
        """Serve one client until it disconnects; Host and Origin were checked before."""
        await websocket.accept()
        authenticated = await self._handshake.authenticate(websocket)
        if authenticated is None:
            return
        device, hello = authenticated
        socket = ClientSocket(websocket, device, hello.client, self._limits)
        acting: set[asyncio.Task[None]] = set()
        channel = self._channel(socket)

        async def begin() -> None:
            await self._begin(socket, hello)

        async def handle(raw: bytes) -> None:
            await self._receive(socket, channel, raw, acting)

        def ack(message: Ack) -> None:
            self._documents.hub.ack(socket.id, message.document, message.seq)

        def intent(raw: bytes) -> bool:
            return self._take_intent(socket, raw, acting)

        try:
            await self._connections.serve(socket, begin, handle, ack, intent)
        finally:
            for task in acting:
                task.cancel()
            if channel is not None:
                channel.close()

    async def _begin(self, socket: ClientSocket, hello: Hello) -> None:
        socket.send([await self._welcome(socket)])
        await self._open(socket, Open(document=LOBBY))
        if hello.session:
            request = Open(
                document=hello.session,
                last_seq=hello.last_seq,
                epoch=hello.epoch,
                oldest=hello.oldest,
            )
            await self._open(socket, request)

    async def _welcome(self, socket: ClientSocket) -> Welcome:
        return Welcome(
            protocol=PROTOCOL,
            device=socket.device.id,
            role=socket.device.role,
            version=self._version,
            agent=self._agent,
            last_intent=await self._documents.last_intent(socket.device, socket.client),
            time=time.time(),
        )

    async def _receive(
        self,
        socket: ClientSocket,
        channel: Channel | None,
        raw: bytes,
        acting: set[asyncio.Task[None]],
    ) -> None:
        try:
            message = _decode.decode(raw)
        except (msgspec.DecodeError, RecursionError) as problem:
            socket.send([_unreadable(raw, problem)])
            return
        if isinstance(message, SendIntent):
            self._begin_intent(socket, message, acting)
        elif isinstance(message, TerminalMessage):
            self._handle_terminal(socket, channel, message)
        else:
            await self._handle(socket, message)

    def _take_intent(
        self, socket: ClientSocket, raw: bytes, acting: set[asyncio.Task[None]]
    ) -> bool:
        """Begin to carry out an intent as soon as it is read; False if it is something else."""
        try:
            message = _decode.decode(raw)
        except (msgspec.DecodeError, RecursionError):
            return False
        if not isinstance(message, SendIntent):
            return False
        self._begin_intent(socket, message, acting)
        return True

    def _begin_intent(
        self, socket: ClientSocket, message: SendIntent, acting: set[asyncio.Task[None]]
    ) -> None:
        task = asyncio.create_task(self._act(socket, message))
        acting.add(task)
        task.add_done_callback(acting.discard)

    async def _handle(self, socket: ClientSocket, message: FromClient) -> None:
        hub, now = self._documents.hub, time.monotonic()
        if isinstance(message, Ack):  # Checked first because it is the most frequent.
            hub.ack(socket.id, message.document, message.seq)
        elif isinstance(message, Open):
            await self._open(socket, message)
        elif isinstance(message, Close):
            hub.unsubscribe(socket.id, message.document)
        elif isinstance(message, Look):
            socket.send(hub.look(socket.id, message.document, message.looking, now))
        elif isinstance(message, Fetch):
            await self._load_older(socket, message)
            messages = hub.fetch(socket.id, message.document, message.before, message.count, now)
            socket.send(messages)
        elif isinstance(message, Release):
            socket.send(hub.release(socket.id, message.document, message.oldest))
        else:
            socket.send([Problem(code="bad_message", message="This socket already sent hello.")])

    def _channel(self, socket: ClientSocket) -> Channel | None:
        if self._terminals is None:
            return None

        def send(message: ToClient) -> None:
            if not socket.over.is_set:  # A revoked device gets nothing any more.
                socket.send([message])

        return self._terminals(socket.id, socket.device, send)

    def _handle_terminal(
        self, socket: ClientSocket, channel: Channel | None, message: TerminalMessage
    ) -> None:
        try:
            if channel is None:
                raise Refusal("unavailable", NOT_OFFERED)
            channel.handle(message)
        except Refusal as refusal:
            socket.send([Problem(code=refusal.code, message=refusal.message)])

    async def _open(self, socket: ClientSocket, request: Open) -> None:
        name = request.document[:ECHOED]
        problem = Problem(code="not_found", message=f"Document {name!r} not found.", document=name)
        try:
            is_open = await self._documents.open(request.document, socket.device)
        except Refusal as refusal:  # It exists, but cannot be shown now.
            is_open = False
            problem = Problem(code=refusal.code, message=refusal.message, document=name)
        if not is_open:
            socket.send([problem])
            return
        socket.send(
            self._documents.hub.subscribe(
                socket.id,
                request.document,
                request.last_seq,
                request.epoch,
                request.window,
                time.monotonic(),
                oldest=request.oldest,
            )
        )

    async def _load_older(self, socket: ClientSocket, request: Fetch) -> None:
        try:
            await self._documents.load_older(request.document, request.before, request.count)
        except Refusal as refusal:
            problem = Problem(
                code=refusal.code, message=refusal.message, document=request.document[:ECHOED]
            )
            socket.send([problem])

    async def _act(self, socket: ClientSocket, request: SendIntent) -> None:
        if socket.intents >= self._limits.intents_in_flight:
            socket.send(
                [
                    _refused(
                        request.n,
                        "too_many",
                        "Too many intents are being carried out for this socket. Wait for their results.",
                    )
                ]
            )
            return
        action = str(request.intent.__struct_config__.tag)
        try:
            check_number(socket.client, request.n)
            require(socket.device.role, type(request.intent).role, action)
        except Refusal as refusal:
            socket.send([_refused(request.n, refusal.code, refusal.message)])
            return
        socket.intents += 1
        try:
            result = await self._documents.act(
                socket.device, socket.client, request.n, request.intent, request.node
            )
        finally:
            socket.intents -= 1
        socket.send([result])


def _unreadable(raw: bytes, problem: Exception) -> Problem:
    """The answer to a message that cannot be read: an unknown type, or the decoder's error."""
    try:
        kind = msgspec.json.decode(raw)["type"]
    except (msgspec.DecodeError, LookupError, TypeError, RecursionError):
        return Problem(code="bad_message", message=str(problem))
    known = {message.__struct_config__.tag for message in FromClient.__args__}
    if kind not in known:
        return Problem(code="unsupported_message", message=f"Unknown message type {kind!r:.200}.")
    return Problem(code="bad_message", message=str(problem))


def _refused(n: int, code: str, message: str) -> IntentResult:
    return IntentResult(n=n, ok=False, code=code, message=message)
