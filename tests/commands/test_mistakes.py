"""Mistakes on a command line: one line that says what is wrong and what to do, no traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forked_programs import program

NOBODY = 65534

WITHOUT_RIGHTS = f"""
import os, sys
import fairlead.commands.serve, fairlead.commands.run, fairlead.commands.main, encodings.idna
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
sys.exit(fairlead.commands.main.main(sys.argv[1:]))
"""


def fairlead(
    tmp_path: Path,
    *arguments: str | Path,
    env: dict[str, str] | None = None,
    typed: bytes = b"",
    command: list[str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Where there is no `claude`."""
    completed = subprocess.run(
        [*(command or program("fairlead.commands.main")), *map(str, arguments)],
        input=typed,
        env={"HOME": str(tmp_path), "PATH": "/nowhere", **(env or {})},
        cwd=tmp_path,
        capture_output=True,
        timeout=100,
        check=False,
    )
    out, complaint = completed.stdout.decode(), completed.stderr.decode()
    assert "Traceback" not in complaint
    return subprocess.CompletedProcess(completed.args, completed.returncode, out, complaint)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user of the machine can reach, and below it one that no other user
    can."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "closed").mkdir(mode=0)
        yield folder


def refused_without_rights(
    folder: Path, *arguments: str | Path, env: dict[str, str] | None = None
) -> str:
    """As another user than root, to whom no folder is closed."""
    command = None if os.getuid() else [sys.executable, "-c", WITHOUT_RIGHTS]
    completed = fairlead(folder, *arguments, env=env, command=command)
    assert completed.returncode == 2
    assert completed.stdout == ""
    return completed.stderr


def refused(
    tmp_path: Path, *arguments: str | Path, env: dict[str, str] | None = None, code: int = 2
) -> str:
    completed = fairlead(tmp_path, *arguments, env=env)
    assert completed.returncode == code
    assert completed.stdout == ""
    return completed.stderr


@pytest.mark.parametrize("command", [["run", "hi"], ["run", "--json", "hi"], ["chat"]])
def test_without_claude_the_demo_is_named_and_not_used(tmp_path: Path, command: list[str]) -> None:
    complaint = refused(tmp_path, *command)
    assert "`claude` was not found on PATH" in complaint
    assert "--agent demo" in complaint


@pytest.mark.matrix(target="faults", cases=2)
@pytest.mark.parametrize("command", [["run", "hi"], ["chat"]])
@pytest.mark.parametrize("agent", ["demo", "claude"])
def test_a_folder_to_work_in_must_be_there(tmp_path: Path, command: list[str], agent: str) -> None:
    complaint = refused(tmp_path, *command, "--agent", agent, "--cwd", "nowhere")
    assert "--cwd: 'nowhere' is not a folder" in complaint


def test_a_folder_that_cannot_be_entered_is_named(folder: Path) -> None:
    closed = folder / "closed"
    complaint = refused_without_rights(folder, "run", "hi", "--agent", "demo", "--cwd", closed)
    assert f"--cwd: you may not read the folder {str(closed)!r}" in complaint


@pytest.mark.matrix(target="faults", cases=2)
@pytest.mark.parametrize("port", ["99999", "-1", "65536", "http", "²"])
def test_a_port_must_be_one(tmp_path: Path, port: str) -> None:
    complaint = refused(tmp_path, "serve", f"--port={port}")
    assert f"argument --port: {port!r} is not a port; choose one from 0 to 65535" in complaint


def test_a_data_folder_must_be_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert "is a file, not a folder" in refused(tmp_path, "serve", "--data", file, code=21)
    complaint = refused(tmp_path, "serve", "--data", file / "below")
    assert "cannot create the data folder" in complaint
    assert "--data" in complaint


def test_a_data_folder_must_be_usable(folder: Path) -> None:
    closed = folder / "closed"
    complaint = refused_without_rights(folder, "serve", "--data", closed)
    assert "you may not read and write the data folder" in complaint
    complaint = refused_without_rights(folder, "serve", env={"HOME": str(closed)})
    assert "cannot create the data folder" in complaint
    assert "Choose another folder with --data." in complaint


