"""`Options(project_programs=…)`: what becomes of programs that the project's files name."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead import Options, ProjectProgramsRefused, Session, SettingsSources
from fairlead.host.options import project_commands
from fairlead.host.options.project_commands import find_project_commands
from fairlead.testing.emulated import EmulatedClaude
from tests.server.hostile_project import hostile, marks_in


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    hostile(tmp_path / "project", tmp_path / "marks")
    return tmp_path / "project"


@pytest.fixture
def options(tmp_path: Path, project: Path) -> Options:
    agent = EmulatedClaude(tmp_path / "emulated", "Hello.").executable
    return Options(agent=agent, cwd=project, env={"HOME": str(tmp_path / "home")})


async def _play(options: Options) -> None:
    async with Session(options) as session:
        assert (await (await session.send("go"))).ok


async def test_by_default_the_cli_runs_them(options: Options, tmp_path: Path) -> None:
    assert options.project_programs == "run"
    await _play(options)
    assert "project-SessionStart" in marks_in(tmp_path / "marks")


async def test_C48_ignore_runs_none_of_them(options: Options, tmp_path: Path) -> None:
    await _play(replace(options, project_programs="ignore"))
    assert marks_in(tmp_path / "marks") == set()


async def test_C48_refuse_lists_them_and_starts_nothing(options: Options, tmp_path: Path) -> None:
    with pytest.raises(ProjectProgramsRefused) as raised:
        await _play(replace(options, project_programs="refuse"))
    assert raised.value.folder == str(options.cwd)
    assert (str(tmp_path / "project" / ".mcp.json"), "server evil") in {
        (file, what) for file, what, _ in raised.value.programs
    }
    text = str(raised.value)
    for expected_text in (
        "project-SessionStart",
        "server evil",
        'project_programs="run"',
        '"ignore"',
    ):
        assert expected_text in text, expected_text
    assert marks_in(tmp_path / "marks") == set()


async def test_C48_refuse_draws_control_characters_visibly(options: Options, project: Path) -> None:
    servers = {"mcpServers": {"a\x1b[2J": {"command": "ok\u202e\x1b[8m"}}}
    (project / ".mcp.json").write_text(json.dumps(servers, ensure_ascii=False))
    with pytest.raises(ProjectProgramsRefused) as raised:
        await _play(replace(options, project_programs="refuse"))
    assert "\x1b" not in str(raised.value)
    assert "\u202e" not in str(raised.value)


async def test_C48_refuse_looks_where_the_cli_looks(options: Options, tmp_path: Path) -> None:
    """Not where the CLI reads nothing of a project, but also in `project_config_root`."""
    users = SettingsSources(sources=["user"])
    await _play(replace(options, project_programs="refuse", settings=users))
    clean = tmp_path / "clean"
    clean.mkdir()
    await _play(replace(options, project_programs="refuse", cwd=clean))
    assert marks_in(tmp_path / "marks") == set()
    rooted = SettingsSources(project_config_root=str(options.cwd))
    with pytest.raises(ProjectProgramsRefused):
        await _play(replace(options, project_programs="refuse", cwd=clean, settings=rooted))


def test_what_does_not_fit_the_list_is_announced_first(tmp_path: Path) -> None:
    many = {"mcpServers": {f"server-{number}": {"command": "x"} for number in range(500)}}
    (tmp_path / ".mcp.json").write_text(json.dumps(many))
    matches = find_project_commands(tmp_path, home="/nowhere")
    assert matches is not None
    assert matches.commands[0].what == "more than can be listed"
    assert "500 entries" in matches.commands[0].command
    assert len(matches.commands) == project_commands.MOST_COMMANDS + 1


def test_a_folder_with_more_files_than_are_read_is_listed_itself(tmp_path: Path) -> None:
    skills = tmp_path / ".claude" / "skills"
    skills.mkdir(parents=True)
    for number in range(project_commands.MARKDOWN_FILES + 1):
        (skills / f"{number:05}.md").write_text("harmless")
    matches = find_project_commands(tmp_path, home="/nowhere")
    assert matches is not None
    assert [command.file for command in matches.commands] == [str(skills)]


def test_a_change_behind_the_part_that_is_read_changes_the_digest(tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text("{" + " " * project_commands.FILE_BYTES + '"a": {"command": "x"}}')
    before = find_project_commands(tmp_path, home="/nowhere")
    path.write_text(path.read_text().replace('"x"', '"y"'))
    os.utime(path, ns=(1, 1))
    after = find_project_commands(tmp_path, home="/nowhere")
    assert before is not None
    assert after is not None
    assert before.digest != after.digest
