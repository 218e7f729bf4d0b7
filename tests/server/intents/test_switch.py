"""Switches of a running session: what reaches the CLI, and what is refused before it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fairlead.server.protocol.intents import SetFastMode
from tests.server.intents.applied_settings import settings_applied
from tests.server.server_harness import ServerHarness

OFFERED = {
    "slash_commands": ["compact", "fast"],
    "fast_mode_state": "off",
    "fast_mode_disabled_reason": "sdk_opt_in_required",
}


def init(**fields: Any) -> dict[str, Any]:
    """An init of a CLI that has a fast mode, or not."""
    return {"line": {"type": "system", "subtype": "init", "model": "opus", "tools": [], **fields}}


async def started(harness: ServerHarness, **init_fields: Any) -> str:
    session = await harness.new()
    await harness.say(session, init(**init_fields), {"reply": {"apply_flag_settings": {}}})
    await harness.until(lambda: fast_mode(harness, session)[0] and not harness.live(session).busy)
    return session


async def expect_fast_mode(harness: ServerHarness, session: str, state: str) -> None:
    await harness.until(lambda: fast_mode(harness, session) == (state, None))


def fast_mode(harness: ServerHarness, session: str) -> tuple[str | None, str | None]:
    about = harness.live(session).transcript.session
    return about.fast_mode, about.fast_mode_reason


async def test_the_fast_mode_is_switched_by_a_setting_and_shown_at_once(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await started(harness, **OFFERED)
        assert fast_mode(harness, session) == ("off", "sdk_opt_in_required")
        for on, state in ((True, "on"), (False, "off")):
            result = await harness.act(SetFastMode(session=session, on=on))
            assert result.ok, result
            await expect_fast_mode(harness, session, state)
        assert settings_applied(harness) == [{"fastMode": True}, {"fastMode": False}]


async def test_the_next_process_of_a_session_starts_in_its_fast_mode(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await started(harness, **OFFERED)
        sessions = harness.registry.sessions

        async def settings() -> Any:
            return (await sessions.starter.options_for(sessions.row(session))).settings.value

        assert await settings() is None
        await harness.act(SetFastMode(session=session, on=True))
        assert await settings() == {"fastMode": True}
        await harness.act(SetFastMode(session=session, on=False))
        assert await settings() is None


@pytest.mark.parametrize(
    ("init_fields", "code", "words"),
    [
        ({"fast_mode_state": "off"}, "not_found", "has no fast mode"),
        (
            {**OFFERED, "fast_mode_disabled_reason": "disabled_by_env"},
            "conflict",
            "disabled_by_env",
        ),
    ],
)
async def test_a_fast_mode_that_cannot_be_had_is_refused_with_the_reason(
    tmp_path: Path, init_fields: dict[str, Any], code: str, words: str
) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await started(harness, **init_fields)
        result = await harness.act(SetFastMode(session=session, on=True))
        assert (result.ok, result.code) == (False, code)
        assert words in (result.message or "")
        assert settings_applied(harness) == []
