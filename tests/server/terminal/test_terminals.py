"""Terminals with a real shell on a real server (docs/server.md, B108 …)."""

from __future__ import annotations

import asyncio
import re
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import websockets

from fairlead.host.process.reaper import MARK
from tests.server.conftest import PATIENT, Client, Served, serving
from tests.server.terminal.screen import Screen, open_terminal
from tests.waiting import until


def processes(mark: str) -> list[int]:
    """The processes with a mark in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}".encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


async def mark_of(screen: Screen) -> str:
    """The mark of a terminal's processes."""
    await screen.type(f"echo m$((40+2))=${MARK}.\n")
    while (found := re.search(r"m42=([\w-]+)\.", screen.text)) is None:
        await screen.take()
    return found[1]


async def ended(client: Client, session: str) -> dict[str, Any]:
    """Wait until the only terminal of a session has ended; returns its row."""
    await client.say(type="terminal_list", session=session)
    while True:
        (row,) = (await client.hear("terminals", session=session))["terminals"]
        if row["ended"]:
            return dict(row)


async def listen(client: Client, heard: list[str]) -> None:
    """Note what a client gets until its socket is closed."""
    while True:
        heard.append(str(await asyncio.wait_for(client.socket.recv(), 30)))


Records = list[tuple[str, str | None, dict[str, Any]]]


async def audited(served: Served, session: str, count: int) -> Records:
    """Wait until there are this many records about terminals."""
    async with asyncio.timeout(60):
        while len(records := await audit(served, session)) < count:
            continue
    return records


async def audit(served: Served, session: str) -> Records:
    """The records about terminals, the oldest first."""
    records = await served.service.store.audit(session)
    return [
        (each.action, each.device, each.details)
        for each in reversed(records)
        if each.action.startswith("terminal_")
    ]


MESSAGES: tuple[dict[str, Any], ...] = (
    {"type": "terminal_list", "session": "s"},
    {"type": "terminal_attach", "terminal": "t"},
    {"type": "terminal_detach", "terminal": "t"},
    {"type": "terminal_input", "terminal": "t", "data": "id\n"},
    {"type": "terminal_size", "terminal": "t", "cols": 80, "rows": 24},
    {"type": "terminal_ack", "terminal": "t", "offset": 0},
)


def intents_about(session: str, terminal: str) -> dict[str, dict[str, Any]]:
    return {"open_terminal": {"session": session}, "close_terminal": {"terminal": terminal}}


async def test_B108_without_the_flag_there_is_no_terminal(served: Served) -> None:
    client = await served.client()
    lobby = await client.hear("snapshot", document="lobby")
    assert lobby["state"]["server"]["terminal"] is False
    session = await client.new_session()
    for kind, fields in intents_about(session, "x").items():
        result = await client.intend(kind, **fields)
        assert (result["ok"], result["code"]) == (False, "unavailable")
        assert "--terminal" in result["message"]
    for message in MESSAGES:
        await client.say(**message)
        assert (await client.hear("error"))["code"] == "unavailable"
    assert await audit(served, session) == []


async def test_B109_a_shell_runs_in_the_folder_of_the_session(with_terminals: Served) -> None:
    client = await with_terminals.client()
    assert (await client.hear("snapshot", document="lobby"))["state"]["server"]["terminal"] is True
    session = await client.new_session()
    screen = await open_terminal(client, session, cols=91, rows=33)
    await screen.run("pwd -P", f"{with_terminals.project.resolve()}\r\n")
    await screen.run("stty size", "33 91\r\n")
    await client.say(type="terminal_size", terminal=screen.terminal, cols=120, rows=40)
    await screen.run("stty size", "40 120\r\n")
    await screen.run("tty", "/dev/pts/")
    # Ctrl-C interrupts the program in the foreground, so the shell has a controlling terminal. The
    # program itself says that it runs: before that the shell may still be the foreground.
    program = "sh -c 'echo wait$((40+2)); exec sleep 600'; echo never"
    await screen.run(program, "wait42\r\n")
    await screen.type("\x03")
    await screen.run("echo after$((40+2))", "after42\r\n")
    assert "\nnever" not in screen.text


