"""`fairlead run` and `chat` in a folder whose own files run programs: asked once per content."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from fairlead.testing.emulated import EmulatedClaude
from tests.commands.pty_program import Terminal, in_terminal
from tests.forked_programs import program
from tests.server.hostile_project import hostile, marks_in

ASKED = "[s]top > "
LISTED = ("project-SessionStart", "local-Stop", "server evil", "statusLine", "Bash(curl *)")


class Scene:
    """A hostile project, an emulated CLI, and a home whose state folder remembers answers."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = tmp_path / "home"
        self.project = tmp_path / "project"
        self.marks = tmp_path / "marks"
        self.home.mkdir()
        self.project.mkdir()
        hostile(self.project, self.marks)
        self.agent = EmulatedClaude(tmp_path / "emulated", "Hello.").executable
        self.remembered = self.home / ".local" / "state" / "fairlead" / "trusted-projects.json"

    def flags(self, command: str) -> list[str]:
        prompt = ["go"] if command == "run" else []
        return [command, *prompt, "--agent", str(self.agent), "--cwd", str(self.project)]

    def ran(self) -> set[str]:
        return marks_in(self.marks)

    def without_terminal(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*program("fairlead.commands.main"), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        )


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def answer(terminal: Terminal, keys: str) -> None:
    """Type when the question was drawn for the second time: from then on an answer counts."""
    terminal.wait_for(ASKED)
    terminal.wait_for(ASKED)
    terminal.type(keys)


@pytest.mark.parametrize("command", ["run", "chat"])
def test_C49_every_program_is_listed_before_the_cli_starts(scene: Scene, command: str) -> None:
    with in_terminal(*scene.flags(command), folder=scene.home) as terminal:
        answer(terminal, "s\r")
        assert terminal.wait_for_end() == 2
    for text in (*LISTED, ".claude/settings.json", ".claude/settings.local.json", ".mcp.json"):
        assert text in terminal.shown.replace("\n", ""), text
    assert "stopped: the CLI was not started" in terminal.shown
    assert scene.ran() == set()
    assert not scene.remembered.exists()


def test_C49_trust_starts_with_them_and_is_asked_once_per_content(scene: Scene) -> None:
    with in_terminal(*scene.flags("run"), folder=scene.home) as terminal:
        terminal.wait_for(ASKED)
        terminal.wait_for(ASKED)
        assert scene.ran() == set(), "nothing runs before the answer"
        terminal.type("t\r")
        assert terminal.wait_for_end() == 0
    assert {"project-SessionStart", "local-SessionStart"} <= scene.ran()
    assert scene.remembered.stat().st_mode & 0o777 == 0o600
    with in_terminal(*scene.flags("run"), folder=scene.home) as terminal:
        assert terminal.wait_for_end() == 0
    assert ASKED not in terminal.shown
    settings = scene.project / ".claude" / "settings.json"
    settings.write_text(settings.read_text() + "\n")
    with in_terminal(*scene.flags("run"), folder=scene.home) as terminal:
        answer(terminal, "s\r")
        assert terminal.wait_for_end() == 2


def test_C49_without_starts_with_the_settings_of_the_user_only(scene: Scene) -> None:
    for request in (True, False):
        with in_terminal(*scene.flags("run"), folder=scene.home) as terminal:
            if request:
                answer(terminal, "w\r")
            terminal.wait_for("Hello.")
            assert terminal.wait_for_end() == 0
        assert (ASKED in terminal.shown) is request
    assert scene.ran() == set()


def test_C49_what_was_typed_before_the_list_answers_nothing(scene: Scene) -> None:
    with in_terminal(*scene.flags("run"), folder=scene.home) as terminal:
        terminal.type("t\r")
        terminal.wait_for(ASKED)
        terminal.type("t\rt\r")
        terminal.wait_for("ignored what was typed before the question could be read")
        terminal.wait_for(ASKED)
        assert scene.ran() == set()
        terminal.type("\r")
        terminal.wait_for("please type t, w or s")
        answer(terminal, "\x04")  # The end of input is no consent.
        assert terminal.wait_for_end() == 2
    assert scene.ran() == set()


def test_C49_control_c_at_the_question_leaves(scene: Scene) -> None:
    with in_terminal(*scene.flags("chat"), folder=scene.home) as terminal:
        answer(terminal, "\x03")
        assert terminal.wait_for_end() == 130
    assert "Traceback" not in terminal.shown
    assert scene.ran() == set()


def test_C49_files_that_change_while_they_are_read_are_shown_again(scene: Scene) -> None:
    settings = scene.project / ".claude" / "settings.json"
    with in_terminal(*scene.flags("run"), folder=scene.home) as terminal:
        terminal.wait_for(ASKED)
        terminal.wait_for(ASKED)
        settings.write_text(settings.read_text().replace("curl", "wget"))
        terminal.type("t\r")
        terminal.wait_for("the files have changed; please review them again")
        terminal.wait_for("Bash(wget *)")
        assert scene.ran() == set()
        answer(terminal, "s\r")
        assert terminal.wait_for_end() == 2


def test_C49_control_characters_of_a_file_are_drawn_visibly(scene: Scene) -> None:
    servers = scene.project / ".mcp.json"
    servers.write_text(
        '{"mcpServers": {"a\\u001b[2J\\nb": {"command": "ok\\u202e\\u001b[8m evil"}}}'
    )
    with in_terminal(*scene.flags("run"), folder=scene.home) as terminal:
        answer(terminal, "s\r")
        terminal.wait_for_end()
    assert "server a‹1B›[2J‹0A›b" in terminal.shown
    assert "ok\\u202e" in terminal.shown or "ok‹202E›" in terminal.shown
    assert "\x1b[2J" not in terminal.raw
    assert "\x1b[8m" not in terminal.raw


@pytest.mark.parametrize("command", [["run"], ["chat"], ["run", "--json"]])
def test_C49_without_a_terminal_it_does_not_start_and_names_the_flags(
    scene: Scene, command: list[str]
) -> None:
    completed = scene.without_terminal(*scene.flags(command[0]), *command[1:])
    assert completed.returncode == 2
    assert completed.stdout == ""
    for text in (*LISTED, "--trust-project", "--ignore-project-programs"):
        assert text in completed.stderr, text
    assert scene.ran() == set()


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_C49_flags_answer_for_this_run_only(scene: Scene, more: list[str]) -> None:
    ignored = scene.without_terminal(*scene.flags("run"), *more, "--ignore-project-programs")
    assert (ignored.returncode, scene.ran()) == (0, set()), ignored.stderr
    trusted = scene.without_terminal(*scene.flags("run"), *more, "--trust-project")
    assert trusted.returncode == 0, trusted.stderr
    assert "project-SessionStart" in scene.ran()
    assert scene.without_terminal(*scene.flags("run"), *more).returncode == 2
    assert not scene.remembered.exists()


def test_C49_both_flags_together_are_refused(scene: Scene) -> None:
    flags = ("--trust-project", "--ignore-project-programs")
    completed = scene.without_terminal(*scene.flags("run"), *flags)
    assert completed.returncode == 2
    assert "not allowed with" in completed.stderr


def test_C49_a_folder_reached_by_a_link_is_the_folder_itself(scene: Scene, tmp_path: Path) -> None:
    inner = scene.project / "inner"
    inner.mkdir()
    link = tmp_path / "elsewhere"
    link.symlink_to(inner)
    flags = ["run", "go", "--agent", str(scene.agent), "--cwd", str(link)]
    completed = scene.without_terminal(*flags)
    assert completed.returncode == 2
    assert "server evil" in completed.stderr
