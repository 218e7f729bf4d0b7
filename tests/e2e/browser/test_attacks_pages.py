"""No page of another server can do anything to Fairlead or read a byte of it (T-05, T-06, R3, R4)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser

from tests.e2e.browser.app_server import AppServer, open_app_server
from tests.e2e.browser.fake_cli import FakeCli
from tests.e2e.browser.hostile_server import ammunition, attack, open_hostile_server

TARGETS = ("127.0.0.1", "localhost", "fairlead.localhost", "0.0.0.0", "[::]", "[::1]")


@dataclass(frozen=True, slots=True)
class Effects:
    """All that a stranger could have changed."""

    devices: list[str]
    sessions: list[str]
    audit: int
    uploads: list[str]
    agents: int
    sockets: int


async def effects(server: AppServer, fake_cli: FakeCli) -> Effects:
    store = server.service.store
    return Effects(
        devices=[device.id for device in await store.devices()],
        sessions=[session.id for session in await store.sessions()],
        audit=len(await store.audit()),
        uploads=sorted(path.name for path in (store.folder / "uploads").rglob("*")),
        agents=len(fake_cli.clis),
        sockets=server.service.sockets.count,
    )


async def upgrade(port: int, host: str) -> str:
    """How a socket is answered that is opened under a name."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = ["GET /ws HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade"]
    lines += ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "", ""]
    writer.write("\r\n".join(lines).encode())
    answer = await asyncio.wait_for(reader.readline(), 10)
    writer.close()
    return " ".join(answer.decode().split(" ")[:2])


async def pairs(server: AppServer, code: str) -> bool:
    """Whether a code is still good."""
    return await server.service.devices.pair(code, "the owner", "127.0.0.1") is not None


async def test_the_attacks_work_on_a_server_that_lets_them(hostile: Browser) -> None:
    async with open_hostile_server() as victim, open_hostile_server() as hostile_server:
        page = await hostile.new_page()
        await page.goto(hostile_server.address())
        given = {"base": victim.address("127.0.0.1"), "token": "t", "code": "c", "script": "/x.js"}
        read = await attack(page, given)
        await page.close()
    unreadable = {"fetch no-cors", "post no-cors", "upload", "beacon", "frame"}
    unreadable |= {"form", "form multipart", "form plain text"}
    assert {name for name, text in read.items() if text is None} - unreadable <= {
        "script of the API"
    }
    came = [visitor.line.split(" ")[0] + visitor.line.split(" ")[1] for visitor in victim.visitors]
    assert came.count("POST/api/pair") >= 8
    assert any(visitor.body.startswith('{"code":"c","name":"=') for visitor in victim.visitors)


async def test_a_page_elsewhere_changes_nothing_and_reads_nothing(
    fake_cli_server: AppServer, fake_cli: FakeCli, hostile: Browser
) -> None:
    token = (await fake_cli_server.service.devices.make_device("the owner", "owner")).token
    code = fake_cli_server.service.devices.issue_code()
    before = await effects(fake_cli_server, fake_cli)
    async with open_hostile_server() as hostile_server:
        page = await hostile.new_page()
        await page.goto(hostile_server.address())
        port = fake_cli_server.service.port
        tries = [
            attack(page, ammunition(token, code, f"http://{target}:{port}")) for target in TARGETS
        ]
        read = dict(zip(TARGETS, await asyncio.gather(*tries), strict=True))
        await page.close()
    gained = {
        f"{target}: {way}": text
        for target, ways in read.items()
        for way, text in ways.items()
        if text is not None
    }
    assert sum(len(ways) for ways in read.values()) == 150
    assert gained == {}
    assert await effects(fake_cli_server, fake_cli) == before
    assert await pairs(fake_cli_server, code), "the code was used up"


async def test_a_rebound_name_is_refused_by_every_endpoint(
    tmp_path: Path, fake_cli: FakeCli, hostile: Browser
) -> None:
    page = await hostile.new_page()
    async with open_hostile_server() as hostile_server:
        await page.goto(hostile_server.address("rebind.evil.test"))
        port = hostile_server.port
    # The name now leads to us: the page is of the same origin as everything it asks for.
    async with open_app_server(
        tmp_path, agent=fake_cli.agent, project=tmp_path, port=port
    ) as server:
        token = (await server.service.devices.make_device("the owner", "owner")).token
        code = server.service.devices.issue_code()
        before = await effects(server, fake_cli)
        own = f"http://rebind.evil.test:{port}"
        read = await attack(page, ammunition(token, code, own))
        await page.close()
        refused = "Unknown Host header. Start the server with --name HOST to allow it."
        said = {name: text for name, text in read.items() if text is not None}
        assert {text.removeprefix("421 ").strip() for text in said.values()} == {refused}
        assert {"fetch", "fetch with the token", "fetch the page", "post JSON", "XHR get"} <= set(
            said
        )
        opened = {"socket", "bridge", "script", "image", "event source", "frame", "form"}
        assert opened.isdisjoint(said)
        assert await upgrade(port, f"rebind.evil.test:{port}") == "HTTP/1.1 421"
        assert await effects(server, fake_cli) == before
        assert await pairs(server, code), "the code was used up"
