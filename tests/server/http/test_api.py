"""The HTTP API of a real server, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path

import pytest
import websockets

from fairlead.commands.replay import fold
from fairlead.server.protocol.typescript import FOLDER, generate
from tests.server.conftest import Served

GENERATED = Path(__file__).parents[3] / FOLDER


async def raw(served: Served, text: str) -> str:
    """One request written by hand; the whole answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.service.port)
    writer.write(text.replace("\n", "\r\n").encode())
    writer.write_eof()
    async with asyncio.timeout(60):
        answer = await reader.read()
    writer.close()
    return answer.decode(errors="replace")


async def test_B12_every_route_needs_a_token(served: Served) -> None:
    _, body, _ = await served.http(
        "/api/openapi.json", authorization=f"Bearer {await served.token('viewer')}"
    )
    paths = json.loads(body)["paths"]
    assert len(paths) >= 9
    for path, methods in paths.items():
        for method, operation in methods.items():
            if "security" not in operation:
                # Each has a secret of its own: a one-time code, or a signed ticket.
                assert path in ("/api/pair", "/api/probe", "/api/push/deny")
                continue
            for headers in ({}, {"authorization": "Bearer guess"}, {"authorization": "Basic eDp5"}):
                status, answer, _ = await served.http(
                    path.replace("{session}", "x"),
                    method=method.upper(),
                    body=b"{}" if method == "post" else None,
                    origin=served.base,
                    **headers,
                )
                assert status == 401, (path, method)
                assert json.loads(answer)["code"] == "not_authenticated"


async def test_B12_a_role_is_checked_on_every_route(served: Served) -> None:
    viewer = {"authorization": f"Bearer {await served.token('viewer')}"}
    assert (await served.http("/api/uploads", method="POST", body=b"x", **viewer))[0] == 403
    assert (await served.http("/api/files?path=/etc/passwd", **viewer))[0] == 403
    assert (await served.http("/api/codes", method="POST", body=b"{}", **viewer))[0] == 403
    assert (await served.http("/api/sessions", **viewer))[0] == 200


@pytest.mark.parametrize("host", ["evil.test", "0.0.0.0:{port}", "127.0.0.1", ""])
@pytest.mark.parametrize("path", ["/", "/api/health", "/ws"])
async def test_B10_a_foreign_host_gets_421(served: Served, host: str, path: str) -> None:
    name = host.format(port=served.service.port)
    upgrade = (
        "\nUpgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
        if path == "/ws"
        else ""
    )
    answer = await raw(served, f"GET {path} HTTP/1.1\nHost: {name}{upgrade}\n\n")
    assert answer.split(" ")[1] in ("421", "403", "400"), answer[:80]
    assert "101" not in answer[:15]


@pytest.mark.parametrize("origin", ["http://evil.test", "null", "http://127.0.0.1:1"])
async def test_B11_a_foreign_page_gets_no_socket(served: Served, origin: str) -> None:
    for path in ("/ws", "/bridge"):
        with pytest.raises(websockets.InvalidStatus) as refused:
            await websockets.connect(served.base.replace("http", "ws") + path, origin=origin)  # type: ignore[arg-type]
        assert refused.value.response.status_code == 403


async def test_B11_a_foreign_page_cannot_post(served: Served) -> None:
    code = served.service.devices.issue_code("owner")
    for headers in ({"origin": "http://evil.test"}, {}):
        status, _, _ = await served.http("/api/pair", method="POST", body={"code": code}, **headers)
        assert status == 403


async def test_B13_a_code_is_turned_into_a_token_once(served: Served) -> None:
    code = served.service.devices.issue_code("operator")
    asked = {"code": code, "name": "phone"}
    status, body, _ = await served.http("/api/pair", method="POST", body=asked, origin=served.base)
    assert status == 200
    paired = json.loads(body)
    assert paired["role"] == "operator"
    again, _, _ = await served.http("/api/pair", method="POST", body=asked, origin=served.base)
    assert again == 401
    data = served.service.store.folder
    assert not any(paired["token"].encode() in file.read_bytes() for file in data.glob("*.*"))


