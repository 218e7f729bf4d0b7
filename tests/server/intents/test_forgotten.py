"""What is left of deleted sessions in memory: nothing that grows with their number."""

from __future__ import annotations

import gc
import types
from pathlib import Path
from typing import Any

from fairlead.server.branches import Branches
from fairlead.server.hub.document import Document
from fairlead.server.limits import Limits
from fairlead.server.protocol.intents import (
    ContinueAtReset,
    DeleteSessions,
    KeepDraft,
    NewSession,
    Restart,
    Stop,
)
from tests.server.limits.reports import Clock, stopped_at_limit
from tests.server.server_harness import ServerHarness

LIMITS = Limits(delete_undo_s=0.05, tick_every_s=1e6, restart_delays_s=(0.0,))

PASSED_BY = (types.ModuleType, type, types.FrameType, Document, Branches)
"""Not part of the server's state, or bounded: a document keeps its last changes up to a number of
bytes, and the branches of a number of folders are cached."""


def referents(holder: object) -> list[Any]:
    if isinstance(holder, types.FunctionType):  # Its globals lead to everything.
        return [holder.__closure__, holder.__defaults__, holder.__dict__]
    if isinstance(holder, dict):  # The collector does not visit keys that are texts.
        return [*holder, *holder.values()]
    return gc.get_referents(holder)


def mentions(root: object, *texts: str) -> list[str]:
    """Where a server still refers to one of these texts: the types on the way there."""
    gc.collect()
    found = []
    ways: dict[int, str] = {id(root): type(root).__name__}
    queue = [root]
    while queue:
        holder = queue.pop()
        for value in referents(holder):
            if isinstance(value, PASSED_BY):
                continue
            if type(value) is str:
                if any(text in value for text in texts):
                    found.append(f"{ways[id(holder)]} {holder!r:.100}")
            elif id(value) not in ways:
                ways[id(value)] = f"{ways[id(holder)]}.{type(value).__name__}"
                queue.append(value)
    return found


async def lived(harness: ServerHarness, name: str) -> str:
    """A session in a folder of its own that did everything that leaves something in memory."""
    folder = harness.folder / f"folder-of-{name}"
    folder.mkdir()
    made = await harness.act(NewSession(cwd=str(folder), prompt="hello"))
    session = str(made.result["session"])
    hub_client = await harness.hub_client(session, name=f"client-of-{name}")
    await harness.state(session, "idle")
    assert (await harness.act(Restart(session=session))).ok
    await harness.until(lambda: harness.live(session).ready)
    assert (await harness.act(KeepDraft(session=session, text="unsent"))).ok
    assert (await harness.act(ContinueAtReset(session=session, on=True))).ok
    await harness.say(session, text=stopped_at_limit())
    await harness.until(lambda: harness.live(session).transcript.queue_hold is not None)
    assert (await harness.act(Stop(session=session))).ok
    hub_client.drop()
    return session


async def test_B76_nothing_in_memory_names_a_session_that_was_deleted(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, limits=LIMITS, clock=Clock()) as harness:
        names = "first", "second", "third"
        sessions = [await lived(harness, name) for name in names]
        assert mentions(harness.registry, *sessions)
        assert (await harness.act(DeleteSessions(sessions=tuple(sessions)))).ok
        await harness.until(lambda: not harness.registry.sessions.deletions._pending)
        await harness.until(lambda: not set(sessions) & set(harness.lobby("sessions")))
        texts = *sessions, *(f"-of-{name}" for name in names)
        await harness.until(lambda: not harness.registry.sessions._tasks)
        harness.registry.hub.ready(0.0)  # As when the next frames are sent.
        assert mentions(harness.registry, *texts) == []
