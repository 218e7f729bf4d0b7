"""A schedule: a prompt, when it is sent, and where to. Pure."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["MISSED", "Schedule", "decide"]

MISSED = ("run", "skip")
"""What happens to runs that were due while no server was running: run once, or skip."""

LATE_S = 300.0
"""A run that begins within this time is not a missed one."""

PROMPT_CHARS = 100_000
NAME_CHARS = 100


class Schedule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A prompt that is sent at a time, into a new session or an existing one."""

    id: str = ""
    """Set by the server."""
    name: str
    prompt: str
    cron: str = ""
    """Five fields, such as `0 7 * * 1-5`; empty for a single time."""
    at: float | None = None
    """The single time, instead of `cron`."""
    zone: str = "UTC"
    cwd: str = ""
    """The folder of a new session for each run."""
    session: str = ""
    """The existing session, instead of a folder."""
    missed: str = "run"
    budget_usd: float | None = None
    """How much one run may spend; only for new sessions."""
    profile: str = ""
    """The profile of the new sessions; empty for the default one."""
    enabled: bool = True

    def problem(self) -> str | None:
        """What is wrong with it, if anything is; the times and the folder are checked elsewhere."""
        if not self.name.strip() or len(self.name) > NAME_CHARS:
            return f"A schedule needs a name of at most {NAME_CHARS} characters."
        if not self.prompt.strip() or len(self.prompt) > PROMPT_CHARS:
            return f"A schedule needs a prompt of at most {PROMPT_CHARS:,} characters."
        if bool(self.cron) == (self.at is not None):
            return "A schedule needs either a cron expression or a single time."
        if bool(self.cwd) == bool(self.session):
            return "A schedule needs either a folder for new sessions or an existing session."
        if self.missed not in MISSED:
            return f"`missed` must be one of {', '.join(MISSED)}."
        if self.budget_usd is not None and (self.session or not self.budget_usd > 0):
            return "A budget for each run must be above 0, and needs a new session for each run."
        return None


def decide(schedule: Schedule, next_at: float | None, now: float) -> str:
    """`run` or `skip` if a run is due, else `wait`.

    However many runs were missed, there is one decision: the caller continues after `now`.
    """
    if not schedule.enabled or next_at is None or now < next_at:
        return "wait"
    return "run" if now - next_at <= LATE_S or schedule.missed == "run" else "skip"
