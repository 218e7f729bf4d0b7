"""What a client may want done. Nothing else passes: no raw control request and no flag.

Each kind names the least role that may ask for it. A decision carries the id of the request and
the hash of the input that was seen; what is then written to the CLI comes from the server's own
copy. Types only; `registry` and `decisions` carry them out.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

from msgspec import Struct

__all__ = [
    "AnswerDialog",
    "AnswerElicitation",
    "AnswerQuestions",
    "Archive",
    "Attachment",
    "CancelPrompt",
    "Decide",
    "DecidePlan",
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
    "Stop",
    "StopTask",
    "TaskOutput",
]


class _Intent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    role: ClassVar[str] = "operator"
    """viewer < approver < operator < owner."""


# Sessions


class NewSession(_Intent, frozen=True, kw_only=True, tag="new_session"):
    """Start a session in a folder.

    What runs without asking and which MCP servers are started is an owner's to say: both reach
    beyond what an answer to a request can grant.
    """

    cwd: str
    prompt: str | None = None
    model: str | None = None
    mode: str | None = None
    effort: str | None = None
    title: str | None = None
    max_turns: int | None = None
    max_budget_usd: float | None = None
    continue_latest: bool = False
    disallowed_tools: tuple[str, ...] = ()
    """Rules, as `WebFetch` or `Bash(rm *)`."""
    allowed_tools: tuple[str, ...] = ()
    """Rules (owner)."""
    mcp_servers: dict[str, dict[str, Any]] = {}
    """Configurations by name, as in a project's .mcp.json (owner)."""


class Resume(_Intent, frozen=True, kw_only=True, tag="resume"):
    """Go on with a session: one of the server's own, or one the CLI made elsewhere."""

    session: str
    repair: bool = False
    """Go on although the check before found a disagreement that can be mended."""


class Fork(_Intent, frozen=True, kw_only=True, tag="fork"):
    """A new session with the history of another, up to a message if one is named."""

    session: str
    at: str | None = None


class Rename(_Intent, frozen=True, kw_only=True, tag="rename"):
    """Give a session a name."""

    session: str
    title: str


class Pin(_Intent, frozen=True, kw_only=True, tag="pin"):
    """Keep a session at the top of the list, or no longer."""

    session: str
    pinned: bool


class Archive(_Intent, frozen=True, kw_only=True, tag="archive"):
    """Take a session out of the list, or bring it back."""

    session: str
    archived: bool


class Stop(_Intent, frozen=True, kw_only=True, tag="stop"):
    """End the process of a session; it can be resumed."""

    session: str


class Restart(_Intent, frozen=True, kw_only=True, tag="restart"):
    """End the process of a session and resume it at once."""

    session: str


# Prompts


class Attachment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file that was uploaded before, by the id the upload gave."""

    upload: str
    name: str = ""


class Send(_Intent, frozen=True, kw_only=True, tag="send"):
    """Queue a prompt."""

    session: str
    text: str
    uuid: str
    attachments: tuple[Attachment, ...] = ()
    at_once: bool = False


class EditPrompt(_Intent, frozen=True, kw_only=True, tag="edit_prompt"):
    """Change a prompt that still waits."""

    session: str
    uuid: str
    text: str


class CancelPrompt(_Intent, frozen=True, kw_only=True, tag="cancel_prompt"):
    """Take a prompt back that still waits."""

    session: str
    uuid: str


class ReorderPrompts(_Intent, frozen=True, kw_only=True, tag="reorder_prompts"):
    """Put the waiting prompts into another order."""

    session: str
    uuids: tuple[str, ...]


class SendNow(_Intent, frozen=True, kw_only=True, tag="send_now"):
    """Send a waiting prompt into the running turn."""

    session: str
    uuid: str


class KeepDraft(_Intent, frozen=True, kw_only=True, tag="keep_draft"):
    """Keep what was typed and not sent."""

    role: ClassVar[str] = "viewer"
    session: str
    text: str


class Interrupt(_Intent, frozen=True, kw_only=True, tag="interrupt"):
    """Stop the running turn; a prompt that waits goes on unless it is cancelled too."""

    role: ClassVar[str] = "approver"
    session: str
    cancel_queued: bool = False


# Decisions


class Decide(_Intent, frozen=True, kw_only=True, tag="decide"):
    """Answer a permission request.

    `allow` lets it run as asked; `allow_edited` (operator) with `input`; `always` also takes the
    suggestion or rule with these indexes of the pending row's `choices`; `never` allows this one
    and denies the like from now on; `deny` and `deny_stop` carry a message for the model.
    """

    role: ClassVar[str] = "approver"
    session: str
    request_id: str
    input_sha256: str
    decision: str
    choices: tuple[int, ...] = ()
    input: dict[str, Any] | None = None
    message: str = ""


class AnswerQuestions(_Intent, frozen=True, kw_only=True, tag="answer_questions"):
    """Answer the model's questions; None declines."""

    role: ClassVar[str] = "approver"
    session: str
    request_id: str
    input_sha256: str
    answers: dict[str, str | tuple[str, ...]] | None
    notes: dict[str, str] = {}


