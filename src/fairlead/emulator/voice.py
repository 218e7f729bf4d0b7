"""What the CLI says on stdout, one method per kind of line, in the shape of each version.

Builds objects and hands them to `say`; decides nothing. The fields and their order follow the
recordings (TRUTH 7). The neighbours above are the turn, the tools and the control requests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from fairlead.emulator.session import Session

__all__ = ["Message", "Voice", "timestamp"]

Message = dict[str, Any]


def timestamp(seconds: float) -> str:
    """A moment as the CLI writes it."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


class Voice:
    """Says lines for a session."""

    def __init__(self, session: Session, say: Callable[[Message], None]) -> None:
        self._session = session
        self._say = say

    def raw(self, message: Message) -> None:
        """Say a message that is complete."""
        self._say(message)

    def system(self, subtype: str, **fields: Any) -> None:
        """A system line."""
        s = self._session
        self._say(
            {
                "type": "system",
                "subtype": subtype,
                **fields,
                "uuid": s.new_id(),
                "session_id": s.session_id,
            }
        )

    def status(self, status: str | None = None, **fields: Any) -> None:
        self.system("status", status=status, **fields)

    def mode_changed(self) -> None:
        self.status(None, permissionMode=self._session.mode)

    def lifecycle(self, command_uuid: str | None, state: str) -> None:
        """Where a prompt with a uuid stands; newer versions only."""
        if self._session.profile.is_modern and command_uuid:
            self._say(
                {
                    "type": "command_lifecycle",
                    "command_uuid": command_uuid,
                    "state": state,
                    "uuid": self._session.new_id(),
                    "session_id": self._session.session_id,
                }
            )

    def init(
        self,
        servers: Sequence[Mapping[str, Any]],
        tools: Sequence[str],
        *,
        uuids: Sequence[str] = (),
        problems: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """The line that opens a turn."""
        s, catalogue = self._session, self._session.profile.catalogue
        line: Message = {
            "type": "system",
            "subtype": "init",
            "cwd": s.place.cwd,
            "session_id": s.session_id,
            "tools": list(tools),
            "mcp_servers": [dict(server) for server in servers],
            "model": s.model,
            "permissionMode": s.mode,
            "slash_commands": [*s.custom_commands, *catalogue.slash_commands],
            "apiKeySource": s.key_source,
            "claude_code_version": s.profile.version,
            "output_style": "default",
            "agents": [*catalogue.agents, *s.agents],
            "skills": list(catalogue.skills),
            "plugins": [dict(plugin) for plugin in catalogue.plugins],
            "uuid": s.new_id(),
        }
        if not s.mode:
            del line["permissionMode"]
        if s.profile.is_modern:
            line |= self._modern_init(uuids, problems)
        line.setdefault("fast_mode_state", "off")
        self._say(line)

    def _modern_init(self, uuids: Sequence[str], problems: Sequence[Mapping[str, Any]]) -> Message:
        s, catalogue = self._session, self._session.profile.catalogue
        fields: Message = {
            "terminal_slash_commands": list(catalogue.terminal_commands),
            "capabilities": list(catalogue.capabilities),
            "analytics_disabled": True,
            "product_feedback_disabled": True,
            "memory_paths": {"auto": f"{s.place.projects}/memory/"},
            "original_cwd": s.place.cwd,
            "additional_directories": list(s.arguments.many("--add-dir")),
            "messaging_socket_path": f"{s.place.tmp}/cc-socks/{s.place.pid}.sock",
            **s.fast_mode,
            "per_turn_effort_active": any(m.name == s.model for m in catalogue.models),
            "ultrathink_available": False,
            "ultrathink_typed_raises": False,
            "view_mode": "default",
        }
        if uuids:
            fields["user_message_uuids"] = list(uuids)
        if problems:
            fields["mcp_server_errors"] = [dict(problem) for problem in problems]
        return fields

    def assistant(self, message: Mapping[str, Any], **fields: Any) -> Message:
        """A block of the model, or a note in its place; gives back the line."""
        line: Message = {
            "type": "assistant",
            "message": dict(message),
            "parent_tool_use_id": fields.pop("parent_tool_use_id", None),
            "session_id": self._session.session_id,
            "uuid": fields.pop("uuid", None) or self._session.new_id(),
        }
        return self._finish(line, fields)

    def user(self, content: Any, **fields: Any) -> Message:
        """A tool result, an echo or a marker; gives back the line."""
        line: Message = {
            "type": "user",
            "message": {"role": "user", "content": content},
            "parent_tool_use_id": fields.pop("parent_tool_use_id", None),
            "session_id": self._session.session_id,
            "uuid": fields.pop("uuid", None) or self._session.new_id(),
        }
        return self._finish(line, fields, stamp=fields.pop("stamp", True))

    def _finish(self, line: Message, fields: Mapping[str, Any], stamp: bool = True) -> Message:
        if self._session.profile.is_modern and stamp:
            line["timestamp"] = timestamp(self._session.now())
        line |= {name: value for name, value in fields.items() if value is not None}
        self._say(line)
        return line

    def stream_event(self, event: Mapping[str, Any], api_message_id: str, **fields: Any) -> None:
        """An event of the API as it came; only with partial messages."""
        line: Message = {
            "type": "stream_event",
            "event": dict(event),
            "session_id": self._session.session_id,
            "parent_tool_use_id": None,
            "uuid": self._session.new_id(),
        }
        if self._session.profile.is_modern:
            line |= fields
            line["api_message_id"] = api_message_id
        self._say(line)

    def reset(self, user_message_uuid: str) -> None:
        """The conversation was cleared."""
        new_id = self._session.new_id()
        self._say(
            {
                "type": "conversation_reset",
                "new_conversation_id": new_id,
                "uuid": new_id,
                "trigger": "clear",
                "user_message_uuid": user_message_uuid,
                "timestamp": timestamp(self._session.now()),
                "session_id": self._session.session_id,
            }
        )

    def answer(self, request_id: str | None, response: Message | None = None) -> None:
        """A control request of the host worked; no body unless one is given."""
        self._respond({"subtype": "success"}, request_id, response, {})

    def answer_with(
        self, request_id: str | None, response: Message | None, beside: Message
    ) -> None:
        """The same with fields beside the body."""
        self._respond({"subtype": "success"}, request_id, response, beside)

    def refuse(
        self,
        request_id: str | None,
        problem: str,
        code: str | None = None,
        beside: Mapping[str, Any] | None = None,
    ) -> None:
        """A control request of the host did not work."""
        extra = {"error_code": code} if code and self._session.profile.is_modern else {}
        body = {"subtype": "error", "error": problem}
        self._respond(body, request_id, None, {**extra, **(beside or {})})

    def _respond(
        self,
        body: Message,
        request_id: str | None,
        response: Message | None,
        beside: Mapping[str, Any],
    ) -> None:
        if request_id is not None:
            body["request_id"] = request_id
        if response is not None:
            body["response"] = response
        self._say({"type": "control_response", "response": {**body, **beside}})
