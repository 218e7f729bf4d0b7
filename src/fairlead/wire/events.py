"""Messages of the CLI, one class per top-level `type` (control lines are in `control`).

`system` has the `system` lines, one value per `subtype`. All fields except the identifying ones are
optional, because the five measured CLI versions differ: CLI-1400 lists which version sends which.
"""

import contextlib
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct, field

from fairlead.wire import decoders
from fairlead.wire.blocks import NEVER, Block, Content, text_of
from fairlead.wire.message import Message, SessionMessage
from fairlead.wire.stream import ApiEvent
from fairlead.wire.usage import ModelUsage, Usage

__all__ = [
    "ActiveGoal",
    "ApiMessage",
    "Assistant",
    "AuthStatus",
    "CommandLifecycle",
    "ConversationReset",
    "Event",
    "KeepAlive",
    "Malformed",
    "PermissionDenial",
    "PromptSuggestion",
    "RateLimitEvent",
    "RateLimitInfo",
    "Result",
    "StreamEvent",
    "Tombstone",
    "ToolProgress",
    "ToolUseSummary",
    "TranscriptMirror",
    "Unknown",
    "User",
    "UserMessage",
]


class ApiMessage(Struct, frozen=True, gc=False):
    """A message of the model, or the part of it in one line."""

    id: str = ""
    model: str | None = None
    role: str | None = None
    content: tuple[Block, ...] = ()
    stop_reason: str | None = None
    """Null on every line: `message_delta` and the result have the value (CLI-501)."""
    usage: Usage | None = None
    """The usage at the start of the message, for the same reason."""


class Assistant(SessionMessage, frozen=True, tag_field="type", tag="assistant"):
    """One finished block of a message; lines with the same `message.id` are one message."""

    message: ApiMessage = ApiMessage()
    parent_tool_use_id: str | None = None
    error: str | None = None
    request_id: str | None = None
    timestamp: str | None = None
    aborted: bool | None = None
    supersedes: tuple[str, ...] | None = None
    user_message_uuid: str | None = None
    user_message_uuids: tuple[str, ...] | None = None
    agent_id: str | None = None
    subagent_type: str | None = None
    task_description: str | None = None
    is_api_error_message: bool | None = None
    api_error_status: int | None = None
    thinking_duration_ms: float | None = None
    tool_use_meta: Any = None
    local_command_source: str | None = None
    local_command_run: Any = None
    local_command_outcome: Any = None
    context_usage: Any = None

    @property
    def text(self) -> str:
        """The text of this line."""
        return text_of(self.message.content)


class UserMessage(Struct, frozen=True, gc=False):
    """The message inside a `user` line."""

    role: str | None = None
    content: Content = None


class User(SessionMessage, frozen=True, tag_field="type", tag="user"):
    """A tool's result, an echo of a prompt, the output of a command, or an injected text."""

    message: UserMessage = UserMessage()
    parent_tool_use_id: str | None = None
    tool_use_result: Any = None
    """An object on success, a string on failure, a list for MCP tools, or absent (CLI-1001)."""
    tool_result_meta: Any = None
    is_replay: bool | None = field(default=None, name="isReplay")
    is_synthetic: bool | None = field(default=None, name="isSynthetic")
    timestamp: str | None = None
    origin: Any = None
    priority: str | None = None
    agent_id: str | None = None
    subagent_type: str | None = None
    task_description: str | None = None

    @property
    def text(self) -> str:
        """The text of this line."""
        return text_of(self.message.content)


class PermissionDenial(Struct, frozen=True):
    """A tool call that was not allowed in this turn."""

    tool_name: str = ""
    tool_use_id: str = ""
    tool_input: Any = None


class Result(SessionMessage, frozen=True, tag_field="type", tag="result"):
    """The end of a turn. The CLI may start further turns by itself."""

    subtype: str = ""
    is_error: bool = False
    result: str | None = None
    errors: tuple[str, ...] = ()
    stop_reason: str | None = None
    terminal_reason: str | None = None
    num_turns: int | None = None
    duration_ms: float | None = None
    duration_api_ms: float | None = None
    ttft_ms: float | None = None
    total_cost_usd: float | None = None
    """Cumulative, and may restart: compute differences (CLI-508)."""
    usage: Usage | None = None
    model_usage: dict[str, ModelUsage] = field(default_factory=dict, name="modelUsage")
    permission_denials: tuple[PermissionDenial, ...] = ()
    structured_output: Any = None
    api_error_status: int | None = None
    user_message_uuid: str | None = None
    user_message_uuids: tuple[str, ...] | None = None
    queued_turn_count: int | None = None
    result_index: int | None = None
    origin: Any = None
    local_command: str | None = None
    fast_mode_state: str | None = None
    fast_mode_disabled_reason: str | None = None
    startup_failure_reason: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the turn succeeded, by both `subtype` and `is_error` (CLI-506)."""
        return self.subtype == "success" and not self.is_error

    @property
    def text(self) -> str:
        """The final answer, or the errors."""
        return self.result if self.result is not None else "\n".join(self.errors)

    @property
    def answers(self) -> tuple[str, ...]:
        """The uuids of the prompts of this turn; empty on CLIs that do not report them."""
        if self.user_message_uuids:
            return self.user_message_uuids
        return (self.user_message_uuid,) if self.user_message_uuid else ()


class StreamEvent(
    SessionMessage, frozen=True, kw_only=True, tag_field="type", tag="stream_event", gc=False
):
    """One event of the API's stream; only with partial messages."""

    event: ApiEvent
    parent_tool_use_id: str | None = None
    api_message_id: str | None = None
    ttft_ms: float | None = None