class DecidePlan(_Intent, frozen=True, kw_only=True, tag="decide_plan"):
    """Approve a plan, also accepting edits if asked, or reject it with words."""

    role: ClassVar[str] = "approver"
    session: str
    request_id: str
    input_sha256: str
    approve: bool
    accept_edits: bool = False
    message: str = ""


class AnswerElicitation(_Intent, frozen=True, kw_only=True, tag="answer_elicitation"):
    """Fill in a form of an MCP server, decline it, or close it."""

    role: ClassVar[str] = "approver"
    session: str
    request_id: str
    action: str
    content: dict[str, Any] | None = None


class AnswerDialog(_Intent, frozen=True, kw_only=True, tag="answer_dialog"):
    """Answer a dialog of the CLI's own with one of its answers; None closes it."""

    role: ClassVar[str] = "approver"
    session: str
    request_id: str
    answer: str | None = None


# Switches


class SetModel(_Intent, frozen=True, kw_only=True, tag="set_model"):
    """Use another model of the session's own list."""

    session: str
    model: str


class SetMode(_Intent, frozen=True, kw_only=True, tag="set_mode"):
    """Change the permission mode, within the server's ceiling."""

    session: str
    mode: str


class SetEffort(_Intent, frozen=True, kw_only=True, tag="set_effort"):
    """Change how hard the model thinks."""

    session: str
    effort: str


class SetFastMode(_Intent, frozen=True, kw_only=True, tag="set_fast_mode"):
    """Switch the model's fast mode on or off, where the CLI has one."""

    session: str
    on: bool


class StopTask(_Intent, frozen=True, kw_only=True, tag="stop_task"):
    """Stop a background task."""

    session: str
    task: str


class McpToggle(_Intent, frozen=True, kw_only=True, tag="mcp_toggle"):
    """Switch an MCP server of the session on or off."""

    session: str
    server: str
    enabled: bool


class McpReconnect(_Intent, frozen=True, kw_only=True, tag="mcp_reconnect"):
    """Connect an MCP server of the session again."""

    session: str
    server: str


class McpSignIn(_Intent, frozen=True, kw_only=True, tag="mcp_sign_in"):
    """Sign in to an MCP server: gives the address to open in a browser.

    If that browser is on another machine than the CLI, the address it is sent to in the end
    leads nowhere there; given as `callback`, it still ends the sign-in.
    """

    session: str
    server: str
    callback: str | None = None


class Refresh(_Intent, frozen=True, kw_only=True, tag="refresh"):
    """Ask the CLI anew how full its context is and how its MCP servers are."""

    role: ClassVar[str] = "viewer"
    session: str


class TaskOutput(_Intent, frozen=True, kw_only=True, tag="task_output"):
    """The end of what a background task has printed so far."""

    role: ClassVar[str] = "viewer"
    session: str
    task: str


class RewindFiles(_Intent, frozen=True, kw_only=True, tag="rewind_files"):
    """Put files back to where they were before a prompt."""

    session: str
    prompt: str
    dry_run: bool = True


class RevokeDevice(_Intent, frozen=True, kw_only=True, tag="revoke_device"):
    """Take a device's token away; it is cut off at once."""

    role: ClassVar[str] = "owner"
    device: str


Intent: TypeAlias = (
    NewSession
    | Resume
    | Fork
    | Rename
    | Pin
    | Archive
    | Stop
    | Restart
    | Send
    | EditPrompt
    | CancelPrompt
    | ReorderPrompts
    | SendNow
    | KeepDraft
    | Interrupt
    | Decide
    | AnswerQuestions
    | DecidePlan
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
    | RevokeDevice
)
