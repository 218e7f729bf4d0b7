"""Attacks on the endpoints: other origins, other hosts, no token, a guessed token, many
connections."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import websockets
from starlette.routing import Route, Router, WebSocketRoute

from fairlead.server.access.codes import Codes
from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.access.throttle import Throttle
from fairlead.server.limits import Limits
from fairlead.store.sqlite import SqliteStore
from tests.server.conftest import Served, serving
from tests.server.raw_requests import RawSocket, ask, status_of, upgrade
from tests.waiting import until

ROOT = Path(__file__).parents[3]


def routes(served: Served) -> list[tuple[str, str, str]]:
    """Everything that can be reached: kind, method, path."""
    app: Any = served.service._server.config.app
    inner: Router = app._app
    found = []
    for route in inner.routes:
        if isinstance(route, WebSocketRoute):
            found.append(("websocket", "GET", route.path))
        else:
            assert isinstance(route, Route)
            methods = sorted((route.methods or set()) - {"HEAD"})
            found += [("http", method, route.path) for method in methods]
    return found


def filled(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "x", path)


# T-01


def foreign_origins(port: int) -> list[str]:
    return [
        "null", "", f"http://127.0.0.1:{port + 1}", f"https://127.0.0.1:{port}",
        f"http://127.0.0.1:{port}@evil.test", f"http://user@127.0.0.1:{port}",
        f"http://127.0.0.1.:{port}", f"HTTP://127.0.0.1:{port}", f"http://localhost:{port}",
        f"http://127.0.0.1:{port}.evil.test", f"http://evil127.0.0.1:{port}",
        f"http://127.0.0.1:{port}/", f"http://xn--lcalhost-54a:{port}", "http://evil.test",
        f"http://127.0.0.1:{port} http://evil.test", f"ws://127.0.0.1:{port}",
    ]  # fmt: skip


async def test_R4_no_other_page_gets_a_socket_even_with_a_good_token(served: Served) -> None:
    port, token = served.service.port, await served.token()
    for origin in foreign_origins(port):
        for path in ("/ws", "/bridge"):
            bearer = f"Authorization: Bearer {token}"
            head = upgrade(path, f"Host: 127.0.0.1:{port}", f"Origin: {origin}", bearer)
            assert status_of(await ask(port, head)) == 403, (origin, path)
    own = upgrade("/ws", f"Host: 127.0.0.1:{port}", f"Origin: http://127.0.0.1:{port}")
    assert status_of(await ask(port, own)) == 101


async def test_R4_two_origins_are_none(served: Served) -> None:
    port = served.service.port
    own = f"Origin: http://127.0.0.1:{port}"
    head = upgrade("/ws", f"Host: 127.0.0.1:{port}", own, own)
    assert status_of(await ask(port, head)) in (400, 403)


async def test_R4_an_unsafe_request_without_an_origin_needs_a_bearer(served: Served) -> None:
    port = served.service.port
    for kind, method, path in routes(served):
        if kind == "http" and method not in ("GET", "HEAD", "OPTIONS"):
            head = f"{method} {filled(path)} HTTP/1.1\nHost: 127.0.0.1:{port}\nContent-Length: 0"
            assert status_of(await ask(port, head)) == 403, path
            foreign = f"{head}\nOrigin: http://evil.test\nAuthorization: Bearer x"
            assert status_of(await ask(port, foreign)) == 403, path


# T-02, T-03, T-04

OPEN_TO_ALL = {
    ("http", "POST", "/api/pair"),
    ("http", "POST", "/api/probe"),
    ("http", "POST", "/api/push/deny"),
    ("http", "GET", "/"),
    ("http", "GET", "/{name:path}"),
}
"""The page itself, the place where a code becomes a token, and those for tickets (R26, B130)."""


async def test_R2_nothing_is_reached_without_a_token(served: Served) -> None:
    port = served.service.port
    reached = routes(served)
    assert len(reached) >= 14
    for kind, method, path in reached:
        here = (f"Host: 127.0.0.1:{port}", f"Origin: http://127.0.0.1:{port}")
        for header in (None, "Authorization: Bearer guess", "Authorization: Basic eDp5",
                       "Cookie: token=guess", "X-Token: guess"):  # fmt: skip
            headers = [*here, *([header] if header else [])]
            if kind == "websocket":
                answer = await ask(port, upgrade(path, *headers))
                # /ws asks for the token in its first message, and answers nothing before.
                assert status_of(answer) == (101 if path == "/ws" else 403)
                assert "welcome" not in answer
            elif (kind, method, path) not in OPEN_TO_ALL:
                head = "\n".join([f"{method} {filled(path)} HTTP/1.1", *headers])
                answer = await ask(port, head + "\nConnection: close\nContent-Length: 0")
                assert status_of(answer) == 401, (method, path, header)


async def test_R2_a_route_that_is_not_in_the_guarded_table_does_not_exist(served: Served) -> None:
    app: Any = served.service._server.config.app
    api = [
        route
        for route in app._app.routes
        if isinstance(route, Route) and route.path.startswith("/api")
    ]
    assert len(api) >= 10
    for route in api:
        assert route.endpoint.__qualname__ == "Guard.guarded.<locals>.handle", route.path
    others = {route.path for route in app._app.routes} - {route.path for route in api}
    assert others == {"/ws", "/bridge", "/", "/{name:path}"}
    source = (ROOT / "src/fairlead/server/app.py").read_text()
    assert source.count("Route(") == 5, "a new way in needs a guard, and a line in this test"


async def test_R2_a_token_in_an_address_is_no_token(served: Served) -> None:
    token = await served.token()
    for name in ("token", "access_token", "key", "auth", "code"):
        status, _, _ = await served.http(f"/api/sessions?{name}={token}")
        assert status == 401
    port = served.service.port
    answer = await ask(port, upgrade(f"/bridge?token={token}", f"Host: 127.0.0.1:{port}"))
    assert status_of(answer) == 403


async def test_R6_no_answer_lets_another_origin_read_it(served: Served) -> None:
    port, token = served.service.port, await served.token()
    for kind, method, path in routes(served):
        if kind == "websocket":
            continue
        for asked in (method, "OPTIONS", "HEAD", "TRACE"):
            for origin in ("http://evil.test", f"http://127.0.0.1:{port}"):
                head = (
                    f"{asked} {filled(path)} HTTP/1.1\nHost: 127.0.0.1:{port}\nOrigin: {origin}\n"
                    f"Authorization: Bearer {token}\nAccess-Control-Request-Method: POST\n"
                    "Access-Control-Request-Headers: authorization\nConnection: close\n"
                    "Content-Length: 0"
                )
                answer = await ask(port, head)
                assert status_of(answer) >= 200
                assert "access-control" not in answer.lower(), (asked, path)
                assert "set-cookie" not in answer.lower()


# T-06


def foreign_hosts(port: int) -> list[str]:
    return [
        f"evil.test:{port}", f"127.evil.com:{port}", f"localhost.evil.com:{port}",
        f"127.0.0.1.nip.io:{port}", f"2130706433:{port}", f"0177.0.0.1:{port}", f"0x7f.1:{port}",
        f"127.1:{port}", f"127.0.0.2:{port}", f"0.0.0.0:{port}", f"[::]:{port}", "127.0.0.1",
        "localhost", f"127.0.0.1:{port + 1}", f"127.0.0.1:{port}.evil.test", f"127.0.0.1:0{port}",
        f"user@127.0.0.1:{port}", f"127.0.0.1:{port}@evil.test", f"localhost.:{port}",
        f"127.0.0.1:{port}, evil.test", f"[::ffff:127.0.0.1]:{port}", f"127.0.0.1:{port}#",
        f"fairlead.localhost.evil.test:{port}", "",
    ]  # fmt: skip


async def test_R3_a_rebound_name_is_refused_whatever_it_asks_for(served: Served) -> None:
    port, token = served.service.port, await served.token()
    for host in foreign_hosts(port):
        rebound = (f"Host: {host}", f"Origin: http://{host}", f"Authorization: Bearer {token}")
        for path in ("/", "/api/sessions", "/assets/x.js"):
            head = "\n".join([f"GET {path} HTTP/1.1", *rebound, "Connection: close"])
            # A Host that is not even HTTP never comes as far as our own check.
            assert status_of(await ask(port, head)) in ((400, 421) if "," in host else (421,)), host
        for path in ("/ws", "/bridge"):
            status = status_of(await ask(port, upgrade(path, *rebound)))
            assert status in ((400, 421) if "," in host else (421,)), (host, path)


async def test_R3_no_host_and_two_hosts_are_refused(served: Served) -> None:
    port = served.service.port
    own = f"Host: 127.0.0.1:{port}"
    assert status_of(await ask(port, "GET / HTTP/1.1")) == 400
    assert status_of(await ask(port, "GET / HTTP/1.0")) == 421
    assert status_of(await ask(port, f"GET / HTTP/1.1\n{own}\n{own}")) in (400, 421)
    assert status_of(await ask(port, f"GET / HTTP/1.1\n{own}\nHost: evil.test")) in (400, 421)
    forwarded = f"GET / HTTP/1.1\nHost: evil.test\nX-Forwarded-Host: 127.0.0.1:{port}"
    assert status_of(await ask(port, forwarded)) == 421


# T-08


def test_R1_the_server_refuses_to_listen_beyond_this_machine_by_accident(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1"):
        done = subprocess.run(
            [sys.executable, "-m", "fairlead.commands.main", "serve", "--no-browser", "--host",
             host, "--port", "0", "--agent", sys.executable, "--data", str(tmp_path / "d")],
            capture_output=True, text=True, timeout=30, check=False,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src"), "HOME": str(tmp_path)},
        )  # fmt: skip
        assert done.returncode == 2
        assert "--i-understand-plain-http" in done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "d").exists()


async def test_R1_the_server_listens_on_this_machine_only(served: Served) -> None:
    port = f":{served.service.port:04X}"
    here = {f"0100007F{port}", f"00000000000000000000000001000000{port}"}
    assert f"0100007F{port}" in listening_on(port)
    assert set(listening_on(port)) <= here


def listening_on(port: str) -> list[str]:
    """The addresses on which a process listens on a port, as the system writes them."""
    lines = [
        line.split()
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        for line in Path(table).read_text().splitlines()[1:]
    ]
    return [words[1] for words in lines if words[3] == "0A" and words[1].endswith(port)]


# R5, R7


async def test_R5_the_launch_link_has_its_code_in_the_fragment_and_gives_no_cookie(
    served: Served,
) -> None:
    link = served.service.launch_link()
    address, _, code = link.partition("#code=")
    assert "?" not in address
    assert len(code) >= 32
    asked = {"code": code, "name": "here"}
    status, body, headers = await served.http(
        "/api/pair", method="POST", body=asked, origin=served.base
    )
    assert status == 200
    assert len(json.loads(body)["token"]) >= 43  # 256 bits
    assert "set-cookie" not in {name.lower() for name in headers}
    source = "".join(path.read_text() for path in (ROOT / "src/fairlead/server").glob("*.py"))
    assert "set_cookie" not in source
    assert "request.cookies" not in source


async def test_R7_every_answer_forbids_what_our_pages_never_do(served: Served) -> None:
    port = served.service.port
    asked = [
        "GET /", "GET /api/health", "GET /nothing.js", "POST /api/pair", "GET /api/files",
        "DELETE /api/sessions", "OPTIONS /api/pair",
    ]  # fmt: skip
    for first in asked:
        here = f"Host: 127.0.0.1:{port}\nOrigin: http://127.0.0.1:{port}\nConnection: close"
        answer = (await ask(port, f"{first} HTTP/1.1\n{here}\nContent-Length: 0")).lower()
        head = answer.partition("\r\n\r\n")[0]
        for needed in (
            "default-src 'none'", "script-src 'self';", "frame-ancestors 'none'",
            "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'",
            "x-content-type-options: nosniff", "x-frame-options: deny",
            "referrer-policy: no-referrer", "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
        ):  # fmt: skip
            assert needed in head, (first, needed)
        scripts = re.search(r"script-src [^;]*", head)
        assert scripts is not None
        assert "unsafe" not in scripts[0]
        assert "*" not in scripts[0]
    refused = await ask(port, upgrade("/ws", "Host: evil.test"))
    assert "frame-ancestors 'none'" in refused


# R8, T-33


async def test_R8_a_role_is_asked_for_each_message_not_for_each_socket(served: Served) -> None:
    client = await served.client("approver")
    refused: tuple[tuple[str, dict[str, Any]], ...] = (
        ("new_session", {"cwd": str(served.project)}),
        ("send", {"session": "x", "text": "y", "uuid": "z"}),
        ("set_mode", {"session": "x", "mode": "plan"}),
        ("revoke_device", {"device": "x"}),
    )
    for kind, fields in refused:
        result = await client.intend(kind, **fields)
        assert (result["ok"], result["code"]) == (False, "forbidden")
    allowed = await client.intend("interrupt", session="x")
    assert allowed["code"] == "not_found"


async def test_R8_a_stolen_device_is_out_within_a_second_on_every_socket(served: Served) -> None:
    owner, stolen = await served.client(), await served.client("operator")
    device = (await stolen.hear("welcome"))["device"]
    session = await stolen.new_session(json.dumps([{"drip": [400, 4.0]}]))
    await stolen.say(type="open", document=session)
    await stolen.hear(document=session)
    older = await websockets.connect(
        served.base.replace("http", "ws") + "/bridge",
        additional_headers={"Authorization": f"Bearer {stolen.token}"},
    )
    await older.send(json.dumps({"type": "list_sessions"}))
    assert json.loads(await older.recv())["type"] == "system"
    began = time.monotonic()
    assert (await owner.intend("revoke_device", device=device))["ok"]
    for each in (stolen.socket, older):
        async with asyncio.timeout(5):
            await each.wait_closed()
        assert each.close_code == 4401
    assert time.monotonic() - began < 1.0
    status, _, _ = await served.http("/api/sessions", authorization=f"Bearer {stolen.token}")
    assert status == 401


async def test_R8_a_device_that_was_unused_for_a_month_has_to_pair_again(tmp_path: Path) -> None:
    now = [1_000_000.0]
    async with SqliteStore(tmp_path / "data") as store:
        devices = DeviceRegistry(store, Limits(), clock=lambda: now[0], ticks=lambda: now[0])
        paired = await devices.make_device("phone", "approver")
        now[0] += 29 * 86_400
        assert await devices.device_of(paired.token, "") is not None
        now[0] += 29 * 86_400
        assert await devices.device_of(paired.token, "") is not None  # it was seen meanwhile
        now[0] += 31 * 86_400
        assert await devices.device_of(paired.token, "") is None


async def test_R8_changing_the_clock_neither_expires_nor_extends_a_token(tmp_path: Path) -> None:
    """T-105: the idle time of a device is counted, not read from the date."""
    date, ticks, month = [1_000_000.0], [0.0], 31 * 86_400
    async with SqliteStore(tmp_path / "data") as store:
        devices = DeviceRegistry(store, Limits(), clock=lambda: date[0], ticks=lambda: ticks[0])
        kept, lost = (
            await devices.make_device("kept", "owner"),
            await devices.make_device("x", "owner"),
        )
        date[0] += month
        assert await devices.device_of(kept.token, "") is not None, "set ahead"
        date[0] -= 2 * month
        ticks[0] += month
        assert await devices.device_of(lost.token, "") is None, "set back, and a month passed"


# T-29


async def test_R2_guessing_is_throttled_and_locks_no_device_out(served: Served) -> None:
    token, code = await served.token(), served.service.devices.issue_code()
    devices = served.service.devices
    guesses: list[asyncio.Task[Any]] = []
    took = []
    for start in range(0, 10_000, 500):
        guesses += [
            asyncio.create_task(devices.device_of(f"guess-{n}", "127.0.0.1"))
            for n in range(start, start + 500)
        ]
        began = time.monotonic()
        status, _, _ = await served.http("/api/sessions", authorization=f"Bearer {token}")
        took.append(time.monotonic() - began)
        assert status == 200
    paired, _, _ = await served.http(
        "/api/pair", method="POST", body={"code": code}, origin=served.base
    )
    assert paired == 200
    assert statistics.median(took) < 1.0
    assert set(await asyncio.gather(*guesses)) == {None}
    slow = time.monotonic()
    assert await devices.device_of("one more", "127.0.0.1") is None
    assert time.monotonic() - slow >= 0.9


def test_R2_guessing_fast_costs_no_more_memory_or_time() -> None:
    throttle = Throttle(Limits(tries_per_minute=60))
    for n in range(10_000):
        throttle.failed("10.0.0.9", now=n / 1_000)
        assert n < 60 or throttle.too_many("10.0.0.9", now=n / 1_000)
    assert len(throttle._peers) == 1


async def test_R2_a_wrong_token_takes_as_long_as_another_wrong_one(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "data") as store:
        devices = DeviceRegistry(store, Limits(tries_per_minute=10**9))
        good = (await devices.make_device("desk", "owner")).token

        async def timed(token: str) -> float:
            began = time.perf_counter()
            assert await devices.device_of(token, "x") is None
            return time.perf_counter() - began

        near, far = [], []
        for _ in range(300):
            near.append(await timed(good[:-1] + ("A" if good[-1] != "A" else "B")))
            far.append(await timed("A" * len(good)))
        assert statistics.median(near) < 2 * statistics.median(far)
        assert statistics.median(far) < 2 * statistics.median(near)


# T-30


@pytest.fixture
def plenty_of_files() -> Iterator[None]:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 6_000:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 6_000), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_R14_a_crowd_that_says_nothing_does_not_hold_up_who_is_in(
    served: Served, plenty_of_files: None
) -> None:
    client = await served.client()
    session = await client.new_session()
    took: list[float] = []
    crowd: list[socket.socket] = []

    async def measure(count: int) -> None:
        for _ in range(count):
            began = time.monotonic()
            assert (await client.intend("rename", session=session, title="x"))["ok"]
            took.append(time.monotonic() - began)

    await measure(30)
    calm = max(took)
    for n in range(2_000):
        connection = socket.create_connection(("127.0.0.1", served.service.port))
        connection.send((b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX: ")[n % 3])
        crowd.append(connection)
        if n % 100 == 0:
            await measure(1)
    took.clear()
    await measure(30)
    held = served.service._server.server_state.connections
    assert len(held) <= Limits().unauthenticated_connections + 5
    assert max(took) < max(10 * calm, 0.25)
    newcomer = await served.client()
    assert (await newcomer.hear("welcome"))["role"] == "owner"
    for each in crowd:
        each.close()


async def test_R14_sockets_that_never_say_hello_make_room_for_those_who_do(tmp_path: Path) -> None:
    # Long enough that on a busy machine none is too late before all of them are open.
    async with serving(tmp_path, Limits(hello_s=3.0)) as served:
        port = served.service.port
        silent = await asyncio.gather(*(RawSocket.open(port) for _ in range(100)))
        # The server may still be busy with the last of them.
        most = Limits().unauthenticated_sockets
        await until(lambda: served.service.sockets.unauthenticated <= most)
        client = await served.client()
        assert (await client.hear("welcome"))["role"] == "owner"
        codes = await asyncio.gather(*(each.closing() for each in silent))
        assert set(codes) == {4429, 4401}  # crowded out, or too late


async def test_R14_half_a_request_is_given_up_also_on_a_kept_connection(tmp_path: Path) -> None:
    async with serving(tmp_path, Limits(hello_s=0.5)) as served:
        port = served.service.port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(re.search(rb"content-length: (\d+)", head)[1]))  # type: ignore[index]
        writer.write(b"GET / HTTP/1.1\r\nX: ")
        async with asyncio.timeout(4):  # less than the five seconds of an idle connection
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await reader.readexactly(1)
        writer.close()


@pytest.mark.parametrize("size", [20_000, 200_000])
async def test_R14_headers_have_an_end(served: Served, size: int) -> None:
    port = served.service.port
    long = f"GET / HTTP/1.1\nHost: 127.0.0.1:{port}\nX: {'y' * size}"
    assert status_of(await ask(port, long)) in (0, 400, 431)
    many = f"GET / HTTP/1.1\nHost: 127.0.0.1:{port}\n" + "\n".join(["X: y"] * (size // 4))
    assert status_of(await ask(port, many)) in (0, 400, 431)


# T-34


async def test_R5_a_code_that_was_photographed_is_worth_nothing_later(served: Served) -> None:
    code = served.service.devices.issue_code("approver")
    answers = await asyncio.gather(
        *(
            served.http("/api/pair", method="POST", body={"code": code}, origin=served.base)
            for _ in range(10)
        )
    )
    assert sorted(status for status, _, _ in answers) == [200] + [401] * 9
    codes = Codes(Limits())
    codes.issue("photo", "owner", now=0.0)
    assert codes.redeem("photo", now=60.1) is None


async def test_R5_a_device_with_a_photographed_code_needs_an_owners_approval(
    served: Served,
) -> None:
    code = served.service.devices.invite("owner")
    asked = {"code": code, "name": "The owner's phone"}
    status, body, _ = await served.http("/api/pair", method="POST", body=asked, origin=served.base)
    assert status == 202
    thief = {"authorization": f"Bearer {json.loads(body)['token']}"}
    for kind, method, path in routes(served):
        if kind == "http" and (kind, method, path) not in OPEN_TO_ALL:
            data = b"{}" if method == "POST" else None
            seen, _, _ = await served.http(filled(path), method=method, body=data, **thief)
            assert seen == 401, path


# T-35


async def test_R8_a_missing_thing_looks_the_same_to_every_role(served: Served) -> None:
    foreign = "11111111-1111-4111-8111-111111111111"
    for role in ("viewer", "approver", "operator", "owner"):
        bearer = {"authorization": f"Bearer {await served.token(role)}"}
        for kind, method, path in routes(served):
            if kind == "http" and "{session}" in path and method == "GET":
                status, body, _ = await served.http(path.replace("{session}", foreign), **bearer)
                # 400: a missing parameter is reported before any session is looked up.
                assert status in (400, 403, 404)
                assert foreign not in body.decode() or status == 404
                if status == 403:
                    assert "requires the" in body.decode()  # the route, not the session
        client = await served.client(role)
        await client.say(type="open", document=foreign)
        assert (await client.hear("error"))["code"] == "not_found"
