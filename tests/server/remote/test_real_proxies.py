"""A server behind nginx and Caddy with the recipes of docs/remote.md: below a path and at the root."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import websockets

from fairlead.server.limits import Limits
from tests.server.conftest import Client
from tests.server.raw_requests import ask, status_of, upgrade
from tests.server.remote.proxied_server import ProxiedServer, proxied_server
from tests.server.remote.real_proxies import KINDS
from tests.server.remote.recipes import PATH, PATHS
from tests.server.tls_proxy import NAME

CASES = [(kind, path) for kind in KINDS for path in PATHS]
IDS = [f"{kind}-{'path' if path else 'root'}" for kind, path in CASES]
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture(params=CASES, ids=IDS)
async def behind(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ProxiedServer]:
    kind, path = request.param
    async with proxied_server(kind, path, tmp_path) as server:
        yield server


async def test_R19_a_device_pairs_works_and_uploads_behind_a_real_proxy(
    behind: ProxiedServer,
) -> None:
    service = behind.served.service
    link = service.launch_link()
    assert link.startswith(f"{behind.proxy.public_url}/#code=")
    code = {"code": link.partition("#code=")[2], "name": "Phone"}
    paired = await behind.app("/api/pair", method="POST", body=code)
    assert paired.status == 200, paired.text
    token = json.loads(paired.body)["token"]
    bearer = f"Bearer {token}"
    client = Client(behind.served, token)
    client.socket = await behind.socket("/ws", behind.proxy.origin)
    await client.say(type="hello", protocol=1, token=token, client=client.id)
    assert (await client.hear("welcome"))["role"] == "owner"
    session = await client.new_session("hello")
    assert (await client.ending(session))["outcome"] == "success"
    listed = await behind.app("/api/sessions", f"Authorization: {bearer}")
    assert [row["id"] for row in json.loads(listed.body)["sessions"]] == [session]
    sent = await behind.app("/api/uploads", f"Authorization: {bearer}", method="POST", raw=PNG)
    assert sent.status == 200, sent.text
    reach = await behind.app("/api/reach", f"Authorization: {bearer}")
    assert json.loads(reach.body)["addresses"] == [behind.proxy.public_url]
    bridge = Client(behind.served, token)
    bridge.socket = await behind.socket("/bridge", None, Authorization=bearer)
    await bridge.say(type="list_sessions")
    assert (await bridge.hear("system"))["subtype"] == "session_list"
    for connected in (client, bridge):
        await connected.socket.close()


async def test_R19_the_page_its_files_and_the_worker_name_the_path(behind: ProxiedServer) -> None:
    path = behind.proxy.path
    page = await behind.app("/s/0a1b")
    assert page.status == 200
    assert f'data-base="{path}/"' in page.body
    urls = re.findall(r'(?:src|href)="([^"]+)"', page.body)
    assert urls
    for url in urls:
        assert url.startswith(f"{path}/")
        assert (await behind.ask(url, behind.host)).status == 200, url
    worker = await behind.app("/sw.js")
    assert worker.body.startswith(f'const BASE = "{path}/";\n')
    shell = json.loads(worker.body.split("const SHELL = ", 1)[1].split(";\n", 1)[0])
    digest = hashlib.sha256(page.body.encode("latin-1")).digest()
    assert shell["page"] == base64.b64encode(digest).decode()
    manifest = json.loads((await behind.app("/manifest.webmanifest")).body)
    assert (manifest["start_url"], manifest["scope"]) == (".", ".")
    assert not any(icon["src"].startswith("/") for icon in manifest["icons"])
    foreign = await behind.app("/any/other.js", "Service-Worker: script")
    assert foreign.body == worker.body
    assert foreign.header("service-worker-allowed") == f"{path}/"


async def test_R19_other_names_and_origins_are_refused_behind_a_real_proxy(
    behind: ProxiedServer,
) -> None:
    bearer = f"Bearer {await behind.served.token()}"
    origin = behind.proxy.origin
    for foreign in (
        "https://evil.test", origin.replace("https", "http"), f"https://{NAME}", f"{origin}/",
        f"{origin}{PATH}", f"https://x.{NAME}:{behind.proxy.port}", "null",
        f"http://127.0.0.1:{behind.served.service.port}",
    ):  # fmt: skip
        for path in ("/ws", "/bridge"):
            with pytest.raises(websockets.InvalidStatus) as refused:
                await behind.socket(path, foreign, Authorization=bearer)
            assert refused.value.response.status_code == 403, foreign
        head = (behind.host, f"Origin: {foreign}", f"Authorization: {bearer}")
        codes = behind.proxy.path + "/api/codes"
        answer = await behind.ask(codes, *head, method="POST", body={"role": "owner"})
        assert answer.status == 403, foreign
    for host in ("evil.test", f"x.{NAME}:{behind.proxy.port}", f"{NAME}:1", f"{NAME}.evil.test"):
        rebound = (f"Host: {host}", f"Origin: https://{host}", f"Authorization: {bearer}")
        answer = await behind.ask(behind.proxy.path + "/api/sessions", *rebound)
        # Caddy answers for names that are not its own with nothing at all.
        refused_by_caddy = behind.proxy.kind == "caddy" and answer.body == ""
        assert answer.status == 421 or refused_by_caddy, (host, answer.text)


async def test_R19_forged_forwarded_headers_change_nothing_behind_a_real_proxy(
    behind: ProxiedServer,
) -> None:
    bearer = f"Authorization: Bearer {await behind.served.token()}"
    forged_host = (behind.host, bearer, "X-Forwarded-Host: evil.test")
    answer = await behind.ask(behind.proxy.path + "/api/sessions", *forged_host)
    assert answer.status == 200  # The proxy replaced the header.
    forged_origin = (*forged_host, "Origin: https://evil.test", "X-Forwarded-Proto: http")
    answer = await behind.ask(behind.proxy.path + "/api/sessions", *forged_origin)
    assert answer.status == 403
    forged = ("X-Forwarded-For: 6.6.6.6", "X-Real-IP: 6.6.6.6", "Forwarded: for=6.6.6.6")
    body = {"code": behind.served.service.devices.invite("viewer"), "name": "Phone"}
    assert (await behind.app("/api/pair", *forged, method="POST", body=body)).status == 202
    (*_, joiner) = await behind.served.service.devices.joining.waiting()
    assert joiner.address == "127.0.0.1"
    # A code that is bound to the user of this machine is not for a client of the proxy.
    bound = {"code": behind.served.service.devices.issue_code("owner", 0), "name": "Phone"}
    assert (await behind.app("/api/pair", *forged, method="POST", body=bound)).status != 200


@pytest.mark.parametrize("kind", KINDS)
async def test_R19_the_path_itself_leads_to_the_app_and_nothing_is_outside(
    kind: str, tmp_path: Path
) -> None:
    async with proxied_server(kind, PATH, tmp_path) as behind:
        bearer = f"Authorization: Bearer {await behind.served.token()}"
        answer = await behind.ask(PATH, behind.host)
        assert answer.status in (301, 302, 308)
        assert answer.header("location").endswith(f"{PATH}/")
        # Past the proxy, or through one that removes or changes the path.
        port = behind.served.service.port
        for target in (
            "/", "/api/sessions", f"{PATH}x/api/sessions", "/%66airlead/api/sessions",
            f"/{PATH}/api/sessions", "/FAIRLEAD/api/sessions",
        ):  # fmt: skip
            head = "\n".join([f"GET {target} HTTP/1.1", behind.host, bearer])
            text = await ask(port, head)
            assert status_of(text) == 404, target
            assert "pass the path on unchanged" in text
            assert "content-security-policy" in text.lower()
        socket = upgrade("/ws", behind.host, behind.origin, bearer)
        assert status_of(await ask(port, socket)) == 404
        direct = await ask(port, "\n".join([f"GET {PATH} HTTP/1.1", behind.host]))
        assert status_of(direct) == 308
        assert f"location: {PATH}/" in direct.lower()
        # The server's own address has no path.
        own = f"Host: 127.0.0.1:{port}"
        assert (
            status_of(await ask(port, "\n".join(["GET /api/sessions HTTP/1.1", own, bearer])))
            == 200
        )
        page = await ask(port, "\n".join(["GET / HTTP/1.1", own]))
        assert 'data-base="/"' in page


async def test_R20_pings_keep_a_silent_socket_open_past_the_idle_limit_of_a_proxy(
    tmp_path: Path,
) -> None:
    assert Limits().ping_s * 2 < 60
    idle = "proxy_read_timeout 3s; proxy_send_timeout 3s;"
    (tmp_path / "kept").mkdir()
    limits = Limits(ping_s=0.5, dead_s=40.0)
    async with proxied_server(
        "nginx", PATH, tmp_path / "kept", limits=limits, extra=idle
    ) as behind:
        token = await behind.served.token()
        client = Client(behind.served, token)
        client.socket = await behind.socket("/ws", behind.proxy.origin)
        await client.say(type="hello", protocol=1, token=token, client=client.id)
        await client.hear("snapshot")
        await client.socket.hear_pings(12)
        await client.say(type="open", document="no-such-session")
        await client.hear()
        await client.socket.close()
    # Without pings the same proxy closes it, so the test above proves something.
    (tmp_path / "lost").mkdir()
    rare = Limits(ping_s=1000.0, dead_s=2000.0)
    async with proxied_server("nginx", PATH, tmp_path / "lost", limits=rare, extra=idle) as behind:
        token = await behind.served.token()
        client = Client(behind.served, token)
        client.socket = await behind.socket("/ws", behind.proxy.origin)
        await client.say(type="hello", protocol=1, token=token, client=client.id)
        with pytest.raises(websockets.ConnectionClosed):
            await client.hear("nothing of this kind")
