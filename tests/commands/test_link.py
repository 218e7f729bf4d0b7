"""Links to a running server: at its start, for Enter in its terminal, and by `fairlead link`."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import websockets

from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.access.owner_channel import SOCKET
from fairlead.server.limits import Limits
from tests.commands.pty_program import Terminal, in_terminal
from tests.forked_programs import program
from tests.server.server_harness import ServerHarness

LINK = re.compile(r"(http://127\.0\.0\.1:\d+)/#code=([\w-]+)")
NOBODY = 65534


def serve(folder: Path, *more: str) -> tuple[str, ...]:
    data = str(folder / "data")
    return ("serve", "--agent", "demo", "--port", "0", "--no-browser", "--data", data, *more)


def shown_link(terminal: Terminal) -> tuple[str, str]:
    """The base address and the code of the link that is shown next."""
    terminal.wait_for("  open ")
    line = terminal.wait_for("\n")
    match = LINK.search(line)
    assert match is not None, line
    return match[1], match[2]


def pair(base: str, code: str) -> int:
    """Redeem a code; gives the HTTP status."""
    request = urllib.request.Request(
        f"{base}/api/pair", json.dumps({"code": code, "name": "test"}).encode(), {"Origin": base}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


def link(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [*program("fairlead.commands.main"), "link", "--data"]
    return subprocess.run(
        [*command, str(folder / "data"), *more],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=folder,
    )


def stop(terminal: Terminal) -> None:
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.wait_for_end() == 0


def test_B13_enter_and_the_command_give_fresh_links_without_a_restart(tmp_path: Path) -> None:
    with in_terminal(*serve(tmp_path), folder=tmp_path) as terminal:
        base, first = shown_link(terminal)
        terminal.wait_for("Press Enter for a fresh link.")
        assert pair(base, first) == 200
        assert pair(base, first) == 401, "a link works once"
        terminal.type("\n")
        again, second = shown_link(terminal)
        assert (again, pair(base, second)) == (base, 200)

        completed = link(tmp_path)
        match = LINK.fullmatch(completed.stdout.strip())
        assert match is not None, completed
        assert (match[1], pair(base, match[2])) == (base, 200)
        viewer = LINK.fullmatch(link(tmp_path, "--role", "viewer").stdout.strip())
        assert viewer is not None

        channel = tmp_path / "data" / SOCKET
        assert stat.S_IMODE(channel.stat().st_mode) == 0o600
        assert stat.S_IMODE(channel.parent.stat().st_mode) & 0o077 == 0
        stop(terminal)
        assert not channel.exists()


def test_B13_the_command_says_that_no_server_runs(tmp_path: Path) -> None:
    missing = link(tmp_path)
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "No server is running" in missing.stderr
    assert "fairlead serve" in missing.stderr
    (tmp_path / "data").mkdir()
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(tmp_path / "data" / SOCKET))
    assert "No server is running" in link(tmp_path).stderr, "of a server that was killed"


ATTEMPT = f"""
import os, socket, sys
fd = os.open(sys.argv[1], os.O_PATH)  # As if the folder were open to everyone.
os.setgid({NOBODY}); os.setuid({NOBODY})
caller = socket.socket(socket.AF_UNIX)
try:
    caller.connect(f"/proc/self/fd/{{fd}}")
    caller.sendall(b"owner\\n")
    print(caller.makefile().readline())
except OSError as problem:
    print("refused", problem)
