"""Connections that could affect other clients: answers that are not read, many connections,
ambiguous requests."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import resource
import socket
import sys
import threading
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import websockets

from fairlead.host.options.options import Options
from fairlead.server.http.static import WEB_FOLDER
from fairlead.server.limits import Limits
from fairlead.server.service import Service, open_service
from fairlead.server.sockets.unauthenticated import UnauthenticatedConnections
from fairlead.server.sockets.uvicorn_limits import unauthenticated_limit
from tests.server.conftest import Served
from tests.server.raw_requests import PATIENCE_S, ask, status_of
from tests.waiting import until

ROOT = Path(__file__).parents[3]

SCRIPT = max((WEB_FOLDER / "assets").glob("*.js"), key=lambda file: file.stat().st_size).name
"""The largest file that the server serves without a token."""


@pytest.fixture
async def strict(tmp_path: Path) -> AsyncIterator[Service]:
    """A server that looks at the progress of its answers often."""
    limits = Limits(progress_s=0.3, answer_bytes_per_s=20_000, unauthenticated_connections=40)
    async with open_service(
        data=tmp_path / "data", options=Options(agent=sys.executable), agent="none", limits=limits
    ) as service:
        running = asyncio.create_task(service.run())
        yield service
        service.stop()
        await asyncio.wait_for(running, 30)


def slow_reader(port: int, requests: int = 30) -> socket.socket:
    """Asks for a script many times, and reads connection byte."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.settimeout(10)  # The server may stop reading before all is sent.
    connection.connect(("127.0.0.1", port))
    head = f"GET /assets/{SCRIPT} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
    with contextlib.suppress(OSError):
        connection.sendall(head.encode() * requests)
        connection.recv(1)
    return connection


# T-46


async def test_R14_an_answer_that_the_client_does_not_read_is_dropped(strict: Service) -> None:
    reader = await asyncio.to_thread(slow_reader, strict.port)
    held = strict._server.server_state.connections
    async with asyncio.timeout(PATIENCE_S):
        while held:  # noqa: ASYNC110 - the server's own clock is what is tested
            await asyncio.sleep(0.02)
    reader.close()


async def test_R14_a_slow_client_that_goes_on_reading_gets_its_whole_answer(
    strict: Service,
) -> None:
    size = (WEB_FOLDER / "assets" / SCRIPT).stat().st_size
    reader, writer = await asyncio.open_connection("127.0.0.1", strict.port, limit=8_192)
    head = f"GET /assets/{SCRIPT} HTTP/1.1\r\nHost: 127.0.0.1:{strict.port}\r\n\r\n"
    writer.write(head.encode())
    await reader.readuntil(b"\r\n\r\n")
    read = 0
    while read < size:
        part = await reader.read(64_000)
        assert part, f"cut off after {read} of {size} bytes"
        read += len(part)
        await asyncio.sleep(0.02)  # Slower than the server, and longer than one look at it.
    writer.close()


async def test_R14_connections_without_a_token_that_read_nothing_keep_no_device_out(
    strict: Service,
) -> None:
    token = (await strict.devices.make_device("desk", "owner")).token
    reader, writer = await asyncio.open_connection("127.0.0.1", strict.port)
    head = (
        f"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:{strict.port}\r\n"
        f"Authorization: Bearer {token}\r\n\r\n"
    ).encode()

    async def healthy() -> bool:
        writer.write(head)
        async with asyncio.timeout(PATIENCE_S):
            answer = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", answer)
            assert length is not None
            await reader.readexactly(int(length[1]))
        return b" 200 " in answer

    assert await healthy()
    crowd = [await asyncio.to_thread(slow_reader, strict.port, 3) for _ in range(30)]
    crowd += [socket.create_connection(("127.0.0.1", strict.port)) for _ in range(100)]
    assert await healthy()  # The same connection, older than all of them.
    held = strict._server.server_state.connections
    await until(lambda: len(held) <= 40 + 1, PATIENCE_S)
    assert await healthy()
    writer.close()
    for each in crowd:
        each.close()


