"""The intents of clients. Nothing else is accepted: no raw control request and no flag.

Each intent has the least role that may send it. A decision contains the id of the request and the
hash of the input that the user saw; the server then writes its own copy of the input to the CLI.
Types only; the modules in `server/intents` carry them out.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

from msgspec import Struct, field

from fairlead.server.protocol.intent import BaseIntent
from fairlead.server.protocol.terminal_intents import CloseTerminal, OpenTerminal
from fairlead.server.protocol.workbench_intents import (
    AddWorktree,
    DeleteComment,
    FinishWorktree,
    GitCommit,
    GitDiscard,
    GitStage,
    PutComment,
    ResolveComment,
    SendReview,
    SetWorktreeSetup,
    WorktreeLosses,
    Worktrees,
)

__all__ = [
    "AnswerDialog",
    "AnswerElicitation",
    "AnswerQuestions",
    "Archive",
    "Attachment",
    "CancelPrompt",
    "ConfirmAnswer",
    "Decide",
    "DecidePlan",
    "DeleteSessions",
    "EditPrompt",
    "Fork",
    "Intent",
    "Interrupt",
    "KeepDraft",
    "McpReconnect",
    "McpSignIn",
    "McpToggle",
    "NewSession",
    "Pin",
    "ProjectPrograms",
    "Refresh",
    "Rename",
    "ReorderPrompts",
    "Restart",
    "Resume",
    "RevokeDevice",
    "RewindFiles",
    "Send",
    "SendNow",
    "SetEffort",
    "SetFastMode",
    "SetMode",
    "SetModel",
    "SetTags",
    "Stop",
    "StopTask",
    "TaskOutput",
    "TrustProject",
    "UndoAnswer",
    "UndoDelete",
]


# Sessions


class NewSession(BaseIntent, frozen=True, kw_only=True, tag="new_session"):
    """Start a session in a folder.

    Only an owner may set `allowed_tools`, `mcp_servers` and `plugin_dirs`, because they grant more
    than an answer to a request can.
    """

    cwd: str
    prompt: str | None = None
    verbatim: bool = True
    """Whether the prompt is sent to the model unchanged, as for `Send`."""
    model: str | None = None
    mode: str | None = None
    effort: str | None = None
    title: str | None = None
    max_turns: int | None = None
    max_budget_usd: float | None = None
    continue_latest: bool = False
    disallowed_tools: tuple[str, ...] = ()
    """Rules such as `WebFetch` or `Bash(rm *)`."""
    allowed_tools: tuple[str, ...] = ()
    """Rules (owner)."""
    mcp_servers: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Configurations by name, as in a project's .mcp.json (owner)."""
    add_dirs: tuple[str, ...] = ()
    """Additional folders to work in, each below the server's roots."""
    plugin_dirs: tuple[str, ...] = ()
    """Folders of plugins, each below the server's roots; their hooks and servers run (owner)."""
    profile: str | None = None
    """The profile whose account and settings it uses; null for the default one."""
    worktree_base: str | None = None
    """Set for a session in a folder that `AddWorktree` made: the branch it will be merged into.
    The setup command of the repository runs before the CLI starts."""


class Resume(BaseIntent, frozen=True, kw_only=True, tag="resume"):
    """Resume a session of the server, or one that the CLI created elsewhere."""

    session: str
    cwd: str | None = None
    """The expected folder of the session; another one is refused."""
    mode: str | None = None
    """The permission mode to resume with, within the server's ceiling."""
    repair: bool = False
    """Resume even if the check found a mismatch, if it can be repaired."""


class Fork(BaseIntent, frozen=True, kw_only=True, tag="fork"):
    """Create a session with the history of another, up to a message if one is given."""

    session: str
    at: str | None = None


class Rename(BaseIntent, frozen=True, kw_only=True, tag="rename"):
    """Set the title of a session."""

    session: str
    title: str


class Pin(BaseIntent, frozen=True, kw_only=True, tag="pin"):
    """Pin a session to the top of the list, or unpin it."""

    session: str
    pinned: bool


class Archive(BaseIntent, frozen=True, kw_only=True, tag="archive"):
    """Archive a session, or unarchive it."""

    session: str
    archived: bool


class SetTags(BaseIntent, frozen=True, kw_only=True, tag="set_tags"):
    """Set the tags of a session, in place of those that it has."""

    session: str
    tags: tuple[str, ...]


class DeleteSessions(BaseIntent, frozen=True, kw_only=True, tag="delete_sessions"):
    """Delete sessions; `UndoDelete` restores them within the undo period.

    The result lists them under `deleted`, and under `refused` those that cannot be deleted now,
    each with the reason. With `files`, the CLI's own files of these sessions are deleted too,
    except files that another session of the server needs. A session that is only a file of the
    CLI can be deleted only with `files`.
    """

    role: ClassVar[str] = "owner"
    sessions: tuple[str, ...]
    files: bool = False


