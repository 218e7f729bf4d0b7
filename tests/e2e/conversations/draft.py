"""A host script under construction: what the segments of the generator add to."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

from tests.e2e.conversations.host_script import Data, HostScript

__all__ = ["Draft"]


@dataclass(slots=True)
class Draft:
    """Collects the parts of a script; every segment leaves the process idle."""

    random: random.Random
    segment: int = 0
    flags: list[str] = field(default_factory=list)
    new_flags: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    replies: list[Data] = field(default_factory=list)
    permissions: list[str] = field(default_factory=list)
    hooks: dict[str, list[Any]] = field(default_factory=dict)
    hook_events: dict[str, list[Data]] = field(default_factory=dict)
    servers: list[str] = field(default_factory=list)
    settings: Data = field(default_factory=dict)
    initialize: Data = field(default_factory=dict)
    """More fields of the first `initialize`."""
    steps: list[Data] = field(default_factory=list)
    is_partial: bool = False
    is_last: bool = False
    """Whether no segment may follow: the process has ended or stays busy."""
    uses: int = 0

    def one_of(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # The model

    def reply(self, *blocks: Data, **fields: Any) -> None:
        self.replies.append({"blocks": list(blocks), "segment": self.segment, **fields})

    def fail(self, status: int, **fields: Any) -> None:
        self.replies.append({"error": status, "segment": self.segment, **fields})

    def text(self, text: str = "All of it is done.") -> Data:
        return {"type": "text", "text": text}

    def thinking(self, text: str = "Let me think about it.") -> Data:
        return {"type": "thinking", "thinking": text}

    def tool(self, name: str, **given: Any) -> Data:
        self.uses += 1
        return {"type": "tool_use", "id": f"toolu_{self.uses:03d}", "name": name, "input": given}

    def bash(self, command: str, **given: Any) -> Data:
        return self.tool("Bash", command=command, description="Runs a command", **given)

    # The host

    def step(self, **step: Any) -> None:
        self.steps.append({**step, "segment": self.segment})

    def prompt(self, text: str | None = None, **fields: Any) -> None:
        if text is None:
            text = f"go on with {self.random.randrange(10_000)}"
        self.step(prompt=text, **fields)

    def wait(self, what: str) -> None:
        self.step(wait=what)

    def request(self, subtype: str, **fields: Any) -> None:
        self.step(request={"subtype": subtype, **fields})

    def turn(self, text: str | None = None) -> None:
        """A prompt and its result."""
        self.prompt(text)
        self.wait("result")

    def interrupt(self) -> None:
        self.request("interrupt")

    def allow(self, *tools: str) -> None:
        """Let these tools run without a request."""
        self.flags += ["--allowedTools", ",".join(tools)]

    def finished(self, name: str, theme: str) -> HostScript:
        has_schema = "jsonSchema" in self.initialize or (
            "--json-schema" in self.flags and theme in ("crossings", "combinations")
        )
        if has_schema:
            # Without a valid output, 2.1.38 repeats its demand without end (CLI-512).
            self.reply(self.tool("StructuredOutput", n=1))
        files = dict(self.files)
        if self.settings:
            files.setdefault("home/.claude/settings.json", json.dumps(self.settings))
        first: list[Data] = []
        if self.hook_events or self.servers or self.initialize or self.chance(0.5):
            body: Data = {"subtype": "initialize", **self.initialize}
            if self.hook_events:
                body["hooks"] = self.hook_events
            if self.servers:
                body["sdkMcpServers"] = self.servers
            first = [
                {"request": body, "segment": -1},
                {"wait": "answered", "segment": -1},
            ]
        return HostScript(
            name=name,
            theme=theme,
            flags=self.flags,
            new_flags=self.new_flags,
            env=self.env,
            files=files,
            replies=self.replies,
            permissions=self.permissions,
            hooks=self.hooks,
            servers=self.servers,
            steps=[*first, *self.steps],
        )
