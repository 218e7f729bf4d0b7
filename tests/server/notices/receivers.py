"""The services at the other end of channels: an HTTP receiver and an SMTP receiver on loopback.

Both keep what they get. `answer` decides what the HTTP receiver answers, and `gate` when.
"""

from __future__ import annotations

import asyncio
import email
import email.policy
import json
from collections.abc import Callable
from email.message import EmailMessage
from typing import Any, Self

from msgspec import Struct

from tests.waiting import until

__all__ = ["Got", "HttpReceiver", "SmtpReceiver"]

PATIENCE_S = 90.0
"""Apprise takes up to half a minute to load on a busy machine."""


class Got(Struct):
    """A request that the receiver got."""

    path: str
    headers: dict[str, str]
    body: Any


class _Receiver:
    """A server that ends its connections when the test ends; use it as an async context manager."""

    def __init__(self) -> None:
        self._serving: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])
        self.authority = f"127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._server.close()
        for task in self._serving:
            task.cancel()
        if self._serving:
            await asyncio.wait(self._serving, timeout=10)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            await self._serve(reader, writer)
            await writer.drain()
        except (asyncio.CancelledError, OSError, asyncio.IncompleteReadError):
            pass  # The test has ended, or the client does not wait any longer.
        finally:
            self._serving.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError


class HttpReceiver(_Receiver):
    """Accepts JSON."""

    def __init__(self) -> None:
        super().__init__()
        self.received: list[Got] = []
        self.answer: Callable[[], str] = lambda: "200 OK"
        self.gate: asyncio.Event | None = None

    async def messages(self, count: int) -> list[Got]:
        """The requests so far, once there are as many."""
        await until(lambda: len(self.received) >= count, PATIENCE_S)
        return self.received

    async def message(self, count: int = 1) -> Got:
        """The last of `count` requests."""
        return (await self.messages(count))[count - 1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers["content-length"]))
        self.received.append(Got(head[0].split(" ")[1], headers, json.loads(body)))
        if self.gate is not None:
            await self.gate.wait()
        writer.write(f"HTTP/1.1 {self.answer()}\r\nContent-Length: 2\r\n\r\n{{}}".encode())


class SmtpReceiver(_Receiver):
    """Accepts mail without a login and without TLS."""

    def __init__(self) -> None:
        super().__init__()
        self.received: list[tuple[str, EmailMessage]] = []
        """The recipient of each message, and the message."""

    async def message(self) -> tuple[str, EmailMessage]:
        """The first message."""
        await until(lambda: self.received, PATIENCE_S)
        return self.received[0]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        recipient = ""
        writer.write(b"220 receiver\r\n")
        while line := (await reader.readline()).decode().strip():
            command = line[:4].upper()
            if command == "DATA":
                writer.write(b"354 go on\r\n")
                text = await reader.readuntil(b"\r\n.\r\n")
                mail = email.message_from_bytes(text[:-3], policy=email.policy.default)
                assert isinstance(mail, EmailMessage)
                self.received.append((recipient, mail))
            elif command == "RCPT":
                recipient = line.partition("<")[2].partition(">")[0]
            elif command == "QUIT":
                writer.write(b"221 bye\r\n")
                break
            writer.write(b"250 ok\r\n")
