"""Recordings that are imported, and exports as a web page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fairlead.server.http.export import html_export
from fairlead.server.http.export.html_export import PAGE
from fairlead.server.limits import Limits
from tests.server.conftest import Served
from tests.server.http.export.importing import RECORDINGS, imported


async def test_B79_a_recording_becomes_a_session_that_can_only_be_read(served: Served) -> None:
    body = (RECORDINGS / "eof_perm.ndjson").read_bytes()
    status, answer = await imported(served, body)
    assert status == 200, answer
    session = answer["session"]
    row = served.service.registry.sessions.rows[session]
    assert (row.source, row.cwd, row.cli_session_id) == ("recording", "", None)
    live = await served.service.registry.sessions.load(session)
    assert live.transcript.items
    assert live.transcript.pending == ()  # What was open in the recording cannot be answered here.
    client = await served.client()
    for kind in ("resume", "fork", "restart", "stop"):
        refused = await client.intend(kind, session=session)
        assert refused["code"] == "conflict", kind
        assert "recording" in refused["message"]
    refused = await client.intend("send", session=session, text="x", uuid="u")
    assert refused["code"] == "conflict"
    assert (await client.intend("rename", session=session, title="Kept"))["ok"]
    owner = {"authorization": f"Bearer {await served.token('owner')}"}
    status, report, _ = await served.http("/api/usage?bounds=0,9999999999", **owner)
    assert status == 200
    assert json.loads(report)["rows"] == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json\n",
        b'{"t": 1}\n',
        b'{"t": "x", "dir": "out"}\n',
        b"[1]\n",
        b'{"t": 1e300, "dir": "out", "line": "{}"}\n',
    ],
)
async def test_B79_what_is_no_recording_is_refused(served: Served, body: bytes) -> None:
    before = set(served.service.registry.sessions.rows)
    status, answer = await imported(served, body)
    assert status == 400
    assert "recording" in answer["message"]
    assert set(served.service.registry.sessions.rows) == before


async def test_B79_a_viewer_may_not_import(served: Served) -> None:
    status, answer = await imported(served, b"", role="approver")
    assert (status, answer["code"]) == (403, "forbidden")


async def test_B80_a_session_is_exported_as_a_page_with_only_its_own_script(
    served: Served,
) -> None:
    text = "</script><script>alert(1)</script>"
    line = {"type": "user", "message": {"role": "user", "content": text}, "uuid": "1"}
    recording = json.dumps({"t": 1.0, "dir": "in", "line": json.dumps(line)}).encode()
    _, answer = await imported(served, recording)
    viewer = {"authorization": f"Bearer {await served.token('viewer')}"}
    path = f"/api/sessions/{answer['session']}/export?form=html"
    status, page, headers = await served.http(path, **viewer)
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    assert page.count(b"<script") == PAGE.read_bytes().count(b"<script")
    data = re.search(
        rb'<script type="application/json" id="session">(.*?)</script>', page, re.DOTALL
    )
    assert data is not None
    assert json.loads(data[1])["items"][0]["text"] == text
    policy = re.search(rb'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    assert b"default-src 'none'" in policy[1]
    assert b"connect-src" not in policy[1]
    assert re.search(rb"script-src 'sha256-[^']+'", policy[1])


@pytest.mark.parametrize("content", [None, b"<!doctype html><title>older</title>"])
async def test_B137_an_export_as_a_page_is_refused_if_the_web_app_is_not_built(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    page = tmp_path / "exported.html"
    if content is not None:
        page.write_bytes(content)
    monkeypatch.setattr(html_export, "PAGE", page)
    _, answer = await imported(served, (RECORDINGS / "eof_perm.ndjson").read_bytes())
    viewer = {"authorization": f"Bearer {await served.token('viewer')}"}
    path = f"/api/sessions/{answer['session']}/export?form="
    for _ in range(Limits().exports_per_device + 1):  # A refusal ends the export.
        status, body, _ = await served.http(path + "html", **viewer)
        assert status == 503
        refused = json.loads(body)
        assert refused["code"] == "unavailable"
        assert "`make web`" in refused["message"]
        assert "export Markdown" in refused["message"]
    assert (await served.http(path + "markdown", **viewer))[0] == 200
