"""Writes the transcript of the session, record by record, in the CLI's own format.

Pure: makes records and hands them to `append`; the program puts them into the file. Kept are the
records that a host reads back: user, assistant, system and the queue's operations, with the
stream's own uuids (TRUTH 1.7).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fairlead.emulator.conversation import Conversation
from fairlead.emulator.effects import Append
from fairlead.emulator.session import Session
from fairlead.emulator.voice import timestamp

__all__ = ["Scribe"]


class Scribe:
    """Keeps the thread of parents and writes records."""

    def __init__(
        self, session: Session, append: Callable[[Append], None], parent: str | None = None
    ) -> None:
        self._session = session
        self._append = append
        self._parents: dict[str, str | None] = {"": parent}

    def restart(self) -> None:
        """A cleared conversation begins a thread of its own."""
        self._parents = {"": None}

    def queue(self, operation: str, content: str | None = None) -> None:
        """A prompt was put into the queue or taken from it."""
        record: dict[str, Any] = {
            "type": "queue-operation",
            "operation": operation,
            "timestamp": timestamp(self._session.now()),
            "sessionId": self._session.session_id,
        }
        self._write({**record, **({"content": content} if content else {})}, None)

    def user(
        self,
        talk: Conversation,
        content: Any,
        said: Mapping[str, Any] | None,
        *,
        tool_use_result: Any = None,
        uuid: str | None = None,
        **fields: Any,
    ) -> str:
        """A prompt or a tool result; gives the uuid of the record."""
        record = {"type": "user", "message": {"role": "user", "content": content}, **fields}
        if tool_use_result is not None:
            record["toolUseResult"] = tool_use_result
        return self._thread(talk, record, uuid or (said or {}).get("uuid"))

    def assistant(
        self, talk: Conversation, message: Mapping[str, Any], said: Mapping[str, Any] | None
    ) -> None:
        """A block of the model."""
        kept = {name: value for name, value in message.items() if name != "context_management"}
        self._thread(talk, {"type": "assistant", "message": kept}, (said or {}).get("uuid"))

    def system(self, talk: Conversation, subtype: str, **fields: Any) -> None:
        """A note of the CLI itself."""
        self._thread(talk, {"type": "system", "subtype": subtype, **fields}, None)

    def note(self, record: Mapping[str, Any]) -> None:
        """A record outside the thread, such as the cost."""
        self._write({**record, "sessionId": self._session.session_id}, None)

    def _thread(self, talk: Conversation, record: dict[str, Any], uuid: str | None) -> str:
        s = self._session
        own = uuid or s.new_id()
        whole = {
            "parentUuid": self._parents.get(talk.id),
            "isSidechain": not talk.is_main,
            "userType": "external",
            "cwd": s.place.cwd,
            "sessionId": s.session_id,
            "version": s.profile.version,
            "gitBranch": "",
            **record,
            "uuid": own,
            "timestamp": timestamp(s.now()),
        }
        if not talk.is_main:
            whole["agentId"] = talk.id
        self._parents[talk.id] = own
        self._write(whole, None if talk.is_main else talk.id)
        return own

    def _write(self, record: Mapping[str, Any], agent_id: str | None) -> None:
        if self._session.persists:
            self._append(Append(self._session.session_id, (record,), agent_id))
