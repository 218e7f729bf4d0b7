"""A mini-notation for transcripts: what the CLI says, what the host does, what came of it.

    story = Story().host(prompt("hi")).cli(init(), says("hello"), result("hello"))
    assert story.shown() == ["prompt hi", "text hello"]

Each line takes one second and has a uuid of its own. Builders give plain objects in the CLI's
own spelling, which go through `decode` like any line.
"""

from __future__ import annotations

import itertools
from typing import Any

from fairlead.transcript import Change, Transcript
from fairlead.transcript.reduce import Fed
from fairlead.transcript.state.model import (
    CommandItem,
    Item,
    NoticeItem,
    Pending,
    PromptItem,
    TextItem,
    ThinkingItem,
    ToolItem,
    Turn,
    UnknownItem,
)
from fairlead.wire.blocks import TextBlock
from fairlead.wire.decode import decode_object
from fairlead.wire.inputs import Answer, Prompt, Request

Line = dict[str, Any]

_numbers = itertools.count(1)


def fresh() -> str:
    """A uuid that nothing else has."""
    return f"00000000-0000-4000-8000-{next(_numbers):012d}"


class Story:
    """A transcript and the time that goes by in it."""

    def __init__(self) -> None:
        self.transcript = Transcript()
        self.at = 0.0
        self.changes: list[Change] = []
        """What the last value changed."""

    def feed(self, *values: Fed) -> Story:
        for value in values:
            self.at += 1.0
            self.changes = self.transcript.feed(value, self.at)
        return self

    def cli(self, *lines: Line) -> Story:
        """The CLI writes these lines."""
        return self.feed(*(decode_object(line) for line in lines))

    host = feed

    def items(self) -> tuple[Item, ...]:
        return self.transcript.items

    def item(self, item_id: str) -> Any:
        found = self.transcript.item(item_id)
        assert found is not None, f"no item {item_id}"
        return found

    def tool(self, tool_use_id: str = "tool-1") -> ToolItem:
        found = self.item(tool_use_id)
        assert isinstance(found, ToolItem)
        return found

    def notices(self, kind: str) -> list[NoticeItem]:
        return [
            entry
            for entry in self.items()
            if isinstance(entry, NoticeItem) and entry.notice == kind
        ]

    def prompts(self) -> list[str]:
        """Each prompt with its state."""
        return [
            f"{entry.text} {entry.state}" for entry in self.items() if isinstance(entry, PromptItem)
        ]

    def turns(self) -> tuple[Turn, ...]:
        return self.transcript.turns

    def pending(self) -> tuple[Pending, ...]:
        return self.transcript.pending

    @property
    def state(self) -> str:
        return self.transcript.status.state

    def shown(self) -> list[str]:
        """The items as text."""
        return [_words(item) for item in self.items()]


def _words(item: Item) -> str:
    if isinstance(item, ToolItem):
        return f"tool {item.name} {item.state}"
    if isinstance(item, NoticeItem):
        return f"notice {item.notice}"
    if isinstance(item, UnknownItem):
        return f"unknown {item.type}"
    kinds = {PromptItem: "prompt", TextItem: "text", ThinkingItem: "thinking"}
    kinds[CommandItem] = "command"
    return f"{kinds[type(item)]} {item.text}"


# What the host does


def prompt(text: str = "go", uuid: str | None = None, **fields: Any) -> Prompt:
    return Prompt(uuid=uuid or fresh(), content=(TextBlock(text),), **fields)


def ask(subtype: str, request_id: str = "ours", **fields: Any) -> Request:
    return Request(request_id=request_id, subtype=subtype, fields=fields)


def allow(request_id: str = "asked", **fields: Any) -> Answer:
    body = {"behavior": "allow", "updatedInput": {"command": "ls"}, **fields}
    return Answer(request_id=request_id, response=body)


def deny(request_id: str = "asked", message: str = "no", **fields: Any) -> Answer:
    return Answer(
        request_id=request_id, response={"behavior": "deny", "message": message, **fields}
    )


# What the CLI says


def system(subtype: str, **fields: Any) -> Line:
    return {"type": "system", "subtype": subtype, "uuid": fresh(), "session_id": "s-1", **fields}


def init(version: str = "2.1.325", **fields: Any) -> Line:
    known = {"model": "m", "permissionMode": "default", "cwd": "/p", "tools": ["Bash"]}
    return system("init", claude_code_version=version, **{**known, **fields})


