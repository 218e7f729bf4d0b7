"""A session's document in the bridge protocol: takes changes, returns messages.

Pure. Tracks what a bridge client got of one session, and turns snapshots and changes into the
messages of `bridge.messages`. If the document has only the beginning of a long row, `whole` returns
the full row, or `missing` names it so that it can be fetched first. An item that was sent completely
is forgotten, so that neither the memory nor the time for a change grows with the session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from fairlead.server.bridge import messages
from fairlead.server.bridge.messages import IDLE_RUNNING, status_of
from fairlead.server.protocol.messages import Changes, FromServer, Snapshot
from fairlead.transcript.state.changes import apply
from fairlead.transcript.state.model import FINAL_TOOL_STATES

__all__ = ["BridgeView", "Whole", "plain"]

SECTIONS = ("session", "items", "turns", "pending", "status")

Out = dict[str, Any]
Whole = Callable[[str, str], Any]
"""Returns a full row by its list and its id; None if this process does not have it."""


class BridgeView:
    """What one bridge client has of one session.

    For each message of the hub call `take`, fetch what is `missing`, and send `messages`.
    """

    def __init__(self, session: str, whole: Whole) -> None:
        self.session = session
        self.modern = False
        """Whether the client understands the message types of the current app."""
        self.state: dict[str, Any] = {
            "session": {},
            "items": [],
            "turns": [],
            "pending": [],
            "status": {},
        }
        self._whole = whole
        self._requested: dict[str, tuple[str, bool]] = {}
        self._sent: set[str] = set()
        """What was sent completely."""
        self._streamed: dict[str, int] = {}
        """How many characters of a text were sent."""
        self._begun = False
        """Whether a snapshot came. The first one is history, which a client asks for itself."""
        self._skip_items = False
        """Whether the items are those of the first snapshot."""
        self._fetched: dict[tuple[str, str, Any], Any] = {}
        """Full rows from elsewhere, by list, id and state; None for one that could not be fetched."""
        self._status = ""
        self._ended_before_sending: int | None = None

    def sending(self) -> list[Out]:
        """A prompt is being sent: the status is running from now on, even if it is refused."""
        self._ended_before_sending = self._ended_turns()
        return self._status_message("running")

    def refused(self) -> list[Out]:
        """The prompt was refused: restore the status."""
        self._ended_before_sending = None
        return self._status_message(self._status_now())

    def take(self, message: FromServer) -> None:
        """Apply a snapshot or changes."""
        if isinstance(message, Snapshot):
            state = plain(message.state)
            self._skip_items = not self._begun
            self._begun = True
            self.state = {name: state.get(name, self.state[name]) for name in SECTIONS}
        elif isinstance(message, Changes):
            self.state = apply(self.state, self._needed(plain(message.changes)))

    def missing(self) -> list[tuple[str, str, Any]]:
        """The rows that are to be sent now and of which only the beginning is known.

        Each by its list, its id and its state: the result of a tool comes after its input.
        """
        if self._skip_items:
            return []
        rows = [("items", item) for item in self.state["items"] if self._is_final(item)]
        rows += [
            ("turns", turn)
            for turn in self.state["turns"]
            if turn["outcome"] is not None and f"turn:{turn['id']}" not in self._sent
        ]
        return [
            key
            for section, row in rows
            if row.get("cut")
            and (key := _key(section, row)) not in self._fetched
            and self._whole(section, row["id"]) is None
        ]

    def _is_final(self, item: dict[str, Any]) -> bool:
        """Whether an item is not sent completely and can be now."""
        if self._is_sent(item["id"]):
            return False
        return bool(item.get("complete", True)) or item.get("state") in FINAL_TOOL_STATES

    def fetched(self, key: tuple[str, str, Any], row: Any) -> None:
        """A row that was missing; None if there is none."""
        self._fetched[key] = row

    def _needed(self, changes: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The changes to rows that are not forgotten."""
        for change in changes:
            if change["to"] != "items" or change["op"] == "replace":
                if change["to"] in SECTIONS:
                    yield change
            elif change["op"] == "add":
                is_there = not self._is_sent(change.get("before"))
                yield change if is_there else {**change, "before": None}
            elif not self._is_sent(change["id"]):
                yield change

    def _is_sent(self, item: str | None) -> bool:
        return f"item:{item}" in self._sent

    def pending(self, request: str) -> dict[str, Any] | None:
        """A pending request by its own id or by that of its tool call."""
        for row in self.state["pending"]:
            if request in (row["id"], row.get("tool")):
                return dict(row)
        return None

    def messages(self) -> list[Out]:
        """The messages for what was taken."""
        skip_items, self._skip_items = self._skip_items, False
        out: list[Out] = []
        for item in self.state["items"]:
            if not self._is_sent(item["id"]):
                out += self._item_messages(self._full_row("items", item))
        self.state["items"] = [
            item for item in self.state["items"] if not self._is_sent(item["id"])
        ]
        for turn in self.state["turns"]:
            if turn["outcome"] is not None and self._once(f"turn:{turn['id']}"):
                out.append(messages.result(self._full_row("turns", turn)))
                self._forget("turns", turn["id"])
        if skip_items:
            out = []
        out = [*self._init(), *out, *self._requests()]
        addressed = [{**message, "sessionId": self.session} for message in out]
        if self._still_idle():
            return addressed
        self._ended_before_sending = None
        return addressed + self._status_message(self._status_now())

    def _full_row(self, section: str, row: dict[str, Any]) -> dict[str, Any]:
        if not row.get("cut"):
            return row
        full = self._whole(section, row["id"])
        if full is None:
            full = self._fetched.get(_key(section, row))
        return row if full is None else dict(plain(full))

    def _forget(self, section: str, row_id: str) -> None:
        for key in [key for key in self._fetched if key[:2] == (section, row_id)]:
            del self._fetched[key]

    def _init(self) -> list[Out]:
        """The CLI's init message, once for each combination of session id and model."""
        known = self.state["session"]
        message = messages.init(self.session, known)
        if message is None or not self._once(f"init:{known['id']}:{known.get('model')}"):
            return []
        return [message]

    def _requests(self) -> list[Out]:
        """Requests that are new, or that have more to show: a plan may arrive later."""
        requests = {row["id"]: messages.permission_request(row) for row in self._first_requests()}
        gone = [shown for name, shown in self._requested.items() if name not in requests]
        new = [
            request
            for name, request in requests.items()
            if self._requested.get(name) != _as_shown(request)
        ]
        self._requested = {name: _as_shown(request) for name, request in requests.items()}
        over = [{"type": "permission_resolved", "toolUseId": call} for call, _ in gone]
        return [*over, *new] if self.modern else new

    def _first_requests(self) -> Iterable[dict[str, Any]]:
        """The first request of each tool call, because an answer names only the call."""
        first: dict[str, dict[str, Any]] = {}
        for row in self.state["pending"]:
            first.setdefault(row.get("tool") or row["id"], row)
        return first.values()

    def _still_idle(self) -> bool:
        """Whether the idle state is still the one from before the prompt that was sent.

        Changes are merged, so a short turn may not change the state at all; and a process may
        still be starting when its first prompt is sent.
        """
        return (
            self._ended_before_sending == self._ended_turns()
            and self.state["status"].get("state", "") in IDLE_RUNNING
        )

    def _ended_turns(self) -> int:
        return sum(turn["outcome"] is not None for turn in self.state["turns"])

    def _status_now(self) -> str:
        return status_of(str(self.state["status"].get("state", "")))

    def status(self) -> list[Out]:
        """The current status, sent again."""
        self._status = self._status or self._status_now()
        return [{"type": "status", "status": self._status, "sessionId": self.session}]

    def _status_message(self, status: str) -> list[Out]:
        if status == self._status:
            return []
        self._status = status
        return [{"type": "status", "status": status, "sessionId": self.session}]

    def _item_messages(self, item: dict[str, Any]) -> list[Out]:
        """The messages for what is new in an item."""
        kind, name = item["kind"], item["id"]
        out: list[Out] = []
        if kind in ("text", "thinking"):
            text, sent = item["text"], self._streamed.get(name, 0)
            if len(text) > sent:
                delta = "stream_delta" if kind == "text" else "thinking_delta"
                out.append({"type": delta, "text": text[sent:]})
            self._streamed[name] = len(text)
            if not item["complete"]:
                return out
        elif kind == "tool":
            if item["complete"] and self._once(f"use:{name}"):
                out.append(messages.tool_use(item))
            if item["state"] not in FINAL_TOOL_STATES:
                return out
        last = messages.tool_result(item) if kind == "tool" else messages.item_message(item)
        self._sent.add(f"item:{name}")
        self._streamed.pop(name, None)
        self._forget("items", name)
        return [*out, last] if last is not None else out

    def _once(self, what: str) -> bool:
        if what in self._sent:
            return False
        self._sent.add(what)
        return True


def plain(value: Any) -> Any:
    """Any value as plain JSON values; the hub sends some parts already encoded."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _key(section: str, row: dict[str, Any]) -> tuple[str, str, Any]:
    return section, row["id"], row.get("state")


def _as_shown(request: Out) -> tuple[str, bool]:
    """What a client saw of a request: its tool call, and whether it has a plan."""
    return request["toolUseId"], "plan" in request["input"]
