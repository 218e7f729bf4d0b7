"""Facts that the host knows and the wire does not contain; fed to the reducer like messages.

The CLI never tells that its process started or died, what becomes of the prompts in the host's
own queue, who took a decision, who stopped it, or whose past this is. The last four facts are for `history`, whose files have
neither the first nor the last line of a turn.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from fairlead.wire.inputs import Prompt

__all__ = [
    "Accounted",
    "AnswerHeld",
    "AnswerUndone",
    "CallsDenied",
    "Decided",
    "Described",
    "Fact",
    "Forked",
    "HostStopping",
    "PlanShown",
    "ProcessExited",
    "ProcessStarted",
    "PromptCancelled",
    "PromptEdited",
    "PromptHeld",
    "PromptsReordered",
    "QueueHeld",
    "QueueReleased",
    "Stopped",
    "TurnEnded",
    "TurnStarted",
]


class ProcessStarted(Struct, frozen=True):
    """A CLI process was started; `resumed` is the session that it resumes."""

    resumed: str | None = None


class HostStopping(Struct, frozen=True):
    """The host is ending and ends the CLI process with it; no user asked for that."""


class ProcessExited(Struct, frozen=True, kw_only=True):
    """The CLI process has ended; `expected` if the host had ended it."""

    returncode: int | None = None
    expected: bool = False
    stderr: str = ""
    host_stopped: bool = False
    """The host itself ended or was killed, and the process with it."""


class Forked(Struct, frozen=True):
    """Everything before this fact is the history of the session that this session was forked from."""


class PromptHeld(Struct, frozen=True):
    """A prompt waits in the host's queue; it is sent when the CLI is ready for it."""

    prompt: Prompt


class PromptEdited(Struct, frozen=True):
    """A prompt that waits in the host's queue has other words now."""

    prompt: Prompt


class PromptsReordered(Struct, frozen=True):
    """The prompts that wait in the host's queue go out in this order."""

    uuids: tuple[str, ...]


class PromptCancelled(Struct, frozen=True):
    """A prompt was taken back before the CLI began with it."""

    uuid: str


class QueueHeld(Struct, frozen=True):
    """A usage limit stopped the session: the host writes no prompt of its queue before `until`."""

    until: float
    limit: str
    """The window that is used up, such as `five_hour`."""


class QueueReleased(Struct, frozen=True):
    """A user ended the hold of the queue before its time."""


class Decided(Struct, frozen=True):
    """Who answered a request of the CLI: a person, a policy, a program."""

    request_id: str
    by: str


class AnswerHeld(Struct, frozen=True):
    """A user answered a request; the host writes the answer at `until` unless a user undoes it."""

    request_id: str
    by: str
    decision: str
    until: float
    denies: bool = True


class AnswerUndone(Struct, frozen=True):
    """A held answer was undone, or could not be stored: the request is open again."""

    request_id: str


class CallsDenied(Struct, frozen=True):
    """A user denied calls like one for the rest of the session; `rules` as on the wire."""

    rules: tuple[dict[str, Any], ...]


class Stopped(Struct, frozen=True):
    """Who is about to stop the turn or the process: a person, a program."""

    by: str


class PlanShown(Struct, frozen=True):
    """The text of a plan that a user must approve; newer CLIs send it only on request."""

    request_id: str
    plan: str


class Described(Struct, frozen=True, kw_only=True):
    """Facts about the session that a record of a transcript file carries."""

    session_id: str | None = None
    cwd: str | None = None
    version: str | None = None
    permission_mode: str | None = None
    model: str | None = None
    effort: str | None = None
    fast_mode: str | None = None


class Accounted(Struct, frozen=True, kw_only=True):
    """What a session had cost when its transcript file was last written."""

    total_usd: float
    models: dict[str, Any] = {}


class TurnStarted(Struct, frozen=True):
    """A turn begins here."""

    origin: str = "user"


class TurnEnded(Struct, frozen=True):
    """The turn ended here, and what is known of how."""

    outcome: str = "unknown"


Fact: TypeAlias = (
    ProcessStarted
    | HostStopping
    | ProcessExited
    | Forked
    | PromptHeld
    | PromptEdited
    | PromptsReordered
    | PromptCancelled
    | QueueHeld
    | QueueReleased
    | Decided
    | AnswerHeld
    | AnswerUndone
    | CallsDenied
    | Stopped
    | PlanShown
    | Described
    | Accounted
    | TurnStarted
    | TurnEnded
)