async def test_B109_the_folder_must_still_be_allowed(with_terminals: Served) -> None:
    client = await with_terminals.client()
    session = await client.new_session()
    with_terminals.project.rename(with_terminals.project.with_name("moved"))
    with_terminals.project.symlink_to("/usr")
    result = await client.intend("open_terminal", session=session)
    assert (result["ok"], result["code"]) == (False, "forbidden")
    assert await audit(with_terminals, session) == []


async def test_R28_the_shell_gets_no_secret_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("MY_PASSWORD", "secret")
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "secret")
    async with serving(tmp_path, PATIENT, terminal=True) as served:
        client = await served.client()
        screen = await open_terminal(client, await client.new_session())
        text = await screen.run("env; echo done$((40+2))", "done42\r\n")
        assert "secret" not in text
        assert "TERM=xterm-256color" in text
        assert f"HOME={tmp_path}" in text


async def test_B110_a_reload_and_a_second_device_get_the_output_again(
    with_terminals: Served,
) -> None:
    client = await with_terminals.client()
    session = await client.new_session()
    screen = await open_terminal(client, session)
    await screen.run("echo first$((40+2))", "first42\r\n")
    await client.socket.close()
    await client.connect()
    again = await Screen(client, screen.terminal).attach()
    await again.until("first42\r\n")
    assert again.replayed == again.text
    second = await with_terminals.client()
    await second.say(type="terminal_list", session=session)
    (row,) = (await second.hear("terminals", session=session))["terminals"]
    assert row == {"id": screen.terminal, "number": 1, "ended": False, "code": None}
    other = await Screen(second, row["id"]).attach()
    await other.until("first42\r\n")
    await other.run("echo second$((40+2))", "second42\r\n")
    await again.until("second42\r\n")
    assert "second42" not in again.replayed
    # A client that was there before goes on where it was.
    assert again.end is not None
    await client.say(type="terminal_detach", terminal=screen.terminal)
    await other.run("echo third$((40+2))", "third42\r\n")
    rest = await Screen(client, screen.terminal).attach(again.end)
    await rest.until("third42\r\n")
    assert "second42" not in rest.text


async def test_B110_the_stored_output_is_bounded(tmp_path: Path) -> None:
    limits = replace(PATIENT, terminal_scrollback_bytes=20_000)
    async with serving(tmp_path, limits, terminal=True) as served:
        client = await served.client()
        screen = await open_terminal(client, await client.new_session())
        await screen.run("seq 1 20000; echo end$((40+2))", "end42\r\n")
        late = await Screen(await served.client(), screen.terminal).attach()
        await late.until("end42\r\n")
        assert len(late.text) <= 20_000
        assert late.lost + len(late.text) == late.end
        lines = late.text.split("\r\n")
        assert lines[0].isdigit()  # It begins with a whole line.
        assert "20000" in lines


async def test_B111_a_flood_waits_for_a_client_that_draws_and_loses_nothing(
    with_terminals: Served,
) -> None:
    client = await with_terminals.client()
    screen = await open_terminal(client, await client.new_session())
    text = await screen.run("seq 1 200000; echo end$((40+2))", "end42\r\n")
    assert screen.lost == 0
    numbers = [int(line) for line in text.split("\r\n") if line.isdigit()]
    assert numbers[-199_999:] == list(range(2, 200_001))  # A prompt may precede the 1.


async def test_B111_a_client_that_does_not_draw_stops_neither_the_shell_nor_others(
    with_terminals: Served,
) -> None:
    client = await with_terminals.client()
    screen = await open_terminal(client, await client.new_session())
    stuck = Screen(await with_terminals.client(), screen.terminal, acks=False)
    await stuck.attach()
    await client.say(type="terminal_detach", terminal=screen.terminal)
    marker = with_terminals.project / "marker"
    await screen.type(f"yes | head -c 3000000; touch {marker}\n")
    await until(marker.exists)  # The shell was read although nobody drew.
    while (stuck.end or 0) < 128 * 1024:
        await stuck.take()
    # Nothing more arrives without an ack; the next piece says what is missing.
    assert stuck.end is not None
    await stuck.client.say(type="terminal_ack", terminal=screen.terminal, offset=stuck.end)
    while not stuck.lost:
        piece = await stuck.take()
    assert piece["lost"] > 2_000_000


