"""One conversation with the model: the main one, or that of a subagent.

Keeps what was said in the form of the API and what has not been told to the model yet. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairlead.emulator.inbox import text_of
from fairlead.emulator.player import MAIN, Ask

__all__ = ["Conversation"]


@dataclass(slots=True, kw_only=True)
class Conversation:
    """Messages, and whose they are."""

    id: str = MAIN
    parent_tool_use_id: str | None = None
    subagent_type: str = ""
    description: str = ""
    is_background: bool = False
    model: str | None = None
    """Of a subagent that has one of its own."""
    messages: list[dict[str, Any]] = field(default_factory=list)
    _results: list[Mapping[str, Any]] = field(default_factory=list)
    _prompt: str = ""
    _has_new_prompt: bool = False

    @property
    def is_main(self) -> bool:
        return self.id == MAIN

    def fields(self, *, modern: bool) -> dict[str, Any]:
        """What the lines of a subagent carry beside their message."""
        if self.is_main:
            return {}
        fields: dict[str, Any] = {"parent_tool_use_id": self.parent_tool_use_id}
        if modern:
            fields |= {
                "agent_id": self.id,
                "subagent_type": self.subagent_type,
                "task_description": self.description,
            }
        return fields

    def hear_user(self, content: Any) -> None:
        """A prompt of the user, or of the one who started the subagent."""
        self.messages.append({"role": "user", "content": content})
        text = text_of(content)
        self._prompt = text
        self._has_new_prompt = True

    def note(self, text: str) -> None:
        """Something that the CLI itself says to the model."""
        self.messages.append({"role": "user", "content": [{"type": "text", "text": text}]})

    def hear_result(self, block: Mapping[str, Any], *, denied: bool) -> None:
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
        """A block of the model; blocks of one message are kept together."""
        last = self.messages[-1] if self.messages else None
        if last is not None and last.get("id") == message_id:
            last["content"].append(dict(block))
        else:
            self.messages.append({"role": "assistant", "id": message_id, "content": [dict(block)]})

    def ask(self, cwd: str) -> Ask:
        """The next request; what it tells is then told."""
        request = Ask(
            conversation=self.id,
            prompt=self._prompt,
            results=tuple(self._results),
            is_new_prompt=self._has_new_prompt,
            cwd=cwd,
        )
        self._results, self._has_new_prompt = [], False
        return request
