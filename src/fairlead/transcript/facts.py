"""What the host knows and the wire does not say; fed to the reducer like messages.

The CLI never tells that its process started or died, that a prompt waits in the host's own
queue, or who took a decision. The last four facts are for `history`, whose files have neither
the first nor the last line of a turn.
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
    "ProcessExited",
    "ProcessStarted",
    "PromptCancelled",
    "PromptHeld",
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


class PromptHeld(Struct, frozen=True):
    """A prompt waits in the host's queue; it is sent when the CLI is ready for it."""

    prompt: Prompt


class PromptCancelled(Struct, frozen=True):
    """A prompt was taken back before the CLI began with it."""

    uuid: str


class Decided(Struct, frozen=True):
    """Who answered a request of the CLI: a person, a policy, a program."""

    request_id: str
    by: str


class Described(Struct, frozen=True, kw_only=True):
    """Facts about the session that a record of a transcript file carries."""

    session_id: str | None = None
    cwd: str | None = None
    version: str | None = None
    permission_mode: str | None = None
    model: str | None = None
    effort: str | None = None


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
    | PromptHeld
    | PromptCancelled
    | Decided
    | Described
    | Accounted
    | TurnStarted
    | TurnEnded
)
