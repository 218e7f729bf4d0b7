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


async def test_B45_an_effort_that_the_cli_does_not_have_leaves_the_session_as_it_is(
    tmp_path: Path,
) -> None:
    harness = ServerHarness(tmp_path, cli=True)
    harness.version = "2.1.29"  # `--effort` came with 2.1.38.
    async with harness:
        session = await harness.new(prompt="hello")
        live = await harness.state(session, "idle")
        refused = await harness.act(SetEffort(session=session, effort="low"))
        assert refused.code == "bad_message"
        assert refused.message is not None
        assert "needs CLI 2.1.38 or later; this one is 2.1.29" in refused.message
        assert live.live
        assert "effort" not in harness.registry.sessions.row(session).options
