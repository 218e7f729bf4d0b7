"""How a CLI starts under Fairlead, and its first messages (CLI-100)."""

from __future__ import annotations

import json

import pytest

from fairlead import AgentExited
from fairlead.host.options.groups import SettingsSources
from fairlead.testing.real_cli import RealCli
from fairlead.wire.control import ControlResponse
from fairlead.wire.events import CommandLifecycle
from fairlead.wire.system import Init, SessionStateChanged
from tests.e2e.real_cli.cli_harness import CliHarness, ScriptedDecisions, all_of, one_of, play
from tests.e2e.real_cli.recording_observer import RecordingObserver


async def test_nothing_is_written_before_the_first_prompt_and_init_begins_every_turn(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-105: init at the start of every turn, never after `initialize`."""
    session = harness.session(version=None)
    observer = RecordingObserver.of(session)
    async with session:
        assert str(session.version) == cli.version
        assert [type(message) for message in observer.heard] == [ControlResponse]
        assert session.initialized["commands"]
        assert session.session_id is None
        for text in ("one", "two"):
            messages = await play(session, text)
            init = one_of(Init, messages)
            assert init.claude_code_version == cli.version
            assert init.session_id == session.session_id
            # Of a turn, init need not be the first line.
            ahead = messages[: messages.index(init)]
            assert {type(message) for message in ahead} <= {CommandLifecycle, SessionStateChanged}
    assert len({init.session_id for init in observer.all_of(Init)}) == 1


async def test_a_session_takes_many_prompts_with_and_without_the_print_flag(
    harness: CliHarness,
) -> None:
    """CLI-101: `-p` is neither needed nor harmful."""
    async with harness.session(extra_flags={"--print": None}) as session:
        await play(session, "one")
        await play(session, "two")
    assert [request.text for request in harness.model.requests] == ["one", "two"]


async def test_an_unknown_flag_ends_the_cli_and_the_error_names_the_flag(
    harness: CliHarness,
) -> None:
    """CLI-110: unknown flags are fatal, exit 1."""
    session = harness.session(extra_flags={"--no-such-flag": None})
    with pytest.raises(AgentExited) as failure:
        await session.start()
    assert failure.value.returncode == 1
    assert "--no-such-flag" in failure.value.hint
    assert "unknown option" in failure.value.stderr


async def test_without_setting_sources_the_users_rules_do_not_apply(harness: CliHarness) -> None:
    """CLI-108: `--setting-sources ""` disables settings files."""
    command = harness.script()
    rules = {"permissions": {"allow": [f"Bash({command}:*)"]}}
    settings = harness.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps(rules))
    decisions = ScriptedDecisions()
    async with harness.session(on_permission=decisions) as session:
        await harness.use(session, "Bash", command=command, description="d")
    assert decisions.tools == []
    nothing = SettingsSources(sources=[])
    async with harness.session(on_permission=decisions, settings=nothing) as session:
        ran = await harness.use(session, "Bash", command=command, description="d")
    assert decisions.tools == ["Bash"]
    assert all_of(Init, ran)[0].permission_mode == "default"
