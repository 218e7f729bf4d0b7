"""The options with which the CLI of a session starts: those of all sessions, and its own.

Pure except for checks of folders, because the file system determines where a path leads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from fairlead.host.literals import PermissionMode
from fairlead.host.options.options import Options
from fairlead.server.policy import MODES, Policy
from fairlead.server.refusal import Refusal
from fairlead.server.trust import WITHOUT
from fairlead.store.tables.sessions import Origin, SessionRow
from fairlead.transcript.transcript import Transcript

__all__ = ["branches_from", "branching", "options_for", "profile_option", "resume_options"]


def options_for(base: Options, policy: Policy, row: SessionRow, **more: Any) -> Options:
    """The options of a session's last run, because a CLI restores neither mode nor model (CLI-701)."""
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
    added = [Path(path) for path in _still_allowed(policy, row.options.get("add_dirs", ()))]
    plugins = [Path(path) for path in _still_allowed(policy, row.options.get("plugin_dirs", ()))]
    settings = base.settings
    if policy.trust.check(row.cwd, row.profile) == WITHOUT:
        settings = replace(
            settings, sources=["user"] if "user" in (settings.sources or ["user"]) else []
        )
    values = settings.value or {}
    if row.options.get("fast_mode") and isinstance(values, Mapping):
        settings = replace(settings, value={**values, "fastMode": True})
    return replace(
        base,
        cwd=row.cwd,
        rules=rules,
        settings=settings,
        add_dirs=(*base.add_dirs, *added),
        plugins=replace(base.plugins, folders=(*base.plugins.folders, *plugins)),
        mcp_servers={**base.mcp_servers, **row.options.get("mcp_servers", {})},
        permission_mode=cast(PermissionMode, mode or policy.mode),
        file_checkpoints=True,
        **{
            "env": {**base.env, **policy.env},
            "inherit_env": policy.inherit_env,
            **chosen,
            **more,
        },
    )


def profile_option(profile: str) -> dict[str, Any]:
    """The option of a session's row that names its profile; nothing for the default one."""
    return {"profile": profile} if profile else {}


def _still_allowed(policy: Policy, folders: Iterable[str]) -> Iterator[str]:
    """Those of the folders that are still below the roots.

    A folder may have been replaced by a link, or the server started with other roots.
    """
    for folder in folders:
        with contextlib.suppress(Refusal):
            if policy.check_folder(folder) == folder:
                yield folder


def branches_from(row: SessionRow, transcript: Transcript) -> Origin | None:
    """The origin of a fork whose CLI never started, so that its own id cannot be resumed."""
    return row.origin if transcript.session.id is None else None


def resume_options(row: SessionRow, transcript: Transcript) -> dict[str, Any]:
    """Options that make a CLI resume a session; a fork that never started branches off again."""
    origin = branches_from(row, transcript)
    return {"resume": row.cli_session_id} if origin is None else branching(row, origin)


def branching(row: SessionRow, origin: Origin) -> dict[str, Any]:
    """Options that make a CLI start a fork."""
    return {
        "resume": origin.cli_session_id,
        "resume_at": origin.at,
        "fork": True,
        "session_id": row.cli_session_id,
    }
