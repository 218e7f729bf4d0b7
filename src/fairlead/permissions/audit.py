"""One line of the audit log: who or what decided, on which exact input, by which rule, when.

A pure value: the time comes in, nothing is written (`audit_log` does that). The input itself is
not kept, only its hash, so that a log holds no secrets and still proves what was decided on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from fairlead.permissions.rules.decisions import Decision
from fairlead.wire.input_hash import canonical_json, input_sha256

__all__ = ["AuditRecord", "Decider", "Outcome", "audited", "canonical_json", "input_sha256"]


class Decider(StrEnum):
    """Who or what gave the answer."""

    PERSON = "person"
    PROGRAM = "program"
    RULE = "rule"
    PLAN_MODE = "planMode"
    BUDGET = "budget"
    CLI = "cli"
    NOBODY = "nobody"


class Outcome(StrEnum):
    """How a request ended. Only the first two are answers."""

    ALLOWED = "allowed"
    DENIED = "denied"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One decision about one request."""

    at: float
    """Seconds since 1970, given by the caller."""
    session_id: str
    request_id: str
    tool: str
    input_sha256: str
    outcome: Outcome
    decider: Decider
    name: str = ""
    """Which person, device or program, where it is known."""
    rule: str | None = None
    scope: str | None = None
    file: str | None = None
    words: str = ""

    def to_json(self) -> str:
        """The record as one line."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> AuditRecord:
        """Read a line back; ValueError if it is none of ours."""
        raw = json.loads(line)
        if not isinstance(raw, dict):
            raise ValueError("not an audit record")
        try:
            known = {name: raw[name] for name in cls.__dataclass_fields__ if name in raw}
            outcome, decider = Outcome(known.pop("outcome")), Decider(known.pop("decider"))
            return cls(**known, outcome=outcome, decider=decider)
        except (KeyError, TypeError) as error:
            raise ValueError(f"not an audit record: {error}") from error


def audited(
    decision: Decision,
    *,
    at: float,
    session_id: str,
    request_id: str,
    tool: str,
    tool_input: Mapping[str, Any],
    outcome: Outcome,
    decider: Decider,
    name: str = "",
) -> AuditRecord:
    """The record of a decision of the policy."""
    entry = decision.rule
    return AuditRecord(
        at=at,
        session_id=session_id,
        request_id=request_id,
        tool=tool,
        input_sha256=input_sha256(tool_input),
        outcome=outcome,
        decider=decider,
        name=name,
        rule=None if entry is None else str(entry.rule),
        scope=None if entry is None else entry.scope.value,
        file=None if entry is None else entry.file,
        words=decision.words,
    )
