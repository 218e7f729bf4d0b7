"""`fairlead serve` where the CLI keeps its settings elsewhere (CLAUDE_CONFIG_DIR), on real CLIs."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import fairlead
from fairlead.model_api.replies import reply
from fairlead.testing.real_cli import RealCli
from fairlead.wire.versions import Version
from tests.e2e.real_cli.cli_harness import TURN_S, CliHarness
from tests.server.conftest import Client

SOURCE = Path(str(fairlead.__file__)).parent.parent
EFFORT_SINCE = Version(2, 1, 38)
START_S = 2 * TURN_S
"""A server needs some 5 s of CPU time until it prints its link: 3 s for itself, 2 s for `--version` of an
old CLI. On a machine whose cores are shared by twenty processes, that is longer than a turn."""


def has_effort(cli: RealCli) -> bool:
    """Whether this version has `--effort`."""
    version = Version.parse(cli.version)
    return version is not None and version >= EFFORT_SINCE


class ServerClient:
    """A client of a server in a process of its own."""

    def __init__(self, base: str, token: str) -> None:
        self._base, self._token = base, token
        served: Any = SimpleNamespace(base=base)
        self.client = Client(served, token)

    async def intend(self, kind: str, **fields: Any) -> dict[str, Any]:
        async with asyncio.timeout(2 * TURN_S):
            result = await self.client.intend(kind, **fields)
        assert result["ok"], result
        return dict(result["result"])

    async def say(self, session: str, text: str, turns: int) -> None:
        """Send a prompt and wait until this many turns are over."""
        uuid = f"00000000-0000-4000-8000-{abs(hash((session, text))) % 10**12:012d}"
        await self.intend("send", session=session, text=text, uuid=uuid)
        await self.turns(session, turns)

    async def turns(self, session: str, count: int) -> None:
        async with asyncio.timeout(2 * TURN_S):
            while True:  # The snapshot of a session is what its clients see.
                await self.client.say(type="open", document=session)
                document = await self.client.hear("snapshot", document=session)
                over = [turn for turn in document["state"]["turns"] if turn["outcome"]]
                if len(over) >= count:
                    assert over[-1]["outcome"] == "success", over[-1]
                    return
                await self.client.hear("changes", document=session)
                await self.client.say(type="close", document=session)

    async def get(self, path: str) -> Any:
        request = urllib.request.Request(
            self._base + path, headers={"Authorization": f"Bearer {self._token}"}
        )
        opened = await asyncio.to_thread(urllib.request.urlopen, request, timeout=30)
        return json.load(opened)


async def printed_link(output: asyncio.StreamReader) -> str:
    """The link that a starting server prints."""
    lines: list[str] = []
    try:
        async with asyncio.timeout(START_S):
            while "#code=" not in (line := (await output.readline()).decode()):
                assert line, f"the server ended before it printed its link: {lines}"
                lines.append(line)
    except TimeoutError:
        raise AssertionError(f"no link within {START_S:g} s; the server printed {lines}") from None
    return line.split()[-1]


@asynccontextmanager
async def serve(harness: CliHarness, config: Path) -> AsyncIterator[ServerClient]:
    """The server as a user starts it, with a fixed environment."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "fairlead.commands.main", "serve", "--no-browser", "--port", "0",
        "--agent", str(harness.cli.executable), "--data", str(harness.project.parent / "data"),
        "--root", str(harness.project),
        cwd=harness.project,
        env={**harness.env, "CLAUDE_CONFIG_DIR": str(config), "PYTHONPATH": str(SOURCE)},
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        base, code = (await printed_link(process.stdout)).split("/#code=")
        body = json.dumps({"code": code, "name": "test"}).encode()
        request = urllib.request.Request(f"{base}/api/pair", body, {"Origin": base})
        paired = await asyncio.to_thread(urllib.request.urlopen, request, timeout=30)
        client = ServerClient(base, json.load(paired)["token"])
        await client.client.connect()
        yield client
        await client.client.socket.close()
    finally:
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(TURN_S):
            await process.stdout.read()
            await process.wait()


async def test_B44_sessions_resume_fork_change_effort_and_are_found_in_another_config_folder(
    harness: CliHarness,
) -> None:
    config = harness.home / "elsewhere"
    said = ("One.", "Two.", "Three.", "Forked.")
    harness.model.push(*map(reply, said))
    async with serve(harness, config) as client:
        begun = await client.intend("new_session", cwd=str(harness.project), prompt="first")
        session = begun["session"]
        await client.turns(session, 1)
        if has_effort(harness.cli):
            changed = await client.intend("set_effort", session=session, effort="low")
            assert changed["effort"] == "low"
        else:
            refused = await client.client.intend("set_effort", session=session, effort="low")
            assert refused["code"] == "bad_message", refused
        await client.say(session, "second", 2)
    assert list(config.glob("projects/*/*.jsonl")), "the CLI kept nothing there"
    assert not (harness.home / ".claude" / "projects").exists()
    async with serve(harness, config) as client:
        await client.intend("resume", session=session)
        await client.say(session, "third", 3)
        assert "Two." in json.dumps(harness.model.requests[-1].messages)
        fork = (await client.intend("fork", session=session))["session"]
        await client.say(fork, "fourth", 4)
        assert "Three." in json.dumps(harness.model.requests[-1].messages)
        found = await client.get(f"/api/search?q={quote('second')}")
        assert {hit["session"] for hit in found["hits"]} >= {session}


async def test_B44_a_session_that_the_cli_made_elsewhere_is_listed_searched_and_resumed(
    harness: CliHarness,
) -> None:
    config = harness.home / "elsewhere"
    harness.model.push(reply("Said in a terminal."), reply("Said here."))
    env = {"CLAUDE_CONFIG_DIR": str(config)}
    async with fairlead.Session(harness.options(env=env)) as terminal:
        await (await terminal.send("a peculiar beginning")).wait()
        known = str(terminal.transcript.session.id)
    (kept,) = config.glob("projects/*/*.jsonl")
    long_ago = kept.stat().st_mtime - 3_600
    os.utime(kept, (long_ago, long_ago))
    async with serve(harness, config) as client:
        session = (await client.intend("resume", session=known))["session"]
        await client.say(session, "go on", 2)
        assert "a peculiar beginning" in json.dumps(harness.model.requests[-1].messages)
