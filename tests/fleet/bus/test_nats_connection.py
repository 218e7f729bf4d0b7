"""What a connection does with everything that a NATS server may send, from a scripted server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from fairlead.fleet.bus.bus import BusError, NoListener
from fairlead.fleet.bus.certificates import ensure_certificates
from fairlead.fleet.bus.nats_bus import tls_context
from fairlead.fleet.bus.nats_link import FIRST_CONNECT_S, NatsLink
from fairlead.fleet.bus.nkey import NodeKey
from tests.waiting import until

NOTICED_S = 4.0
"""A second on an idle machine; an attempt without a limit of its own takes five."""

GREETING = {"server_id": "scripted", "max_payload": 1_048_576, "nonce": "abc"}


class ScriptedServer:
    """Greets, answers every PING, and sends what a test tells it to."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self._listener: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []
        self.received = bytearray()
        self.connections = 0
        self.address = ""
        self.delay_s = 0.0
        """How late it greets."""
        self.greeting = b"INFO " + json.dumps(GREETING).encode() + b"\r\n"

    async def open(self) -> None:
        self._listener = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)
        self.address = f"tls://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"

    def send(self, data: bytes) -> None:
        """Send bytes to the client."""
        self._writers[-1].write(data)

    def disconnect(self) -> None:
        """Close all connections."""
        for writer in self._writers:
            writer.close()

    async def close(self) -> None:
        assert self._listener is not None
        self._listener.close()
        self.disconnect()
        for writer in self._writers:
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        self.connections += 1
        await asyncio.sleep(self.delay_s)
        writer.write(self.greeting)
        try:
            while line := await reader.readline():
                self.received += line
                if line == b"PING\r\n":
                    writer.write(b"PONG\r\n")
                size = re.match(rb"H?PUB .* (\d+)\r\n\Z", line)
                if size is not None:
                    self.received += await reader.readexactly(int(size[1]) + 2)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


class Scripted:
    """Two servers, and a link that knows both."""

    def __init__(self, servers: list[ScriptedServer], link: NatsLink) -> None:
        self.servers = servers
        self.link = link

    @property
    def present(self) -> ScriptedServer:
        """The server that the link is connected to."""
        assert self.link._connection is not None
        _, port = self.link._connection._transport._address  # type: ignore[attr-defined]
        return next(each for each in self.servers if each.address.endswith(f":{port}"))

    async def answered(self) -> None:
        """Wait until the client has read everything that was sent to it."""
        await self.link.round_trip()


@pytest.fixture
async def scripted(tmp_path: Path) -> AsyncIterator[Scripted]:
    files = ensure_certificates(tmp_path, ["127.0.0.1"])
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(files.certificate, files.key)
    async with AsyncExitStack() as stack:
        servers = [ScriptedServer(context) for _ in range(2)]
        for server in servers:
            await server.open()
            stack.push_async_callback(server.close)
        link = NatsLink(
            [server.address for server in servers],
            NodeKey(),
            tls_context(files.authority),
            inbox="_INBOX.a",
            name="test",
            pending_limit=1024 * 1024,
            changed=lambda: None,
        )
        link.start()
        stack.push_async_callback(link.close)
        await until(lambda: link.connected)
        yield Scripted(servers, link)


async def test_N56_a_server_that_does_not_answer_does_not_delay_the_others(
    scripted: Scripted,
) -> None:
    """Like a machine that was switched off: its address accepts or drops what is sent to it."""
    server, link = scripted.present, scripted.link
    silent = next(each for each in scripted.servers if each is not server)
    silent.greeting = b""
    began = time.monotonic()
    server.disconnect()
    await until(lambda: not link.connected)
    await until(lambda: link.connected)
    assert silent.connections == 1  # It was tried first.
    assert time.monotonic() - began < NOTICED_S


async def test_N56_a_slow_server_is_waited_for_longer_after_the_first_round(
    scripted: Scripted,
) -> None:
    delay = FIRST_CONNECT_S + 0.5
    for each in scripted.servers:
        each.delay_s = delay
        each.disconnect()
    await until(lambda: not scripted.link.connected)
    await until(lambda: scripted.link.connected)


@pytest.mark.parametrize(
    "refusal",
    [
        b"'Permissions Violation for Publish to \"fl.x\"'",
        b"'Permissions Violation for Subscription to \"fl.x\"'",
        b"'permissions violation for publish to \"fl.x\"'",
        b"'Invalid Subject'",
        b"'Invalid Publish Subject'",
        b"'Maximum Subscriptions Exceeded'",
    ],
)
async def test_N55_a_refusal_of_one_message_leaves_the_connection_usable(
    refusal: bytes, scripted: Scripted, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "fairlead")
    server = scripted.present
    server.send(b"-ERR " + refusal + b"\r\n")
    await scripted.answered()
    assert refusal.decode().strip("'") in caplog.text
    assert scripted.link.connected
    server.disconnect()  # Much later, and for another reason.
    await until(lambda: not scripted.link.connected)
    assert refusal.decode().strip("'") not in scripted.link.problem


