"""Routes for profiles, for owners only: the values of variables can be set, but never read again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from fairlead.errors import UsageError
from fairlead.server.http.bodies import json_answer, read_body
from fairlead.server.http.routes import Route
from fairlead.server.profiles.config_dirs import full_path
from fairlead.server.profiles.profile import Profile
from fairlead.server.protocol.lobby_rows import ListedSession
from fairlead.server.refusal import Refusal
from fairlead.server.sessions.sessions import Sessions

__all__ = ["ProfileRoutes"]

BODY_BYTES = 512 * 1_024


class _Wanted(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    config_dir: str
    label: str = ""
    env: dict[str, str | None] = {}
    """null keeps the stored value; a variable that is not named is removed."""
    pass_env: tuple[str, ...] = ()


class _Removal(msgspec.Struct, forbid_unknown_fields=True):
    name: str


class ProfileRoutes:
    """The handlers of `/api/profiles`."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._profiles = sessions.profiles
        self._changing = asyncio.Lock()
        self.routes = (
            Route(
                method="GET", path="/api/profiles", role="owner", handler=self._read,
                about="All profiles, with the names of their variables and without the values.",
            ),
            Route(
                method="POST", path="/api/profiles", role="owner", handler=self._put,
                about="Create a profile, or change the one with this name.",
            ),
            Route(
                method="POST", path="/api/profiles/remove", role="owner", handler=self._remove,
                about="Remove a profile; its folder and its sessions stay.",
            ),
        )  # fmt: skip

    def _answer(self) -> Response:
        rows = [self._row(profile) for profile in self._profiles.all()]
        return json_answer({"profiles": rows, "default_dir": self._profiles.default_folder})

    def _row(self, profile: Profile) -> dict[str, Any]:
        sessions = [row for row in self._sessions.rows.values() if row.profile == profile.name]
        elsewhere = self._elsewhere(profile.name)
        return {
            "name": profile.name,
            "label": profile.label,
            "config_dir": profile.config_dir,
            "env": sorted(profile.env),
            "pass_env": list(profile.pass_env),
            "from_file": profile.from_file,
            "sessions": len(sessions) + len(elsewhere),
            "live": len(self._running(profile.name)),
        }

    async def _read(self, request: Request) -> Response:
        return self._answer()

    async def _put(self, request: Request) -> Response:
        wanted = _decoded(await read_body(request, BODY_BYTES), _Wanted)
        async with self._changing:
            await self._store(wanted)
        return self._answer()

    async def _store(self, wanted: _Wanted) -> None:
        before = self._profiles.find(wanted.name)
        try:
            profile = Profile(
                name=wanted.name,
                label=" ".join(wanted.label.split()),
                config_dir=full_path(wanted.config_dir),
                env=_values(wanted, {} if before is None else before.env),
                pass_env=tuple(filter(None, (name.strip() for name in wanted.pass_env))),
            )
        except UsageError as problem:
            raise Refusal("bad_message", str(problem)) from None
        if before is not None and before.config_dir != profile.config_dir:
            self._refuse_running(profile.name, "moved to another folder")
        await asyncio.to_thread(self._profiles.put, profile)
        self._profiles.changed()

    async def _remove(self, request: Request) -> Response:
        wanted = _decoded(await read_body(request, BODY_BYTES), _Removal)
        async with self._changing:
            self._refuse_running(wanted.name, "removed")
            await asyncio.to_thread(self._profiles.remove, wanted.name)
            self._profiles.changed()
        return self._answer()

    def _running(self, profile: str) -> list[str]:
        """The titles of the running sessions of a profile."""
        sessions = self._sessions
        own = [each.id for each in sessions.live if sessions.account_of(each.id) == profile]
        titles = [sessions.row(each).title or each for each in own]
        return titles + [row.title or row.id for row in self._elsewhere(profile) if row.live]

    def _elsewhere(self, profile: str) -> list[ListedSession]:
        """The sessions of a profile that other processes of the server run."""
        return [
            row
            for row in self._sessions.lobby.sessions()
            if row.source == "fairlead"
            and row.profile == profile
            and row.id not in self._sessions.rows
        ]

    def _refuse_running(self, profile: str, action: str) -> None:
        running = self._running(profile)
        if running:
            named = ", ".join(running[:3])
            count = "a running session uses" if len(running) == 1 else "running sessions use"
            raise Refusal(
                "conflict",
                f"The profile {profile} cannot be {action} while {count} it ({named}). Stop "
                f"{'it' if len(running) == 1 else 'them'} first.",
            )


def _values(wanted: _Wanted, before: Mapping[str, str]) -> dict[str, str]:
    values = {}
    for name, value in wanted.env.items():
        if value is None and name not in before:
            raise Refusal("bad_message", f"The variable {name[:80]!r} needs a value.")
        values[name] = before[name] if value is None else value
    return values


def _decoded(body: bytes, kind: Any) -> Any:
    """A body as a struct; the refusal does not repeat any part of it."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, RecursionError):
        raise Refusal("bad_message", "The body is not a profile in the expected form.") from None
