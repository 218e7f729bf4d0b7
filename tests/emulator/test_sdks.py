"""The official SDKs drive the emulator, and the same scripts have the same outcome on the real CLI."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bench.peers import CONTENDERS
from fairlead.model_api.api import ModelApi
from fairlead.model_api.replies import Answer, reply, use
from fairlead.model_api.request import ModelRequest
from fairlead.testing.emulated import EmulatedClaude
from fairlead.testing.hermetic import hermetic_env, search_path
from fairlead.testing.real_cli import ensure

HERE = Path(__file__).parent
PEERS = HERE.parent.parent / "bench" / "out"
VERSIONS = ("2.1.38", "2.1.325")
WAIT_S = 280.0
"""A driver starts eight CLIs one after the other; a busy machine takes minutes for them."""

pytestmark = pytest.mark.timeout(300)

SCRIPT = """
- when: say hello
  steps: [{say: "Hello."}]
- when: say goodbye
  steps: [{say: "Goodbye."}]
- when: write
  steps:
    - {use: Write, input: {file_path: "{{cwd}}/{{prompt}}.txt", content: "1"}, as: written}
    - {say: "Written.", if: written.ok}
    - {say: "Not written.", unless: written.ok}
- when: add numbers
  steps:
    - {use: mcp__calc__add, input: {a: 2, b: 3}, as: sum}
    - say: "It is {{sum.text}}."
- when: take long
  steps:
    - {use: Bash, input: {command: "touch started; sleep 30", description: "Take long"}}
"""
"""What the model says; `answer` below says the same to a real CLI."""

OUTCOME: dict[str, Any] = {
    "query": {"texts": ["Hello."]},
    "streaming": {"first": ["Hello."], "second": ["Goodbye."], "subtype": "success"},
    "permissions": {
        "asked": ["Write", "Write"],
        "texts": ["Written.", "Not written."],
        "denials": 1,
    },
    "hooks": {"seen": ["PreToolUse"], "texts": ["Not written."]},
    "tools": {"called": [{"a": 2, "b": 3}], "texts": ["It is 5."]},
    "interrupt": {"interrupted": "error_during_execution", "after": ["Hello."]},
    "sessions": {"same": True, "new": True},
    "controls": {"texts": ["Written."], "haiku": True, "has_commands": True},
}
"""The outcome for both SDKs and both CLIs; numbers are compared as numbers (5.0 is 5)."""


def answer(project: Path, request: ModelRequest) -> Answer:
    """The script above, for the real CLI's model."""
    if request.tool_results and not request.text.strip():
        result = request.tool_results[-1]
        if "mcp__calc" in json.dumps(request.messages[-2]["content"]):
            return reply(f"It is {float(result.text):g}.")
        return reply("Not written." if result.is_error else "Written.")
    text = request.text
    for words, written in (("say hello", "Hello."), ("say goodbye", "Goodbye.")):
        if words in text.splitlines()[-1]:
            return reply(written)
    if "write" in text.splitlines()[-1]:
        name = f"{text.splitlines()[-1].strip()}.txt"
        return use("Write", file_path=str(project / name), content="1")
    if "add numbers" in text:
        return use("mcp__calc__add", a=2, b=3)
    return use("Bash", command="touch started; sleep 30", description="Take long")


def commands(sdk: str) -> list[str]:
    """How the driver of an SDK is started, up to the CLI."""
    peer = CONTENDERS[f"{sdk}-sdk"](PEERS, print)
    if sdk == "python":
        return [peer.start[0], str(HERE / "sdks" / "drive.py")]
    return [peer.start[0], str(HERE / "sdks" / "drive.mjs"), peer.start[2]]


def drive(sdk: str, cli: Path, project: Path, environment: dict[str, str]) -> dict[str, Any]:
    done = subprocess.run(
        [*commands(sdk), str(cli), str(project)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=WAIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    reported: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    texts = reported["tools"]["texts"]
    reported["tools"]["texts"] = [text.replace("5.0", "5") for text in texts]
    return reported


@pytest.fixture
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a short path, for 2.1.325 opens a socket below its home."""
    return tmp_path_factory.mktemp("s")


@pytest.mark.matrix(target="conformance")
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("sdk", ["python", "typescript"])
def test_E2_the_official_sdks_drive_the_emulator(sdk: str, version: str, short: Path) -> None:
    claude = EmulatedClaude(short, SCRIPT, version=version)
    environment = {"PATH": search_path(), "HOME": str(claude.home), "TMPDIR": str(short)}
    environment["CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK"] = "1"
    assert drive(sdk, claude.executable, claude.project, environment) == OUTCOME


@pytest.mark.matrix(target="conformance", cases=1)
@pytest.mark.parametrize("sdk", ["python", "typescript"])
def test_E3_the_real_cli_gives_the_sdks_the_same_outcome(sdk: str, short: Path) -> None:
    project = short / "project"
    project.mkdir()
    cli = ensure("2.1.325")
    with ModelApi(default=lambda request: answer(project, request)) as api:
        environment = hermetic_env(short / "home", api.base_url)
        environment["PATH"] = os.pathsep.join([environment["PATH"], os.environ["PATH"]])
        assert drive(sdk, cli.executable, project, environment) == OUTCOME