@pytest.mark.parametrize(
    "refusal",
    [
        "Authorization Violation",
        "User Authentication Expired",
        "Stale Connection",
        "Maximum Connections Exceeded",
        "Maximum Payload Violation",
        "Slow Consumer",
        "Secure Connection - TLS Required",
        "Something new",
    ],
)
async def test_N55_the_reason_of_a_disconnection_is_named(
    refusal: str, scripted: Scripted, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "fairlead")
    server = scripted.present
    server.send(f"-ERR '{refusal}'\r\n".encode())
    server.disconnect()
    await until(lambda: not scripted.link.connected)
    await until(lambda: scripted.link.connected)
    assert f"{server.address}: {refusal}" in caplog.text


async def test_N55_a_ping_is_answered_between_messages_that_are_being_sent(
    scripted: Scripted,
) -> None:
    server, link = scripted.present, scripted.link
    for number in range(50):
        await link.publish("fl.beat.a", bytes([number]) * 5_000)
        if number % 10 == 0:
            server.send(b"PING\r\n")
            await asyncio.sleep(0)
    await scripted.answered()
    await until(lambda: server.received.count(b"PONG\r\n") == 5)
    for number in range(50):
        assert b"PUB fl.beat.a 5000\r\n" + bytes([number]) * 5_000 + b"\r\n" in server.received
    server.send(b"PONG\r\n" * 3)  # Answers to no question.
    await scripted.answered()
    assert link.connected


async def test_N55_an_update_of_the_greeting_is_used_and_announced_addresses_are_not(
    scripted: Scripted,
) -> None:
    server, link = scripted.present, scripted.link
    other = next(each for each in scripted.servers if each is not server)
    update: dict[str, Any] = {**GREETING, "max_payload": 1_000, "ldm": True}
    update["connect_urls"] = [f"192.0.2.{number}:4222" for number in range(200)]
    server.send(b"INFO " + json.dumps(update).encode() + b"\r\n")
    await scripted.answered()
    with pytest.raises(BusError, match="too many"):
        await link.publish("fl.beat.a", bytes(1_001))
    await link.publish("fl.beat.a", bytes(1_000))
    assert link.connected
    # A server in lame-duck mode closes its connections after a while.
    await server.close()
    await until(lambda: link.connected and scripted.present is other)
    await link.publish("fl.beat.a", bytes(1_001))
    assert "192.0.2" not in link.problem


@pytest.mark.parametrize("update", [b"INFO nonsense\r\n", b"INFO []\r\n", b"INFO\r\n"])
async def test_N55_a_greeting_that_cannot_be_read_ends_the_connection(
    update: bytes, scripted: Scripted
) -> None:
    server = scripted.present
    connections = server.connections
    for each in scripted.servers:
        each.greeting = update
    server.disconnect()
    await until(lambda: "greeting" in scripted.link.problem)
    for each in scripted.servers:
        each.greeting = b'INFO {"max_payload":1048576}\r\n'
    await until(lambda: scripted.link.connected)
    assert sum(each.connections for each in scripted.servers) > connections


async def test_N55_another_service_on_the_port_is_named_and_the_next_server_is_used(
    scripted: Scripted, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "fairlead")
    server = scripted.present
    server.greeting = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
    server.send(b"HTTP/1.1 500 Oops\r\n")
    await until(lambda: not scripted.link.connected)
    await until(lambda: scripted.link.connected and scripted.present is not server)
    assert "not a NATS server" in caplog.text
    assert "HTTP/1.1 500 Oops" in caplog.text


async def test_N55_a_request_without_listeners_is_refused_by_the_status(
    scripted: Scripted,
) -> None:
    server = scripted.present
    asking = asyncio.create_task(scripted.link.request("fl.do.a", b"hello", 30))
    sent = await until(lambda: re.search(rb"PUB fl\.do\.a (\S+) 5\r\n", server.received))
    assert sent is not None
    subscribed = re.search(rb"SUB _INBOX\.a\.\w+\.\* (\d+)\r\n", server.received)
    assert subscribed is not None
    head = b"NATS/1.0 503\r\n\r\n"
    to = b"%b %b %d %d" % (sent[1], subscribed[1], len(head), len(head))
    for byte in b"HMSG %b\r\n%b\r\n" % (to, head):
        server.send(bytes([byte]))
    with pytest.raises(NoListener):
        await asking
