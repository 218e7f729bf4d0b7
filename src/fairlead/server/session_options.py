"""How the CLI of a session is started: what every session has, and what this one was given. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fairlead.host.options import Options
from fairlead.server.policy import MODES, Policy
from fairlead.store.sessions import Origin, SessionRow
from fairlead.transcript.transcript import Transcript

__all__ = ["branches_from", "branching", "going_on", "options_for"]


def options_for(base: Options, policy: Policy, row: SessionRow, **more: Any) -> Options:
    """What a session had when it last ran, for a CLI restores neither mode nor model (TRUTH 1.7)."""
    mode = row.mode if row.mode in MODES and policy.allows_mode(row.mode) else None
    chosen = {
        name: row.options[name]
        for name in ("model", "effort", "max_turns", "max_budget_usd")
        if row.options.get(name) is not None
    }
    rules = replace(
        base.rules,
        allowed=(*base.rules.allowed, *row.options.get("allowed_tools", ())),
        disallowed=(*base.rules.disallowed, *row.options.get("disallowed_tools", ())),
    )
    settings = base.settings
    given = settings.value or {}
    if row.options.get("fast_mode") and isinstance(given, Mapping):
        settings = replace(settings, value={**given, "fastMode": True})
    return replace(
        base,
        cwd=row.cwd,
        rules=rules,
        settings=settings,
        mcp_servers={**base.mcp_servers, **row.options.get("mcp_servers", {})},
        env={**base.env, **policy.env},
        inherit_env=policy.inherit_env,
        permission_mode=mode or policy.mode,
        file_checkpoints=True,
        **{**chosen, **more},
    )


def branches_from(row: SessionRow, transcript: Transcript) -> Origin | None:
    """Where a fork begins whose CLI never did: under its own id there is nothing to go on with."""
    return row.origin if transcript.session.id is None else None


def going_on(row: SessionRow, transcript: Transcript) -> dict[str, Any]:
    """What makes a CLI go on with a session; a fork that never began branches off once more."""
    origin = branches_from(row, transcript)
    return {"resume": row.cli_session_id} if origin is None else branching(row, origin)


def branching(row: SessionRow, origin: Origin) -> dict[str, Any]:
    """What makes a CLI begin a fork."""
    return {
        "resume": origin.cli_session_id,
        "resume_at": origin.at,
        "fork": True,
        "session_id": row.cli_session_id,
    }
