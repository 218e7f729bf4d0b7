"""The values a transcript consists of: what a person would want to see, a program to ask.

All are frozen; the reducer replaces them. Nested values are plain JSON, so that a change can
set any field and every value can be written as JSON. JSON has no cycles, so the garbage collector
need not look at the rows of a long session. docs/transcript.md says what each field
means; here is only its shape. Knows nothing of the wire.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

__all__ = [
    "FINAL_TOOL_STATES",
    "Background",
    "CommandItem",
    "File",
    "Item",
    "Ledger",
    "NoticeItem",
    "Pending",
    "PromptItem",
    "Row",
    "Session",
    "Settled",
    "Status",
    "Task",
    "TextItem",
    "ThinkingItem",
    "ToolItem",
    "Turn",
    "UnknownItem",
]

FINAL_TOOL_STATES = ("done", "failed", "denied", "interrupted")
"""How a tool call can end; before that it is `awaiting` or `running`."""


class Row(Struct, frozen=True, kw_only=True, gc=False):
    """One entry of a keyed list."""

    id: str


class _Shown(Row, frozen=True, kw_only=True):
    """What every item of the conversation has."""

    turn: str | None = None
    parent: str | None = None
    """The tool item under which a subagent works; None in the main conversation."""
    at: float = 0.0


class PromptItem(_Shown, frozen=True, kw_only=True, tag_field="kind", tag="prompt"):
    """What a person (or, for a subagent, its parent) asked."""

    text: str = ""
    images: tuple[Any, ...] = ()
    files: tuple[Any, ...] = ()
    state: str = "sent"
    """held, sent, started, merged, cancelled, refused, or lost."""
    into: str | None = None
    """The prompt that this prompt was merged into."""
    command: str | None = None
    """The name of the slash command; None if the prompt is not a slash command."""
    uuid: str | None = None
    priority: str | None = None
    by: str = "user"


class TextItem(_Shown, frozen=True, kw_only=True, tag_field="kind", tag="text"):
    """Words of the model."""

    text: str = ""
    complete: bool = False
    aborted: bool = False
    model: str | None = None
    message: str | None = None
    citations: Any = None


class ThinkingItem(_Shown, frozen=True, kw_only=True, tag_field="kind", tag="thinking"):
    """Reasoning of the model, or how much of it was withheld."""

    text: str = ""
    complete: bool = False
    redacted: bool = False
    tokens: int | None = None
    duration_ms: float | None = None
    model: str | None = None
    message: str | None = None


class ToolItem(_Shown, frozen=True, kw_only=True, tag_field="kind", tag="tool"):
    """A tool call, from the first character of its input to its result."""

    name: str = ""
    title: str = ""
    server: str | None = None
    input: Any = None
    input_text: str = ""
    """The JSON text of the input so far; empty once `input` is complete."""
    complete: bool = False
    state: str = "awaiting"
    started: float | None = None
    ended: float | None = None
    elapsed: float | None = None
    result: str | None = None
    images: tuple[Any, ...] = ()
    structured: Any = None
    decision: dict[str, Any] | None = None
    background: str | None = None
    """The background task that continues after the result."""
    summary: str | None = None
    by: str = "cli"
    message: str | None = None


class CommandItem(_Shown, frozen=True, kw_only=True, tag_field="kind", tag="command"):
    """What a slash command printed."""

    command: str = ""
    args: str = ""
    text: str = ""
    failed: bool = False


class NoticeItem(_Shown, frozen=True, kw_only=True, tag_field="kind", tag="notice"):
    """Something that happened outside the conversation."""

    notice: str = ""
    level: str = "info"
    text: str = ""
    data: dict[str, Any] = {}


class UnknownItem(_Shown, frozen=True, kw_only=True, tag_field="kind", tag="unknown"):
    """A line or a block of an unknown kind, unchanged."""

    type: str = ""
    problem: str = ""
    text: str = ""
    data: Any = None


Item: TypeAlias = (
    PromptItem | TextItem | ThinkingItem | ToolItem | CommandItem | NoticeItem | UnknownItem
)


class Turn(Row, frozen=True, kw_only=True):
    """One round of work, from what started it to its result."""

    at: float = 0.0
    ended: float | None = None
    origin: str = "unknown"
    """user, background, schedule, or unknown."""
    origin_detail: Any = None
    prompts: tuple[str, ...] = ()
    outcome: str | None = None
    """None while it runs; else success, interrupted, max_turns, budget, api_error,
    structured_output, error, process_ended, host_stopped, or unknown."""
    text: str | None = None
    errors: tuple[str, ...] = ()
    structured_output: Any = None
    cost_usd: float | None = None
    usage: dict[str, Any] | None = None
    models: dict[str, Any] = {}
    duration_ms: float | None = None
    waited_ms: float = 0.0
    """How much of the duration the turn waited for a user's answer."""
    api_ms: float | None = None
    ttft_ms: float | None = None
    steps: int | None = None
    denials: tuple[Any, ...] = ()
    stop_reason: str | None = None
    terminal_reason: str | None = None
    api_error_status: int | None = None


