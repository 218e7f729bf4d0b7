"""No secret that a host gives to a CLI can be read by other users of the machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fairlead import Allow
from fairlead.host.options.groups import AgentOptions, SettingsSources, SystemPrompt
from fairlead.host.process.reaper import MARK
from fairlead.wire.system import Init
from tests.e2e.real_cli.cli_harness import CliHarness, ScriptedDecisions, one_of, play, tool_lines
from tests.e2e.real_cli.stdio_server import small_server

SECRET = "sk-canary-0815"


def command_lines(cli: int) -> dict[int, str]:
    """Of the CLI and everything that carries its mark."""
    mark = next(
        entry
        for entry in Path(f"/proc/{cli}/environ").read_bytes().split(b"\0")
        if entry.startswith(MARK.encode())
    )
    found = {}
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in entry.read_bytes().split(b"\0"):
                line = entry.with_name("cmdline").read_bytes()
                found[int(entry.parent.name)] = line.replace(b"\0", b" ").decode()
        except OSError:
            continue  # It ended meanwhile.
    return found


async def test_C35_no_secret_is_in_a_command_line_and_all_of_them_arrive(
    harness: CliHarness, tmp_path: Path
) -> None:
    server = {**small_server(tmp_path / "log"), "env": {"TOKEN": SECRET}}
    modern = harness.cli.key >= (2, 1, 261)
    agents = AgentOptions(
        definitions={"helper": {"description": "helps", "prompt": f"You know {SECRET}"}},
        subagent_prompt=SECRET if modern else None,
    )
    async with harness.session(
        mcp_servers={"small": server},
        settings=SettingsSources(value={"env": {"CANARY": SECRET}}),
        prompt=SystemPrompt(append=f"The word is {SECRET}."),
        agents=agents,
        on_permission=ScriptedDecisions(Allow()),
    ) as session:
        assert session.pid is not None
        messages = await harness.use(session, "Bash", command='printf "%s" "${#CANARY}"')
        (_, result) = tool_lines(messages)[0]
        assert str(len(SECRET)) in str(result.content), "the settings are in force"
        assert SECRET in harness.model.requests[-1].system, "and so is the prompt"
        (named,) = one_of(Init, messages).mcp_servers or ()
        assert (named.name, named.status) == ("small", "connected")
        lines = command_lines(session.pid)
        assert session.pid in lines
        assert len(lines) >= 2, "the MCP server is among them"
        assert not [line for line in lines.values() if SECRET in line]
        await play(session, "go on")
    assert os.getpid() not in lines


@pytest.mark.parametrize("cli", ["2.1.325"], indirect=True)
async def test_managed_settings_that_go_by_initialize_are_in_force(harness: CliHarness) -> None:
    managed = {"permissions": {"deny": ["Bash(printf:*)"]}, "env": {"CANARY": SECRET}}
    decisions = ScriptedDecisions(Allow())
    async with harness.session(
        settings=SettingsSources(managed=managed), on_permission=decisions
    ) as session:
        assert session.pid is not None
        messages = await harness.use(session, "Bash", command="printf no")
        (_, result) = tool_lines(messages)[0]
        assert result.is_error
        assert decisions.asked == [], "a rule of the policy denied it, nobody was asked"
        assert not [one for one in command_lines(session.pid).values() if SECRET in one]
