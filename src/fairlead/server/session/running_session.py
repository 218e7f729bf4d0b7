"""What the parts of a session need of the session: its CLI, its transcript, its way into the log.

An interface, so that `queued_prompts` and `permission_handlers` are below `live_session`.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, Protocol

from fairlead.host.client import Client
from fairlead.store.tables.audit import AuditRecord
from fairlead.store.tables.intents import IntentOutcome
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
        """The conversation so far."""

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
        """Store what a client requested; raises `StoreUnavailable`."""

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something concurrently."""
