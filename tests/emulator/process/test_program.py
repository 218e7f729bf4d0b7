"""The emulator as a process with pipes, files and signals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fairlead.emulator.process.launcher import write_launcher
from fairlead.emulator.script.scratch_project import make_scratch_project
from fairlead.testing.emulated import PROTOCOL_FLAGS, EmulatedClaude
from fairlead.testing.expectations import assert_ended_well, assert_said

VERSIONS = ("2.1.38", "2.1.325")
SESSION = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
WAIT_S = 60.0


def start(claude: EmulatedClaude, *flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(claude.executable), *PROTOCOL_FLAGS, *flags],
        input="",
        capture_output=True,
        text=True,
        cwd=claude.project,
        timeout=WAIT_S,
        check=False,
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_E4_an_unknown_flag_ends_the_process(version: str, tmp_path: Path) -> None:
    claude = EmulatedClaude(tmp_path, "hi", version=version)
    done = start(claude, "--no-such-flag")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: unknown option '--no-such-flag'\n"
    newer = start(claude, "--include-hook-events")
    assert newer.returncode == (1 if version == "2.1.38" else 0)


@pytest.mark.parametrize("version", VERSIONS)
def test_E11_a_session_is_resumed_continued_forked_and_truncated(
    version: str, tmp_path: Path
) -> None:
    claude = EmulatedClaude(tmp_path, "Aye.", version=version)
    uuid = "11111111-1111-4111-8111-111111111111"
    first = {
        "type": "user",
        "uuid": uuid,
        "message": {"role": "user", "content": "one"},
    }
    claude.run(first, "two", flags=["--session-id", SESSION])
    for flags, same in ((["--resume", SESSION], True), (["--continue"], True)):
        result = assert_ended_well(claude.run("three", flags=flags))
        assert (result["session_id"] == SESSION) is same
    forked = assert_ended_well(claude.run("four", flags=["--resume", SESSION, "--fork-session"]))
    assert forked["session_id"] != SESSION
    cut = ["--resume", SESSION, "--fork-session", "--resume-session-at", uuid]
    branch = assert_ended_well(claude.run("five", flags=cut))
    texts = prompts(claude, str(branch["session_id"]))
    assert texts == ["one", "five"]
    assert prompts(claude, SESSION) == ["one", "two", "three", "three"]


def prompts(claude: EmulatedClaude, session: str) -> list[str]:
    (path,) = [p for p in claude.transcripts() if p.stem == session]
    records = [json.loads(line) for line in path.read_text().splitlines()]
    users = [record for record in records if record["type"] == "user"]
    contents = [record["message"]["content"] for record in users]
    return [c if isinstance(c, str) else c[0]["text"] for c in contents]


def test_E13_a_script_that_cannot_be_read_is_one_line_on_stderr(tmp_path: Path) -> None:
    claude = EmulatedClaude(tmp_path, "hi")
    (tmp_path / "script.json").write_text('[{"when": "no steps"}]')
    done = start(claude)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"fairlead-claude: {tmp_path}/script.json:1:2: a scene needs")
    assert done.stderr.count("\n") == 1


def test_E14_background_commands_end_with_the_process(tmp_path: Path) -> None:
    script = [
        {
            "steps": [
                {
                    "use": "Bash",
                    "input": {
                        "command": "echo $$ > pid; sleep 300",
                        "description": "d",
                        "run_in_background": True,
                    },
                },
                {"say": "Started."},
            ]
        }
    ]
    claude = EmulatedClaude(tmp_path, script, version="2.1.38")
    assert_ended_well(claude.run("go", flags=["--allowedTools", "Bash"]))
    pid = int((claude.project / "pid").read_text())
    deadline = time.monotonic() + WAIT_S
    while _is_running(pid):
        assert time.monotonic() < deadline, "the command outlived the process"


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().split()[2] == "Z")


STOPS = (
    "tour",
    "edit",
    "tests",
    "ask",
    "plan",
    "tasks",
    "agents",
    "image",
    "think",
    "help",
    "fail",
)


@pytest.mark.matrix(target="faults", cases=4)
@pytest.mark.parametrize("stop", STOPS)
def test_E15_every_scene_of_the_tour_succeeds(stop: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    make_scratch_project(project)
    home = tmp_path / "home"
    home.mkdir()
    executable = write_launcher(tmp_path / "claude", {"HOME": str(home), "TMPDIR": str(tmp_path)})
    lines = converse(executable, project, stop)
    assert_ended_well(lines)
    assert not [line for line in lines if line.get("is_error")]
    if stop == "tour":
        assert_said(lines, "The tests pass")
        assert "Hello, {name}" in (project / "greeting.py").read_text()
    if stop == "image":
        assert '"type": "image"' in json.dumps(lines)


def converse(executable: Path, project: Path, prompt: str) -> list[dict[str, Any]]:
    """One turn in which the host allows everything and answers with the first option."""
    process = subprocess.Popen(
        [str(executable), *PROTOCOL_FLAGS],
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    lines: list[dict[str, Any]] = []

    def write(message: dict[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()

    write({"type": "user", "message": {"role": "user", "content": prompt}})
    for text in process.stdout:
        line = json.loads(text)
        lines.append(line)
        if line["type"] == "control_request":
            write(allow(line))
        if line["type"] == "result":
            break
    process.stdin.close()
    process.stdout.close()
    assert process.wait(WAIT_S) == 0
    return lines


def allow(asked: dict[str, Any]) -> dict[str, Any]:
    given = asked["request"]["input"]
    questions = given.get("questions") or []
    answers = {q["question"]: q["options"][0]["label"] for q in questions}
    updated = {**given, "answers": answers} if questions else given
    body = {"behavior": "allow", "updatedInput": updated}
    response = {"subtype": "success", "request_id": asked["request_id"], "response": body}
    return {"type": "control_response", "response": response}


def test_without_stream_json_it_prints_one_answer(tmp_path: Path) -> None:
    claude = EmulatedClaude(tmp_path, "Just words.")
    done = subprocess.run(
        [str(claude.executable), "-p", "hi"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        cwd=claude.project,
        timeout=WAIT_S,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "Just words.\n")


def test_fairlead_emulate_takes_the_flags_of_claude(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fairlead.commands.main", "emulate", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert (done.returncode, done.stdout) == (0, "2.1.325 (Claude Code)\n")


@pytest.mark.matrix(target="faults", cases=3)
@pytest.mark.parametrize("flags", [["--version"], ["-v"], ["--version", "--verbose"]])
@pytest.mark.parametrize("version", ["", *VERSIONS, "9.9.9"])
def test_the_version_is_printed_in_every_way_of_asking(version: str, flags: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fairlead.emulator", *flags],
        env={"FAIRLEAD_EMULATE": version},
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    if version == "9.9.9":
        assert (done.returncode, done.stdout) == (1, "")
        assert "FAIRLEAD_EMULATE is 2.1.38 or 2.1.325" in done.stderr
    else:
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"{version or '2.1.325'} (Claude Code)\n"


@pytest.mark.parametrize("version", VERSIONS)
def test_files_are_restored_to_their_content_before_a_prompt(version: str, tmp_path: Path) -> None:
    script = [
        {"steps": [{"use": "Write", "input": {"file_path": "{{cwd}}/a.txt", "content": "1\n"}}]}
    ]
    claude = EmulatedClaude(tmp_path, script, version=version)
    uuid = "11111111-1111-4111-8111-111111111111"
    prompt = {"type": "user", "uuid": uuid, "message": {"role": "user", "content": "go"}}
    executable = write_launcher(
        tmp_path / "checkpointing",
        {**claude.environment, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "1"},
    )
    process = subprocess.Popen(
        [str(executable), *PROTOCOL_FLAGS, "--permission-mode", "acceptEdits"],
        cwd=claude.project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    answers = []
    rewinds = [
        {"subtype": "rewind_files", "user_message_id": uuid, "dry_run": True},
        {"subtype": "rewind_files", "user_message_id": uuid},
    ]
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(prompt) + "\n")
        process.stdin.flush()
        for text in process.stdout:
            line = json.loads(text)
            if line["type"] == "control_response":
                answers.append(line["response"]["response"])
            if line["type"] in ("result", "control_response"):
                if not rewinds:
                    break
                asked = {"type": "control_request", "request_id": "r", "request": rewinds.pop(0)}
                process.stdin.write(json.dumps(asked) + "\n")
                process.stdin.flush()
        process.stdin.close()
        assert process.wait(WAIT_S) == 0
    assert answers[0]["filesChanged"] == [str(claude.project.resolve() / "a.txt")]
    links = {"skippedLinks": 0} if version == "2.1.325" else {}
    assert answers[1] == {"canRewind": True, **links}
    assert not (claude.project / "a.txt").exists()