class UndoDelete(BaseIntent, frozen=True, kw_only=True, tag="undo_delete"):
    """Restore sessions that are to be deleted; the result lists them under `restored`."""

    role: ClassVar[str] = "owner"
    sessions: tuple[str, ...]


class Stop(BaseIntent, frozen=True, kw_only=True, tag="stop"):
    """End the process of a session; it can be resumed."""

    session: str


class Restart(BaseIntent, frozen=True, kw_only=True, tag="restart"):
    """End the process of a session and resume it at once."""

    session: str


class ProjectPrograms(BaseIntent, frozen=True, kw_only=True, tag="project_programs"):
    """List what the project's own files would run, with the stored answer; changes nothing.

    The result has `folder`, `digest`, `commands` and `answer` (trust, without or null), or is
    empty if the files run nothing.
    """

    cwd: str
    profile: str | None = None
    """The profile of the session; null for the default one."""


class TrustProject(BaseIntent, frozen=True, kw_only=True, tag="trust_project"):
    """Answer a refusal with the check `trust`: decide what the project's own files may run.

    `trust` allows them; `without` starts sessions there with the user's own settings only. The
    answer applies to this folder until one of the files changes.
    """

    cwd: str
    digest: str
    """The digest of the files as the user saw them."""
    choice: str
    """trust or without."""


# Prompts


class Attachment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An uploaded file, by the id of the upload."""

    upload: str
    name: str = ""


class Send(BaseIntent, frozen=True, kw_only=True, tag="send"):
    """Queue a prompt."""

    session: str
    text: str
    uuid: str
    attachments: tuple[Attachment, ...] = ()
    at_once: bool = False
    verbatim: bool = True
    """Whether the text is sent to the model unchanged. If not, the CLI reads it like text typed at
    its own prompt: `@path` attaches a file from anywhere on the machine, and a leading `/` runs a
    command. Only for text that a person typed and saw."""


class EditPrompt(BaseIntent, frozen=True, kw_only=True, tag="edit_prompt"):
    """Change a queued prompt."""

    session: str
    uuid: str
    text: str
    verbatim: bool | None = None
    """As for `Send`; None leaves it unchanged."""


class CancelPrompt(BaseIntent, frozen=True, kw_only=True, tag="cancel_prompt"):
    """Remove a queued prompt."""

    session: str
    uuid: str


class ReorderPrompts(BaseIntent, frozen=True, kw_only=True, tag="reorder_prompts"):
    """Change the order of the queued prompts."""

    session: str
    uuids: tuple[str, ...]


class SendNow(BaseIntent, frozen=True, kw_only=True, tag="send_now"):
    """Send a queued prompt into the current turn."""

    session: str
    uuid: str


class KeepDraft(BaseIntent, frozen=True, kw_only=True, tag="keep_draft"):
    """Store a draft of the next prompt."""

    session: str
    text: str


class Interrupt(BaseIntent, frozen=True, kw_only=True, tag="interrupt"):
    """Stop the current turn; queued prompts are still sent unless they are canceled too."""

    role: ClassVar[str] = "approver"
    session: str
    cancel_queued: bool = False


# Decisions


class Decide(BaseIntent, frozen=True, kw_only=True, tag="decide"):
    """Answer a permission request.

    `allow` runs the call as requested; `allow_edited` (operator) with `input`; `always` also applies
    the suggestions or rules with these indexes of the pending row's `choices`; `deny_always`
    denies this call and, for the rest of the session, every call that these choices cover; `deny`
    and `deny_stop` deny only this call. A denial may have a message for the model (operator).

    With `hold`, the server writes the answer to the CLI only after the undo period; until then
    `UndoAnswer` takes it back, and `ConfirmAnswer` or an answer without `hold` ends the period.
    """

    role: ClassVar[str] = "approver"
    session: str
    request_id: str
    input_sha256: str
    decision: str
    choices: tuple[int, ...] = ()
    input: dict[str, Any] | None = None
    message: str = ""
    hold: bool = False


class ConfirmAnswer(BaseIntent, frozen=True, kw_only=True, tag="confirm_answer"):
    """Write an answer that the server still holds to the CLI now."""

    role: ClassVar[str] = "approver"
    session: str
    request_id: str


class UndoAnswer(BaseIntent, frozen=True, kw_only=True, tag="undo_answer"):
    """Take back an answer that the server still holds: the request is open again."""

    role: ClassVar[str] = "approver"
    session: str
    request_id: str


class AnswerQuestions(BaseIntent, frozen=True, kw_only=True, tag="answer_questions"):
    """Answer the model's questions; None declines. Free text and notes require an operator."""

    role: ClassVar[str] = "approver"
    session: str
    request_id: str
    input_sha256: str
    answers: dict[str, str | tuple[str, ...]] | None
    notes: dict[str, str] = field(default_factory=dict)
    hold: bool = False
    """Hold the answer, as for `Decide`."""


class DecidePlan(BaseIntent, frozen=True, kw_only=True, tag="decide_plan"):
    """Approve a plan and optionally accept edits, or reject it with a message (operator)."""

    role: ClassVar[str] = "approver"
    session: str
    request_id: str
    input_sha256: str
    approve: bool
    accept_edits: bool = False
    message: str = ""
    hold: bool = False
    """Hold the answer, as for `Decide`."""


