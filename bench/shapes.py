"""Lines of CLI 2.1.325 as plain objects, one function for each shape.

The shapes are those of the recordings 2.1.325/partial, tools_files, tools_bash and tools_search.
`Source` supplies ids and words; the same seed gives the same ones. Above: `traffic`, which puts
the lines in order.
"""

from __future__ import annotations

import random
import uuid
from typing import Any

__all__ = [
    "Line",
    "Source",
    "assistant",
    "block_delta",
    "block_start",
    "block_stop",
    "message_start",
    "status",
    "stream_event",
    "thinking_tokens",
    "tool_result",
    "tool_use",
]

Line = dict[str, Any]

SESSION = "4cf9785f-b073-4b06-b218-5a5970d774fa"
TIMESTAMP = "2026-11-15T18:32:10.356Z"
USAGE = {
    "input_tokens": 100,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 1,
}

PROSE = (
    "the test reads a file and then it waits for the other side, so the pipe stays open: we "
    "keep each line, check the empty case, call `run()` twice and return early if nothing came"
)
NOT_ASCII = (" —", " naïve", " “raw”")
NOT_ASCII_SHARE = 0.05
"""English prose has a dash or a curved quote in about one of twenty deltas."""

CODE = (
    'def read(path: str, limit: int = 10) -> "list[str]":',
    '    """Give the lines of a file, without their ends."""',
    '    with open(path, encoding="utf-8") as file:',
    "        return [line.rstrip('\\n') for line in file][:limit]",
    "",
    '\tif (value == null || value.length > 80) { return "\\\\"; }  // never more than 80',
)


class Source:
    """Ids and words that look random and are the same for each seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._words = PROSE.split(" ")

    def uuid(self) -> str:
        """The next uuid."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def words(self, count: int) -> str:
        """A few words of prose, each with a space before it."""
        text = "".join(f" {choice}" for choice in self._random.choices(self._words, k=count))
        if self._random.random() < NOT_ASCII_SHARE:
            text += self._random.choice(NOT_ASCII)
        return text

    def code(self, size: int) -> str:
        """Lines of code, of about `size` characters together."""
        lines: list[str] = []
        while size > 0:
            lines.append(self._random.choice(CODE))
            size -= len(lines[-1]) + 1
        if self._random.random() < NOT_ASCII_SHARE:
            lines.append("# ©")
        return "\n".join(lines)


def status(source: Source) -> Line:
    """The CLI asks the model for the next message."""
    return {"type": "system", "subtype": "status", "status": "requesting", **_ids(source)}


def thinking_tokens(source: Source, total: int, new: int) -> Line:
    """How much the model has thought so far."""
    return {
        "type": "system",
        "subtype": "thinking_tokens",
        "estimated_tokens": total,
        "estimated_tokens_delta": new,
        **_ids(source),
    }


def stream_event(source: Source, step: int, event: Line) -> Line:
    """One event of the model API."""
    return {
        "type": "stream_event",
        "event": event,
        "session_id": SESSION,
        "parent_tool_use_id": None,
        "uuid": source.uuid(),
        "api_message_id": _message_id(step),
    }


def message_start(source: Source, step: int) -> Line:
    """A message of the model begins."""
    head = {"type": "message_start", "message": _message(step, [])}
    return stream_event(source, step, head)


def block_start(source: Source, step: int, index: int, block: Line) -> Line:
    """A block of it begins."""
    event = {"type": "content_block_start", "index": index, "content_block": block}
    return stream_event(source, step, event)


def block_delta(source: Source, step: int, index: int, delta: Line) -> Line:
    """The block grows."""
    event = {"type": "content_block_delta", "index": index, "delta": delta}
    return stream_event(source, step, event)


def block_stop(source: Source, step: int, index: int) -> Line:
    """The block is complete."""
    return stream_event(source, step, {"type": "content_block_stop", "index": index})


def assistant(source: Source, step: int, block: Line) -> Line:
    """The complete block in a line of its own."""
    return {
        "type": "assistant",
        "message": {**_message(step, [block]), "context_management": None},
        "parent_tool_use_id": None,
        **_ids(source),
        "timestamp": TIMESTAMP,
        "request_id": f"req_{step:04}",
    }


def tool_use(step: int) -> Line:
    """The block with which the model calls a tool; four tools take turns."""
    path = _path(step)
    name, arguments = (
        ("Read", {"file_path": path, "offset": 1, "limit": 250}),
        ("Bash", {"command": f"grep -rn 'def ' {path} | sort", "description": "List functions"}),
        ("Grep", {"pattern": "return \\[", "path": path, "output_mode": "content"}),
        ("Edit", {"file_path": path, "old_string": CODE[3], "new_string": CODE[0] + CODE[4]}),
    )[step % 4]
    return {"type": "tool_use", "id": _tool_use_id(step), "name": name, "input": arguments}


def tool_result(source: Source, step: int, size: int) -> Line:
    """The result of that tool, twice: for the model, and in the tool's own form."""
    tell = (_read, _bash, _grep, _edit)[step % 4]
    output, reported = tell(_path(step), source.code(size))
    result = {"tool_use_id": _tool_use_id(step), "type": "tool_result", "content": output}
    decision = {"decision": "accept", "source": "config", "reason_type": "rule"}
    return {
        "type": "user",
        "message": {"role": "user", "content": [result]},
        "parent_tool_use_id": None,
        **_ids(source),
        "timestamp": TIMESTAMP,
        "tool_use_result": reported,
        "tool_result_meta": [{"id": _tool_use_id(step), "permission_decision": decision}],
    }


def _read(path: str, text: str) -> tuple[str, Line]:
    lines = text.split("\n")
    file = {
        "filePath": path,
        "content": text,
        "numLines": len(lines),
        "startLine": 1,
        "totalLines": len(lines),
    }
    numbered = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1))
    return numbered, {"type": "text", "file": file}


def _bash(path: str, text: str) -> tuple[str, Line]:
    return text, {
        "stdout": text,
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }


def _grep(path: str, text: str) -> tuple[str, Line]:
    lines = text.count("\n") + 1
    return text, {
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": text,
        "numLines": lines,
        "totalLines": lines,
    }


def _edit(path: str, text: str) -> tuple[str, Line]:
    patch = {
        "oldStart": 1,
        "oldLines": 3,
        "newStart": 1,
        "newLines": 3,
        "lines": [f" {CODE[2]}", f"-{CODE[3]}", f"+{CODE[0]}", f" {CODE[4]}"],
    }
    return f"The file {path} has been updated successfully.", {
        "filePath": path,
        "oldString": CODE[3],
        "newString": CODE[0],
        "originalFile": text,
        "structuredPatch": [patch],
        "userModified": False,
        "replaceAll": False,
    }


def _message(step: int, content: list[Line]) -> Line:
    return {
        "id": _message_id(step),
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": content,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": USAGE,
    }


def _ids(source: Source) -> Line:
    return {"session_id": SESSION, "uuid": source.uuid()}


def _message_id(step: int) -> str:
    return f"msg_01{step:022}"


def _tool_use_id(step: int) -> str:
    return f"toolu_01{step:022}"


def _path(step: int) -> str:
    return f"/workspace/project/src/part_{step % 40}.py"
