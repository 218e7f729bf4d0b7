"""The demo agent, variables for the CLI, tools with a schema, hook outputs, refused updates."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fairlead import (
    AddRules,
    Allow,
    Options,
    PermissionRequest,
    RuleValue,
    Session,
    ToolContext,
    UsageError,
    tool,
)
from fairlead.errors import OptionError
from fairlead.host.mcp.tool_parameters import ArgumentsError
from fairlead.host.options.environment import child_environment
from fairlead.host.process.process import Graces
from fairlead.host.requests.decisions import write_decision
from fairlead.host.requests.hooks import check_output

SCHEMA = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
QUICK = Graces(after_eof=2.0, after_term=0.5, after_kill=5.0)


async def test_C44_the_demo_is_an_agent_that_needs_no_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    async with asyncio.timeout(60):
        async with Session(Options(agent="demo", cwd=tmp_path, graces=QUICK)) as session:
            turn = await session.send("help")
            assert (await turn).ok
            assert turn.text
    assert (tmp_path / ".cache" / "fairlead" / "demo").is_dir()
    assert not (tmp_path / ".claude").exists()


PARENT = {
    "PATH": "/bin",
    "SSH_AUTH_SOCK": "/s",
    "GITHUB_TOKEN": "t",
    "FAIRLEAD_SCRIPT": "s.yaml",
    "FAIRLEAD_EMULATE": "2.1.38",
}


def test_C28_variables_pass_by_name() -> None:
    child = child_environment(PARENT, Options(pass_env=["SSH_AUTH_SOCK", "NOT_THERE"]))
    assert child["SSH_AUTH_SOCK"] == "/s"
    assert not {"GITHUB_TOKEN", "NOT_THERE", "FAIRLEAD_SCRIPT"} & set(child)
    alone = child_environment(PARENT, Options(pass_env=["SSH_AUTH_SOCK"], inherit_env=False))
    assert alone["SSH_AUTH_SOCK"] == "/s"
    assert "PATH" not in alone
    set_here = Options(pass_env=["SSH_AUTH_SOCK"], env={"SSH_AUTH_SOCK": "mine"})
    assert child_environment(PARENT, set_here)["SSH_AUTH_SOCK"] == "mine"


@pytest.mark.parametrize("agent", ["demo", "fairlead-claude", "/opt/bin/fairlead-claude"])
def test_C28_the_emulator_hears_of_its_script(agent: str) -> None:
    child = child_environment(PARENT, Options(agent=agent))
    assert (child["FAIRLEAD_SCRIPT"], child["FAIRLEAD_EMULATE"]) == ("s.yaml", "2.1.38")


@pytest.mark.parametrize("agent", ["claude", "/opt/fairlead-claude/claude"])
def test_C28_no_other_cli_does(agent: str) -> None:
    assert "FAIRLEAD_SCRIPT" not in child_environment(PARENT, Options(agent=agent))


def context() -> ToolContext:
    return ToolContext(
        server="s", name="t", request_id=1, meta={},
        notify=lambda *_: None, is_withdrawn=lambda: False,
    )  # fmt: skip


async def test_C45_a_tool_with_a_schema_is_given_its_arguments_as_a_dict() -> None:
    @tool("square", "Square a number", schema=SCHEMA)
    async def square(arguments: dict[str, Any]) -> str:
        return str(arguments["n"] ** 2)

    assert square.definition()["inputSchema"] == SCHEMA
    assert await square.run({"n": 3, "more": True}, context()) == "9"
    with pytest.raises(ArgumentsError, match="missing n"):
        await square.run({}, context())
    assert await square({"n": 2}) == "4"


async def test_C45_a_tool_with_a_schema_can_take_the_context_too() -> None:
    @tool("who", "Say who", schema={"properties": {}})
    def who(arguments: dict[str, Any], about: ToolContext) -> str:
        return about.server

    assert who.definition()["inputSchema"]["type"] == "object"
    assert await who.run({}, context()) == "s"


@pytest.mark.parametrize("schema", [{"type": "array"}, "text", {"x": float("nan")}, {"x": {1}}])
def test_C45_a_schema_that_is_not_that_of_an_object_is_refused(schema: Any) -> None:
    with pytest.raises(OptionError, match="schema"):
        tool("t", "d", schema=schema)(lambda arguments: "x")


def test_C45_a_function_that_takes_more_is_refused() -> None:
    with pytest.raises(OptionError, match=r"one parameter, not 2.* gets all arguments as a dict"):
        tool("t", "d", schema=SCHEMA)(lambda a, b: "x")


def test_C46_names_that_python_cannot_spell_are_translated() -> None:
    value = {
        "continue_": False,
        "async_": True,
        "hookSpecificOutput": {"hookEventName_": "X", "updatedInput": {"class_": 1}},
    }
    assert check_output(value) == {
        "continue": False,
        "async": True,
        "hookSpecificOutput": {"hookEventName": "X", "updatedInput": {"class_": 1}},
    }
    assert check_output({"continue": True, "continue_": False})["continue"] is True


def rule(behavior: str) -> AddRules:
    return AddRules(rules=(RuleValue("Bash", "ls"),), behavior=behavior, destination="session")


def test_C47_no_lasting_permission_where_the_cli_forbids_one() -> None:
    suppressed = PermissionRequest(
        id="r", tool_name="Bash", input={"command": "ls"}, tool_use_id="t",
        suggestions=(rule("allow"),), suppress_always_allow_rule=True,
    )  # fmt: skip
    with pytest.raises(UsageError, match=r"no lasting permission .* return Allow\(\)"):
        write_decision(suppressed, Allow(updates=[rule("allow")]))
    assert "updatedPermissions" not in write_decision(suppressed, Allow.always(suppressed))
    assert write_decision(suppressed, Allow(updates=[rule("deny")]))["updatedPermissions"]
    free = PermissionRequest(
        id="r", tool_name="Bash", input={}, tool_use_id="t", suggestions=(rule("allow"),)
    )
    assert write_decision(free, Allow.always(free))["updatedPermissions"]
