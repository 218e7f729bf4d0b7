"""Usage limits in `fairlead run` and `fairlead chat`: windows, warnings, and a limit that stops a turn."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.commands.pty_program import Terminal, in_terminal
from tests.forked_programs import program
from tests.launching import python_launcher
from tests.server.limits.reports import report

AGENT = Path(__file__).parents[1] / "server" / "agent.py"

QUESTION = "when the limit resets? [y/N] "


def fairlead_run(folder: Path, prompt: str) -> subprocess.CompletedProcess[str]:
    command = [*program("fairlead.commands.main"), "run", prompt, *flags(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def agree(terminal: Terminal) -> None:
    """Answer when the question was drawn for the second time: from then on an answer counts."""
    terminal.wait_for(QUESTION)
    terminal.wait_for(QUESTION)
    terminal.type("y\r")


def flags(folder: Path) -> tuple[str, ...]:
    agent = python_launcher(folder / "claude-scripted", AGENT, folder / "agent.log")
    return ("--agent", str(agent), "--cwd", str(folder))


def turn(*reports: dict[str, Any]) -> str:
    return json.dumps([*({"line": line} for line in reports), {"say": "That was it."}])


def test_B131_run_shows_the_windows_and_warns(tmp_path: Path) -> None:
    later = time.time() + 3_600
    reports = [report("allowed", used=used, resets_at=later) for used in (0.5, 0.83, 0.84, 0.96)]
    completed = fairlead_run(tmp_path, turn(*reports))
    assert completed.returncode == 0, completed.stderr
    lines = completed.stdout.splitlines()
    warnings = [line for line in lines if "Nearly used up" in line]
    # Once for each level, and 84 % is no new level.
    assert [line.partition("5-hour limit ")[2][:4] for line in warnings] == ["83 %", "96 %"]
    assert lines[-1].startswith("  · 5-hour limit 96 %, resets ")
    assert " · weekly limit 40 %, resets " in lines[-1]


def test_B131_run_without_reports_says_nothing_about_limits(tmp_path: Path) -> None:
    completed = fairlead_run(tmp_path, turn())
    assert (completed.returncode, "limit" in completed.stdout) == (0, False)


def test_B131_run_says_which_limit_stopped_it_and_what_to_do(tmp_path: Path) -> None:
    stop = report("rejected", resets_at=time.time() + 3_600)
    completed = fairlead_run(tmp_path, turn(stop))
    assert completed.returncode == 1
    last = completed.stdout.splitlines()[-1]
    assert last.startswith("  ! The 5-hour limit is reached. It resets ")
    assert "Run the command again after that time. `fairlead limits` shows" in last


def test_B131_chat_sends_the_prompt_again_when_the_limit_resets(tmp_path: Path) -> None:
    with in_terminal("chat", *flags(tmp_path), folder=tmp_path) as terminal:
        terminal.wait_for("› ")
        terminal.type(turn(report("rejected", resets_at=time.time() + 2)) + "\n")
        terminal.wait_for("The 5-hour limit is reached. It resets ")
        agree(terminal)
        terminal.wait_for("Ctrl-C cancels.")
        terminal.wait_for("The 5-hour limit is reached.")  # Sent again, and stopped again.
        assert prompts(tmp_path) == 2


def test_B131_ctrl_c_cancels_the_wait_and_the_prompt_is_kept(tmp_path: Path) -> None:
    with in_terminal("chat", *flags(tmp_path), folder=tmp_path) as terminal:
        terminal.wait_for("› ")
        terminal.type(turn(report("rejected", resets_at=time.time() + 3_600)) + "\n")
        agree(terminal)
        terminal.wait_for("Ctrl-C cancels.")
        terminal.type("\x03")
        terminal.wait_for("The prompt was not sent.")
        terminal.wait_for("› ")
        terminal.type("\x1b[A")  # The arrow key.
        terminal.wait_for("rate_limit_event")
        assert prompts(tmp_path) == 1


def prompts(folder: Path) -> int:
    """The prompts that the CLI has got."""
    lines = [json.loads(line) for line in (folder / "agent.log").read_text().splitlines()]
    return sum(1 for line in lines if isinstance(line, dict) and line.get("type") == "user")
