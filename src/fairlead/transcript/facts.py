"""What the host knows and the wire does not say; fed to the reducer like messages.

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
    "Decided",
    "Described",
    "Fact",
    "Forked",
    "PlanShown",
    "ProcessExited",
    "ProcessStarted",
    "PromptCancelled",
    "PromptEdited",
    "PromptHeld",
    "PromptsReordered",
    "Stopped",
    "TurnEnded",
    "TurnStarted",
]


class ProcessStarted(Struct, frozen=True):
    """A CLI process was started; `resumed` is the session it was told to go on with."""

    resumed: str | None = None


class ProcessExited(Struct, frozen=True, kw_only=True):
    """The CLI process is gone; `expected` if the host had asked it to end."""

    returncode: int | None = None
    expected: bool = False
    stderr: str = ""


class Forked(Struct, frozen=True):
    """All that came before is the past of another session, which this one begins with."""


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


class Decided(Struct, frozen=True):
    """Who answered a request of the CLI: a person, a policy, a program."""

    request_id: str
    by: str


class Stopped(Struct, frozen=True):
    """Who is about to stop the turn or the process: a person, a program."""

    by: str


class PlanShown(Struct, frozen=True):
    """The text of a plan that somebody must approve; newer CLIs tell it only when asked."""

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
    | ProcessExited
    | Forked
    | PromptHeld
    | PromptEdited
    | PromptsReordered
    | PromptCancelled
    | Decided
    | Stopped
    | PlanShown
    | Described
    | Accounted
    | TurnStarted
    | TurnEnded
)
