"""More folders and plugins for a new session: below the roots, and plugins only for an owner."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairlead.server.policy import Policy
from fairlead.server.protocol.intents import NewSession, Stop
from tests.server.stage import Stage, device

OPERATOR = device("operator", "laptop")


def flags(stage: Stage) -> list[str]:
    entries = map(json.loads, stage.log.read_text().splitlines())
    return [each for each in entries if "argv" in each][-1]["argv"]  # type: ignore[no-any-return]


async def test_B53_a_session_gets_more_folders_and_keeps_them(tmp_path: Path) -> None:
    more, plugin = tmp_path / "more", tmp_path / "plugin"
    more.mkdir()
    plugin.mkdir()
    async with Stage(tmp_path) as stage:
        session = await stage.new(
            prompt="hi", add_dirs=(str(more), f"{more}/."), plugin_dirs=(str(plugin),)
        )
        await stage.state(session, "idle")
        assert flags(stage).count(f"--add-dir={more}") == 1
        assert f"--plugin-dir={plugin}" in flags(stage)
        await stage.act(Stop(session=session))
        await stage.say(session, text="again")
        await stage.state(session, "idle")
        assert f"--add-dir={more}" in flags(stage)
        # Swapped for a link that leads elsewhere, it is no longer what was allowed.
        await stage.act(Stop(session=session))
        more.rmdir()
        more.symlink_to("/etc")
        await stage.say(session, text="once more")
        await stage.until(lambda: len(stage.live(session).transcript.turns) == 3)
        assert not [each for each in flags(stage) if each.startswith("--add-dir")]


@pytest.mark.parametrize("name", ["add_dirs", "plugin_dirs"])
async def test_B53_a_folder_outside_the_roots_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "link").symlink_to("/etc")
    policy = Policy(roots=(tmp_path,))
    async with Stage(tmp_path, policy=policy) as stage:
        for folder, code in (
            ("/etc", "forbidden"),
            (str(tmp_path / "inner" / "link"), "forbidden"),
            (str(tmp_path / "inner" / ".." / ".."), "forbidden"),
            (str(tmp_path / "nothing"), "not_found"),
            ("inner", "bad_message"),
        ):
            wanted = {name: (folder,)}
            refused = await stage.act(NewSession(cwd=str(stage.project), **wanted))  # type: ignore[arg-type]
            assert refused.code == code, folder
        assert not stage.registry.sessions.rows


async def test_B53_plugins_are_an_owners_to_name(tmp_path: Path) -> None:
    (tmp_path / "plugin").mkdir()
    async with Stage(tmp_path) as stage:
        wanted = NewSession(cwd=str(stage.project), plugin_dirs=(str(tmp_path / "plugin"),))
        assert (await stage.act(wanted, OPERATOR)).code == "forbidden"
        added = NewSession(cwd=str(stage.project), add_dirs=(str(tmp_path / "plugin"),))
        assert (await stage.act(added, OPERATOR)).ok
