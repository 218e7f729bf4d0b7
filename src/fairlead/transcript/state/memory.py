"""The reducer's private memory, which clients do not need.

Correlations (which request was that, which line made which item), open blocks of a stream, and
the few flags the status is derived from. Not part of a snapshot, which is for people; part of a
`checkpoint`, from which a fold can continue. Only the reducers touch it.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from fairlead.transcript.state.document import Tail

__all__ = ["Block", "Memory", "Notes", "SentRequest", "Stream"]


class Block(Struct, gc=False):
    """One block of a message that is being streamed."""

    kind: str
    item: str | None = None
    tail: Tail | None = None
    final: bool = False


class Stream(Struct, gc=False):
    """One message that is being streamed, in the main conversation or in a subagent."""

    message: str
    model: str | None
    blocks: dict[int, Block] = field(default_factory=dict)
    open: str | None = None
    """The kind of the block that is growing right now."""


class SentRequest(Struct, frozen=True):
    """A control request of the host that has not been answered."""

    subtype: str
    fields: dict[str, Any]


class Notes(Struct):
    """What is plain JSON of the reducer's memory; a checkpoint keeps it as it is."""

    counts: dict[str, int] = field(default_factory=dict)
    """How many ids of each kind were made up."""
    seen: set[str] = field(default_factory=set)
    """uuids of the lines that were taken in."""
    made: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """uuid of a line -> the items it made, for when it is withdrawn."""
    blocks: dict[str, int] = field(default_factory=dict)
    """API message id -> how many of its texts have an item."""

    tools: dict[str, str] = field(default_factory=dict)
    """tool_use id -> item id."""
    open_tools: dict[str, None] = field(default_factory=dict)
    """Items of tools that have not ended, in order."""
    agents: dict[str, str] = field(default_factory=dict)
    """Agent or task id -> the tool item that started it."""

    runs: dict[str, str] = field(default_factory=dict)
    """Run id -> the background task; a turn that a task started names the run."""

    waiting: list[str] = field(default_factory=list)
    """Prompts that have not started, in order; they stay at the end of the items."""
    foldable: list[str] = field(default_factory=list)
    """Waiting prompts the model will see with its next message."""
    held: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Prompts that the host holds, as the lines it will write."""
    queued: tuple[str, ...] = ()
    """Prompts that waited when the last turn ended."""
    limit: dict[str, Any] | None = None
    """The usage limit that stops the session: its `kind`, and when it `resets_at`."""
    queue_hold: dict[str, Any] | None = None
    """Until when the host holds its queue, and for which limit."""
    names_prompts: bool = False
    """This CLI says by uuid which prompts it starts."""

    turn: str | None = None
    turn_has_init: bool = False
    turn_has_words: bool = False
    interrupting: bool = False
    last_outcome: str | None = None
    blocked_since: float | None = None
    """Since when the turn has waited for the user's answer."""
    origin_hint: str | None = None

    requests: dict[str, SentRequest] = field(default_factory=dict)
    deciders: dict[str, str] = field(default_factory=dict)
    denied_rules: list[dict[str, Any]] = field(default_factory=list)
    """Rules that a user denied for the rest of the session, as on the wire."""
    stopped_by: str | None = None
    """Who is stopping the turn or the process right now."""

    thinking_tokens: int | None = None
    retry: str | None = None
    compacting: bool = False
    just_compacted: bool = False
    """The next words in the user's name are the summary, not a prompt."""
    cli_state: str | None = None
    heard: bool = False
    process: str = "unknown"
    exit_expected: bool = False
    host_stopping: bool = False
    """The host is ending; what the CLI says about an interruption is not about its user."""
    fresh_process: bool = False
    """No result has come from this process yet."""

    fresh_init: bool = True
    """No init has come from this process yet."""
    reset_told: bool = False
    """The CLI reported that the conversation was cleared."""

    last_total: float = 0.0
    last_models: dict[str, Any] = field(default_factory=dict)
    last_noise: str | None = None
    open_pending: dict[str, list[str]] = field(default_factory=dict)
    """Tool item -> the open requests about it."""


class Memory(Notes):
    """The reducer's private notes, and what it is just hearing."""

    streams: dict[str | None, Stream] = field(default_factory=dict)
    """Parent -> the message it is streaming."""