class ToolProgress(SessionMessage, frozen=True, tag_field="type", tag="tool_progress"):
    """A tool is still running."""

    tool_use_id: str = ""
    tool_name: str = ""
    parent_tool_use_id: str | None = None
    elapsed_time_seconds: float = 0.0
    task_id: str | None = None
    heartbeat: bool | None = None
    subagent_type: str | None = None
    subagent_retry: Any = None


class _LimitWindow(Struct, frozen=True, rename="camel"):
    """One usage window of the account."""

    utilization: float | None = None
    """The used part, from 0 to 1."""
    resets_at: float | None = None
    status: str | None = None


class RateLimitInfo(Struct, frozen=True, rename="camel"):
    """How much of its usage window the account has used."""

    status: str | None = None
    resets_at: float | None = None
    rate_limit_type: str | None = None
    utilization: float | None = None
    overage_status: str | None = None
    overage_resets_at: float | None = None
    overage_disabled_reason: str | None = None
    is_using_overage: bool | None = None
    surpassed_threshold: float | None = None
    unified_windows: Any = None
    """All windows of the account by name, as the CLI writes them (CLI-1701); see `windows`."""

    @property
    def windows(self) -> dict[str, _LimitWindow]:
        """The windows that can be understood, such as `five_hour` and `seven_day`."""
        known = {}
        windows = self.unified_windows if isinstance(self.unified_windows, dict) else {}
        for name, window in windows.items():
            with contextlib.suppress(msgspec.ValidationError):
                known[name] = decoders.convert(window, _LimitWindow)
        return known


class RateLimitEvent(SessionMessage, frozen=True, tag_field="type", tag="rate_limit_event"):
    """The usage window changed."""

    rate_limit_info: RateLimitInfo | None = None


class PromptSuggestion(SessionMessage, frozen=True, tag_field="type", tag="prompt_suggestion"):
    """A suggestion for the next prompt; sent after the result."""

    suggestion: str = ""


class ToolUseSummary(SessionMessage, frozen=True, tag_field="type", tag="tool_use_summary"):
    """A short label for a group of tool calls."""

    summary: str = ""
    preceding_tool_use_ids: tuple[str, ...] = ()
    timestamp: str | None = None


class AuthStatus(SessionMessage, frozen=True, tag_field="type", tag="auth_status"):
    """The progress of a sign-in."""

    is_authenticating: bool | None = field(default=None, name="isAuthenticating")
    output: tuple[str, ...] = ()
    error: str | None = None


class ConversationReset(SessionMessage, frozen=True, tag_field="type", tag="conversation_reset"):
    """The conversation was cleared; the new session id comes with the next init (CLI-604)."""

    new_conversation_id: str | None = None
    trigger: str | None = None
    user_message_uuid: str | None = None
    timestamp: str | None = None


class CommandLifecycle(SessionMessage, frozen=True, tag_field="type", tag="command_lifecycle"):
    """The state of a prompt that was sent with a uuid."""

    command_uuid: str = ""
    state: str = ""
    wakeup_source: str | None = None


class ActiveGoal(SessionMessage, frozen=True, tag_field="type", tag="active_goal"):
    """The standing goal of the session, or null."""

    value: Any = None


class Tombstone(SessionMessage, frozen=True, tag_field="type", tag="tombstone"):
    """An earlier message is withdrawn."""

    message: Any = None


class TranscriptMirror(Message, frozen=True, tag_field="type", tag="transcript_mirror"):
    """A copy of what the CLI wrote to its transcript file."""

    file_path: str = field(default="", name="filePath")
    entries: tuple[Any, ...] = ()


class KeepAlive(Message, frozen=True, tag_field="type", tag="keep_alive"):
    """A sign that the CLI is running."""


class Unknown(SessionMessage, frozen=True, tag_field="type", tag=f"{NEVER}unknown"):
    """A line of an unknown type, or one whose fields are not valid; nothing is lost."""

    type_name: str = ""
    problem: str = ""
    """Why it could not be read as its type; empty if the type itself is unknown."""

    @property
    def type(self) -> str:
        """The type as the CLI wrote it; empty if it wrote none."""
        return self.type_name


class Malformed(Message, frozen=True, tag_field="type", tag=f"{NEVER}malformed"):
    """A line that is not a JSON object: other output on stdout, or a line above the limit."""

    problem: str = ""
    size: int = 0
    """Its length in bytes; more than `len(raw)` if the line was skipped for its length."""

    @property
    def type(self) -> str:
        """Always empty."""
        return ""

    @property
    def data(self) -> Any:
        """Always None; the text is in `raw`."""
        return None


Event: TypeAlias = (
    Assistant
    | User
    | Result
    | StreamEvent
    | ToolProgress
    | RateLimitEvent
    | PromptSuggestion
    | ToolUseSummary
    | AuthStatus
    | ConversationReset
    | CommandLifecycle
    | ActiveGoal
    | Tombstone
    | TranscriptMirror
    | KeepAlive
    | Unknown
    | Malformed
)
