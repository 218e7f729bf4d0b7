"""A session's document as the bridge protocol tells it (seed 002 §8.2): changes in, messages out.

Pure. Holds what the bridge's client was told of one session, and turns snapshots and changes into
`assistant`, `tool_result`, `result`, `status`, `permission_request`, `stream_delta` and
`thinking_delta` messages. Facts the protocol has no field for are added as optional ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from fairlead.server.messages import Changes, FromServer, Snapshot
from fairlead.transcript.changes import apply
from fairlead.transcript.model import FINAL_TOOL_STATES

__all__ = ["BridgeView", "status_of"]

SECTIONS = ("items", "turns", "pending", "status")

WAITING = ("awaiting_approval",)
RESTING_ALIVE = ("starting", "ready", "idle", "error")
RESTING = (*RESTING_ALIVE, "ended", "disconnected")

Out = dict[str, Any]


def status_of(state: str) -> str:
    """One of the bridge's three states."""
    if state in WAITING:
        return "waiting_approval"
    return "idle" if state in RESTING else "running"


class BridgeView:
    """What one bridge client knows of one session."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.state: dict[str, Any] = {"items": [], "turns": [], "pending": [], "status": {}}
        self._told: dict[str, str] = {}
        self._status = ""
        self._ended_before_sending: int | None = None

    def sending(self) -> list[Out]:
        """A prompt is on its way: running from this moment (seed 002 §8), whatever comes of it."""
        self._ended_before_sending = self._ended_turns()
        return self._tell_status("running")

    def refused(self) -> list[Out]:
        """The prompt did not go: what was told of it is taken back."""
        self._ended_before_sending = None
        return self._tell_status(self._status_now())

    def take(self, message: FromServer) -> list[Out]:
        """The messages that a snapshot or changes make."""
        if isinstance(message, Snapshot):
            plain = _plain(message.state)
            fresh = not self.state["items"]
            self.state = {name: plain.get(name, self.state[name]) for name in SECTIONS}
            return self._tell(quietly=fresh)
        if isinstance(message, Changes):
            plain = _plain(message.changes)
            mine = [change for change in plain if change["to"] in SECTIONS]
            self.state = apply(self.state, mine)
            return self._tell()
        return []

    def history(self) -> list[Out]:
        """Everything said so far, whole, the user's own words too."""
        found = (_prompt(item) or self._item(item) for item in self.state["items"])
        return [message for message in found if message is not None]

    def pending(self, request: str) -> dict[str, Any] | None:
        """A pending request by its own id or by that of its tool call."""
        for row in self.state["pending"]:
            if request in (row["id"], row.get("tool")):
                return dict(row)
        return None

    def _tell(self, *, quietly: bool = False) -> list[Out]:
        out: list[Out] = []
        for item in self.state["items"]:
            out += self._news(item)
        for turn in self.state["turns"]:
            if turn["outcome"] is not None and self._once(f"turn:{turn['id']}"):
                out.append(_result(turn))
        for row in self._askable():
            if self._once(f"pending:{row['id']}"):
                out.append(_permission_request(row))
        if quietly:
            out = [one for one in out if one["type"] == "permission_request"]
        told = [{**one, "sessionId": self.session} for one in out]
        if self._still_resting():
            return told
        self._ended_before_sending = None
        return told + self._tell_status(self._status_now())

    def _askable(self) -> Iterable[dict[str, Any]]:
        """Of the requests about one call the first: an answer names the call, and means this."""
        first: dict[str, dict[str, Any]] = {}
        for row in self.state["pending"]:
            first.setdefault(row.get("tool") or row["id"], row)
        return first.values()

    def _still_resting(self) -> bool:
        """Whether the rest that the state shows is the one from before the prompt that was sent.

        Changes are merged, so a whole short turn may show as no change of the state at all; and
        a process may still be coming up when its first prompt is sent.
        """
        return (
            self._ended_before_sending == self._ended_turns()
            and self.state["status"].get("state", "") in RESTING_ALIVE
        )

    def _ended_turns(self) -> int:
        return sum(turn["outcome"] is not None for turn in self.state["turns"])

    def _status_now(self) -> str:
        return status_of(str(self.state["status"].get("state", "")))

    def _tell_status(self, status: str) -> list[Out]:
        if status == self._status:
            return []
        self._status = status
        return [{"type": "status", "status": status, "sessionId": self.session}]

    def _news(self, item: dict[str, Any]) -> list[Out]:
        """What is new of an item since it was last told."""
        kind, told = item["kind"], self._told.get(item["id"])
        if told == "done":
            return []
        out: list[Out] = []
        if kind in ("text", "thinking"):
            text, known = item["text"], told or ""
            if len(text) > len(known):
                name = "stream_delta" if kind == "text" else "thinking_delta"
                out.append({"type": name, "text": text[len(known) :]})
            self._told[item["id"]] = text
            if not item["complete"]:
                return out
        elif kind == "tool":
            if item["complete"] and told is None:
                out.append(_assistant(item, _tool_use(item)))
                self._told[item["id"]] = "used"
            if item["state"] not in FINAL_TOOL_STATES:
                return out
        whole = _tool_result(item) if kind == "tool" else self._item(item)
        self._told[item["id"]] = "done"
        return [*out, whole] if whole is not None else out

    def _item(self, item: dict[str, Any]) -> Out | None:
        """An item as one message, if the protocol has one for it."""
        kind = item["kind"]
        if kind == "text":
            return _assistant(item, {"type": "text", "text": item["text"]})
        if kind == "thinking":
            return _assistant(item, {"type": "thinking", "thinking": item["text"]})
        if kind == "tool":
            return _tool_result(item) if item["state"] in FINAL_TOOL_STATES else None
        if kind == "command":
            return _assistant(item, {"type": "text", "text": item["text"]})
        if kind == "notice":
            return {"type": "system", "subtype": item["notice"], "text": item["text"]}
        return None

    def _once(self, what: str) -> bool:
        if what in self._told:
            return False
        self._told[what] = "done"
        return True


