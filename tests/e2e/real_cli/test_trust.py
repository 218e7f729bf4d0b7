"""What a repository's own files can run on a real CLI, and that a server asks before they do."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fairlead.host.options.groups import SettingsSources
from fairlead.server.protocol.intents import NewSession, TrustProject
from tests.commands.pty_program import in_terminal
from tests.e2e.real_cli.cli_harness import CliHarness, play
from tests.e2e.real_cli.registry_harness import open_registry
from tests.server.hostile_project import EVENTS, hostile, marks_in


async def marks_of(harness: CliHarness, marks: Path, **options: Any) -> set[str]:
    hostile(harness.project, marks)
    async with harness.session(**options) as session:
        await play(session, "go")
    return marks_in(marks)


async def test_the_files_of_a_project_run_programs_unless_its_settings_are_left_out(
    harness: CliHarness, tmp_path: Path
) -> None:
    """Why the server has to ask, and what "start without them" rests on."""
    plain = await marks_of(harness, tmp_path / "marks")
    assert plain == {"mcp", *(f"{one}-{event}" for one in ("project", "local") for event in EVENTS)}


async def test_with_the_users_settings_alone_nothing_of_a_project_runs(
    harness: CliHarness, tmp_path: Path
) -> None:
    options = {"settings": SettingsSources(sources=["user"])}
    assert await marks_of(harness, tmp_path / "marks", **options) == set()


@pytest.mark.parametrize("choice", ["trust", "without"])
async def test_B54_a_hostile_repository_runs_nothing_before_it_is_trusted(
    harness: CliHarness, tmp_path: Path, choice: str
) -> None:
    marks = tmp_path / "marks"
    hostile(harness.project, marks)
    async with open_registry(harness) as there:
        wanted = NewSession(cwd=str(harness.project), prompt="go")
        refused = await there.act(wanted)
        assert (refused.ok, refused.result["check"]) == (False, "trust")
        assert marks_in(marks) == set()
        digest = refused.result["digest"]
        said = await there.act(TrustProject(cwd=str(harness.project), digest=digest, choice=choice))
        assert said.ok, said
        started = await there.act(wanted)
        assert started.ok, started
        await there.turns(str(started.result["session"]), 1)
        ran = marks_in(marks)
        assert ("mcp" in ran, "project-SessionStart" in ran) == ((choice == "trust"),) * 2
        assert choice == "trust" or ran == set()


async def test_C49_run_in_a_terminal_runs_nothing_of_a_project_before_the_answer(
    harness: CliHarness, tmp_path: Path
) -> None:
    marks = tmp_path / "marks"
    hostile(harness.project, marks)
    given = [word for name, value in harness.env.items() for word in ("--env", f"{name}={value}")]
    flags = [
        "run",
        "go",
        "--agent",
        str(harness.cli.executable),
        "--cwd",
        str(harness.project),
        *given,
    ]

    def answer(keys: str) -> tuple[set[str], int]:
        with in_terminal(*flags, folder=harness.home) as terminal:
            terminal.wait_for("[s]top > ")
            terminal.wait_for("[s]top > ")
            before = marks_in(marks)
            terminal.type(keys)
            return before, terminal.wait_for_end()

    assert await asyncio.to_thread(answer, "s\r") == (set(), 2)
    assert marks_in(marks) == set()
    assert await asyncio.to_thread(answer, "t\r") == (set(), 0)
    assert {"mcp", "project-SessionStart"} <= marks_in(marks)
