"""The `fairlead` command, as a person starts it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.forked_programs import program
from tests.host.conftest import Rude, rude

__all__ = ["rude"]


def fairlead(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*program("fairlead.commands.main"), *arguments],
        input=typed,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_help_names_every_subcommand() -> None:
    completed = fairlead("--help")
    assert completed.returncode == 0
    assert all(name in completed.stdout for name in ("run", "chat", "replay", "discover", "doctor"))


def test_run_prints_the_answer_and_ends_well(rude: Rude, tmp_path: Path) -> None:
    completed = fairlead("run", "3", "--agent", str(rude("flood")), "--cwd", str(tmp_path))
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout == "x" * 360 + "\n"


def test_run_json_prints_the_messages_as_they_came(rude: Rude, tmp_path: Path) -> None:
    agent = str(rude("flood"))
    completed = fairlead("run", "--json", "2", "--agent", agent, "--cwd", str(tmp_path))
    types = [json.loads(line)["type"] for line in completed.stdout.splitlines()]
    assert types == ["system", "stream_event", "stream_event", "result"]
    assert completed.returncode == 0


def test_run_reads_a_prompt_from_standard_input(rude: Rude, tmp_path: Path) -> None:
    agent = str(rude("flood"))
    completed = fairlead("run", "-", "--agent", agent, "--cwd", str(tmp_path), typed="1")
    assert completed.stdout == "x" * 120 + "\n"


def test_a_missing_agent_is_one_clear_line() -> None:
    completed = fairlead("run", "hi", "--agent", "no-such-cli")
    assert completed.returncode == 2
    assert completed.stderr.startswith(
        "fairlead: `no-such-cli` was not found on PATH. Install Claude"
    )
    assert "Traceback" not in completed.stderr


def test_an_agent_that_dies_says_why(rude: Rude, tmp_path: Path) -> None:
    completed = fairlead("run", "go", "--agent", str(rude("die")), "--cwd", str(tmp_path))
    assert completed.returncode == 2
    assert "ended with exit code 3" in completed.stderr
    assert "out of luck" in completed.stderr
    assert "Traceback" not in completed.stderr


def test_chat_answers_each_line_until_the_end_of_input(rude: Rude, tmp_path: Path) -> None:
    agent = str(rude("flood"))
    completed = fairlead("chat", "--agent", agent, "--cwd", str(tmp_path), typed="1\n2\n")
    assert completed.returncode == 0, completed.stderr
    assert "x" * 120 in completed.stdout
    assert "x" * 240 in completed.stdout


def test_doctor_judges_the_version(rude: Rude) -> None:
    completed = fairlead("doctor", "--agent", str(rude("flood")))
    assert "2.1.325" in completed.stdout
    assert completed.returncode == 0


def test_doctor_says_what_is_missing() -> None:
    completed = fairlead("doctor", "--agent", "no-such-cli")
    assert completed.returncode == 1
    assert "✗ `no-such-cli` was not found on PATH" in completed.stdout


RECORDINGS = Path(__file__).parents[1] / "recordings"


def test_replay_prints_the_conversation_of_a_recording() -> None:
    completed = fairlead("replay", str(RECORDINGS / "2.1.38" / "perm_allow.ndjson"))
    assert completed.returncode == 0, completed.stderr
    assert "› go" in completed.stdout
    assert "1 turn (success)" in completed.stdout


def test_replay_json_prints_the_final_snapshot() -> None:
    completed = fairlead("replay", "--json", str(RECORDINGS / "2.1.325" / "perm_allow.ndjson"))
    snapshot = json.loads(completed.stdout)
    parts = {"session", "status", "items", "turns", "pending", "tasks", "background", "ledger"}
    assert parts <= set(snapshot)
    for item in snapshot["items"]:
        assert {"id", "kind", "turn", "parent"} <= set(item)
    (tool, *_) = [item for item in snapshot["items"] if item["kind"] == "tool"]
    assert {"name", "input", "state", "result", "structured"} <= set(tool)


def test_a_recording_made_by_run_can_be_replayed(rude: Rude, tmp_path: Path) -> None:
    agent, record = str(rude("flood")), str(tmp_path / "r.ndjson")
    fairlead("run", "2", "--agent", agent, "--cwd", str(tmp_path), "--record", record)
    completed = fairlead("replay", "--json", record)
    snapshot = json.loads(completed.stdout)
    assert snapshot["items"][0]["kind"] == "prompt"
    assert snapshot["turns"][0]["outcome"] == "success"


def test_replay_says_which_line_is_no_recording(tmp_path: Path) -> None:
    odd = tmp_path / "odd.ndjson"
    odd.write_text('{"t": 0, "dir": "note", "msg": "fine"}\nnot json\n')
    completed = fairlead("replay", str(odd))
    assert completed.returncode == 2
    assert "odd.ndjson:2 is not JSON" in completed.stderr


PROGRAM = """#!/bin/sh
{type:"brand_new",uuid:1} {type:"system",subtype:"novel_thing"} {type:"system",subtype:"init"}
a({type:T("system"),subtype:T("novel_schema"),uuid:b}) {type:"result",subtype:"error_new_limit",x:1}
a({subtype:T("new_question"),x:1}) h.object({subtype:h.literal("new_literal"),y:2})
if(e.request.subtype==="new_order")x();if(e.request.subtype==="interrupt")y();
s({type:"control_request",request_id:i,request:{subtype:"new_wish",z:1}})
a({type:T("result"),subtype:T("success"),x:1}),
a({type:T("result"),subtype:B(["error_during_execution","error_max_turns","error_brand_new"]),x:1})
"""


def test_discover_lists_what_fairlead_does_not_know(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    completed = fairlead("discover", "--agent", str(program))
    matches: dict[str, set[str]] = {}
    title = ""
    for line in completed.stdout.splitlines():
        if line.startswith("  "):
            matches[title].add(line.strip())
        else:
            title = line.split(":")[0]
            matches[title] = set()
    assert matches == {
        "types": {"brand_new"},
        "system subtypes": {"novel_thing", "novel_schema"},
        "control request subtypes": {"new_question", "new_literal", "new_order", "new_wish"},
        "result subtypes": {"error_new_limit", "error_brand_new"},
    }


def test_serve_refuses_an_agent_that_is_not_there(tmp_path: Path) -> None:
    completed = fairlead("serve", "--no-browser", "--agent", "no-such-cli", "--data", str(tmp_path))
    assert completed.returncode == 2
    assert "`no-such-cli` was not found on PATH" in completed.stderr


def test_serve_refuses_a_program_that_is_no_claude(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho hello\n")
    other.chmod(0o755)
    completed = fairlead("serve", "--no-browser", "--agent", str(other), "--data", str(tmp_path))
    assert completed.returncode == 2
    assert "is not a Claude CLI" in completed.stderr