"""


def test_R5_another_user_of_the_machine_gets_no_link(tmp_path: Path) -> None:
    with in_terminal(*serve(tmp_path), folder=tmp_path) as terminal:
        shown_link(terminal)
        terminal.wait_for("Press Enter")
        assert link(tmp_path).returncode == 0
        channel = tmp_path / "data" / SOCKET
        if os.getuid() == 0:
            for mode in (0o600, 0o666):  # Also if the mode of the socket did not help.
                channel.chmod(mode)
                tried = subprocess.run(
                    [sys.executable, "-c", ATTEMPT, str(channel)],
                    capture_output=True, text=True, timeout=60, check=True,
                )  # fmt: skip
                assert "#code=" not in tried.stdout
                assert "refused" in tried.stdout or "Only the user" in tried.stdout
        stop(terminal)


async def test_B13_a_printed_link_works_for_ten_minutes_and_a_shown_code_for_one(
    tmp_path: Path,
) -> None:
    limits = Limits()
    assert (limits.launch_code_s, limits.code_s) == (600.0, 60.0)
    now = [0.0]
    async with ServerHarness(tmp_path) as harness:
        devices = DeviceRegistry(harness.store, limits, ticks=lambda: now[0])
        code, late = devices.issue_code(), devices.issue_code()
        invited = devices.invite("viewer")
        now[0] = 61.0
        assert await redeemed(devices, invited) is False
        now[0] = 599.0
        assert await redeemed(devices, code) is True
        now[0] = 601.0
        assert await redeemed(devices, late) is False


async def redeemed(devices: Any, code: str) -> bool:
    result = await devices.pair(code, "test", "127.0.0.1")
    return result is not None


@pytest.mark.matrix(target="faults", cases=0)
def test_B13_the_demos_project_and_sessions_survive_a_restart(tmp_path: Path) -> None:
    note = tmp_path / "data-demo" / "project" / "note.txt"
    named = serve(tmp_path)
    chosen = tuple(word for word in named if word not in ("--agent", "demo"))
    # First by its name, then because no claude is installed.
    for start, (command, env) in enumerate(((named, {}), (chosen, {"PATH": str(tmp_path)}))):
        with in_terminal(*command, folder=tmp_path, env=env) as terminal:
            base, code = shown_link(terminal)
            terminal.wait_for("Press Enter")
            asyncio.run(use_demo(base, code, first=start == 0))
            if start == 0:
                note.write_text("still here")
            assert note.read_text() == "still here"
            stop(terminal)


async def use_demo(base: str, code: str, *, first: bool) -> None:
    """Start a session and let it answer; after the restart, find it and let it go on."""
    request = urllib.request.Request(
        f"{base}/api/pair", json.dumps({"code": code, "name": "test"}).encode(), {"Origin": base}
    )
    answer = await asyncio.to_thread(urllib.request.urlopen, request)
    token = json.load(answer)["token"]
    async with (
        asyncio.timeout(60),
        websockets.connect(f"{base.replace('http', 'ws')}/ws", max_size=None) as ws,
    ):
        await ws.send(json.dumps({"type": "hello", "protocol": 1, "token": token, "client": "c"}))
        # The web app offers the tour of the demo by this name.
        lobby: dict[str, Any] = json.loads(await ws.recv())
        assert (lobby["type"], lobby["agent"]) == ("welcome", "demo")
        while lobby.get("type") != "snapshot":
            lobby = json.loads(await ws.recv())
        if first:
            cwd = lobby["state"]["server"]["roots"][0]
            intent = {"kind": "new_session", "cwd": cwd, "prompt": "help"}
        else:
            (session,) = lobby["state"]["sessions"]
            assert session["resume_problem"] is None
            intent = {"kind": "resume", "session": session["id"]}
        await ws.send(json.dumps({"type": "intent", "n": 1, "intent": intent}))
        session_id = ""
        async for raw in ws:
            message = json.loads(raw)
            if message["type"] == "intent_result":
                assert message["ok"], message
                if not first:
                    return
                session_id = message["result"]["session"]
                await ws.send(json.dumps({"type": "open", "document": session_id}))
            turns = turns_in(message) if message.get("document") == session_id else []
            if any(turn.get("outcome") == "success" for turn in turns):
                return


def turns_in(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows and changes of turns in a message."""
    rows = list(message.get("state", {}).get("turns", []))
    rows.extend(
        change.get("fields") or change.get("row") or {}
        for change in message.get("changes", [])
        if change.get("to") == "turns"
    )
    return rows