async def test_B111_yes_leaves_the_server_responsive_and_ctrl_c_works(
    with_terminals: Served,
) -> None:
    client = await with_terminals.client()
    other = await with_terminals.client()
    screen = await open_terminal(client, await client.new_session())
    await screen.type("yes\n")
    await screen.until("y\r\n" * 10_000)
    await asyncio.wait_for(other.new_session(), 30)
    await screen.type("\x03")
    await screen.run("echo after$((40+2))", "after42\r\n")


async def test_B111_input_that_the_program_does_not_read_is_refused(with_terminals: Served) -> None:
    client = await with_terminals.client()
    screen = await open_terminal(client, await client.new_session())
    await screen.run("stty raw -echo; echo wait$((40+2)); sleep 600", "wait42")
    for _ in range(6):
        await screen.type("x" * 60_000)
    problem = await client.hear("error")
    assert (problem["code"], "does not read" in problem["message"]) == ("too_large", True)


async def test_B112_terminals_are_limited_by_session_and_by_server(tmp_path: Path) -> None:
    limits = replace(PATIENT, terminals=3, terminals_per_session=2)
    async with serving(tmp_path, limits, terminal=True) as served:
        client = await served.client()
        first, second = await client.new_session(), await client.new_session()
        screens = [await open_terminal(client, first) for _ in range(2)]
        result = await client.intend("open_terminal", session=first)
        assert result["code"] == "too_many"
        assert "This session has 2 terminals" in result["message"]
        await open_terminal(client, second)
        result = await client.intend("open_terminal", session=second)
        assert result["code"] == "too_many"
        assert "The server has 3 terminals" in result["message"]
        closed = await client.intend("close_terminal", terminal=screens[0].terminal)
        assert closed["ok"]
        await open_terminal(client, second)


async def test_B109_the_shell_ignores_no_signal_that_the_server_was_started_to_ignore(
    with_terminals: Served,
) -> None:
    """`nohup` and scripts that start a server in the background ignore SIGHUP and SIGINT."""
    client = await with_terminals.client()
    session = await client.new_session()
    before = {n: signal.signal(n, signal.SIG_IGN) for n in (signal.SIGHUP, signal.SIGQUIT)}
    try:
        screen = await open_terminal(client, session)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    await screen.type("grep SigIgn /proc/self/status; echo end$((40+2))\n")
    text = await screen.until("end42\r\n")
    mask = re.search(r"SigIgn:\s+([0-9a-f]+)", text)
    assert mask is not None, text
    names = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
    assert [n.name for n in names if int(mask[1], 16) & 1 << (n - 1)] == []


async def test_B113_the_exit_code_is_shown_and_another_can_be_started(
    with_terminals: Served,
) -> None:
    client = await with_terminals.client()
    session = await client.new_session()
    screen = await open_terminal(client, session)
    await screen.run("echo last$((40+2)); exit 7", "last42\r\n")
    row = await ended(client, session)
    assert row["code"] == 7
    late = await Screen(client, screen.terminal).attach()
    await late.until("last42\r\n")  # What it said can still be read.
    again = await open_terminal(client, session)
    await client.say(type="terminal_list", session=session)
    (row,) = (await client.hear("terminals", session=session))["terminals"]
    assert (row["id"], row["number"], row["ended"]) == (again.terminal, 2, False)
    await again.run("kill -9 $$", "")
    assert (await ended(client, session))["code"] == -9


@pytest.mark.parametrize("way", ["close", "exit", "delete", "stop"])
async def test_B113_nothing_that_the_shell_started_is_left(tmp_path: Path, way: str) -> None:
    limits = replace(PATIENT, delete_undo_s=0.1)
    async with serving(tmp_path, limits, terminal=True) as served:
        client = await served.client()
        session = await client.new_session()
        screen = await open_terminal(client, session)
        mark = await mark_of(screen)
        await screen.run("(trap '' HUP; setsid sleep 600 &) ; echo up$((40+2))", "up42\r\n")
        await until(lambda: len(processes(mark)) >= 2)
        if way == "close":
            assert (await client.intend("close_terminal", terminal=screen.terminal))["ok"]
        elif way == "exit":
            await screen.type("exit\n")
        elif way == "delete":
            assert (await client.intend("stop", session=session))["ok"]
            result = await client.intend("delete_sessions", sessions=[session])
            assert result["ok"], result
        if way != "stop":
            await until(lambda: not processes(mark))
    await until(lambda: not processes(mark))


