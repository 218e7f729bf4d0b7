"""The route that tells a composer what the `@`s of its text would attach."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.http.bodies import json_answer, read_body
from fairlead.server.http.mentions import MOST, look_up
from fairlead.server.http.routes import Route
from fairlead.server.intents.registry import Registry
from fairlead.server.refusal import Refusal

__all__ = ["MentionRoutes"]


class MentionQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text, and where it would be sent: a session, or a folder for a new session."""

    text: str
    session: str | None = None
    cwd: str | None = None


class Folders(Protocol):
    """Looks up the folders of sessions."""

    def folder(self, session: str) -> str | None:
        """The folder that a session works in."""


class MentionRoutes:
    """The handler."""

    def __init__(self, registry: Registry, folders: Folders) -> None:
        self._registry = registry
        self._folders = folders
        self.routes = (
            Route(
                method="POST",
                path="/api/mentions",
                # A device that may send prompts can make the CLI read each of these files.
                role="operator",
                about="What the @s of a prompt would attach.",
                handler=self._look_up,
            ),
        )

    async def _look_up(self, request: Request) -> Response:
        limit = self._registry.limits.prompt_bytes
        body = await read_body(request, 2 * limit + 4_096)
        query = msgspec.json.decode(body, type=MentionQuery)
        folder = self._folder(query)
        mentions = await asyncio.to_thread(
            look_up,
            query.text,
            folder,
            self._home(query.session),
            added=self._added(query.session),
            servers=self._servers(query.session),
        )
        return json_answer({"mentions": mentions, "whole": len(mentions) < MOST})

    def _folder(self, query: MentionQuery) -> str:
        if query.session is not None:
            folder = self._folders.folder(query.session)
            if folder is None:
                raise Refusal("not_found", "Session not found.")
            return folder
        return self._registry.policy.check_folder(query.cwd or "")

    def _home(self, session: str | None) -> str:
        sessions = self._registry.sessions
        row = sessions.rows.get(session or "")
        variables = sessions.environment_of("" if row is None else row.profile)
        return variables.get("HOME") or os.path.expanduser("~")

    def _added(self, session: str | None) -> tuple[str, ...]:
        row = self._registry.sessions.rows.get(session or "")
        return tuple(row.options.get("add_dirs", ())) if row is not None else ()

    def _servers(self, session: str | None) -> tuple[str, ...]:
        source = self._registry.source(session) if session is not None else None
        if source is None:
            return ()
        return tuple(_name(server) for server in source.transcript.session.mcp_servers)


def _name(server: Any) -> str:
    return str(server.get("name", "")) if isinstance(server, Mapping) else ""
