"""Profiles of a server with the real CLI: each writes and resumes its sessions in its own folder."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from fairlead.model_api.replies import reply
from fairlead.server.profiles.profile import Profile
from fairlead.server.protocol.intents import NewSession, Resume, Stop
from tests.e2e.real_cli.cli_harness import CliHarness
from tests.e2e.real_cli.registry_harness import open_registry


def files(profile: Profile) -> list[Path]:
    return sorted(Path(profile.config_dir).glob("projects/*/*.jsonl"))


def mode_of(profile: Profile) -> int:
    return stat.S_IMODE(Path(profile.config_dir).stat().st_mode)


@pytest.mark.parametrize("cli", ["2.1.325"], indirect=True)
async def test_B118_two_profiles_write_their_sessions_into_their_own_folders_and_resume_there(
    harness: CliHarness,
) -> None:
    profiles = [
        Profile(name=name, config_dir=str(harness.home / f".claude-{name}")) for name in ("a", "b")
    ]
    async with open_registry(harness, profiles=profiles) as server:
        for profile in profiles:
            harness.model.push(reply(f"Said in {profile.name}."), reply("Said again."))
            made = await server.act(
                NewSession(
                    cwd=str(harness.project), prompt=f"for {profile.name}", profile=profile.name
                )
            )
            assert made.ok, made
            session = str(made.result["session"])
            await server.turns(session, 1)
            (kept,) = files(profile)
            assert f"for {profile.name}" in kept.read_text()
            assert (await server.act(Stop(session=session))).ok
            resumed = await server.act(Resume(session=session))
            assert resumed.ok, resumed
            await server.say(session, "go on")
            await server.turns(session, 2)
            assert f"Said in {profile.name}." in json.dumps(harness.model.requests[-1].messages)
            assert files(profile) == [kept], "it continued the same file"
            assert mode_of(profile) == 0o700
    first, second = (files(profile)[0].stem for profile in profiles)
    assert first != second
    assert not list((harness.home / ".claude").glob("projects/*/*.jsonl"))