async def test_B16_every_response_carries_the_security_headers(served: Served) -> None:
    for path in ("/", "/api/health", "/nowhere.js"):
        _, _, headers = await served.http(path)
        names = {name.lower(): value for name, value in headers.items()}
        assert "frame-ancestors 'none'" in names["content-security-policy"]
        assert names["x-content-type-options"] == "nosniff"
        assert not [name for name in names if name.startswith("access-control")]
        assert "set-cookie" not in names


async def test_B17_files_are_read_below_the_sessions_folders_only(served: Served) -> None:
    (served.project / "a.txt").write_text("hello")
    (served.project.parent / "secret.txt").write_text("secret")
    token = await served.token("operator")
    client = await served.client()
    await client.new_session()
    bearer = {"authorization": f"Bearer {token}"}
    good = await served.http(f"/api/files?path={served.project}/a.txt", **bearer)
    assert (good[0], good[1]) == (200, b"hello")
    for path in ("/etc/passwd", f"{served.project}/../secret.txt", f"{served.project}%00"):
        assert (await served.http(f"/api/files?path={path}", **bearer))[0] == 404


async def test_B19_a_session_is_exported_in_three_forms(served: Served) -> None:
    client = await served.client()
    session = await client.new_session("tell me something")
    await client.ending(session)
    bearer = {"authorization": f"Bearer {client.token}"}
    base = f"/api/sessions/{session}/export?form="
    snapshot = json.loads((await served.http(base + "json", **bearer))[1])
    assert snapshot["items"][0]["text"] == "tell me something"
    markdown = (await served.http(base + "markdown", **bearer))[1].decode()
    assert "> tell me something" in markdown
    recording = (await served.http(base + "ndjson", **bearer))[1]
    folded = fold(recording, "export")
    assert [turn.outcome for turn in folded.turns] == ["success"]
    assert (await served.http(base + "pdf", **bearer))[0] == 404
    assert (await served.http("/api/sessions/none/export", **bearer))[0] == 404


async def test_B20_an_upload_is_taken_and_limited(served: Served) -> None:
    bearer = {"authorization": f"Bearer {await served.token('operator')}"}
    status, body, _ = await served.http("/api/uploads", method="POST", body=b"notes", **bearer)
    assert (status, json.loads(body)["kind"]) == (200, "text")
    status, _, _ = await served.http("/api/uploads", method="POST", body=b"\xff\xfe", **bearer)
    assert status == 400


async def test_health_search_and_figures_are_there(served: Served) -> None:
    client = await served.client()
    session = await client.new_session("look for the albatross")
    await client.ending(session)
    bearer = {"authorization": f"Bearer {client.token}"}
    health = json.loads((await served.http("/api/health", **bearer))[1])
    assert (health["ok"], health["live"]) == (True, 1)
    hits: list[dict[str, str]] = []
    async with asyncio.timeout(60):
        while not hits:  # An item is indexed some time after it is finished.
            found = await served.http("/api/search?q=albatross", **bearer)
            hits = json.loads(found[1])["hits"]
    assert hits[0]["session"] == session
    figures = (await served.http("/api/metrics", **bearer))[1].decode()
    assert "fairlead_sessions_live 1" in figures


async def test_a_slow_loris_does_not_hold_up_others(served: Served) -> None:
    lazy = [socket.create_connection(("127.0.0.1", served.service.port)) for _ in range(50)]
    for each in lazy:
        each.send(b"GET / HT")
    client = await served.client()
    assert (await client.intend("new_session", cwd=str(served.project)))["ok"]
    for each in lazy:
        each.close()


def test_B25_the_typescript_types_are_generated_from_ours() -> None:
    found = {path.name: path.read_text() for path in GENERATED.iterdir()}
    assert found == generate(), "run `make bless`"
