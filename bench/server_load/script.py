"""What every agent says, made once: the lines of `bench.traffic` as bytes, ready to be written.

All agents say the same, each under its own session id. Knows nothing of pace or pipes.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from bench import shapes, traffic

__all__ = ["Beat", "Script"]

SESSION = shapes.SESSION.encode()

_UUID = re.compile(rb'"uuid":"[0-9a-f]{8}')


class Beat(NamedTuple):
    """One line, and what the CLI asks before it goes on."""

    line: bytes
    asks: dict[str, Any] | None = None
    """The `can_use_tool` request about the tool call that this line shows."""


class Script:
    """An init, the beats of so many steps of an agent, and a result."""

    def __init__(self, steps: int) -> None:
        first, *middle, last = traffic.agent_session(steps)
        self._init = _written(first)
        self._result = _written(last)
        self.beats = [Beat(_written(line), _question(line)) for line in middle]

    def init(self, session: str) -> bytes:
        """The line a turn begins with."""
        return self._init.replace(_id_in(self._init), session.encode())

    def result(self, session: str) -> bytes:
        """The line a turn ends with."""
        return self._result.replace(_id_in(self._result), session.encode())

    @staticmethod
    def said_by(session: str, line: bytes) -> bytes:
        """A line of a beat as one session says it."""
        return line.replace(SESSION, session.encode())

    @staticmethod
    def said_again(line: bytes, mark: int) -> bytes:
        """A line in a later turn: with other ids, because a line that was said before is ignored."""
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