def _plain(value: Any) -> Any:
    """Any value as the JSON values a client would get: the hub sends some parts ready-made."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _prompt(item: dict[str, Any]) -> Out | None:
    if item["kind"] != "prompt":
        return None
    return {"type": "user", "text": item["text"], "uuid": item["uuid"]}


def _assistant(item: dict[str, Any], block: dict[str, Any]) -> Out:
    message = {
        "id": item.get("message") or item["id"],
        "role": "assistant",
        "content": [block],
        "model": item.get("model") or "",
    }
    return {"type": "assistant", "message": message, "parentToolUseId": item["parent"]}


def _tool_use(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": item["id"], "name": item["name"], "input": item["input"]}


def _tool_result(item: dict[str, Any]) -> Out:
    structured = item["structured"]
    patch = structured.get("structuredPatch") if isinstance(structured, dict) else None
    return {
        "type": "tool_result",
        "toolUseId": item["id"],
        "content": item["result"] or "",
        "toolName": item["name"],
        "images": list(item["images"]),
        "isError": item["state"] != "done",
        "state": item["state"],
        "structuredPatch": patch,
        "parentToolUseId": item["parent"],
    }


def _result(turn: dict[str, Any]) -> Out:
    good = turn["outcome"] == "success"
    words = turn["text"] or "\n".join(turn["errors"])
    return {
        "type": "result",
        "subtype": "success" if good else turn["outcome"],
        "result": words if good else None,
        "error": None if good else words or turn["outcome"],
        "cost": turn["cost_usd"],
        "duration": turn["duration_ms"],
        "modelUsage": turn["models"],
    }


def _permission_request(row: dict[str, Any]) -> Out:
    return {
        "type": "permission_request",
        "toolUseId": row.get("tool") or row["id"],
        "toolName": row["tool_name"],
        "input": row["input"],
        "requestId": row["id"],
        "reason": row["reason"],
        "suggestions": [choice["label"] for choice in row.get("choices", ())],
    }
