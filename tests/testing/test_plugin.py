"""The test kit, as another project's test suite uses it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from bench.peers import CONTENDERS
from fairlead import Deny, Options, PermissionRequest, Session
from fairlead.model_api.replies import reply
from fairlead.testing.emulated import EmulatedClaude
from fairlead.testing.expectations import (
    assert_asked_for,
    assert_ended_well,
    assert_said,
    assert_used,
    lines_of,
)
from fairlead.testing.plugin import (
    ScriptedCli,
    emulated_claude,
    replayed_claude,
    scripted_cli,
)

__all__ = ["emulated_claude", "replayed_claude", "scripted_cli"]

ROOT = Path(__file__).parent.parent.parent
PROMPT = {"type": "user", "message": {"role": "user", "content": "go"}}
FLAGS = ["--output-format=stream-json", "--input-format=stream-json", "--verbose"]


def test_an_emulated_claude_follows_its_script_and_the_assertions_read_it(
    emulated_claude: Callable[..., EmulatedClaude],
) -> None:
    script = [{"steps": [{"use": "Bash", "input": {"command": "touch x"}}, {"say": "All done."}]}]
    claude = emulated_claude(script)
    lines = claude.run("go")
    assert_asked_for(lines, "Bash")
    assert_used(lines, "Bash", command="touch x")
    assert_said(lines, "done")
    assert_ended_well(lines)
    claude.play("Something else.")
    assert_said(claude.run("go"), "Something else.")


def test_an_assertion_that_fails_says_what_was_there() -> None:
    lines = lines_of('{"type": "result", "subtype": "error_max_turns", "is_error": true}\nnoise')
    with pytest.raises(AssertionError, match=r"the turn failed.*error_max_turns"):
        assert_ended_well(lines)
    with pytest.raises(AssertionError, match="did not write 'hi'"):
        assert_said(lines, "hi")
    with pytest.raises(AssertionError, match="Bash was not used"):
        assert_used(lines, "Bash")
    with pytest.raises(AssertionError, match="no permission was requested for Bash"):
        assert_asked_for(lines, "Bash")
    with pytest.raises(AssertionError, match="no result"):
        assert_ended_well([])


def test_a_recording_is_played_back_to_a_host(replayed_claude: Callable[[Path], Path]) -> None:
    recording = ROOT / "tests" / "recordings" / "2.1.325" / "perm_deny.ndjson"
    program = replayed_claude(recording)
    answer = {"type": "control_response", "response": {"subtype": "success", "request_id": "x"}}
    completed = subprocess.run(
        [str(program), *FLAGS],
        input=json.dumps(PROMPT) + "\n" + json.dumps(answer) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    lines = lines_of(completed.stdout)
    assert_asked_for(lines, "Bash")
    assert_ended_well(lines)
    assert completed.returncode == 0, completed.stderr


VERSIONS = ("2.1.38", "2.1.325")


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_recording_is_played_back_to_a_session(
    version: str, replayed_claude: Callable[[Path], Path], tmp_path: Path
) -> None:
    """A session of Fairlead asks for the version, initializes, and waits for its own uuid."""
    recording = ROOT / "tests" / "recordings" / version / "perm_deny.ndjson"
    cli_request: list[str] = []

    def decide(request: PermissionRequest) -> Deny:
        cli_request.append(request.tool_name)
        return Deny("Not on my machine")

    options = Options(agent=replayed_claude(recording), cwd=tmp_path, on_permission=decide)
    async with asyncio.timeout(40), Session(options) as session:
        turn = await session.send("go")
        result = await turn
        assert session.pending == {}
    assert cli_request == ["Bash"]
    assert result.text == "Done."


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_recorded_session_is_played_back_to_another_one(
    version: str,
    emulated_claude: Callable[..., EmulatedClaude],
    replayed_claude: Callable[[Path], Path],
    tmp_path: Path,
) -> None:
    """The recorded results name the prompts of then; the replay names those of now."""
    claude = emulated_claude("Aye.", version=version)
    recording = tmp_path / "session.ndjson"
    recorded = Options(agent=claude.executable, cwd=claude.project, record=recording)
    for options in (recorded, Options(agent=replayed_claude(recording), cwd=tmp_path)):
        async with asyncio.timeout(40), Session(options) as session:
            for _ in range(2):
                turn = await session.send("go")
                assert (await turn).text == "Aye."


def test_a_replay_answers_requests_that_were_not_recorded(
    replayed_claude: Callable[[Path], Path],
) -> None:
    program = replayed_claude(ROOT / "tests" / "recordings" / "2.1.325" / "perm_deny.ndjson")
    request = [
        {"type": "control_request", "request_id": f"mine-{n}", "request": {"subtype": subtype}}
        for n, subtype in enumerate(("initialize", "mcp_status"))
    ]
    answer = {"type": "control_response", "response": {"subtype": "success", "request_id": "x"}}
    completed = subprocess.run(
        [str(program), *FLAGS],
        input="".join(json.dumps(m) + "\n" for m in (request[0], PROMPT, answer, request[1])),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    answers = [m["response"] for m in lines_of(completed.stdout) if m["type"] == "control_response"]
    assert [a["request_id"] for a in answers] == ["mine-0", "mine-1"]
    assert "commands" in answers[0]["response"]
    assert_ended_well(lines_of(completed.stdout))


def test_a_replay_tells_its_version(replayed_claude: Callable[[Path], Path]) -> None:
    for version in VERSIONS:
        recording = ROOT / "tests" / "recordings" / version / "perm_deny.ndjson"
        completed = subprocess.run(
            [str(replayed_claude(recording)), "--version"],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert completed.stdout == f"{version} (Claude Code)\n"


def test_a_real_cli_uses_the_scripted_model(
    scripted_cli: Callable[..., ScriptedCli],
) -> None:
    cli = scripted_cli(reply("From the script."), version="2.1.325")
    completed = subprocess.run(
        [str(cli.executable), *FLAGS],
        input=json.dumps(PROMPT) + "\n",
        capture_output=True,
        text=True,
        cwd=cli.project,
        env=cli.environment,
        timeout=60,
        check=False,
    )
    assert_said(lines_of(completed.stdout), "From the script.")


@pytest.mark.timeout(300)  # It starts pytest, which starts nine CLIs.
def test_every_example_of_the_documentation_passes(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "testing.md").read_text()
    for name, code in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(code)
    sdk = Path(CONTENDERS["python-sdk"](ROOT / "bench" / "out", print).start[0])
    packages = next((sdk.parent.parent / "lib").glob("python*/site-packages"))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(packages), str(tmp_path)]),
    }
    known = any(e.value == "fairlead.testing.plugin" for e in entry_points(group="pytest11"))
    load = [] if known else ["-p", "fairlead.testing.plugin"]
    completed = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *load, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=280,
        check=False,
    )
    assert "9 passed" in completed.stdout, completed.stdout + completed.stderr
