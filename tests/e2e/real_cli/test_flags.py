"""Every flag in Fairlead's table, on the real CLIs: accepted or unknown as the table says.

With stream-json input but no such output a CLI reads all its flags, complains about the missing
one and ends: one cheap process tells whether it knows them all. What the values do is seen in
one real turn.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import pytest

from fairlead.host.options.argv import build, contents, initialize_fields
from fairlead.host.options.groups import (
    AgentOptions,
    McpOptions,
    SettingsSources,
    SystemPrompt,
    ToolRules,
)
from fairlead.host.options.options import Options
from fairlead.model_api.api import ModelApi
from fairlead.model_api.replies import use
from fairlead.testing.real_cli import RealCli
from fairlead.wire.versions import Version
from tests.e2e.real_cli.raw_cli import RawCli
from tests.host.flag_rows import ID, TABLE
from tests.matrix import share

Complaints = Callable[[Iterable[str]], Awaitable[str]]

READ_THEM_ALL = "--input-format=stream-json requires output-format=stream-json"

WAIT_S = 60.0

ALONE = {"--resume", "--continue", "--from-pr", "--fork-session", "--session-id", "--restricted"}
"""Flags that do not go with all the others: they choose the conversation, or refuse a bypass."""

WITH_INITIALIZE = {"--await-initialize", "--managed-settings-in-initialize"}
"""Flags that say something else where no `initialize` can come; see test_private.py."""


@pytest.fixture
def complaints(cli: RealCli, cli_env: dict[str, str], project: Path) -> Complaints:
    """What the CLI says on stderr to these flags, when it cannot start."""
    (project / "private").mkdir()
    (project / "private" / "subagent-prompt.txt").write_text("Hello.")
    for name in ("p.md", "a.json", "b.json", "s.json", "private/settings.json"):
        (project / name).write_text('{"mcpServers": {}}' if name.endswith(".json") else "Hello.")

    async def ask(tokens: Iterable[str]) -> str:
        process = await asyncio.create_subprocess_exec(
            str(cli.executable), *tokens, "--input-format=stream-json",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=cli_env, cwd=project,
        )  # fmt: skip
        try:
            async with asyncio.timeout(WAIT_S):
                _, stderr = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode == 1
        return stderr.decode()

    return ask


def version_of(cli: RealCli) -> Version:
    version = Version.parse(cli.version)
    assert version is not None
    return version


def claimed(version: Version) -> dict[str, list[str]]:
    """Flag -> its arguments, for all rows that this version should accept."""
    words: dict[str, list[str]] = {}
    for flag, options, _, since in TABLE:
        if version >= Version(2, 1, since) and flag not in {"--x-new", *WITH_INITIALIZE}:
            tokens = [t for t in build(options, version) if t.split("=", 1)[0] == flag]
            if tokens:  # A later version may have another flag for the same option.
                words.setdefault(flag, []).extend(tokens)
    return words


async def test_the_cli_accepts_all_flags_of_the_table_together(
    cli: RealCli, complaints: Complaints
) -> None:
    words = claimed(version_of(cli))
    together = [word for flag in words.keys() - ALONE for word in words[flag]]
    assert len(together) > 30
    assert READ_THEM_ALL in await complaints(sorted(together))


async def test_the_cli_accepts_each_flag_that_conflicts_with_others_alone(
    cli: RealCli, complaints: Complaints
) -> None:
    words = claimed(version_of(cli))
    for flag in sorted(ALONE & words.keys()):
        for word in words[flag]:
            assert READ_THEM_ALL in await complaints([word])
    fork = Options(resume=ID, fork=True, session_id=ID)
    tokens = [t for t in build(fork, version_of(cli)) if not t.startswith("--output-format")]
    assert READ_THEM_ALL in await complaints(tokens)


async def test_the_cli_rejects_an_unknown_flag(complaints: Complaints) -> None:
    answer = await complaints(["--verbose", "--no-such-flag=1"])
    assert "unknown option '--no-such-flag" in answer
    assert READ_THEM_ALL not in answer


@pytest.mark.matrix(target="conformance")
@pytest.mark.parametrize("cli", ["2.1.38"], indirect=True)
async def test_an_old_cli_rejects_the_flags_that_were_added_later(
    cli: RealCli, complaints: Complaints
) -> None:
    newest = claimed(Version(3, 0, 0))
    later = sorted(newest.keys() - claimed(version_of(cli)).keys())
    assert len(later) > 20
    later = share(later, 4)  # Each takes a process.
    slots = asyncio.Semaphore(4)

    async def ask(flag: str) -> str:
        async with slots:
            return await complaints(newest[flag][:1])

    for flag, answer in zip(later, await asyncio.gather(*map(ask, later)), strict=True):
        assert f"unknown option '{flag}" in answer


async def test_values_after_an_equals_sign_arrive(
    cli: RealCli, cli_env: dict[str, str], project: Path, model: ModelApi
) -> None:
    server = {"type": "stdio", "command": "/bin/false"}
    (project / "two.json").write_text(json.dumps({"mcpServers": {"two": server}}))
    options = Options(
        model="claude-sonnet-4-5",
        add_dirs=["/opt", "/srv"],
        rules=ToolRules(disallowed=["Write", "Edit"], allowed=['Bash(echo "a, b" c)', "Read"]),
        mcp_servers={"one": server},
        mcp=McpOptions(config_files=["two.json"], strict=True),
        settings=SettingsSources(sources=[], value={"outputStyle": "Explanatory"}),
        debug_file=project / "debug.log",
    )
    async with started(cli, cli_env, project, options) as process:
        process.say("hi")
        init = await process.until(lambda m: m.get("subtype") == "init")
        await process.until("result")
    assert init["model"] == "claude-sonnet-4-5"
    assert not {"Write", "Edit"} & set(init["tools"])
    assert {one["name"] for one in init["mcp_servers"]} == {"one", "two"}
    assert init["output_style"] == "Explanatory"
    assert (project / "debug.log").stat().st_size > 0
    seen = model.requests[-1].system + str(model.requests[-1].messages)
    assert "/opt" in seen
    assert "/srv" in seen


async def test_tools_can_be_selected_or_all_disabled(
    cli: RealCli, cli_env: dict[str, str], project: Path
) -> None:
    for available, expected in ((["Read", "Bash"], {"Read", "Bash"}), ([], set())):
        options = Options(rules=ToolRules(available=available))
        async with started(cli, cli_env, project, options) as process:
            process.say("hi")
            init = await process.until(lambda m: m.get("subtype") == "init")
            await process.until("result")
        assert set(init["tools"]) == expected


async def test_prompts_agents_and_schema_in_initialize_take_effect(
    cli: RealCli, cli_env: dict[str, str], project: Path, model: ModelApi
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
    options = Options(
        prompt=SystemPrompt(text="- You are a pirate.", append="Always rhyme."),
        agents=AgentOptions(definitions={"mate": {"description": "The mate", "prompt": "Arr"}}),
        json_schema=schema,
        max_budget_usd=1,
    )
    model.push(use("StructuredOutput", n=3))
    async with started(cli, cli_env, project, options) as process:
        answer = await process.request("initialize", **initialize_fields(options, version_of(cli)))
        assert answer["subtype"] == "success"
        process.say("hi")
        init = await process.until(lambda m: m.get("subtype") == "init")
        result = await process.until("result")
    assert "- You are a pirate." in model.requests[0].system
    assert "Always rhyme." in model.requests[0].system
    assert "mate" in init["agents"]
    assert result["structured_output"] == {"n": 3}


async def test_an_agent_defined_by_the_caller_can_be_the_main_agent(
    cli: RealCli, cli_env: dict[str, str], project: Path, model: ModelApi
) -> None:
    """By flag, `--agents` with `--agent` ends 2.1.38 without a word (CLI-112)."""
    pirate = {"description": "a pirate", "prompt": "You are the pirate captain."}
    options = Options(agents=AgentOptions(agent="pirate", definitions={"pirate": pirate}))
    async with started(cli, cli_env, project, options) as process:
        await process.request("initialize", **initialize_fields(options, version_of(cli)))
        process.say("hi")
        await process.until("result")
    assert "You are the pirate captain." in model.requests[0].system


def started(cli: RealCli, env: dict[str, str], project: Path, options: Options) -> RawCli:
    (project / "private").mkdir(exist_ok=True)
    for name, text in contents(options, version_of(cli)).items():
        (project / "private" / name).write_text(text)
    return RawCli(cli, env=env, cwd=project, flags=build(options, version_of(cli)))
