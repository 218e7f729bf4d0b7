"""The `fairlead` command, as a person starts it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.host.conftest import Rude, rude

__all__ = ["rude"]


def fairlead(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fairlead.commands.main", *arguments],
        input=typed,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_help_names_every_subcommand() -> None:
    done = fairlead("--help")
    assert done.returncode == 0
    assert all(name in done.stdout for name in ("run", "chat", "replay", "discover", "doctor"))


def test_run_prints_the_answer_and_ends_well(rude: Rude, tmp_path: Path) -> None:
    done = fairlead("run", "3", "--agent", str(rude("flood")), "--cwd", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "x" * 360 + "\n"


def test_run_json_prints_the_messages_as_they_came(rude: Rude, tmp_path: Path) -> None:
    agent = str(rude("flood"))
    done = fairlead("run", "--json", "2", "--agent", agent, "--cwd", str(tmp_path))
    types = [json.loads(line)["type"] for line in done.stdout.splitlines()]
    assert types == ["system", "stream_event", "stream_event", "result"]
    assert done.returncode == 0


def test_run_reads_a_prompt_from_standard_input(rude: Rude, tmp_path: Path) -> None:
    agent = str(rude("flood"))
    done = fairlead("run", "-", "--agent", agent, "--cwd", str(tmp_path), typed="1")
    assert done.stdout == "x" * 120 + "\n"


def test_a_missing_agent_is_one_clear_line() -> None:
    done = fairlead("run", "hi", "--agent", "no-such-cli")
    assert done.returncode == 2
    assert done.stderr.startswith("fairlead: no executable 'no-such-cli'. Install Claude Code")
    assert "Traceback" not in done.stderr


def test_an_agent_that_dies_says_why(rude: Rude, tmp_path: Path) -> None:
    done = fairlead("run", "go", "--agent", str(rude("die")), "--cwd", str(tmp_path))
    assert done.returncode == 2
    assert "ended with exit code 3" in done.stderr
    assert "out of luck" in done.stderr
    assert "Traceback" not in done.stderr


def test_chat_answers_each_line_until_the_end_of_input(rude: Rude, tmp_path: Path) -> None:
    agent = str(rude("flood"))
    done = fairlead("chat", "--agent", agent, "--cwd", str(tmp_path), typed="1\n2\n")
    assert done.returncode == 0, done.stderr
    assert "x" * 120 in done.stdout
    assert "x" * 240 in done.stdout


def test_doctor_judges_the_version(rude: Rude) -> None:
    done = fairlead("doctor", "--agent", str(rude("flood")))
    assert "2.1.325" in done.stdout
    assert done.returncode == 0


def test_doctor_says_what_is_missing() -> None:
    done = fairlead("doctor", "--agent", "no-such-cli")
    assert done.returncode == 1
    assert "✗ no executable 'no-such-cli'" in done.stdout


RECORDINGS = Path(__file__).parents[1] / "recordings"


def test_replay_prints_the_conversation_of_a_recording() -> None:
    done = fairlead("replay", str(RECORDINGS / "2.1.38" / "perm_allow.ndjson"))
    assert done.returncode == 0, done.stderr
    assert "› go" in done.stdout
    assert "1 turn (success)" in done.stdout


def test_replay_json_prints_the_final_snapshot() -> None:
    done = fairlead("replay", "--json", str(RECORDINGS / "2.1.325" / "perm_allow.ndjson"))
    snapshot = json.loads(done.stdout)
    parts = {"session", "status", "items", "turns", "pending", "tasks", "background", "ledger"}
    assert parts <= set(snapshot)
    for item in snapshot["items"]:
        assert {"id", "kind", "turn", "parent"} <= set(item)
    (tool, *_) = [item for item in snapshot["items"] if item["kind"] == "tool"]
    assert {"name", "input", "state", "result", "structured"} <= set(tool)


def test_a_recording_made_by_run_can_be_replayed(rude: Rude, tmp_path: Path) -> None:
    agent, record = str(rude("flood")), str(tmp_path / "r.ndjson")
    fairlead("run", "2", "--agent", agent, "--cwd", str(tmp_path), "--record", record)
    done = fairlead("replay", "--json", record)
    snapshot = json.loads(done.stdout)
    assert snapshot["items"][0]["kind"] == "prompt"
    assert snapshot["turns"][0]["outcome"] == "success"


def test_replay_says_which_line_is_no_recording(tmp_path: Path) -> None:
    odd = tmp_path / "odd.ndjson"
    odd.write_text('{"t": 0, "dir": "note", "msg": "fine"}\nnot json\n')
    done = fairlead("replay", str(odd))
    assert done.returncode == 2
    assert "odd.ndjson:2 is not JSON" in done.stderr


def test_discover_lists_what_fairlead_does_not_know(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text('#!/bin/sh\n{type:"brand_new",uuid:1} {type:"system",subtype:"novel_thing"}')
    program.chmod(0o755)
    done = fairlead("discover", "--agent", str(program))
    assert "brand_new" in done.stdout
    assert "novel_thing" in done.stdout


def test_serve_refuses_an_agent_that_is_not_there(tmp_path: Path) -> None:
    done = fairlead("serve", "--no-browser", "--agent", "no-such-cli", "--data", str(tmp_path))
    assert done.returncode == 2
    assert "no executable 'no-such-cli'" in done.stderr


def test_serve_refuses_a_program_that_is_no_claude(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho hello\n")
    other.chmod(0o755)
    done = fairlead("serve", "--no-browser", "--agent", str(other), "--data", str(tmp_path))
    assert done.returncode == 2
    assert "is not a Claude CLI" in done.stderr
