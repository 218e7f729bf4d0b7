"""A server behind a proxy that terminates TLS: all of it is usable, with exact checks."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import websockets

from fairlead.host.options.options import Options
from fairlead.server.policy import Policy
from fairlead.server.service import Address, open_service
from tests.launching import python_launcher
from tests.server.conftest import AGENT, QUICK, Client, Served
from tests.server.raw_requests import ask, status_of, upgrade
from tests.server.tls_proxy import ADDRESS, NAME, TlsProxy, https, trusting

ORIGIN = f"https://{NAME}"


@pytest.fixture
async def proxied(tmp_path: Path) -> AsyncIterator[tuple[Served, TlsProxy]]:
    project = tmp_path / "project"
    project.mkdir()
    launcher = python_launcher(tmp_path / "claude-scripted", AGENT, tmp_path / "agent.log")
    async with open_service(
        data=tmp_path / "data",
        options=Options(agent=launcher, graces=QUICK),
        agent="scripted",
        policy=Policy(roots=(tmp_path,)),
        address=Address(public_url=ORIGIN, trusted_proxies=(ADDRESS,)),
    ) as service:
        running = asyncio.create_task(service.run())
        async with TlsProxy(service.port) as proxy:
            yield Served(service, project), proxy
        service.stop()
        await asyncio.wait_for(running, 30)


async def socket(
    proxy: TlsProxy, path: str, origin: str | None = ORIGIN, **headers: str
) -> websockets.ClientConnection:
    return await websockets.connect(
        f"wss://{NAME}{path}",
        ssl=trusting(),
        host="127.0.0.1",
        port=proxy.port,
        origin=origin,  # type: ignore[arg-type]
        additional_headers=headers,
    )


async def test_R18_a_device_pairs_and_works_through_a_tls_proxy(
    proxied: tuple[Served, TlsProxy],
) -> None:
    served, proxy = proxied
    status, page = await https(proxy, "/", f"Host: {NAME}")
    assert status == 200
    assert "content-security-policy" in page.lower()
    link = served.service.launch_link()
    assert link.startswith(f"{ORIGIN}/#code=")
    status, answer = await https(
        proxy, "/api/pair", f"Host: {NAME}", f"Origin: {ORIGIN}",
        method="POST", body={"code": link.partition("#code=")[2], "name": "Phone"},
    )  # fmt: skip
    assert status == 200, answer
    token = json.loads(answer.partition("\r\n\r\n")[2])["token"]
    client = Client(served, token)
    client.socket = await socket(proxy, "/ws")
    await client.say(type="hello", protocol=1, token=token, client=client.id)
    assert (await client.hear("welcome"))["role"] == "owner"
    session = await client.new_session("hello")
    assert (await client.ending(session))["outcome"] == "success"
    bearer = f"Bearer {token}"
    status, _ = await https(proxy, "/api/sessions", f"Host: {NAME}", f"Authorization: {bearer}")
    assert status == 200
    bridge = Client(served, token)
    bridge.socket = await socket(proxy, "/bridge", None, Authorization=bearer)
    await bridge.say(type="list_sessions")
    assert (await bridge.hear("system"))["subtype"] == "session_list"
    for open_client in (client, bridge):
        await open_client.socket.close()


@pytest.mark.parametrize("path", ["/ws", "/bridge"])
async def test_R18_only_the_public_name_and_origin_are_added(
    proxied: tuple[Served, TlsProxy], path: str
) -> None:
    served, proxy = proxied
    bearer = f"Bearer {await served.token()}"
    for origin in (
        "https://evil.test", f"http://{NAME}", f"{ORIGIN}:8443", f"https://x.{NAME}", "null",
        f"{ORIGIN}/", f"{ORIGIN}.evil.test", f"http://127.0.0.1:{served.service.port}",
    ):  # fmt: skip
        with pytest.raises(websockets.InvalidStatus) as refused:
            await socket(proxy, path, origin, Authorization=bearer)
        assert refused.value.response.status_code == 403, origin
    for host in ("evil.test", f"{NAME}:8443", f"x.{NAME}", f"{NAME}.", ""):
        status, _ = await https(proxy, "/api/sessions", f"Host: {host}", f"Authorization: {bearer}")
        assert status == 421, host
    # The server's own address still works without the proxy, with its own origin only.
    own = f"127.0.0.1:{served.service.port}"

    async def direct(origin: str) -> int:
        head = upgrade(path, f"Host: {own}", f"Origin: {origin}", f"Authorization: {bearer}")
        return status_of(await ask(served.service.port, head))

    assert await direct(f"http://{own}") == 101
    for origin in (ORIGIN, f"https://{own}", "https://evil.test"):
        assert await direct(origin) == 403, origin


async def test_R18_forwarded_headers_count_only_from_the_trusted_proxy(
    proxied: tuple[Served, TlsProxy],
) -> None:
    served, proxy = proxied

    async def address_with(*headers: str, direct: bool = False) -> str:
        code = served.service.devices.invite("viewer")
        body = {"code": code, "name": "Phone"}
        if direct:
            data = json.dumps(body).encode()
            lines = ["POST /api/pair HTTP/1.1", *headers, f"Content-Length: {len(data)}"]
            status = status_of(await ask(served.service.port, "\n".join(lines), data))
        else:
            status, _ = await https(proxy, "/api/pair", *headers, method="POST", body=body)
        assert status == 202
        (*_, joiner) = await served.service.devices.joining.waiting()
        return joiner.address

    public = (f"Host: {NAME}", f"Origin: {ORIGIN}")
    assert await address_with(*public) == "127.0.0.1"
    assert await address_with(*public, "X-Forwarded-For: 6.6.6.6") == "127.0.0.1"
    forged = ("X-Forwarded-For: 6.6.6.6", "X-Forwarded-Proto: https")
    assert await address_with(*public, *forged, direct=True) == "127.0.0.1"


async def test_R18_the_command_prints_the_public_link_and_a_qr_code(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "fairlead.commands.main", "serve", "--agent", "demo", "--port", "0",
        "--no-browser", "--data", str(tmp_path / "data"), "--public-url", ORIGIN,
        "--trusted-proxy", ADDRESS, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        printed = ""
        async with asyncio.timeout(60):
            while "scan this" not in printed:
                line = await process.stdout.readline()
                assert line, printed
                printed += line.decode()
        assert f"open    {ORIGIN}/#code=" in printed
    finally:
        process.terminate()
        async with asyncio.timeout(60):
            await process.communicate()
