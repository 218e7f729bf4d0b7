"""Writes the transcript of the session, record by record, in the CLI's own format.

Pure: creates records, which the program appends to the file: user, assistant and system messages
and operations of the queue, with the uuids of the stream (CLI-705).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fairlead.emulator.protocol.output import timestamp
from fairlead.emulator.state.conversation import Conversation
from fairlead.emulator.state.effects import Append
from fairlead.emulator.state.session import Session

__all__ = ["TranscriptWriter"]


class TranscriptWriter:
    """Writes records, each with its parent."""

    def __init__(
        self, session: Session, append: Callable[[Append], None], parent: str | None = None
    ) -> None:
        self._session = session
        self._append = append
        self._parents: dict[str, str | None] = {"": parent}

    def restart(self) -> None:
        """Start a new thread of records for a cleared conversation."""
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
        conversation: Conversation,
        content: Any,
        line: Mapping[str, Any] | None,
        *,
        tool_use_result: Any = None,
        uuid: str | None = None,
        **fields: Any,
    ) -> str:
        """A prompt or a tool result; gives the uuid of the record."""
        record = {"type": "user", "message": {"role": "user", "content": content}, **fields}
        if tool_use_result is not None:
            record["toolUseResult"] = tool_use_result
        return self._thread(conversation, record, uuid or (line or {}).get("uuid"))

    def assistant(
        self, conversation: Conversation, message: Mapping[str, Any], line: Mapping[str, Any] | None
    ) -> None:
        """A block of the model."""
        remaining = {name: value for name, value in message.items() if name != "context_management"}
        self._thread(
            conversation, {"type": "assistant", "message": remaining}, (line or {}).get("uuid")
        )

    def system(self, conversation: Conversation, subtype: str, **fields: Any) -> None:
        """A note of the CLI itself."""
        self._thread(conversation, {"type": "system", "subtype": subtype, **fields}, None)

    def note(self, record: Mapping[str, Any]) -> None:
        """A record outside the thread, such as the cost."""
        self._write({**record, "sessionId": self._session.session_id}, None)

    def _thread(self, conversation: Conversation, record: dict[str, Any], uuid: str | None) -> str:
        s = self._session
        own = uuid or s.new_id()
        whole = {
            "parentUuid": self._parents.get(conversation.id),
            "isSidechain": not conversation.is_main,
            "userType": "external",
            "cwd": s.workspace.cwd,
            "sessionId": s.session_id,
            "version": s.profile.version,
            "gitBranch": "",
            **record,
            "uuid": own,
            "timestamp": timestamp(s.now()),
        }
        if not conversation.is_main:
            whole["agentId"] = conversation.id
        self._parents[conversation.id] = own
        self._write(whole, None if conversation.is_main else conversation.id)
        return own

    def _write(self, record: Mapping[str, Any], agent_id: str | None) -> None:
        if self._session.persists:
            self._append(Append(self._session.session_id, (record,), agent_id))
