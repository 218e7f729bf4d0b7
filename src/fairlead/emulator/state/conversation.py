"""One conversation with the model: the main one, or that of a subagent.

Holds the messages in the form of the API, and the results that the next request passes on. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from fairlead.emulator.state.inbox import text_of
from fairlead.emulator.state.profile import Profile

__all__ = ["MAIN", "Ask", "Conversation"]

MAIN = ""
"""The id of the main conversation."""


class Ask(Struct, frozen=True, kw_only=True):
    """A request to the model."""

    conversation: str
    prompt: str
    results: Sequence[Mapping[str, Any]] = ()
    """Tool results since the last reply: tool_use_id, text, failed, denied."""
    is_new_prompt: bool = False
    """Whether this is the first request of a turn: its prompt chooses a scene."""
    has_joined: bool = False
    """Whether the prompt joined a turn that was running."""
    is_own: bool = False
    """Whether the CLI wrote the prompt itself, to report a background task."""
    cwd: str = ""


class Conversation(Struct, kw_only=True):
    """The messages of the main conversation or of a subagent."""

    id: str = MAIN
    parent_tool_use_id: str | None = None
    subagent_type: str = ""
    description: str = ""
    is_background: bool = False
    model: str | None = None
    """The model of a subagent whose definition names one."""
    tools: tuple[str, ...] | None = None
    """The only tools of a subagent whose definition lists them."""
    messages: list[dict[str, Any]] = field(default_factory=list)
    _results: list[Mapping[str, Any]] = field(default_factory=list)
    _prompt: str = ""
    _has_new_prompt: bool = False
    _has_joined: bool = False
    _is_own: bool = False

    @property
    def has_reply(self) -> bool:
        """Whether the model has said anything."""
        return any(message["role"] == "assistant" for message in self.messages)

    @property
    def is_main(self) -> bool:
        return self.id == MAIN

    def fields(self, profile: Profile) -> dict[str, Any]:
        """The fields of a subagent's lines besides their message."""
        if self.is_main:
            return {}
        fields: dict[str, Any] = {"parent_tool_use_id": self.parent_tool_use_id}
        if profile.labels_subagent_lines:
            fields |= {
                "agent_id": self.id,
                "subagent_type": self.subagent_type,
                "task_description": self.description,
            }
        return fields

    def add_prompt(self, content: Any, *, joins: bool = False, is_own: bool = False) -> None:
        """A prompt of the user, or of the agent that started the subagent.

        It begins a turn or joins the running one; `is_own` if the CLI wrote it itself.
        """
        self.messages.append({"role": "user", "content": content})
        text = text_of(content)
        self._prompt = text
        self._has_new_prompt = self._has_new_prompt or not joins
        self._has_joined, self._is_own = joins, is_own

    def note(self, text: str) -> None:
        """A text that the CLI itself adds for the model."""
        self.messages.append({"role": "user", "content": [{"type": "text", "text": text}]})

    def add_result(self, block: Mapping[str, Any], *, denied: bool) -> None:
        """The result of a tool."""
        content = block.get("content")
        result = {
            "tool_use_id": block.get("tool_use_id"),
            "text": content if isinstance(content, str) else text_of(content),
            "failed": bool(block.get("is_error")),
            "denied": denied,
        }
        self._results.append(result)
        self.messages.append({"role": "user", "content": [dict(block)]})

    def say(self, message_id: str, block: Mapping[str, Any]) -> None:
        """Add a block of the model to its message."""
        last = self.messages[-1] if self.messages else None
        if last is not None and last.get("id") == message_id:
            last["content"].append(dict(block))
        else:
            self.messages.append({"role": "assistant", "id": message_id, "content": [dict(block)]})

    @property
    def said_blocks(self) -> int:
        """How many blocks the model has said; each of them is a line of its own."""
        return sum(len(m["content"]) for m in self.messages if m["role"] == "assistant")

    def used_tools(self, *, before_last_message: bool = False) -> set[str]:
        """The names of the tools that the model used."""
        replies = [message for message in self.messages if message["role"] == "assistant"]
        return {
            block["name"]
            for reply in (replies[:-1] if before_last_message else replies)
            for block in reply["content"]
            if block["type"] == "tool_use"
        }

    def ask(self, cwd: str) -> Ask:
        """The next request, with all results that came since the last one."""
        request = Ask(
            conversation=self.id,
            prompt=self._prompt,
            results=tuple(self._results),
            is_new_prompt=self._has_new_prompt,
            has_joined=self._has_joined,
            is_own=self._is_own,
            cwd=cwd,
        )
        self._results, self._has_new_prompt, self._has_joined = [], False, False
        return request
