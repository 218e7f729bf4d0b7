"""A budget: what it covers, and what follows from what was spent. Pure."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["REACHED", "SCOPES", "WARNED", "Budget", "covers", "level_of", "name_of"]

SCOPES = ("session", "project", "day")

WARNED, REACHED = "warned", "reached"

MOST_USD = 1_000_000.0


class Budget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much may be spent in a session, in a project's folder, or by the server on one day."""

    scope: str
    key: str = ""
    """The session's id or the folder; empty for a day."""
    limit_usd: float
    warn_percent: float = 80.0
    zone: str = "UTC"
    """The time zone in which a day begins."""

    @property
    def id(self) -> str:
        """The scope and the key: there is one budget for each."""
        return f"{self.scope}:{self.key}"

    def problem(self) -> str | None:
        """What is wrong with it, if anything is."""
        if self.scope not in SCOPES:
            return f"The scope must be one of {', '.join(SCOPES)}."
        if bool(self.key) == (self.scope == "day"):
            return "A budget for a session or a project needs its id or folder; one for a day none."
        if not 0 < self.limit_usd <= MOST_USD:
            return "The limit must be an amount above 0."
        if not 0 < self.warn_percent <= 100:
            return "The warning must be between 1 and 100 percent."
        return None


def covers(budget: Budget, session: str, project: str) -> bool:
    """Whether what a session in a folder spends counts for a budget."""
    if budget.scope == "day":
        return True
    return budget.key == (session if budget.scope == "session" else project)


def level_of(budget: Budget, spent_usd: float) -> str:
    """Whether a budget is reached, or its warning is; empty if neither."""
    if spent_usd >= budget.limit_usd:
        return REACHED
    return WARNED if spent_usd >= budget.limit_usd * budget.warn_percent / 100 else ""


def name_of(budget: Budget) -> str:
    """A budget in a sentence."""
    return {"session": "this session", "project": f"the project {budget.key}"}.get(
        budget.scope, "today"
    )
