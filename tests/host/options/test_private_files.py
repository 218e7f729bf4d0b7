"""Files for a CLI that only their owner can read, and that are deleted automatically."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fairlead import Options, ProcessError, Session
from fairlead.host.options.private_files import PrivateFiles, private_base
from fairlead.host.process.process import Graces
from tests.host.conftest import Rude

SECRET = "sk-canary-4711"

HOLDER = """
import sys
from fairlead.host.options.private_files import PrivateFiles
files = PrivateFiles.write({"a.txt": "left behind"})
print(files.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def own_runtime_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_C35_the_files_are_for_their_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        files = PrivateFiles.write({"a.json": SECRET})
    finally:
        os.umask(before)
    assert (files.path / "a.json").read_text() == SECRET
    assert mode(files.path / "a.json") == 0o600
    assert mode(files.path) == mode(files.path.parent) == 0o700
    files.remove()
    files.remove()
    assert not files.path.exists()


def test_C35_what_a_killed_process_left_is_swept_and_what_is_in_use_is_not() -> None:
    first = PrivateFiles.write({"a.txt": "mine"})
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        left = Path(holder.stdout.readline().strip())
        PrivateFiles.write({}).remove()
        assert (left / "a.txt").exists(), "its process lives"
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert (left / "a.txt").exists(), "nobody removed it"
    PrivateFiles.write({}).remove()
    assert not left.exists()
    assert (first.path / "a.txt").read_text() == "mine"
    first.remove()


@pytest.mark.parametrize("prepared", ["a link", "open to others"])
def test_C35_no_secret_is_written_into_a_folder_that_others_prepared(
    tmp_path: Path, prepared: str
) -> None:
    base = private_base()
    if prepared == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        base.symlink_to(tmp_path / "elsewhere")
    else:
        base.mkdir()
        base.chmod(0o777)
    with pytest.raises(ProcessError, match="not a folder that only this user can access"):
        PrivateFiles.write({"a.json": SECRET})
    assert not list((tmp_path / "elsewhere").glob("*"))


def cmdline(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


async def test_C35_a_session_has_its_files_while_it_lives(rude: Rude) -> None:
    agent = rude("silent")
    servers = {"a": {"type": "http", "url": "http://127.0.0.1:1/", "headers": {"X": SECRET}}}
    options = Options(
        agent=agent,
        cwd=agent.parent,
        graces=Graces(after_eof=0.5, after_term=0.5),
        mcp_servers=servers,
    )
    async with Session(options) as session:
        assert session.pid is not None
        line = cmdline(session.pid)
        (config,) = private_base().glob("session-*/mcp-servers.json")
        assert str(config) in line
        assert SECRET not in line
        assert json.loads(config.read_text())["mcpServers"] == servers
    assert not list(private_base().glob("session-*"))


async def test_C35_the_files_are_deleted_when_the_cli_ends_even_if_the_session_is_not_closed(
    rude: Rude,
) -> None:
    agent = rude("die")
    servers = {"a": {"command": "x", "env": {"TOKEN": SECRET}}}
    session = Session(Options(agent=agent, cwd=agent.parent, mcp_servers=servers))
    await session.start()
    assert list(private_base().glob("session-*"))
    turn = await session.send("go")
    with pytest.raises(ProcessError):
        [message async for message in turn]
    assert not list(private_base().glob("session-*"))
    await session.close()
