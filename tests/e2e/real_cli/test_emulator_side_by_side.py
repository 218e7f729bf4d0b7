"""The emulator compared with the real CLI: hooks, background output and resources.

Scenarios that no recording of both versions shows. Each runs on the real CLI and on the emulator
of the same version, and what is compared must be equal.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from fairlead.model_api.api import ModelApi
from fairlead.model_api.replies import reply, tool, use
from fairlead.testing.real_cli import RealCli
from tests.e2e.real_cli.raw_cli import WAIT_S
from tests.e2e.real_cli.side_by_side import Host, ModelReply, SideBySide, settings
from tests.e2e.real_cli.stdio_server import small_server

EMULATED = pytest.mark.parametrize("cli", ["2.1.38", "2.1.325"], indirect=True)

POLL_S = 0.02
"""Between two looks at a file that another program writes."""

EVENTS = (
    "SessionStart", "SessionEnd", "PreCompact", "SubagentStart", "SubagentStop", "Stop",
    "UserPromptSubmit", "PreToolUse", "PostToolUse",
)  # fmt: skip

AGENT = ModelReply(
    reply(
        tool(
            "Task",
            description="some work",
            prompt="look into it",
            subagent_type="general-purpose",
            run_in_background=False,
        )
    )
)
INSIDE = ModelReply(use("Bash", command="ls", description="d"), to="look into it")

TOLD = ("source", "trigger", "reason", "stop_hook_active", "agent_type", "tool_name")
"""Fields of a hook's input whose values are compared; of the others the names are."""


@pytest.fixture
def side_by_side(
    cli: RealCli, model: ModelApi, cli_env: dict[str, str], project: Path, tmp_path: Path
) -> SideBySide:
    return SideBySide(
        cli=cli, model=model, env=cli_env, project=project, folder=tmp_path / "emulated"
    )


def bones(given: dict[str, Any]) -> tuple[str, list[str], dict[str, Any]]:
    """Of a hook's input: its event, the names of its fields, and the values that tell."""
    named = {name: given[name] for name in TOLD if name in given}
    return given["hook_event_name"], sorted(given), named


@EMULATED
async def test_E23_hooks_of_the_host_are_called_in_the_same_order_with_the_same_input(
    side_by_side: SideBySide, cli: RealCli
) -> None:
    """CLI-811, and what was measured since: subagents, compaction, a cleared session."""

    async def scenario(host: Host) -> Any:
        host.on_hook = _Obstinate()
        events = {event: [{"hookCallbackIds": [event]}] for event in EVENTS}
        await host.request("initialize", hooks=events)
        await host.turn("go")
        compacted = [_said(await host.turn("/compact")) for _ in range(2)]
        if host.is_new:
            await host.turn("/clear")
        await host.turn("again")
        return [bones(given) for given in host.hooks], compacted

    on_cli, emulated = await side_by_side.play(scenario, replies=[AGENT, INSIDE])
    assert emulated == on_cli
    names = [name for name, _, _ in on_cli[0]]
    assert {"SubagentStart", "SubagentStop", "PreCompact", "SessionStart"} <= set(names)
    assert ("SessionEnd" in names) == (cli.version == "2.1.325")


class _Obstinate:
    """Blocks the first end of a subagent and the first compaction."""

    def __init__(self) -> None:
        self._blocked: set[str] = set()

    def __call__(self, given: dict[str, Any]) -> dict[str, Any]:
        event = given["hook_event_name"]
        if event not in ("SubagentStop", "PreCompact") or event in self._blocked:
            return {}
        self._blocked.add(event)
        return {"decision": "block", "reason": "not yet"}


def _said(lines: list[dict[str, Any]]) -> list[Any]:
    """What a host sees of a compaction."""
    kept = ("status", "compact_result", "compact_error", "result")
    states = [
        (line.get("subtype") or line["type"], [line[name] for name in kept if name in line])
        for line in lines
        if line["type"] in ("system", "result")
    ]
    notes = [
        line["message"]["content"]
        for line in lines
        if line["type"] == "user" and "Compacted" in str(line["message"]["content"])
    ]
    return [states, notes]


@EMULATED
async def test_E23_hooks_of_the_settings_run_and_are_reported_in_the_same_way(
    side_by_side: SideBySide, cli: RealCli
) -> None:
    """CLI-811: which are invisible, and that the end of a session is the last of them."""
    shown = ("--include-hook-events",) if cli.version == "2.1.325" else ()
    log = "cat >> hooks.log; echo >> hooks.log"

    async def scenario(host: Host) -> Any:
        await host.turn("go")
        await host.turn("/compact")
        assert await host.process.end_input() == 0
        text = (host.project / "hooks.log").read_text()
        ran = [bones(json.loads(line)) for line in text.splitlines() if line]
        return ran, [_hook(line) for line in host.process.seen if "hook_name" in line]

    flags = (*shown, *settings(**dict.fromkeys(EVENTS, log)))
    on_cli, emulated = await side_by_side.play(scenario, replies=[AGENT, INSIDE], flags=flags)
    assert emulated == on_cli
    assert [name for name, _, _ in on_cli[0]][-1] == "SessionEnd"


