"""The lines that the CLI writes to stdout: one method per kind of line, in the form of each
version.

Builds objects and passes them to `write`; makes no decisions. The fields and their order follow the
recordings (CLI-1400). The turn, the tools and the control requests use it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from fairlead.emulator.state.ports import Message
from fairlead.emulator.state.session import Session

__all__ = ["Output", "timestamp"]


def timestamp(seconds: float) -> str:
    """A timestamp as the CLI writes it."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


class Output:
    """Writes lines for a session."""

    def __init__(self, session: Session, write: Callable[[Message], None]) -> None:
        self._session = session
        self._write = write
        self.state = "idle"

    def raw(self, message: Message) -> None:
        """Write a complete message."""
        self._write(message)

    def system(self, subtype: str, **fields: Any) -> None:
        """A system line."""
        s = self._session
        self._write(
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

    def state_changed(self, state: str, *, repeats: bool = False) -> None:
        """Write the state of the session, if the environment enables it (CLI-525).

        `repeats` to write it also if the session is in that state already.
        """
        if state == self.state and not repeats:
            return
        self.state = state
        if self.reports_state:
            self.system("session_state_changed", state=state)

    @property
    def reports_state(self) -> bool:
        is_enabled = (
            self._session.workspace.environment.get("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") == "1"
        )
        return is_enabled and self._session.profile.reports_session_state

    def lifecycle(self, command_uuid: str | None, state: str) -> None:
        """Report the state of a prompt with a uuid; newer versions only."""
        if self._session.profile.reports_lifecycle and command_uuid:
            self._write(
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
        s, catalog = self._session, self._session.profile.catalog
        line: Message = {
            "type": "system",
            "subtype": "init",
            "cwd": s.workspace.cwd,
            "session_id": s.session_id,
            "tools": list(tools),
            "mcp_servers": [dict(server) for server in servers],
            "model": s.model,
            "permissionMode": s.mode,
            "slash_commands": s.slash_commands,
            "apiKeySource": s.key_source,
            "claude_code_version": s.profile.version,
            "output_style": "default",
            "agents": [*catalog.agents, *s.agents],
            "skills": [*catalog.skills, *s.custom_skills],
            "plugins": [dict(plugin) for plugin in catalog.plugins],
            "uuid": s.new_id(),
        }
        if not s.mode:
            del line["permissionMode"]
        if betas := s.arguments.many("--betas"):
            line["betas"] = list(betas)
        if s.profile.details_init:
            line |= self._init_details(uuids, problems)
        line.setdefault("fast_mode_state", "off")
        self._write(line)

    def _init_details(self, uuids: Sequence[str], problems: Sequence[Mapping[str, Any]]) -> Message:
        s, catalog = self._session, self._session.profile.catalog
        fields: Message = {
            "terminal_slash_commands": list(catalog.terminal_commands),
            "capabilities": list(catalog.capabilities),
            "analytics_disabled": True,
            "product_feedback_disabled": True,
            "memory_paths": {"auto": f"{s.workspace.projects}/memory/"},
            "original_cwd": s.workspace.cwd,
            "additional_directories": [*s.flag_directories, *s.added_directories],
            "messaging_socket_path": f"{s.workspace.tmp}/cc-socks/{s.workspace.pid}.sock",
            **s.fast_mode,
            "per_turn_effort_active": any(m.name == s.model for m in catalog.models),
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
        """Write a block of the model, or a synthetic message; returns the line."""
        line: Message = {
            "type": "assistant",
            "message": dict(message),
            "parent_tool_use_id": fields.pop("parent_tool_use_id", None),
            "session_id": self._session.session_id,
            "uuid": fields.pop("uuid", None) or self._session.new_id(),
        }
        return self._finish(line, fields)

    def user(self, content: Any, **fields: Any) -> Message:
        """Write a tool result, a replay or a marker; returns the line."""
        line: Message = {
            "type": "user",
            "message": {"role": "user", "content": content},
            "parent_tool_use_id": fields.pop("parent_tool_use_id", None),
            "session_id": self._session.session_id,
            "uuid": fields.pop("uuid", None) or self._session.new_id(),
        }
        return self._finish(line, fields, stamp=fields.pop("stamp", True))

    def _finish(self, line: Message, fields: Mapping[str, Any], stamp: bool = True) -> Message:
        if self._session.profile.stamps_lines and stamp:
            line["timestamp"] = timestamp(self._session.now())
        line |= {name: value for name, value in fields.items() if value is not None}
        self._write(line)
        return line

    def stream_event(self, event: Mapping[str, Any], api_message_id: str, **fields: Any) -> None:
        """Write an event of the API; only with partial messages."""
        line: Message = {
            "type": "stream_event",
            "event": dict(event),
            "session_id": self._session.session_id,
            "parent_tool_use_id": None,
            "uuid": self._session.new_id(),
        }
        if self._session.profile.details_stream_events:
            line |= fields
            line["api_message_id"] = api_message_id
        self._write(line)

    def reset(self, user_message_uuid: str) -> None:
        """The conversation was cleared."""
        new_id = self._session.new_id()
        self._write(
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
        self, request_id: str | None, response: Message | None, extra_fields: Message
    ) -> None:
        """The same, with fields next to the body."""
        self._respond({"subtype": "success"}, request_id, response, extra_fields)

    def refuse(
        self,
        request_id: str | None,
        problem: str,
        code: str | None = None,
        extra_fields: Mapping[str, Any] | None = None,
    ) -> None:
        """A control request of the host did not work."""
        extra = {"error_code": code} if code and self._session.profile.refusals_have_codes else {}
        body = {"subtype": "error", "error": problem}
        self._respond(body, request_id, None, {**extra, **(extra_fields or {})})

    def _respond(
        self,
        body: Message,
        request_id: str | None,
        response: Message | None,
        extra_fields: Mapping[str, Any],
    ) -> None:
        if request_id is not None:
            body["request_id"] = request_id
        if response is not None:
            body["response"] = response
        self._write({"type": "control_response", "response": {**body, **extra_fields}})
