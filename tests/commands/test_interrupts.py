"""SIGINT ends each program of Fairlead, also if a shell script started it in the background.

Such a shell makes its children ignore SIGINT; the programs are started in the same way here.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

LIMIT_S = 60


@contextmanager
def in_background(tmp_path: Path, *module: str) -> Iterator[subprocess.Popen[str]]:
    """A program whose parent ignores SIGINT."""
    command = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh", sys.executable, *module]
    env = {**os.environ, "HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, env=env, cwd=tmp_path, text=True
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def read_until(process: subprocess.Popen[str], words: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if words in line:
            return
    pytest.fail(f"it ended without {words!r}: {process.stderr and process.stderr.read()}")


def interrupted(process: subprocess.Popen[str]) -> int:
    process.send_signal(signal.SIGINT)
    # Not `communicate`, which closes its input: a chat would end by that instead.
    process.wait(LIMIT_S)
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
    return process.returncode


FAIRLEAD = ("-m", "fairlead.commands.main")


def test_sigint_ends_the_server(tmp_path: Path) -> None:
    flags = ("serve", "--agent", "demo", "--port", "0", "--no-browser", "--data", str(tmp_path))
    with in_background(tmp_path, *FAIRLEAD, *flags) as server:
        read_until(server, "Ctrl-C")
        assert interrupted(server) == 0


def test_sigint_ends_a_single_prompt(tmp_path: Path, slow_agent: Path) -> None:
    flags = ("run", "--json", "--agent", str(slow_agent), "--cwd", str(tmp_path), "slow")
    with in_background(tmp_path, *FAIRLEAD, *flags) as run:
        read_until(run, '"init"')
        assert interrupted(run) == 130


def test_sigint_ends_a_chat(tmp_path: Path, slow_agent: Path) -> None:
    flags = ("chat", "--agent", str(slow_agent), "--cwd", str(tmp_path))
    with in_background(tmp_path, *FAIRLEAD, *flags) as chat:
        read_until(chat, "CLI 2.")
        assert interrupted(chat) == 130


def test_sigint_ends_the_model_api(tmp_path: Path) -> None:
    with in_background(tmp_path, "-m", "fairlead.model_api.api") as api:
        read_until(api, "http://127.0.0.1")
        assert interrupted(api) == 0


def test_sigint_ends_the_emulator(tmp_path: Path) -> None:
    flags = ("--output-format", "stream-json", "--input-format", "stream-json", "--verbose", "-p")
    with in_background(tmp_path, "-m", "fairlead.emulator", *flags) as claude:
        assert claude.stdin is not None
        claude.stdin.write('{"type":"user","message":{"role":"user","content":"help"}}\n')
        claude.stdin.flush()
        read_until(claude, '"result"')
        assert interrupted(claude) == 0


def test_sigint_ends_an_isolated_command(tmp_path: Path) -> None:
    # Not Python: a signal right before its `sleep` begins is noticed only when that is over.
    command = ("/bin/sh", "-c", "echo ready; exec sleep 600")
    flags = ("-m", "fairlead.testing.isolated", "--", *command)
    with in_background(tmp_path, *flags) as process:
        read_until(process, "ready")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT_S)
        assert process.returncode in (-signal.SIGINT, 130)


@pytest.fixture
def slow_agent(tmp_path: Path) -> Path:
    """The emulator, with an answer that takes ten minutes."""
    from fairlead.emulator.process.launcher import write_launcher

    script = tmp_path / "slow.yaml"
    script.write_text(
        "scenes:\n  - when: slow\n    steps:\n      - wait: 600\n      - say: Done.\n"
    )
    return write_launcher(tmp_path / "bin" / "claude", {"FAIRLEAD_SCRIPT": str(script)})
