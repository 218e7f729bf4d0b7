"""The test kit, as somebody else's test suite uses it."""

from __future__ import annotations

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
from fairlead.emulator.replies import reply
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
    with pytest.raises(AssertionError, match=r"ended badly.*error_max_turns"):
        assert_ended_well(lines)
    with pytest.raises(AssertionError, match="nobody said 'hi'"):
        assert_said(lines, "hi")
    with pytest.raises(AssertionError, match="Bash was not used"):
        assert_used(lines, "Bash")
    with pytest.raises(AssertionError, match="nobody was asked about Bash"):
        assert_asked_for(lines, "Bash")
    with pytest.raises(AssertionError, match="no result"):
        assert_ended_well([])


def test_a_recording_is_played_back_to_a_host(replayed_claude: Callable[[Path], Path]) -> None:
    recording = ROOT / "tests" / "recordings" / "2.1.325" / "perm_deny.ndjson"
    program = replayed_claude(recording)
    answer = {"type": "control_response", "response": {"subtype": "success", "request_id": "x"}}
    done = subprocess.run(
        [str(program), *FLAGS],
        input=json.dumps(PROMPT) + "\n" + json.dumps(answer) + "\n",
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    lines = lines_of(done.stdout)
    assert_asked_for(lines, "Bash")
    assert_ended_well(lines)
    assert done.returncode == 0, done.stderr


def test_a_real_cli_speaks_with_the_scripted_model(
    scripted_cli: Callable[..., ScriptedCli],
) -> None:
    cli = scripted_cli(reply("From the script."), version="2.1.325")
    done = subprocess.run(
        [str(cli.executable), *FLAGS],
        input=json.dumps(PROMPT) + "\n",
        capture_output=True,
        text=True,
        cwd=cli.project,
        env=cli.environment,
        timeout=60,
        check=False,
    )
    assert_said(lines_of(done.stdout), "From the script.")


def test_the_worked_example_of_the_documentation_passes(tmp_path: Path) -> None:
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
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *load, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=100,
        check=False,
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr
