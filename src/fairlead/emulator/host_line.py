"""Requests to the host: asked, answered, withdrawn.

Keeps what is open, by request id. An answer to an id that is not open is ignored without a word,
a withdrawn request is announced by control_cancel_request (TRUTH 1.2). No time-outs here: who
asks decides how long it waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fairlead.emulator.strands import Pending

__all__ = ["Asked", "HostAnswer", "HostLine"]


@dataclass(frozen=True, slots=True)
class HostAnswer:
    """What came back: a body, or the text of an error."""

    body: Mapping[str, Any] | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that is open."""

    request_id: str
    request: Mapping[str, Any]
    answer: Pending[HostAnswer]


class HostLine:
    """The open requests of the CLI to its host."""

    def __init__(self, say: Callable[[dict[str, Any]], None], new_id: Callable[[], str]) -> None:
        self._say = say
        self._new_id = new_id
        self._open: dict[str, Asked] = {}
        self.is_closed = False
        """Whether the host has closed its end: nobody will answer any more."""

    def ask(self, subtype: str, **fields: Any) -> Asked:
        """Send a request; await its `answer`."""
        request = {"subtype": subtype, **fields}
        asked = Asked(self._new_id(), request, Pending())
        if self.is_closed:
            asked.answer.settle(HostAnswer(None, "Stream closed"))
            return asked
        self._open[asked.request_id] = asked
        self._say(_line(asked))
        return asked

    def answered(self, response: Mapping[str, Any]) -> None:
        """A control_response of the host."""
        asked = self._open.pop(str(response.get("request_id", "")), None)
        if asked is None:
            return
        if response.get("subtype") == "error":
            asked.answer.settle(HostAnswer(None, str(response.get("error", ""))))
        else:
            body = response.get("response")
            asked.answer.settle(HostAnswer(body if isinstance(body, dict) else {}))

    def withdraw(self, asked: Asked) -> None:
        """Take a request back; nothing happens if it is no longer open."""
        if self._open.pop(asked.request_id, None) is not None:
            self._say({"type": "control_cancel_request", "request_id": asked.request_id})

    def withdraw_all(self, subtype: str) -> None:
        """Take back every open request of a kind."""
        for asked in [a for a in self._open.values() if a.request["subtype"] == subtype]:
            self.withdraw(asked)

    def forget(self, asked: Asked) -> None:
        """Stop waiting without a word."""
        self._open.pop(asked.request_id, None)

    def pending(self, subtype: str) -> list[dict[str, Any]]:
        """The open requests of a kind, as they were sent."""
        return [_line(a) for a in self._open.values() if a.request["subtype"] == subtype]

    def close(self, problem: str) -> None:
        """The host is gone: every open request fails."""
        self.is_closed = True
        for asked in list(self._open.values()):
            asked.answer.settle(HostAnswer(None, problem))
        self._open.clear()


def _line(asked: Asked) -> dict[str, Any]:
    return {
        "type": "control_request",
        "request_id": asked.request_id,
        "request": dict(asked.request),
    }
