"""The server is killed with -9 while a shell runs in one of its terminals."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from tests.faults.kill_harness import pair, processes_with
from tests.faults.server_forker import ServerForker
from tests.server.conftest import Client
from tests.server.terminal.screen import Screen
from tests.waiting import until


@dataclass(frozen=True)
class _Place:
    """What a client needs to know of a server."""

    base: str
    project: Path


async def _client(
    forker: ServerForker, project: Path, data: Path, *flags: str
) -> tuple[Client, int]:
    """An owner's client of a new server, and the server's process."""
    server = await forker.serve(
        "--agent", "demo", "--port", "0", "--data", str(data), "--root", str(project), *flags
    )
    token = await asyncio.to_thread(pair, server)
    client = Client(_Place(server.base, project), token)  # type: ignore[arg-type]
    return await client.connect(), server.pid


async def test_B113_a_killed_server_leaves_no_shell_behind(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    async with ServerForker(tmp_path) as forker:
        client, pid = await _client(forker, project, tmp_path / "data", "--terminal")
        session = await client.new_session()
        result = await client.intend("open_terminal", session=session)
        assert result["ok"], result
        screen = await Screen(client, result["result"]["terminal"]).attach()
        nap = "6125.4171"
        await screen.type(f"(trap '' HUP TERM; setsid sleep {nap} &) ; sleep {nap}\n")
        await until(lambda: len(processes_with(nap)) >= 2)
        (server,) = (each for each in forker._started if each.pid == pid)
        server.kill()
        await forker.ended(server)
        await until(lambda: processes_with(nap) == [])


async def test_B108_the_command_offers_terminals_only_with_its_flag(tmp_path: Path) -> None:
    project, data = tmp_path / "project", tmp_path / "data"
    project.mkdir()
    data.mkdir()
    async with ServerForker(tmp_path) as forker:
        for text, flags, offered in (
            ("", (), False),
            ("", ("--terminal",), True),
            ("terminal = true\n", (), True),
            ("terminal = false\n", (), False),
        ):
            (data / "serve.toml").write_text(text)
            client, pid = await _client(forker, project, data, *flags)
            lobby = await client.hear("snapshot", document="lobby")
            assert lobby["state"]["server"]["terminal"] is offered
            await client.socket.close()
            (server,) = (each for each in forker._started if each.pid == pid)
            server.kill(15)
            await forker.ended(server)
