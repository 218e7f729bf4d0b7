"""Transcripts on disk.

`<config>/projects/<folder>/<session>.jsonl`, with subagents in a folder (CLI-705). The only part of
the emulator that touches these files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from fairlead.emulator.state.session import Workspace
from fairlead.model_api.json_text import to_json

__all__ = ["Past", "SessionFiles"]


class Past(Struct, frozen=True, kw_only=True):
    """A session that was read from its transcript."""

    session_id: str
    records: tuple[Mapping[str, Any], ...]

    def until(self, uuid: str | None) -> Past:
        """The same, cut after the message with this uuid."""
        if uuid is None:
            return self
        records_so_far: list[Mapping[str, Any]] = []
        for record in self.records:
            records_so_far.append(record)
            if record.get("uuid") == uuid:
                return Past(session_id=self.session_id, records=tuple(records_so_far))
        return self

    @property
    def thread(self) -> list[Mapping[str, Any]]:
        return [r for r in self.records if r.get("type") in ("user", "assistant", "system")]

    @property
    def messages(self) -> tuple[dict[str, Any], ...]:
        """The conversation in the form of the API; a tool use that was never answered is left
        out."""
        messages: list[dict[str, Any]] = []
        for record in self.thread:
            message = record.get("message")
            if not isinstance(message, dict) or record.get("isSidechain"):
                continue
            same = messages and message.get("id") and messages[-1].get("id") == message["id"]
            if same:
                messages[-1]["content"] += message.get("content") or []
            else:
                content = message.get("content")
                own = list(content) if isinstance(content, list) else content
                entry = {"role": message.get("role"), "content": own}
                messages.append(entry | ({"id": message["id"]} if message.get("id") else {}))
        return tuple(messages)

    @property
    def uuids(self) -> frozenset[str]:
        return frozenset(str(r["uuid"]) for r in self.thread if r.get("uuid"))

    @property
    def last_uuid(self) -> str | None:
        return str(self.thread[-1].get("uuid")) if self.thread else None

    @property
    def dollars(self) -> float:
        costs = [r["totalCostUsd"] for r in self.records if r.get("type") == "cost-state"]
        return float(costs[-1]) if costs else 0.0


class SessionFiles:
    """The transcripts of a project."""

    def __init__(self, workspace: Workspace) -> None:
        self._folder = Path(workspace.projects)

    def path(self, session_id: str, agent_id: str | None = None) -> Path:
        if agent_id is None:
            return self._folder / f"{session_id}.jsonl"
        return self._folder / session_id / "subagents" / f"agent-{agent_id}.jsonl"

    def exists(self, session_id: str) -> bool:
        return self.path(session_id).exists()

    def latest(self) -> str | None:
        """The session that was written to last."""
        files = sorted(self._folder.glob("*.jsonl"), key=lambda p: p.stat().st_mtime_ns)
        return files[-1].stem if files else None

    def read(self, session_id: str) -> Past | None:
        """A stored session; None if there is none or it has no messages."""
        path = self.path(session_id)
        if not path.exists():
            return None
        records = []
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                records.append(record)
        past = Past(session_id=session_id, records=tuple(records))
        return past if past.thread else None

    def append(
        self, session_id: str, records: Iterable[Mapping[str, Any]], agent_id: str | None = None
    ) -> None:
        """Write records at the end of a transcript."""
        path = self.path(session_id, agent_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            for record in records:
                file.write(to_json(record) + "\n")

    def copy(self, past: Past, session_id: str) -> None:
        """Begin a fork with the history of another session."""
        self.append(session_id, [{**r, "sessionId": session_id} for r in past.records])
