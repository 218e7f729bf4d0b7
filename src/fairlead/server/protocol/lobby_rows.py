"""The rows of the lobby as clients get them: the single source of their types.

The TypeScript types in `web/src/protocol/lobby.ts` are generated from this file. Types only:
`session_rows` creates the rows of sessions, `presence` those of devices, and `lobby` holds them.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

__all__ = [
    "BudgetAlert",
    "DeviceRow",
    "DraftMark",
    "InboxRow",
    "ListedMove",
    "ListedSession",
    "ListedStatus",
    "LobbyRow",
    "LobbySections",
    "NodeRow",
    "ProfileRow",
    "Progress",
    "ServerInfo",
    "StoreInfo",
    "TaskCount",
]


class ListedStatus(Struct, frozen=True, kw_only=True):
    """The state of a listed session; a part of the transcript's status."""

    state: str
    """A state of the transcript; `elsewhere` if another process writes it; empty if none runs."""
    since: float
    last_event: float
    waiting: int = 0
    background: int = 0
    detail: str | None = None


class DraftMark(Struct, frozen=True, kw_only=True):
    """A device has a draft for a session; clients that may send prompts can request its text."""

    device: str
    at: float


class TaskCount(Struct, frozen=True):
    """How many of the model's tasks are completed."""

    done: int
    total: int


class ListedWorktree(Struct, frozen=True, kw_only=True):
    """The linked worktree of a session."""

    repository: str
    path: str
    branch: str
    base: str
    state: str
    setup: str
    setup_output: str


class ListedLimit(Struct, frozen=True, kw_only=True):
    """A usage limit that stops a session."""

    kind: str
    """The window that is used up, such as `five_hour` or `seven_day`."""
    resets_at: float | None = None
    continues_at: float | None = None
    """When the server writes the next queued prompt; null if the queue is not held."""


class ListedMove(Struct, frozen=True, kw_only=True):
    """The machine that a session was moved to."""

    node: str
    name: str
    """What people call the machine."""
    generation: int
    """The generation of the session there."""
    move: str = ""
    """The id of the move; empty if the machine adopted the session."""
    link: str = ""
    """The address of the session at a gateway; empty if unknown."""
    at: float = 0.0


class ListedSession(Struct, frozen=True, kw_only=True):
    """A session in the lobby."""

    id: str
    title: str
    cwd: str
    cli_session_id: str | None
    status: ListedStatus
    live: bool
    """Whether a process runs it, of this server or another program."""
    model: str | None
    mode: str | None
    effort: str | None
    cost_usd: float
    created: float
    last_activity: float
    pinned: bool
    archived: bool
    parent: str | None
    """The session that it is a fork of."""
    items: int
    pending: int
    source: str
    """`fairlead`, `cli` for a session that the CLI created, or `recording` for an imported one."""
    agent: str | None
    drafts: tuple[DraftMark, ...] = ()
    """Devices with a draft for the session; the newest first."""
    workbench_at: float = 0.0
    """When a client last changed its review comments or its repository, in this run of the server."""
    resume_problem: str | None = None
    """Why the session cannot be resumed, as a sentence; None if there is no known reason."""
    branch: str | None = None
    """The git branch that is checked out in its folder."""
    finished: float | None = None
    """When its last turn ended; None while one runs."""
    outcome: str | None = None
    """How its last turn ended."""
    last_sentence: str = ""
    """The end of the model's last text."""
    tasks: TaskCount | None = None
    lines_added: int = 0
    lines_removed: int = 0
    tags: tuple[str, ...] = ()
    """Labels that users gave it, in alphabetical order."""
    worktree: ListedWorktree | None = None
    """Set if the session works in a worktree that was made for it."""
    deleting: float | None = None
    """Set while the session is to be deleted: until when that can be undone."""
    limit: ListedLimit | None = None
    """The usage limit that stops it."""
    continue_at_reset: bool | None = None
    """Whether it continues when the limit resets; null for the server's default."""
    profile: str = ""
    """The profile whose account and settings it uses; empty for the default one."""
    node: str = ""
    """The machine that runs it; empty if the server is not part of a fleet."""
    generation: int = 0
    """How often it has moved to another machine."""
    moved: ListedMove | None = None
    """Set if another machine runs it now; what is listed here can only be read."""


class LimitRow(Struct, frozen=True, kw_only=True):
    """One usage window of an account, as a CLI reported it last."""

    account: str
    """The profile that the session used; empty for the server's own environment."""
    kind: str
    utilization: float | None = None
    """The used part, from 0 to 1."""
    resets_at: float | None = None
    status: str | None = None
    at: float
    """When the CLI reported it."""


