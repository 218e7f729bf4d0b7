"""More folders and plugins for a new session: below the roots, and plugins only for an owner."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairlead.server.policy import Policy
from fairlead.server.protocol.intents import NewSession, Stop
from tests.server.server_harness import ServerHarness, device

OPERATOR = device("operator", "laptop")


def flags(harness: ServerHarness) -> list[str]:
    entries = map(json.loads, harness.log.read_text().splitlines())
    return [each for each in entries if "argv" in each][-1]["argv"]  # type: ignore[no-any-return]


async def test_B53_a_session_gets_more_folders_and_keeps_them(tmp_path: Path) -> None:
    more, plugin = tmp_path / "more", tmp_path / "plugin"
    more.mkdir()
    plugin.mkdir()
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new(
            prompt="hi", add_dirs=(str(more), f"{more}/."), plugin_dirs=(str(plugin),)
        )
        await harness.state(session, "idle")
        assert flags(harness).count(f"--add-dir={more}") == 1
        assert f"--plugin-dir={plugin}" in flags(harness)
        await harness.act(Stop(session=session))
        await harness.say(session, text="again")
        await harness.state(session, "idle")
        assert f"--add-dir={more}" in flags(harness)
        # Swapped for a link that leads elsewhere, it is no longer what was allowed.
        await harness.act(Stop(session=session))
        more.rmdir()
        more.symlink_to("/etc")
        await harness.say(session, text="once more")
        await harness.until(lambda: len(harness.live(session).transcript.turns) == 3)
        assert not [each for each in flags(harness) if each.startswith("--add-dir")]


@pytest.mark.parametrize("name", ["add_dirs", "plugin_dirs"])
async def test_B53_a_folder_outside_the_roots_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "link").symlink_to("/etc")
    policy = Policy(roots=(tmp_path,))
    async with ServerHarness(tmp_path, policy=policy) as harness:
        for folder, code in (
            ("/etc", "forbidden"),
            (str(tmp_path / "inner" / "link"), "forbidden"),
            (str(tmp_path / "inner" / ".." / ".."), "forbidden"),
            (str(tmp_path / "nothing"), "not_found"),
            ("inner", "bad_message"),
        ):
            wanted = {name: (folder,)}
            refused = await harness.act(NewSession(cwd=str(harness.project), **wanted))  # type: ignore[arg-type]
            assert refused.code == code, folder
        assert not harness.registry.sessions.rows


async def test_B53_plugins_are_an_owners_to_name(tmp_path: Path) -> None:
    (tmp_path / "plugin").mkdir()
    async with ServerHarness(tmp_path) as harness:
        wanted = NewSession(cwd=str(harness.project), plugin_dirs=(str(tmp_path / "plugin"),))
        assert (await harness.act(wanted, OPERATOR)).code == "forbidden"
        added = NewSession(cwd=str(harness.project), add_dirs=(str(tmp_path / "plugin"),))
        assert (await harness.act(added, OPERATOR)).ok
