"""A change of effort needs a new process: it is made only where the session can go on."""

from __future__ import annotations

from pathlib import Path

from fairlead.server.protocol.intents import Restart, SetEffort
from tests.server.server_harness import ServerHarness


async def test_B45_a_session_that_could_not_go_on_is_not_stopped(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, cli=True) as harness:
        # The scripted agent writes no file of its own, so nothing could be resumed.
        session = await harness.new(prompt="hello")
        live = await harness.state(session, "idle")
        assert live.client is not None
        pid = live.client.pid
        for intent in (SetEffort(session=session, effort="low"), Restart(session=session)):
            refused = await harness.act(intent)
            assert (refused.code, refused.result["check"]) == ("conflict", "no_file")
            assert live.live
            assert live.client.pid == pid
        assert harness.registry.sessions.row(session).effort is None