def assistant(
    *blocks: Line, message: str = "msg-1", parent: str | None = None, **fields: Any
) -> Line:
    known = {"id": message, "role": "assistant", "model": "m", "content": list(blocks)}
    return {
        "type": "assistant",
        "uuid": fresh(),
        "parent_tool_use_id": parent,
        "message": {**known, **fields.pop("message_fields", {})},
        **fields,
    }


def says(text: str, message: str = "msg-1", **fields: Any) -> Line:
    return assistant({"type": "text", "text": text}, message=message, **fields)


def thinks(text: str, message: str = "msg-1", **fields: Any) -> Line:
    return assistant({"type": "thinking", "thinking": text}, message=message, **fields)


def tool_use(tool_use_id: str, name: str, input: Any) -> Line:
    return {"type": "tool_use", "id": tool_use_id, "name": name, "input": input}


def calls(
    name: str = "Bash",
    tool_use_id: str = "tool-1",
    input: Any = None,
    message: str = "msg-1",
    **fields: Any,
) -> Line:
    given = {"command": "ls"} if input is None else input
    return assistant(tool_use(tool_use_id, name, given), message=message, **fields)


def user(content: Any, **fields: Any) -> Line:
    known = {"type": "user", "uuid": fresh(), "parent_tool_use_id": None}
    return {**known, "message": {"role": "user", "content": content}, **fields}


def replay(text: str, uuid: str | None = None) -> Line:
    return user([{"type": "text", "text": text}], uuid=uuid or fresh(), isReplay=True)


def gives(
    text: Any = "ok", tool_use_id: str = "tool-1", error: bool = False, **fields: Any
) -> Line:
    block = {"type": "tool_result", "tool_use_id": tool_use_id, "content": text}
    return user([{**block, "is_error": error}], **fields)


def result(text: str | None = "done", **fields: Any) -> Line:
    known = {"subtype": "success", "is_error": False, "result": text, "total_cost_usd": 0.0}
    return {"type": "result", "uuid": fresh(), "session_id": "s-1", **known, **fields}


def asks(
    tool_name: str = "Bash", tool_use_id: str = "tool-1", request_id: str = "asked", **fields: Any
) -> Line:
    given = fields.pop("input", {"command": "ls"})
    body = {"subtype": "can_use_tool", "tool_name": tool_name, "input": given}
    return {
        "type": "control_request",
        "request_id": request_id,
        "request": {**body, "tool_use_id": tool_use_id, **fields},
    }


def withdraws(request_id: str = "asked") -> Line:
    return {"type": "control_cancel_request", "request_id": request_id}


def answers(response: Any = None, request_id: str = "ours", **fields: Any) -> Line:
    body = {"subtype": "success", "request_id": request_id, "response": response, **fields}
    return {"type": "control_response", "response": body}


def lifecycle(uuid: str, state: str, **fields: Any) -> Line:
    known = {"type": "command_lifecycle", "uuid": fresh(), "command_uuid": uuid, "state": state}
    return {**known, **fields}


# Streaming


def event(kind: str, parent: str | None = None, **fields: Any) -> Line:
    body = {"type": kind, **fields}
    return {"type": "stream_event", "uuid": fresh(), "parent_tool_use_id": parent, "event": body}


def message_start(message: str = "msg-1", parent: str | None = None) -> Line:
    return event("message_start", parent, message={"id": message, "model": "m"})


def block_start(block: Line | None = None, index: int = 0, parent: str | None = None) -> Line:
    empty = {"type": "text", "text": ""}
    return event("content_block_start", parent, index=index, content_block=block or empty)


def delta(text: str, index: int = 0, parent: str | None = None) -> Line:
    body = {"type": "text_delta", "text": text}
    return event("content_block_delta", parent, index=index, delta=body)


def thinking_delta(text: str, index: int = 0) -> Line:
    body = {"type": "thinking_delta", "thinking": text}
    return event("content_block_delta", index=index, delta=body)


def json_delta(text: str, index: int = 0) -> Line:
    body = {"type": "input_json_delta", "partial_json": text}
    return event("content_block_delta", index=index, delta=body)


def block_stop(index: int = 0) -> Line:
    return event("content_block_stop", index=index)


def message_stop() -> Line:
    return event("message_stop")