class AnswerElicitation(BaseIntent, frozen=True, kw_only=True, tag="answer_elicitation"):
    """Fill in a form of an MCP server (its texts: operator), decline it, or close it."""

    role: ClassVar[str] = "approver"
    session: str
    request_id: str
    input_sha256: str
    action: str
    content: dict[str, Any] | None = None
    hold: bool = False
    """Hold the answer, as for `Decide`."""


class AnswerDialog(BaseIntent, frozen=True, kw_only=True, tag="answer_dialog"):
    """Answer a dialog of the CLI with one of its options; None closes it."""

    role: ClassVar[str] = "approver"
    session: str
    request_id: str
    input_sha256: str
    answer: str | None = None
    hold: bool = False
    """Hold the answer, as for `Decide`."""


# Settings


class SetModel(BaseIntent, frozen=True, kw_only=True, tag="set_model"):
    """Switch to another model that the session offers."""

    session: str
    model: str


class SetMode(BaseIntent, frozen=True, kw_only=True, tag="set_mode"):
    """Change the permission mode, within the server's ceiling."""

    session: str
    mode: str


class SetEffort(BaseIntent, frozen=True, kw_only=True, tag="set_effort"):
    """Change the effort; an empty text means the default of the model."""

    session: str
    effort: str


class SetFastMode(BaseIntent, frozen=True, kw_only=True, tag="set_fast_mode"):
    """Turn the model's fast mode on or off, if the CLI has one."""

    session: str
    on: bool


class StopTask(BaseIntent, frozen=True, kw_only=True, tag="stop_task"):
    """Stop a background task."""

    session: str
    task: str


class McpToggle(BaseIntent, frozen=True, kw_only=True, tag="mcp_toggle"):
    """Enable or disable an MCP server of the session."""

    session: str
    server: str
    enabled: bool


class McpReconnect(BaseIntent, frozen=True, kw_only=True, tag="mcp_reconnect"):
    """Reconnect an MCP server of the session."""

    session: str
    server: str


class McpSignIn(BaseIntent, frozen=True, kw_only=True, tag="mcp_sign_in"):
    """Sign in to an MCP server: returns the address to open in a browser.

    If that browser is on another machine than the CLI, its final redirect fails there; the address
    of that redirect, sent as `callback`, completes the sign-in.
    """

    session: str
    server: str
    callback: str | None = None


class Refresh(BaseIntent, frozen=True, kw_only=True, tag="refresh"):
    """Query the CLI's context usage and the state of its MCP servers again."""

    role: ClassVar[str] = "viewer"
    session: str


class TaskOutput(BaseIntent, frozen=True, kw_only=True, tag="task_output"):
    """Get the end of a background task's output so far."""

    role: ClassVar[str] = "viewer"
    session: str
    task: str


class RewindFiles(BaseIntent, frozen=True, kw_only=True, tag="rewind_files"):
    """Restore files to their state before a prompt."""

    session: str
    prompt: str
    dry_run: bool = True


class ContinueAtReset(BaseIntent, frozen=True, kw_only=True, tag="continue_at_reset"):
    """Continue a session that a usage limit stopped when the limit resets, or cancel that."""

    session: str
    on: bool


class ContinueAtResetByDefault(
    BaseIntent, frozen=True, kw_only=True, tag="continue_at_reset_by_default"
):
    """Set whether sessions without a choice of their own continue when a limit resets."""

    role: ClassVar[str] = "owner"
    on: bool


class RevokeDevice(BaseIntent, frozen=True, kw_only=True, tag="revoke_device"):
    """Revoke a device's token and disconnect the device at once."""

    role: ClassVar[str] = "owner"
    device: str


Intent: TypeAlias = (
    NewSession
    | AddWorktree
    | Worktrees
    | SetWorktreeSetup
    | WorktreeLosses
    | FinishWorktree
    | Resume
    | Fork
    | Rename
    | Pin
    | Archive
    | SetTags
    | DeleteSessions
    | UndoDelete
    | Stop
    | Restart
    | ProjectPrograms
    | TrustProject
    | Send
    | EditPrompt
    | CancelPrompt
    | ReorderPrompts
    | SendNow
    | KeepDraft
    | PutComment
    | DeleteComment
    | ResolveComment
    | SendReview
    | GitStage
    | GitDiscard
    | GitCommit
    | Interrupt
    | Decide
    | AnswerQuestions
    | DecidePlan
    | UndoAnswer
    | ConfirmAnswer
    | AnswerElicitation
    | AnswerDialog
    | SetModel
    | SetMode
    | SetEffort
    | SetFastMode
    | StopTask
    | McpToggle
    | McpReconnect
    | McpSignIn
    | Refresh
    | TaskOutput
    | RewindFiles
    | ContinueAtReset
    | ContinueAtResetByDefault
    | OpenTerminal
    | CloseTerminal
    | RevokeDevice
)
