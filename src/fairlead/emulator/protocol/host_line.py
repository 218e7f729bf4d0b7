"""Requests to the host.

Keeps what is open, by request id. An answer to an id that is not open is ignored;
a withdrawn request is announced by control_cancel_request (CLI-207). There are no timeouts here:
the caller decides how long it waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fairlead.emulator.state.ports import HostAnswer, OpenRequest
from fairlead.emulator.state.scheduler import Pending

__all__ = ["HostLine"]


class HostLine:
    """The open requests of the CLI to its host."""

    def __init__(self, write: Callable[[dict[str, Any]], None], new_id: Callable[[], str]) -> None:
        self._write = write
        self._new_id = new_id
        self._open: dict[str, OpenRequest] = {}
        self.is_closed = False
        """Whether the host has closed stdin and can answer no more requests."""

    def ask(self, subtype: str, **fields: Any) -> OpenRequest:
        """Send a request; await its `answer`."""
        request = {"subtype": subtype, **fields}
        open_request = OpenRequest(self._new_id(), request, Pending())
        if self.is_closed:
            open_request.answer.settle(HostAnswer(None, "Stream closed"))
            return open_request
        self._open[open_request.request_id] = open_request
        self._write(_line(open_request))
        return open_request

    def answered(self, response: Mapping[str, Any]) -> bool:
        """Process a control_response; whether it was a success for an open request."""
        open_request = self._open.pop(str(response.get("request_id", "")), None)
        if open_request is None:
            return False
        if response.get("subtype") == "error":
            open_request.answer.settle(HostAnswer(None, str(response.get("error", ""))))
            return False
        body = response.get("response")
        open_request.answer.settle(HostAnswer(body if isinstance(body, dict) else {}))
        return True

    def is_greeting(self, request_id: str) -> bool:
        """Whether an open request is the first message to an MCP server."""
        open_request = self._open.get(request_id)
        message = open_request.request.get("message") if open_request is not None else None
        return isinstance(message, dict) and message.get("method") == "initialize"

    def withdraw(self, open_request: OpenRequest) -> None:
        """Withdraw a request, if it is still open."""
        if self._open.pop(open_request.request_id, None) is not None:
            self._write({"type": "control_cancel_request", "request_id": open_request.request_id})

    def withdraw_all(self, subtype: str) -> None:
        """Withdraw every open request of a subtype."""
        for open_request in [a for a in self._open.values() if a.request["subtype"] == subtype]:
            self.withdraw(open_request)

    def forget(self, open_request: OpenRequest) -> None:
        """Stop waiting without writing a line."""
        self._open.pop(open_request.request_id, None)

    def pending(self, subtype: str) -> list[dict[str, Any]]:
        """The open requests of a subtype, as they were sent."""
        return [_line(a) for a in self._open.values() if a.request["subtype"] == subtype]

    def close(self, problem: str) -> None:
        """The host has closed stdin: every open request fails."""
        self.is_closed = True
        for open_request in list(self._open.values()):
            open_request.answer.settle(HostAnswer(None, problem))
        self._open.clear()


def _line(open_request: OpenRequest) -> dict[str, Any]:
    return {
        "type": "control_request",
        "request_id": open_request.request_id,
        "request": dict(open_request.request),
    }
