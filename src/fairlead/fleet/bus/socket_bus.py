"""A bus between the processes of one machine, over a Unix socket.

`SocketBroker` runs in one process and holds everything that the connections share (a
`MemoryBroker`); `connect_socket_bus` connects another process. Only the user who started the broker
can connect, because its socket is in a folder that others cannot open.

Frames are a length of four bytes and a MessagePack array. The client sends an operation with a
number; the broker answers with the same number. Messages of subscriptions come unasked. If a
connection cannot take what is sent to it, its messages are dropped until it can: the bus promises no
delivery, and numbers of documents reveal what is missing.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import msgspec

from fairlead.fleet.bus.bus import (
    BusError,
    BusUnavailable,
    Conflict,
    Entry,
    Handler,
    Message,
    NoAnswer,
    NoListener,
    Record,
    Subscription,
)
from fairlead.fleet.bus.memory_bus import MemoryBroker

__all__ = ["SocketBroker", "SocketBus", "connect_socket_bus"]

FRAME_BYTES = 64 * 1024 * 1024
"""Most bytes of one frame; a longer one is a mistake and ends the connection."""

UNTAKEN_FRAMES = 1_000
"""Frames that have arrived and were not taken, above which no more is read."""

PENDING_BYTES = 16 * 1024 * 1024
"""Unsent bytes of a connection above which nothing more is accepted."""

ANSWER_S = 10.0
"""How long an operation on a bucket or a stream may take."""

CLOSE_S = 2.0

ERRORS: dict[str, type[BusError]] = {
    kind.__name__: kind for kind in (BusUnavailable, Conflict, NoAnswer, NoListener)
}

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode

Operation = Callable[..., Awaitable[Any]]


class _Frames(asyncio.Protocol):
    """Frames over a connection; used by both sides.

    A protocol and not a stream: what arrives together is handed over together, which takes one
    step of a task instead of two for each frame.
    """

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._lost = asyncio.Event()
        self._unparsed = bytearray()
        self._arrived: list[list[Any]] = []
        self._news = asyncio.Event()
        """Set when there are frames, or no more will come."""
        self._paused = False
        self._unwritten: list[bytes] = []
        self._unwritten_bytes = 0

    # asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop has classes of its own.

    def data_received(self, data: bytes) -> None:
        unparsed = self._unparsed
        unparsed += data
        at, end = 0, len(unparsed)
        try:
            while end - at >= 4:
                length = int.from_bytes(unparsed[at : at + 4], "big")
                if length > FRAME_BYTES:
                    raise ValueError(length)
                if end - at - 4 < length:
                    break
                self._arrived.append(_decode(unparsed[at + 4 : at + 4 + length]))
                at += 4 + length
        except (ValueError, msgspec.DecodeError):
            self._abort()
            return
        del unparsed[:at]
        if self._arrived:
            self._news.set()
            if len(self._arrived) > UNTAKEN_FRAMES and self._transport is not None:
                self._paused = True
                self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost.set()
        self._news.set()

    # Use

    @property
    def full(self) -> bool:
        """Whether the other side has too much to read already."""
        if self._transport is None or self._lost.is_set():
            return False
        return self._transport.get_write_buffer_size() + self._unwritten_bytes > PENDING_BYTES

    def send(self, frame: tuple[Any, ...]) -> None:
        """Write a frame, without waiting; all frames of one moment are written together."""
        content = _encode(frame)
        if not self._unwritten:  # Each write is a system call, and wakes the other process.
            asyncio.get_running_loop().call_soon(self._write)
        self._unwritten += (len(content).to_bytes(4, "big"), content)
        self._unwritten_bytes += 4 + len(content)

    def _write(self) -> None:
        parts, self._unwritten = self._unwritten, []
        self._unwritten_bytes = 0
        if parts and self._transport is not None and not self._lost.is_set():
            self._transport.write(b"".join(parts))

    async def next(self) -> list[list[Any]]:
        """The frames that have arrived; none at the end of the connection."""
        await self._news.wait()
        frames, self._arrived = self._arrived, []
        if not self._lost.is_set():
            self._news.clear()
        if self._paused and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return frames

    async def close(self) -> None:
        """Close the connection, after what was written."""
        self._write()
        if self._transport is None:
            return
        self._transport.close()
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._lost.wait()
        except TimeoutError:
            self._abort()

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


class SocketBroker:
    """Accepts connections of other processes; `broker` has the connections of this one."""

    def __init__(self, path: Path, broker: MemoryBroker | None = None) -> None:
        self.path = path
        self.broker = broker or MemoryBroker()
        self._listener: socket.socket | None = None
        self._serving: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen; the folder of the socket must be the user's alone."""
        self.path.unlink(missing_ok=True)
        self._listener = listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.setblocking(False)
        before = os.umask(0o177)
        try:
            listener.bind(str(self.path))
        finally:
            os.umask(before)
        listener.listen()
        asyncio.get_running_loop().add_reader(listener, self._accept, listener)

    async def close(self) -> None:
        """End all connections."""
        listener, self._listener = self._listener, None
        if listener is not None:
            asyncio.get_running_loop().remove_reader(listener)
            listener.close()
        for task in tuple(self._serving):
            task.cancel()
        if self._serving:
            await asyncio.wait(self._serving)
        self.path.unlink(missing_ok=True)

    def _accept(self, listener: socket.socket) -> None:
        # Not by asyncio's server: it forgets a connection that it accepts while it is closed
        # (Python 3.11), and the other side would wait forever.
        try:
            accepted, _ = listener.accept()
        except BlockingIOError:
            return
        task = asyncio.create_task(self._serve(accepted))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        # A task that is cancelled before its first step closes nothing itself.
        task.add_done_callback(lambda _: accepted.close())

    async def _serve(self, accepted: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        _, frames = await loop.create_unix_connection(_Frames, sock=accepted)
        connection = _ServedConnection(self.broker, frames)
        try:
            await connection.serve()
        finally:
            await connection.close()


class _ServedConnection:
    """One connected process, as the broker serves it."""

    def __init__(self, broker: MemoryBroker, frames: _Frames) -> None:
        self._broker = broker
        self._bus = broker.connect()
        self._frames = frames
        self._subscriptions: dict[int, Subscription] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        while frames := await self._frames.next():
            for operation, *arguments in frames:
                if operation == "publish":  # In order, and without an answer.
                    self._broker.hand_over(Message(*arguments))
                else:
                    await self._begin(operation, arguments)

    async def _begin(self, operation: str, arguments: list[Any]) -> None:
        number, *rest = arguments
        task = asyncio.create_task(self._answer(number, operation, rest))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if operation in ("subscribe", "listen", "close"):
            await task  # A message after it must find it done.

    async def close(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()
        for subscription in self._subscriptions.values():
            await subscription.close()
        await self._bus.close()
        await self._frames.close()

    async def _answer(self, number: int, operation: str, arguments: list[Any]) -> None:
        try:
            result = await self._carry_out(operation, arguments)
        except BusError as problem:
            self._frames.send(("error", number, type(problem).__name__, str(problem)))
        else:
            self._frames.send(("done", number, result))

    async def _carry_out(self, operation: str, arguments: list[Any]) -> Any:
        if operation == "subscribe":
            name, subject = arguments
            self._subscriptions[name] = await self._bus.subscribe(subject, self._sender(name))
            return None
        if operation == "listen":
            name, bucket = arguments
            listening = self._bus.bucket(bucket)
            self._subscriptions[name] = await listening.listen(self._entry_sender(name))
            return None
        if operation == "close":
            subscription = self._subscriptions.pop(arguments[0], None)
            if subscription is not None:
                await subscription.close()
            return None
        if operation == "request":
            return await self._bus.request(*arguments)
        kind, name, method, *rest = arguments
        shared = self._bus.bucket(name) if kind == "bucket" else self._bus.stream(name)
        return await _METHODS[kind, method](shared, *rest)

    def _sender(self, name: int) -> Handler:
        def send(message: Message) -> None:
            if not self._frames.full:
                self._frames.send(
                    ("message", name, message.subject, message.payload, message.reply)
                )

        return send

    def _entry_sender(self, name: int) -> Callable[[Entry], None]:
        def send(entry: Entry) -> None:
            if not self._frames.full:
                self._frames.send(("entry", name, entry.key, entry.value, entry.revision))

        return send


_METHODS: dict[tuple[str, str], Operation] = {
    ("bucket", "get"): lambda bucket, key: bucket.get(key),
    ("bucket", "entries"): lambda bucket, prefix: bucket.entries(prefix),
    ("bucket", "put"): lambda bucket, key, value: bucket.put(key, value),
    ("bucket", "create"): lambda bucket, key, value: bucket.create(key, value),
    ("bucket", "update"): lambda bucket, *arguments: bucket.update(*arguments),
    ("bucket", "delete"): lambda bucket, key: bucket.delete(key),
    ("stream", "append"): lambda stream, subject, payload, after: stream.append(
        subject, payload, after=after
    ),
    ("stream", "last"): lambda stream, subject: stream.last(subject),
    ("stream", "read"): lambda stream, *arguments: stream.read(*arguments),
}
"""What a connection may call on a bucket and on a stream."""


async def connect_socket_bus(path: Path) -> SocketBus:
    """Connect to the broker that listens on this path."""
    loop = asyncio.get_running_loop()
    _, frames = await loop.create_unix_connection(_Frames, str(path))
    bus = SocketBus(frames)
    bus.start()
    return bus


class SocketBus:
    """A connection of another process; see `Bus`. It does not connect again: the broker's process
    starts the others, and they end with it."""

    def __init__(self, frames: _Frames) -> None:
        self._frames = frames
        self._connected = True
        self._on_connected: list[Callable[[bool], None]] = []
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._handlers: dict[int, Handler] = {}
        self._listeners: dict[int, Callable[[Entry], None]] = {}
        self._reading: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to read."""
        self._reading = asyncio.create_task(self._read())

    @property
    def connected(self) -> bool:
        return self._connected

    def on_connected(self, handler: Callable[[bool], None]) -> None:
        self._on_connected.append(handler)

    async def publish(self, subject: str, payload: bytes) -> None:
        self._check()
        self._frames.send(("publish", subject, payload))

    async def request(self, subject: str, payload: bytes, timeout_s: float) -> bytes:
        answer: bytes = await self._call(
            "request", subject, payload, timeout_s, wait_s=timeout_s + ANSWER_S
        )
        return answer

    async def subscribe(self, subject: str, handler: Handler) -> Subscription:
        name = next(self._numbers)
        self._handlers[name] = handler
        await self._call("subscribe", name, subject)
        return _SocketSubscription(self, name)

    def bucket(self, name: str) -> _SocketBucket:
        return _SocketBucket(self, name)

    def stream(self, name: str) -> _SocketStream:
        return _SocketStream(self, name)

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])
        self._lost()
        await self._frames.close()

    # For buckets, streams and subscriptions

    async def shared(self, kind: str, name: str, method: str, *arguments: Any) -> Any:
        """Call a method of a bucket or a stream."""
        return await self._call("call", kind, name, method, *arguments)

    async def listen(self, bucket: str, handler: Callable[[Entry], None]) -> Subscription:
        """Listen to the changes of a bucket."""
        name = next(self._numbers)
        self._listeners[name] = handler
        await self._call("listen", name, bucket)
        return _SocketSubscription(self, name)

    async def end(self, subscription: int) -> None:
        """End a subscription."""
        self._handlers.pop(subscription, None)
        self._listeners.pop(subscription, None)
        with contextlib.suppress(BusUnavailable):
            await self._call("close", subscription)

    def _check(self) -> None:
        if not self._connected:
            raise BusUnavailable("The connection to the main process was lost.")
        if self._frames.full:
            raise BusUnavailable("The main process does not read fast enough.")

    async def _call(self, operation: str, *arguments: Any, wait_s: float = ANSWER_S) -> Any:
        self._check()
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._frames.send((operation, number, *arguments))
        try:
            async with asyncio.timeout(wait_s):
                return await answer
        except TimeoutError:
            raise NoAnswer(f"The main process did not answer within {wait_s:g} s.") from None
        finally:
            del self._waiting[number]

    async def _read(self) -> None:
        while frames := await self._frames.next():
            for kind, number, *rest in frames:
                if kind == "message":
                    handler = self._handlers.get(number)
                    if handler is not None:
                        handler(Message(*rest))
                elif kind == "entry":
                    listener = self._listeners.get(number)
                    if listener is not None:
                        listener(Entry(*rest))
                else:
                    self._settle(kind, number, rest)
        self._lost()

    def _settle(self, kind: str, number: int, rest: list[Any]) -> None:
        answer = self._waiting.get(number)
        if answer is None or answer.done():
            return
        if kind == "done":
            answer.set_result(rest[0])
        else:
            name, text = rest
            answer.set_exception(ERRORS.get(name, BusError)(text))

    def _lost(self) -> None:
        if not self._connected:
            return
        self._connected = False
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(BusUnavailable("The connection to the main process was lost."))
        for handler in self._on_connected:
            handler(False)


class _SocketSubscription:
    def __init__(self, bus: SocketBus, name: int) -> None:
        self._bus = bus
        self._name = name

    async def close(self) -> None:
        await self._bus.end(self._name)


class _SocketBucket:
    """See `Bucket`."""

    def __init__(self, bus: SocketBus, name: str) -> None:
        self._bus = bus
        self._name = name

    async def get(self, key: str) -> Entry | None:
        entry = await self._call("get", key)
        return None if entry is None else msgspec.convert(entry, Entry)

    async def entries(self, prefix: str = "") -> list[Entry]:
        return msgspec.convert(await self._call("entries", prefix), list[Entry])

    async def put(self, key: str, value: bytes) -> int:
        return int(await self._call("put", key, value))

    async def create(self, key: str, value: bytes) -> int:
        return int(await self._call("create", key, value))

    async def update(self, key: str, value: bytes, revision: int) -> int:
        return int(await self._call("update", key, value, revision))

    async def delete(self, key: str) -> None:
        await self._call("delete", key)

    async def listen(self, handler: Callable[[Entry], None]) -> Subscription:
        return await self._bus.listen(self._name, handler)

    async def _call(self, method: str, *arguments: Any) -> Any:
        return await self._bus.shared("bucket", self._name, method, *arguments)


class _SocketStream:
    """See `RecordStream`."""

    def __init__(self, bus: SocketBus, name: str) -> None:
        self._bus = bus
        self._name = name

    async def append(self, subject: str, payload: bytes, *, after: int | None = None) -> int:
        return int(await self._call("append", subject, payload, after))

    async def last(self, subject: str) -> Record | None:
        record = await self._call("last", subject)
        return None if record is None else msgspec.convert(record, Record)

    async def read(self, subject: str, after: int = 0, count: int = 100) -> list[Record]:
        return msgspec.convert(await self._call("read", subject, after, count), list[Record])

    async def _call(self, method: str, *arguments: Any) -> Any:
        return await self._bus.shared("stream", self._name, method, *arguments)