class InboxRow(Struct, frozen=True, kw_only=True):
    """An open request in the lobby."""

    id: str
    """The session and the request, separated by a colon."""
    session: str
    session_title: str
    request_id: str
    kind: str
    tool_name: str
    title: str
    at: float
    input_sha256: str = ""
    subject: str = ""
    """What the request is about: a command, a path, an address."""
    reason: str = ""
    """The last sentence of the model before the request."""
    group: str = ""
    """Equal for requests of several sessions for the same call; empty if it cannot be grouped."""
    held: dict[str, Any] | None = None
    """An answer that can still be undone, as in the `details` of the request."""
    node: str = ""
    """The machine of the session; empty if the server is not part of a fleet."""


class DeviceRow(Struct, frozen=True, kw_only=True):
    """A paired device, and whether it is connected."""

    id: str
    name: str
    role: str
    last_seen: float
    connected: bool


class StoreInfo(Struct, frozen=True):
    """Whether events can be stored, and why not."""

    state: str = "ok"
    reason: str | None = None


class NodeRow(Struct, frozen=True, kw_only=True):
    """A machine of a fleet."""

    id: str
    name: str
    """What people call it; only a label."""
    state: str
    """`here`; `away` if it is not connected now; `gone` if it has been away for long."""
    since: float
    """When it came into this state."""
    version: str = ""
    """Its version of Fairlead."""
    cli_version: str = ""
    """Its version of the CLI; empty if unknown."""
    agent: str = ""
    """The agent of its new sessions."""
    load: float = 0.0
    """Its load average of the last minute, divided by its number of cores."""
    disk_free: int = 0
    disk_total: int = 0
    """Bytes of the file system with its data."""
    store: StoreInfo = StoreInfo()
    running: int = 0
    """Sessions with a process."""
    draining: bool = False
    """Whether it starts no new sessions, because it is to be stopped."""
    roots: tuple[str, ...] = ()
    """The folders under which its sessions may work."""
    replicated: bool = False
    """Whether copies of its logs may leave it, so that they can be read while it is away."""
    limits: tuple[LimitRow, ...] = ()
    """The usage windows of the accounts on it."""
    problem: str | None = None
    """What is wrong with it, as a sentence, such as a version that is too old."""


class Progress(Struct, frozen=True):
    """The progress of a long scan."""

    done: int
    total: int


class BudgetAlert(Struct, frozen=True, kw_only=True):
    """A budget whose warning or whose limit is reached."""

    id: str
    scope: str
    """session, project, or day."""
    key: str
    """The session's id or the folder; empty for a day."""
    limit_usd: float
    spent_usd: float
    level: str
    """warned, or reached: then the prompts of the sessions that it covers wait."""


class ProfileRow(Struct, frozen=True, kw_only=True):
    """A profile that a new session can use, besides the default one."""

    name: str
    label: str
    """What clients show instead of the name; empty if there is none."""


class ServerInfo(Struct, frozen=True, kw_only=True):
    """Information about the server itself."""

    agent: str = ""
    version: str = ""
    mode_ceiling: str = ""
    roots: tuple[str, ...] = ()
    store: StoreInfo = StoreInfo()
    listing: Progress | None = None
    """Set while the CLI's own sessions are first listed."""
    listing_problem: str | None = None
    """Why some of the CLI's own sessions may be missing from the list."""
    indexing: Progress | None = None
    """Set while they are indexed for the search."""
    budgets: tuple[BudgetAlert, ...] = ()
    """Budgets that are reached, or nearly so."""
    limits: tuple[LimitRow, ...] = ()
    """The usage windows of all accounts."""
    profiles: tuple[ProfileRow, ...] = ()
    """The profiles besides the default one."""
    continue_at_reset: bool = False
    """Whether sessions that a usage limit stopped continue when it resets, unless they say otherwise."""
    terminal: bool = False
    """Whether owners can open terminals."""


LobbyRow: TypeAlias = ListedSession | InboxRow | DeviceRow | NodeRow


class LobbySections(Struct, frozen=True, kw_only=True):
    """The whole lobby."""

    sessions: tuple[ListedSession, ...]
    inbox: tuple[InboxRow, ...]
    devices: tuple[DeviceRow, ...]
    nodes: tuple[NodeRow, ...]
    """The machines of a fleet; empty if the server is not part of one."""
    server: ServerInfo
