"""Playback: applying the frames gives the reducer's own state at every point."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from fairlead.server.workbench import playback
from fairlead.server.workbench.playback import Frames
from fairlead.transcript.recording import recorded
from fairlead.transcript.snapshot import Snapshot
from fairlead.transcript.state.changes import apply
from fairlead.transcript.transcript import Transcript
from tests.server.conftest import Served
from tests.server.http.export.importing import RECORDINGS, imported

NAMES = sorted(path.name for path in RECORDINGS.glob("*.ndjson"))[::12]

WITH_REQUESTS = sorted(
    path.name for path in RECORDINGS.glob("*.ndjson") if '"can_use_tool"' in path.read_text()
)[::6]


def plain(changes: Any) -> list[dict[str, Any]]:
    """Changes as a client gets them."""
    decoded: list[dict[str, Any]] = msgspec.json.decode(msgspec.json.encode(changes))
    return decoded


@pytest.mark.parametrize("name", NAMES)
def test_B85_every_frame_leads_to_the_reducers_own_state(name: str) -> None:
    entries = [json.loads(line) for line in (RECORDINGS / name).read_text().splitlines() if line]
    fed = [each for entry in entries if (each := recorded(entry)) is not None]
    frames, whole = Frames(), Transcript()
    state: dict[str, Any] = Snapshot().plain()
    by_seq = {}
    for seq, (value, at) in enumerate(fed, 1):
        done = frames.feed(seq, value, at)
        if done is not None:
            state = apply(state, plain(done.changes))
            by_seq[done.seq] = state
    last = frames.end()
    if last is not None:
        by_seq[last.seq] = apply(state, plain(last.changes))
    assert by_seq
    for seq, (value, at) in enumerate(fed, 1):
        whole.feed(value, at)
        if seq in by_seq:
            assert by_seq[seq] == whole.snapshot().plain(), seq


@pytest.mark.parametrize("name", WITH_REQUESTS)
def test_B85_a_request_is_open_at_the_end_of_its_frame(name: str) -> None:
    entries = [json.loads(line) for line in (RECORDINGS / name).read_text().splitlines() if line]
    fed = [each for entry in entries if (each := recorded(entry)) is not None]
    frames = Frames()
    ended = [frames.feed(seq, value, 1.0) for seq, (value, _) in enumerate(fed, 1)]
    state: dict[str, Any] = Snapshot().plain()
    approvals = 0
    for frame in (*ended, frames.end()):
        if frame is None:
            continue
        state = apply(state, plain(frame.changes))
        if frame.kind == "approval":
            approvals += 1
            assert state["pending"], f"the request of frame {frame.seq} is answered in its frame"
    assert approvals


async def test_B85_a_session_is_read_page_by_page(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playback, "PAGE_FRAMES", 1)
    monkeypatch.setattr(playback, "CHUNK", 7)
    body = (RECORDINGS / "eof_perm.ndjson").read_bytes()
    _, answer = await imported(served, body)
    session = answer["session"]
    viewer = {"authorization": f"Bearer {await served.token('viewer')}"}
    state: Any = None
    after, pages, kinds = 0, 0, set()
    while True:
        status, text, _ = await served.http(
            f"/api/sessions/{session}/frames?after={after}", **viewer
        )
        assert status == 200
        page = json.loads(text)
        state = page["snapshot"] if state is None else state
        for frame in page["frames"]:
            state = apply(state, frame["changes"])
            kinds.add(frame["kind"])
        pages, after = pages + 1, page["last"]
        if page["done"]:
            break
    live = await served.service.registry.sessions.load(session)
    assert state == live.transcript.snapshot().plain()
    assert pages > 1
    assert {"message", "approval"} <= kinds
    status, _, _ = await served.http("/api/sessions/unknown/frames", **viewer)
    assert status == 404