def _hook(line: dict[str, Any]) -> tuple[str, str, list[str]]:
    return line["subtype"], line["hook_name"], sorted(line)


@EMULATED
async def test_E23_the_output_of_a_background_command_can_be_followed(
    side_by_side: SideBySide, cli: RealCli
) -> None:
    """Its output is in the file that was named while it still runs, and whole at its end."""

    async def scenario(host: Host) -> Any:
        os.mkfifo(host.project / "go.fifo")
        ((text, _),) = host.results(await host.turn("go"))
        output = Path(text.split("written to: ")[1].split(". You will")[0])
        seen: list[Any] = [await asyncio.to_thread(_holds, output, "oops")]
        seen += host.results(await host.turn("look"))
        with (host.project / "go.fifo").open("w") as gate:
            gate.write("x\n")
        seen.append(await asyncio.to_thread(_holds, output, "code 3" if host.is_new else "two"))
        if host.is_new:
            await host.until("result")
            answer = await host.request("get_task_output", task_id=output.stem)
            seen.append(answer["output"])
        return seen

    command = "echo one; sleep 0.1; echo oops >&2; read x < go.fifo; echo two; exit 3"
    replies = [
        ModelReply(use("Bash", command=command, description="d", run_in_background=True)),
        ModelReply(reply("It runs.")),
        ModelReply(use("TaskOutput", task_id="unknown")),
    ]
    on_cli, emulated = await side_by_side.play(scenario, replies=replies)
    assert emulated == on_cli


def _holds(path: Path, text: str) -> str:
    """Look at a file until it has a text; gives all it has then."""
    deadline = time.monotonic() + WAIT_S
    while not path.exists() or text not in path.read_text():
        assert time.monotonic() < deadline, f"{path} never had {text!r}"
        time.sleep(POLL_S)
    return path.read_text()


def notes(message: dict[str, Any]) -> dict[str, Any]:
    """A server with one note."""
    match message.get("method"):
        case "initialize":
            version = message["params"]["protocolVersion"]
            able: dict[str, Any] = {"tools": {}, "resources": {}}
            info = {"name": "notes", "version": "1"}
            return {
                "result": {"protocolVersion": version, "capabilities": able, "serverInfo": info}
            }
        case "tools/list":
            return {"result": {"tools": []}}
        case "resources/list":
            return {"result": {"resources": [{"name": "one", "uri": "note://one"}]}}
        case "resources/read" if message["params"]["uri"] == "note://one":
            return {"result": {"contents": [{"uri": "note://one", "text": "buy herring"}]}}
        case "resources/read":
            return {"error": {"code": -32002, "message": "no such note"}}
        case _:
            return {"result": {}}


@EMULATED
@pytest.mark.parametrize("kind", ["sdk", "stdio"])
async def test_E23_resources_of_a_server_are_listed_and_read(
    kind: str, side_by_side: SideBySide, cli: RealCli, tmp_path: Path
) -> None:
    """Which tools exist for them, what is requested from the server, what the model receives."""
    server, uri = ("notes", "note://one") if kind == "sdk" else ("small", "ui://small/page")

    async def scenario(host: Host) -> Any:
        asked: list[Any] = []

        def on_mcp(message: dict[str, Any]) -> dict[str, Any]:
            asked.append((message.get("method"), message.get("id")))
            return notes(message)

        host.on_mcp = on_mcp
        named = {"sdkMcpServers": ["notes"]} if kind == "sdk" else {}
        await host.request("initialize", **named)
        lines = await host.turn("go")
        (init,) = [line for line in lines if line.get("subtype") == "init"]
        offered = [name for name in init["tools"] if "McpResource" in name]
        return offered, host.results(lines), asked

    replies = [
        ModelReply(use("ListMcpResourcesTool")),
        ModelReply(use("ListMcpResourcesTool", server=server)),
        ModelReply(use("ListMcpResourcesTool", server="nobody")),
        ModelReply(use("ReadMcpResourceTool", server=server, uri=uri)),
        ModelReply(use("ReadMcpResourceTool", server="nobody", uri=uri)),
    ]
    if kind == "sdk":
        replies.append(ModelReply(use("ReadMcpResourceTool", server=server, uri="note://none")))
    config = {"mcpServers": {"small": small_server(tmp_path / "log")}}
    flags = ("--mcp-config", json.dumps(config)) if kind == "stdio" else ()
    on_cli, emulated = await side_by_side.play(scenario, replies=replies, flags=flags)
    assert emulated == on_cli
    assert bool(on_cli[0]) == (kind == "stdio" or cli.version == "2.1.325")
