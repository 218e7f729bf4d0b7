"""What the parts of a session need of the session: its CLI, its transcript, its way into the log.

An interface, so that `prompt_line` and `attendant` are below `live_session`, which has them.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, Protocol

from fairlead.host.client import Client
from fairlead.store.audit import AuditRecord
from fairlead.store.intents import IntentOutcome
from fairlead.transcript.reduce import Fed
from fairlead.transcript.transcript import Transcript

__all__ = ["RunningSession"]


class RunningSession(Protocol):
    """A session, seen by its parts."""

    @property
    def id(self) -> str:
        """The session's name in the server."""

    @property
    def transcript(self) -> Transcript:
        """What was said so far."""

    @property
    def ready(self) -> bool:
        """Whether a CLI runs that takes prompts."""

    def running(self) -> Client:
        """The client of the CLI that runs; refuses if there is none."""

    def note(self, fed: list[Fed]) -> None:
        """Something happened."""

    async def record(
        self,
        fed: list[Fed],
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
    ) -> None:
        """Store something that somebody wants; raises `StoreUnavailable`."""

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside everything else."""
