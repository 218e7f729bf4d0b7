"""The same scenario on the emulator and on the real CLI of the same version, side by side.

    async def scenario(host: Host) -> list[Any]:
        await host.turn("go")
        return host.hooks

    replies = [ModelReply(use("Bash", command="ls"))]
    on_cli, emulated = await side_by_side.play(scenario, replies=replies)
    assert emulated == on_cli

Both are bare processes that speak the protocol; a `Host` writes their prompts and answers what
they ask. The scenario returns what is compared: texts and keys, never ids, times or paths.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from fairlead.model_api.api import ModelApi
from fairlead.model_api.replies import Reply, ToolUse
from fairlead.model_api.script import when
from fairlead.testing.emulated import PROTOCOL_FLAGS, EmulatedClaude
from fairlead.testing.real_cli import RealCli
from tests.e2e.real_cli.raw_cli import RawCli

__all__ = ["Host", "ModelReply", "SideBySide", "settings"]

Message = dict[str, Any]
Seen = TypeVar("Seen")


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A reply of the model, in order; or to the subagent whose prompt contains a text."""

    reply: Reply
    to: str | None = None

    def queued(self) -> Message:
        """The reply as the emulator's script has it."""
        blocks = []
        for block in self.reply.blocks:
            if isinstance(block, ToolUse):
                given = {"type": "tool_use", "name": block.name, "input": dict(block.input)}
                blocks.append(given)
            else:
                blocks.append({"type": "text", "text": getattr(block, "text", "")})
        return {"blocks": blocks} | ({} if self.to is None else {"for": self.to})


@dataclass(kw_only=True)
class Host:
    """Talks to one process, and records what it receives."""

    process: RawCli
    project: Path
    version: str
    on_hook: Callable[[Message], Message] = lambda given: {}
    on_mcp: Callable[[Message], Message] = lambda message: {}
    hooks: list[Message] = field(default_factory=list)
    """The inputs of all hook callbacks."""

    @property
    def is_new(self) -> bool:
        return self.version == "2.1.325"

    async def turn(self, prompt: str) -> list[Message]:
        """Run a prompt to its result; gives the lines of the turn."""
        begin = len(self.process.seen)
        self.process.say(prompt)
        await self.until("result")
        return self.process.seen[begin:]

    async def request(self, subtype: str, **fields: Any) -> Any:
        """A control request, and the body of its answer."""
        body = {"subtype": subtype, **fields}
        self.process.send({"type": "control_request", "request_id": subtype, "request": body})
        answer = await self.until("control_response")
        return answer["response"].get("response")

    async def until(self, kind: str) -> Message:
        """Answer what is asked up to a line of this type."""
        while True:
            message = await self.process.until(lambda m: m["type"] in (kind, "control_request"))
            if message["type"] == kind:
                return message
            self._answer(message)

    def _answer(self, message: Message) -> None:
        asked = message["request"]
        match asked["subtype"]:
            case "can_use_tool":
                body = {"behavior": "allow", "updatedInput": asked["input"]}
            case "hook_callback":
                self.hooks.append(asked["input"])
                body = self.on_hook(asked["input"])
            case _:
                number = asked["message"].get("id", 0)
                answer = {"jsonrpc": "2.0", "id": number, **self.on_mcp(asked["message"])}
                body = {"mcp_response": answer}
        self.process.answer(message, body)

    def results(self, lines: Iterable[Message]) -> list[tuple[Any, Any]]:
        """What the model and the host received from each tool."""
        return [
            (block["content"], line.get("tool_use_result"))
            for line in lines
            if line["type"] == "user" and isinstance(line["message"]["content"], list)
            for block in line["message"]["content"]
            if block["type"] == "tool_result"
        ]


Scenario = Callable[[Host], Awaitable[Seen]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """The real CLI and the emulator, to be compared."""

    cli: RealCli
    model: ModelApi
    env: Mapping[str, str]
    project: Path
    folder: Path

    async def play(
        self,
        scenario: Scenario[Seen],
        *,
        replies: Sequence[ModelReply] = (),
        flags: Sequence[str] = (),
    ) -> tuple[Seen, Seen]:
        """What the scenario saw of the real CLI, and of the emulator."""
        script = {"queue": [one.queued() for one in replies], "unmatched": "done"}
        emulated = EmulatedClaude(self.folder, script, version=self.cli.version)
        fake = RealCli(self.cli.version, emulated.executable)
        for one in replies:
            self.model.push(one.reply if one.to is None else when(one.reply, text=one.to))

        async def run(cli: RealCli, project: Path) -> Seen:
            process = RawCli(cli, env=self.env, cwd=project, flags=(*PROTOCOL_FLAGS, *flags))
            async with process:
                return await scenario(Host(process=process, project=project, version=cli.version))

        return await asyncio.gather(run(self.cli, self.project), run(fake, emulated.project))


def settings(**hooks: str) -> tuple[str, str]:
    """Flags that set a command hook for each event."""
    entries = {
        event: [{"hooks": [{"type": "command", "command": command}]}]
        for event, command in hooks.items()
    }
    return "--settings", json.dumps({"hooks": entries})
