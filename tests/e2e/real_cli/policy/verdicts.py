"""What a real CLI decides about the calls of a scenario: allow, ask or deny.

The scripted model asks for many tools in one reply. Every permission request is denied, so that
calls that ask never run; calls that the CLI allows run in the sandbox, where they do nothing. A call
that fails before the CLI checks its permission (its input is invalid, or this version does not have
the tool) has no verdict and is not counted.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

from fairlead.model_api.api import ModelApi
from fairlead.model_api.replies import ToolUse, reply
from fairlead.model_api.script import when
from fairlead.testing.hermetic import hermetic_env
from fairlead.testing.real_cli import RealCli
from tests.e2e.real_cli.policy.layouts import Workspace
from tests.e2e.real_cli.policy.sandbox import IDLE_SHELL, sandboxed
from tests.e2e.real_cli.policy.scenario import Scenario
from tests.e2e.real_cli.raw_cli import FLAGS, RawCli
from tests.e2e.real_cli.stdio_server import small_server

__all__ = ["ALLOW", "ASK", "DENY", "verdicts"]

ALLOW, ASK, DENY = "allow", "ask", "deny"

BATCH = 25
"""Tool uses in one reply of the model."""
SMALL_BATCH = 8
"""The same in the modes plan and auto: 2.1.325 ends a turn after ten refusals of its classifier."""

_DENIED = (
    "has been denied",
    "denied by your permission settings",
    "is in a directory that is denied",
)
_NOT_CHECKED = (
    "InputValidationError", "has not been read yet", "File does not exist", "Unknown skill",
    "is not a prompt-based skill", "already in use", "Invalid URL", "is a directory", "No changes to make",
    "is a UNC path", "Cannot create new file", "unknown tool", "not a valid", "does not exist",
    "not found", "cannot be used with Skill", "device file", "Error calling tool", "tool_use_error>",
)  # fmt: skip


_TOO_MUCH = ("--include-partial-messages", "--replay-user-messages")
"""Flags whose messages are not needed here and cost time for each call."""


class _Sandboxed(RawCli):
    wait_s = 600.0
    """A turn has many calls, and the machine may be busy with other tests."""

    def wrap(self, workspace: Workspace) -> None:
        read_only = [workspace.settings_file("user")]
        self._command = tuple(sandboxed(list(self._command), workspace.home, read_only))


async def verdicts(
    scenario: Scenario, cli: RealCli, workspace: Workspace, notes: dict[int, str] | None = None
) -> list[str | None]:
    """The verdict on each call; None for a call that the CLI did not check."""
    shell = workspace.root / "shell" / "bash"
    shell.parent.mkdir()
    shell.write_text(IDLE_SHELL)
    shell.chmod(0o755)
    flags = tuple(flag for flag in FLAGS if flag not in _TOO_MUCH)
    flags = (*flags, *workspace.flags(), "--strict-mcp-config", *_servers(scenario, workspace))
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ModelApi())
        env = hermetic_env(workspace.home, model.base_url, IS_SANDBOX="1", SHELL=str(shell))
        process = _Sandboxed(cli, env=env, cwd=workspace.project, flags=flags)
        process.wrap(workspace)
        await stack.enter_async_context(process)
        watch = _Watch(process, scenario)
        batch = SMALL_BATCH if scenario.mode in ("plan", "auto") else BATCH
        for start in range(0, len(scenario.calls), batch):
            numbers = range(start, min(start + batch, len(scenario.calls)))
            while missing := [number for number in numbers if not watch.is_settled(number)]:
                uses = [_use(workspace, scenario, number) for number in missing]
                text = f"batch {watch.turns}"
                model.push(when(reply(*uses), text=text, tool_result=False))
                if not await watch.turn(text):
                    break
    if notes is not None:
        notes.update(watch.texts)
    return [watch.verdict(number) for number in range(len(scenario.calls))]


def _servers(scenario: Scenario, workspace: Workspace) -> tuple[str, ...]:
    """The flags for the MCP servers, which are started only for scenarios that call their tools."""
    if not any("mcp" in call.tool.lower() for call in scenario.calls):
        return ()
    server = small_server(workspace.home / "tmp" / "mcp.log")
    named = {"srv": server, "other": server, "srv__x": server}
    return "--mcp-config", json.dumps({"mcpServers": named})


def _use(workspace: Workspace, scenario: Scenario, number: int) -> ToolUse:
    call = scenario.calls[number]
    return ToolUse(
        name=call.tool, input=workspace.real(dict(call.input)), id=f"toolu_case_{number}"
    )


class _Watch:
    """Follows the messages of one process."""

    def __init__(self, process: RawCli, scenario: Scenario) -> None:
        self._process, self._scenario = process, scenario
        self._asked: set[str] = set()
        self._denied: set[str] = set()
        self._results: dict[str, tuple[bool, str]] = {}
        self.turns = 0

    @property
    def texts(self) -> dict[int, str]:
        """The result of each call as text, for looking into a case."""
        return {int(key.rpartition("_")[2]): text for key, (_, text) in self._results.items()}

    def is_settled(self, number: int) -> bool:
        """Whether the call has a result that is its own."""
        key = f"toolu_case_{number}"
        if key in self._asked or key in self._denied:
            return True
        return key in self._results and not _is_cancelled(self._results[key][1])

    async def turn(self, text: str) -> bool:
        """Run one turn and deny every request; whether it settled anything."""
        before = sum(self.is_settled(number) for number in range(len(self._scenario.calls)))
        self.turns += 1
        self._process.say(text)
        while True:
            message = await self._process.until(
                lambda m: m["type"] in ("control_request", "user", "result")
            )
            if message["type"] == "control_request":
                self._answer(message)
            elif message["type"] == "user":
                self._read_results(message)
            else:
                denials = message.get("permission_denials", ())
                self._denied |= {denial["tool_use_id"] for denial in denials}
                break
        await asyncio.sleep(0)
        after = sum(self.is_settled(number) for number in range(len(self._scenario.calls)))
        return after > before

    def _answer(self, message: dict[str, Any]) -> None:
        request = message["request"]
        if request["subtype"] == "can_use_tool":
            self._asked.add(request["tool_use_id"])
            self._process.answer(message, {"behavior": "deny", "message": "no"})
        else:
            self._process.answer(message, {"action": "cancel"})

    def _read_results(self, message: dict[str, Any]) -> None:
        content = message["message"]["content"]
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "tool_result":
                text = json.dumps(block.get("content"), ensure_ascii=False)
                key = block["tool_use_id"]
                if key not in self._results or _is_cancelled(self._results[key][1]):
                    self._results[key] = (bool(block.get("is_error")), text)

    def verdict(self, number: int) -> str | None:
        """Allow, ask or deny; None if the call was not checked."""
        key = f"toolu_case_{number}"
        if key in self._asked:
            return ASK
        failed, text = self._results.get(key, (True, "no result"))
        if key in self._denied or any(sign in text for sign in _DENIED):
            return DENY
        if "No such tool available" in text:
            return DENY if self._is_taken_away(self._scenario.calls[number].tool) else None
        if not failed:
            return ALLOW
        if "EROFS" in text or "read-only file system" in text:
            return ALLOW
        if text == "no result" or _is_cancelled(text) or any(sign in text for sign in _NOT_CHECKED):
            return None
        return ALLOW

    def _is_taken_away(self, tool: str) -> bool:
        """Whether a rule that denies the whole tool has removed it from the list of tools."""
        names = {tool, "Task", "Agent"} if tool in ("Task", "Agent") else {tool}
        for _, behavior, rule in self._scenario.rules:
            name, _, content = rule.strip().partition("(")
            if behavior != "deny" or content not in ("", "*)", "**)"):
                continue
            prefix = name.rstrip("*")
            pattern = name != prefix or name.startswith("mcp__")
            if name in names or (pattern and tool.startswith(prefix)):
                return True
        return False


def _is_cancelled(text: str) -> bool:
    return "ancelled" in text or "ibling tool call" in text or "was not executed" in text
