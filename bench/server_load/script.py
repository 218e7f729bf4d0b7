"""The lines that every agent writes, prepared once: those of `bench.traffic` as bytes.

All agents write the same lines, each with its own session id. Knows nothing of pace or pipes.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from bench import shapes, traffic

__all__ = ["Script", "ScriptLine"]

SESSION = shapes.SESSION.encode()

_UUID = re.compile(rb'"uuid":"[0-9a-f]{8}')


class ScriptLine(NamedTuple):
    """One line, and the request that the CLI sends before it continues."""

    line: bytes
    asks: dict[str, Any] | None = None
    """The `can_use_tool` request about the tool call that this line shows."""


class Script:
    """An init, the beats of so many steps of an agent, and a result."""

    def __init__(self, steps: int) -> None:
        first, *middle, last = traffic.agent_session(steps)
        self._init = _written(first)
        self._result = _written(last)
        self.beats = [ScriptLine(_written(line), _question(line)) for line in middle]

    def init(self, session: str) -> bytes:
        """The line a turn begins with."""
        return self._init.replace(_id_in(self._init), session.encode())

    def result(self, session: str) -> bytes:
        """The line a turn ends with."""
        return self._result.replace(_id_in(self._result), session.encode())

    @staticmethod
    def for_session(session: str, line: bytes) -> bytes:
        """A line with the id of one session."""
        return line.replace(SESSION, session.encode())

    @staticmethod
    def in_turn(line: bytes, mark: int) -> bytes:
        """A line in a later turn, with other ids, because a repeated line is ignored."""
        line = _UUID.sub(b'"uuid":"%08x' % mark, line)
        return line.replace(b"msg_01", b"msg_%08x" % mark).replace(
            b"toolu_01", b"toolu_%08x" % mark
        )


def _written(line: shapes.Line) -> bytes:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _id_in(line: bytes) -> bytes:
    matches: str = json.loads(line)["session_id"]
    return matches.encode()


def _question(line: shapes.Line) -> dict[str, Any] | None:
    if line["type"] != "assistant":
        return None
    block = line["message"]["content"][0]
    if block["type"] != "tool_use":
        return None
    return {
        "subtype": "can_use_tool",
        "tool_name": block["name"],
        "input": block["input"],
        "tool_use_id": block["id"],
        "permission_suggestions": [],
    }
