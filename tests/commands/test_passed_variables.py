"""The variables that `fairlead serve --pass-env` adds for the CLI."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import urllib.request
from pathlib import Path

import pytest

from fairlead.errors import UsageError
from fairlead.host.options.environment import child_environment
from fairlead.host.options.options import Options
from fairlead.host.options.passed_variables import passed_variables, unset_variables
from tests.launching import python_launcher

PARENT = {
    "HOME": "/h", "GH_TOKEN": "t", "GH_HOST": "h", "OTEL_A": "1", "OTEL_B": "2", "SECRET": "s",
    "CLAUDECODE": "1", "CLAUDE_CODE_SSE_PORT": "5",
}  # fmt: skip


@pytest.mark.parametrize(
    ("names", "passed"),
    [
        ((), ()),
        (("GH_TOKEN",), ("GH_TOKEN",)),
        (("OTEL_*", "GH_TOKEN", "OTEL_A"), ("OTEL_A", "OTEL_B", "GH_TOKEN")),
        (("MISSING", "NONE_*"), ()),
        (("CLAUDE*",), ()),
    ],
)
def test_R23_names_and_beginnings_select_variables(
    names: tuple[str, ...], passed: tuple[str, ...]
) -> None:
    assert passed_variables(names, PARENT) == passed
    child = child_environment(PARENT, Options(pass_env=passed))
    assert {name for name in child if name in PARENT} == {"HOME", *passed}


@pytest.mark.parametrize("name", ["", "*", "A=B", "A B", "CLAUDECODE", "CLAUDE_CODE_SSE_PORT"])
def test_R23_what_is_no_name_and_what_marks_a_session_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="--pass-env"):
        passed_variables((name,), PARENT)


def test_R23_only_exact_names_are_reported_as_unset() -> None:
    assert unset_variables(("GH_TOKEN", "MISSING", "NONE_*"), PARENT) == ("MISSING",)


async def test_R23_the_cli_gets_the_named_variables_and_no_others(tmp_path: Path) -> None:
    """The real command with a CLI that writes down its environment."""
    dump = tmp_path / "environment.json"
    program = tmp_path / "dump.py"
    program.write_text(
        "import json, os, sys\n"
        "if '--version' in sys.argv: print('2.1.325 (Claude Code)'); sys.exit()\n"
        f"open({str(dump)!r}, 'w').write(json.dumps(dict(os.environ)))\n"
    )
    agent = python_launcher(tmp_path / "claude-dumping", program)
    data = tmp_path / "data"
    data.mkdir()
    (data / "serve.toml").write_text('pass_env = ["OTEL_*"]\n')
    secrets = {"OTEL_TOKEN": "passed", "GH_TOKEN": "not passed", "CLAUDECODE": "1"}
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **secrets}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "fairlead.commands.main", "serve", "--agent", str(agent),
        "--port", "0", "--no-browser", "--data", str(data), "--root", str(tmp_path),
        stdout=asyncio.subprocess.PIPE, env=env,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        link = ""
        async with asyncio.timeout(60):
            while "#code=" not in link:
                line = await process.stdout.readline()
                assert line
                link = line.decode()
        await asyncio.to_thread(start_session, link.split()[-1], tmp_path)
        async with asyncio.timeout(60):
            while not dump.exists() or not dump.read_text().endswith("}"):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    finally:
        process.terminate()
        async with asyncio.timeout(60):
            await process.communicate()
    child = json.loads(dump.read_text())
    assert child["OTEL_TOKEN"] == "passed"
    assert not {"GH_TOKEN", "CLAUDECODE"} & set(child)


def start_session(link: str, folder: Path) -> None:
    """Pair as the documented client does, and start a session over the socket."""
    from websockets.sync.client import connect

    base, _, code = link.partition("/#code=")
    body = json.dumps({"code": code, "name": "test"}).encode()
    request = urllib.request.Request(f"{base}/api/pair", body, {"Origin": base})
    with urllib.request.urlopen(request, timeout=60) as answer:
        token = json.load(answer)["token"]
    with connect(base.replace("http", "ws") + "/ws") as socket:
        hello = {"type": "hello", "protocol": 1, "token": token, "client": "c" * 32}
        socket.send(json.dumps(hello))
        intent = {"kind": "new_session", "cwd": str(folder), "prompt": "hello"}
        socket.send(json.dumps({"type": "intent", "n": 1, "intent": intent}))
        while json.loads(socket.recv(60))["type"] != "intent_result":
            pass