async def test_B114_only_owners_have_terminals(with_terminals: Served) -> None:
    owner = await with_terminals.client()
    session = await owner.new_session()
    screen = await open_terminal(owner, session)
    await screen.run("echo here$((40+2))", "here42\r\n")
    for role in ("viewer", "approver", "operator"):
        client = await with_terminals.client(role)
        for kind, fields in intents_about(session, screen.terminal).items():
            result = await client.intend(kind, **fields)
            assert (result["ok"], result["code"]) == (False, "forbidden")
        for message in MESSAGES:
            named = {**message, "session": session} if "session" in message else {
                **message, "terminal": screen.terminal
            }  # fmt: skip
            await client.say(**named)
            assert (await client.hear("error"))["code"] == "forbidden"
    await screen.run("echo still$((40+2))", "still42\r\n")
    assert len(await audit(with_terminals, session)) == 1


async def test_R28_a_revoked_owner_loses_its_terminals_at_once(with_terminals: Served) -> None:
    owner = await with_terminals.client()
    thief = await with_terminals.client()
    welcome = await thief.hear("welcome")
    session = await owner.new_session()
    screen = await open_terminal(owner, session)
    other = await Screen(thief, screen.terminal).attach()
    await other.run("echo mine$((40+2))", "mine42\r\n")
    own = await open_terminal(thief, session)
    mark = await mark_of(own)
    assert processes(mark)
    assert (await owner.intend("revoke_device", device=welcome["device"]))["ok"]
    await screen.run("echo secret$((40+2))", "secret42\r\n")
    heard: list[str] = []
    with pytest.raises(websockets.ConnectionClosed):
        await listen(thief, heard)
    assert "revoked" in heard[-1]
    assert not any("secret42" in message for message in heard)
    await until(lambda: not processes(mark))  # The shell that it opened has ended, too.
    *_, (action, device, details) = await audited(with_terminals, session, 4)
    assert (action, device) == ("terminal_closed", welcome["device"])
    assert (details["terminal"], details["reason"]) == (own.terminal, "revoked")


async def test_B115_the_audit_says_who_opened_joined_and_ended_a_terminal(
    with_terminals: Served,
) -> None:
    first, second = await with_terminals.client(), await with_terminals.client()
    one = (await first.hear("welcome"))["device"]
    two = (await second.hear("welcome"))["device"]
    session = await first.new_session()
    screen = await open_terminal(first, session)
    await screen.run("echo password$((40+2))", "password42\r\n")
    await (await Screen(second, screen.terminal).attach()).until("password42")
    await screen.type("exit 3\n")
    await ended(first, session)
    again = await open_terminal(first, session)
    # The program that starts the shell may still ignore SIGHUP, and would be killed only later.
    await again.run("echo ready$((40+2))", "ready42\r\n")
    assert (await second.intend("close_terminal", terminal=again.terminal))["ok"]
    records = await audited(with_terminals, session, 5)
    folder = str(with_terminals.project.resolve())
    where = {"shell": "/bin/sh", "folder": folder}
    assert records == [
        ("terminal_opened", one, {"terminal": screen.terminal, **where}),
        ("terminal_joined", two, {"terminal": screen.terminal}),
        ("terminal_closed", one, {"terminal": screen.terminal, "code": 3, "reason": "exited"}),
        ("terminal_opened", one, {"terminal": again.terminal, **where}),
        ("terminal_closed", two, {"terminal": again.terminal, "code": -1, "reason": "closed"}),
    ]
    # Neither what was typed nor what was printed is stored anywhere.
    data = with_terminals.project.parent / "data"
    stored = b"".join(path.read_bytes() for path in data.rglob("*") if path.is_file())
    assert b"password42" not in stored
    assert b"password$((" not in stored