async def test_R14_many_silent_connections_delay_no_other_client(served: Served) -> None:
    going, service = True, served.service
    token = (await service.devices.make_device("desk", "owner")).token
    begun = threading.Event()
    flooding = asyncio.create_task(asyncio.to_thread(_flood, service.port, lambda: going, begun))
    try:
        assert await asyncio.to_thread(begun.wait, 20)
        for _ in range(6):
            head = f"GET /api/health HTTP/1.1\nHost: 127.0.0.1:{service.port}\nAuthorization: Bearer {token}"
            assert status_of(await ask(service.port, head)) == 200
    finally:
        going = False
        assert await flooding > 0


AS_A_STRANGER = """
import socket, sys
port, script, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
head = f"GET /assets/{script} HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n\\r\\n".encode() * 30
held = []
for _ in range(count):
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.settimeout(0.5)
    try:
        one.connect(("127.0.0.1", port))
        one.sendall(head)
        one.recv(1)
    except OSError:
        pass
    held.append(one)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.matrix(target="faults", cases=0)
async def test_R14_connections_without_a_token_that_read_one_byte_do_not_use_up_file_handles(
    tmp_path: Path,
) -> None:
    """A real server with 256 file handles, and 400 connections without a token."""
    server = await asyncio.create_subprocess_exec(
        "sh", "-c", 'ulimit -n 256; exec "$@"', "sh", sys.executable, "-m",
        "fairlead.commands.main", "serve", "--no-browser", "--agent", "demo", "--port", "0",
        "--data", str(tmp_path / "data"), cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    attacker: asyncio.subprocess.Process | None = None
    try:
        base, code = await _link(server)
        port = int(base.rpartition(":")[2])
        token = await asyncio.to_thread(_pair, base, code)
        attacker = await asyncio.create_subprocess_exec(
            sys.executable, "-c", AS_A_STRANGER, str(port), SCRIPT, "400",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert attacker.stdout is not None
        async with asyncio.timeout(300):
            assert await attacker.stdout.readline() == b"held\n"
        for _ in range(5):
            head = (
                f"GET /api/health HTTP/1.1\nHost: 127.0.0.1:{port}\nAuthorization: Bearer {token}"
            )
            assert status_of(await ask(port, head)) == 200
            async with websockets.connect(f"ws://127.0.0.1:{port}/ws") as websocket:
                await websocket.send(
                    json.dumps({"type": "hello", "protocol": 1, "token": token, "client": "c"})
                )
                assert json.loads(await websocket.recv())["type"] == "welcome"
    finally:
        for process in (attacker, server):
            if process is not None:
                process.kill()
                await process.wait()


async def _link(server: asyncio.subprocess.Process) -> tuple[str, str]:
    assert server.stdout is not None
    async with asyncio.timeout(60):
        while line := (await server.stdout.readline()).decode():
            if "/#code=" in line:
                base, code = line.split()[-1].split("/#code=")
                return base, code
    raise AssertionError("the server said no link")


def _pair(base: str, code: str) -> str:
    body = json.dumps({"code": code, "name": "owner"}).encode()
    request = urllib.request.Request(base + "/api/pair", body, {"Origin": base})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return str(json.load(answer)["token"])


def test_R14_the_larger_kind_and_the_largest_crowd_lose_their_oldest() -> None:
    connections: UnauthenticatedConnections[str] = UnauthenticatedConnections(4)
    for n in range(3):
        assert connections.add(f"crowd {n}", "10.0.0.1") is None
    assert connections.add("alone", "10.0.0.2") is None
    assert connections.add("crowd 3", "10.0.0.1") == "crowd 0"
    connections.remove("crowd 0")
    for each in ("crowd 1", "crowd 2", "crowd 3"):
        connections.requested(each)
    assert connections.add("newest", "10.0.0.3") == "crowd 1"  # of those that were served
    connections.remove("crowd 1")
    connections.remove("nobody")
    assert len(connections) == 4


def test_R14_connections_without_a_token_have_a_quarter_of_the_handles_at_most() -> None:
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert (
        8 <= unauthenticated_limit(Limits(unauthenticated_connections=10**9)) <= max(8, files // 4)
    )
    assert unauthenticated_limit(Limits(unauthenticated_connections=10)) == 10


# T-47

NEXT = "GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"

ODD = {
    "both lengths": "POST /api/pair HTTP/1.1\r\n{own}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "both lengths the other way": "POST /api/pair HTTP/1.1\r\n{own}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    "two lengths": "POST /api/pair HTTP/1.1\r\n{own}Content-Length: 0\r\nContent-Length: 4\r\n\r\n",
    "no number": "POST /api/pair HTTP/1.1\r\n{own}Content-Length: +4\r\n\r\nabcd",
    "two encodings": "POST /api/pair HTTP/1.1\r\n{own}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "an odd encoding": "POST /api/pair HTTP/1.1\r\n{own}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "a path of 60 KB": "GET /{long} HTTP/1.1\r\n{own}\r\n",
    "a query of 9 KB": "GET /api/search?q={nine} HTTP/1.1\r\n{own}\r\n",
    "a method override": "POST /api/pair HTTP/1.1\r\n{own}X-HTTP-Method-Override: DELETE\r\nContent-Length: 0\r\n\r\n",
    "another address in a header": "GET / HTTP/1.1\r\n{own}X-Original-URL: /api/sessions\r\n\r\n",
    "an HTTP/2 preface": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "an upgrade to HTTP/2": "GET / HTTP/1.1\r\n{own}Upgrade: h2c\r\nConnection: Upgrade\r\nHTTP2-Settings: x\r\n\r\n",
    "no such method": "BREW / HTTP/1.1\r\n{own}\r\n",
    "no HTTP at all": "hello there\r\n\r\n",
    "a space before the colon": "GET / HTTP/1.1\r\n{own}X : y\r\n\r\n",
    "a bare line feed in a chunk": "POST /api/pair HTTP/1.1\r\n{own}Transfer-Encoding: chunked\r\n\r\nzz\r\n",
}


@pytest.mark.parametrize("what", ODD)
async def test_R17_an_odd_request_is_refused_and_nothing_after_it_is_read(
    served: Served, what: str
) -> None:
    port = served.service.port
    own = f"Host: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
    odd = ODD[what].format(own=own, long="x" * 60_000, nine="y" * 9_000)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(odd.encode() + NEXT.format(port=port).encode())
    async with asyncio.timeout(PATIENCE_S):
        answer = b""
        with contextlib.suppress(ConnectionError):
            while part := await reader.read(65_536):
                answer += part
    writer.close()
    assert answer.count(b"HTTP/1.1 ") <= 1, answer
    assert status_of(answer.decode("latin-1")) in (0, 400, 413, 414, 421, 431), answer
    assert b"200 OK" not in answer


async def test_R17_a_client_that_leaves_in_its_body_writes_nothing_to_the_log(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    port = served.service.port
    with caplog.at_level(logging.INFO):
        for _ in range(5):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = (
                f"POST /api/pair HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
                f"Origin: http://127.0.0.1:{port}\r\nContent-Length: 500\r\n\r\n{{"
            )
            writer.write(head.encode())
            await writer.drain()
            writer.transport.abort()
            assert reader is not None
        assert status_of(await ask(port, f"GET / HTTP/1.1\nHost: 127.0.0.1:{port}")) > 0
        async with asyncio.timeout(PATIENCE_S):
            while served.service._server.server_state.tasks:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    assert "Traceback" not in caplog.text
    assert "Exception" not in caplog.text


def _flood(port: int, going: object, begun: threading.Event) -> int:
    """Open silent connections as fast as one thread can, a thousand at a time."""
    assert callable(going)
    count, held = 0, []
    while going():
        connection = socket.socket()
        with contextlib.suppress(OSError):
            connection.settimeout(1)
            connection.connect(("127.0.0.1", port))
            count += 1
        begun.set()
        held.append(connection)
        if len(held) >= 200:
            for old in held:
                old.close()
            held = []
    for old in held:
        old.close()
    return count