class Pending(Row, frozen=True, kw_only=True):
    """A request of the CLI that a person must answer; its id is the request id."""

    kind: str = "permission"
    """permission, question, plan, elicitation, or dialog."""
    at: float = 0.0
    tool: str | None = None
    """The tool item it is about."""
    tool_name: str = ""
    title: str = ""
    input: Any = None
    suggestions: tuple[Any, ...] = ()
    reason: str | None = None
    reason_type: str | None = None
    blocked_path: str | None = None
    description: str | None = None
    agent: str | None = None
    details: dict[str, Any] = {}
    """More about it, by its kind. `held`, for every kind, is an answer that can still be undone:
    by whom (`by`), which (`decision`), whether it is a denial (`denies`), and when it is written to
    the CLI (`until`)."""
    suppress_always_allow_rule: bool = False
    """Whether the CLI wants no answer that outlasts this request."""
    default_to_no: bool = False
    """Whether the CLI wants no to be the answer at hand."""
    matched_ask_rule: dict[str, Any] | None = None
    """The user's own ask rule behind the request: `source`, `tool_name` and `rule_content`."""


class Settled(Row, frozen=True, kw_only=True):
    """How a request of the CLI ended; its id is the request id."""

    kind: str = "permission"
    tool: str | None = None
    tool_name: str = ""
    at: float = 0.0
    ended: float = 0.0
    outcome: str = "answered"
    """answered, cancelled, superseded, or process_ended."""
    answer: dict[str, Any] | None = None
    by: str | None = None
    """Who answered it."""
    stopped_by: str | None = None
    """Who stopped the turn or the process it was asked in, if that is how it ended."""


class Task(Row, frozen=True, kw_only=True):
    """One entry of the model's own list of things to do."""

    subject: str = ""
    status: str = "pending"
    active_form: str | None = None
    description: str | None = None
    owner: str | None = None
    blocks: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()
    source: str = "task"
    """task for TaskCreate and its kin, todo for TodoWrite."""


class Background(Row, frozen=True, kw_only=True):
    """A subagent or a long command; its id is the task id."""

    type: str = ""
    """agent, shell, or what the CLI calls it."""
    tool: str | None = None
    description: str = ""
    agent: str | None = None
    state: str = "running"
    """running, paused, completed, failed, stopped, ended, or lost."""
    backgrounded: bool = True
    """Whether the turn ends without waiting for it."""
    parent: str | None = None
    started: float = 0.0
    ended: float | None = None
    tokens: int | None = None
    tool_uses: int | None = None
    duration_ms: float | None = None
    last_tool: str | None = None
    progress: str | None = None
    summary: str | None = None
    error: str | None = None
    output_file: str | None = None
    exit_code: int | None = None
    turn: str | None = None
    """The turn that its end started."""


class File(Row, frozen=True, kw_only=True):
    """A file that a tool changed; its id is the path."""

    added: int = 0
    removed: int = 0
    edits: int = 0
    created: bool = False


class Session(Struct, frozen=True, kw_only=True, gc=False):
    """What is known of the session as a whole."""

    id: str | None = None
    previous_ids: tuple[str, ...] = ()
    cwd: str | None = None
    model: str | None = None
    permission_mode: str | None = None
    version: str | None = None
    title: str | None = None
    output_style: str | None = None
    fast_mode: str | None = None
    fast_mode_reason: str | None = None
    """Why the CLI keeps it off, in the CLI's word for it."""
    effort: str | None = None
    api_key_source: str | None = None
    tools: tuple[str, ...] = ()
    commands: tuple[Any, ...] = ()
    terminal_commands: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    plugins: tuple[Any, ...] = ()
    mcp_servers: tuple[Any, ...] = ()
    capabilities: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    models: tuple[Any, ...] = ()
    rate_limits: dict[str, Any] = {}
    goal: Any = None
    suggestion: str | None = None


class Ledger(Struct, frozen=True, kw_only=True, gc=False):
    """Money, tokens and lines, summed over everything the transcript has seen."""

    cost_usd: float = 0.0
    reported_usd: float | None = None
    """The CLI's own running total, which may restart."""
    models: dict[str, Any] = {}
    context: dict[str, Any] | None = None
    lines_added: int = 0
    lines_removed: int = 0
    files_changed: int = 0
    duration_ms: float = 0.0
    """How long all turns took together, as the CLI reports it for each."""


class Status(Struct, frozen=True, kw_only=True, gc=False):
    """What the session is doing right now."""

    state: str = "starting"
    since: float = 0.0
    last_event: float = 0.0
    tool: str | None = None
    """The tool that runs, if the state is `running_tool`."""
    background: int = 0
    waiting: int = 0
    """Prompts that were sent or held and have not started."""
    detail: str | None = None
    returncode: int | None = None

    def __str__(self) -> str:
        return self.state