def test_a_certificate_and_its_key_are_loaded_before_a_link_is_printed(tmp_path: Path) -> None:
    papers = tmp_path / "odd.pem"
    papers.write_text("no certificate")
    assert "--certificate: cannot read 'nope.pem': No such file" in refused(
        tmp_path, "serve", "--certificate", "nope.pem"
    )
    assert "--key: cannot read 'nope.pem': No such file" in refused(
        tmp_path, "serve", "--certificate", papers, "--key", "nope.pem"
    )
    assert "for TLS" in refused(tmp_path, "serve", "--certificate", papers, "--key", papers)
    assert "--key needs --certificate" in refused(tmp_path, "serve", "--key", papers)


def test_a_root_must_be_a_folder(tmp_path: Path) -> None:
    assert "--root: 'nowhere' is not a folder" in refused(tmp_path, "serve", "--root", "nowhere")


def test_an_address_of_another_machine_is_not_called_a_taken_port(tmp_path: Path) -> None:
    flags = ("--host", "192.0.2.77", "--i-understand-plain-http", "--agent", "demo")
    completed = fairlead(
        tmp_path, "serve", *flags, "--no-browser", env={"PATH": os.environ["PATH"]}
    )
    assert completed.returncode == 2
    assert "This machine does not have that address; choose another --host." in completed.stderr


def test_a_variable_that_is_not_set_is_named(tmp_path: Path) -> None:
    assert "--env: NOPE is not set" in refused(tmp_path, "run", "hi", "--env", "NOPE")
    assert "does not start with the name" in refused(tmp_path, "run", "hi", "--env", "=x")


def test_help_keeps_capital_letters() -> None:
    completed = subprocess.run(
        [*program("fairlead.commands.main"), "discover", "--help"], capture_output=True, text=True
    )
    assert (
        "List message types of the installed CLI that Fairlead does not know." in completed.stdout
    )


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("flags", [["run", "help"], ["run", "--json", "help"], ["doctor"]])
def test_a_reader_that_leaves_ends_the_program_quietly(tmp_path: Path, flags: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    env = {**os.environ, "HOME": str(tmp_path)}
    completed = subprocess.run(
        [*program("fairlead.commands.main"), *flags, "--agent", "demo"],
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        env=env,
        text=True,
        timeout=100,
        check=False,
    )
    os.close(writing)
    assert completed.returncode == 141
    assert [
        line for line in completed.stderr.splitlines() if "using the demo agent" not in line
    ] == []


def test_variables_reach_the_cli_by_name_and_by_value(tmp_path: Path) -> None:
    """And no others: everything that the CLI has is something that a model can read."""
    from fairlead.emulator.process.launcher import write_launcher

    script = tmp_path / "script.yaml"
    script.write_text(
        "- steps:\n"
        "    - use: Bash\n"
        "      input: {command: 'echo \"[$PASSED][$GIVEN][$KEPT_BACK]\"'}\n"
        "      as: told\n"
        "    - say: '{{told.text}}'\n"
    )
    agent = write_launcher(tmp_path / "bin" / "claude", {"FAIRLEAD_SCRIPT": str(script)})
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{"permissions":{"allow":["Bash"]}}')
    flags = ("--agent", str(agent), "--cwd", str(tmp_path))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PASSED": "one", "KEPT_BACK": "no"}
    completed = subprocess.run(
        [
            *program("fairlead.commands.main"),
            "run",
            "go",
            *flags,
            "--env",
            "PASSED",
            "--env",
            "GIVEN=two=2",
        ],
        stdin=subprocess.DEVNULL,
        env=env,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert "[one][two=2][]" in completed.stdout, completed.stdout + completed.stderr


def test_doctor_looks_at_the_demo(tmp_path: Path) -> None:
    assert shutil.which("git")
    completed = subprocess.run(
        [*program("fairlead.commands.main"), "doctor", "--agent", "demo"],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert completed.returncode == 0
    assert "✓ the demo agent: " in completed.stdout


def test_a_prompt_from_a_pipe_may_hold_any_bytes(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"]}
    completed = fairlead(tmp_path, "run", "-", "--agent", "demo", env=env, typed=b"help \xff")
    assert "I am the demo" in completed.stdout


def test_a_terminal_that_cannot_show_a_character_gets_its_code(tmp_path: Path) -> None:
    recording = Path(__file__).parents[1] / "recordings" / "2.1.325" / "perm_allow.ndjson"
    started = [sys.executable, "-m", "fairlead.commands.main"]  # Its start reads the variable.
    completed = fairlead(
        tmp_path, "replay", recording, env={"PYTHONIOENCODING": "ascii"}, command=started
    )
    assert completed.returncode == 0
    assert "\\u203a go" in completed.stdout
