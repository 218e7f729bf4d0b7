"""The routes that list a session's files and search in them. Only reads, below its folder.

ripgrep searches if it is installed; otherwise the files are read one by one. `git grep` is not
used: it loads every file whole, so that one file of 500 MB would take as much memory.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairlead.git.formats.grep import LINE_CHARS, Match, parse_ripgrep
from fairlead.git.ripgrep import find_ripgrep, ripgrep
from fairlead.server.http.bodies import json_answer
from fairlead.server.http.routes import Parameter, Route
from fairlead.server.http.search.file_search import Finder
from fairlead.server.intents.registry import Registry
from fairlead.server.refusal import Refusal
from fairlead.server.review.session_files import SessionFiles
from fairlead.server.workbench.content_routes import session_files
from fairlead.server.working_files import id_of, shown_path

__all__ = ["FileRoutes"]

MOST_NAMES = 20_000
MOST_MATCHES = 500
MOST_TEXT = 200
OUTPUT_BYTES = 4 * 1024 * 1024
SEARCH_S = 10.0
WALKED_FILE_BYTES = 1024 * 1024
"""Larger files are not searched without ripgrep."""
WALK_S = 5.0
AT_ONCE, WAITING = 2, 10


class MatchRow(Struct, frozen=True, kw_only=True):
    """A line that contains the text."""

    id: str
    path: str
    line: int
    text: str


class FileRoutes:
    """The handlers."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._finder = Finder(opening=registry.policy.opening, for_prompts=False)
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0
        session = Parameter(name="session", where="path", about="The session's id.")
        self.routes = (
            Route(
                method="GET",
                path="/api/sessions/{session}/files",
                role="operator",
                about="The names of the session's files, without ignored ones.",
                handler=self._files,
                parameters=(session,),
            ),
            Route(
                method="GET",
                path="/api/sessions/{session}/grep",
                role="operator",
                about="Lines of the session's files that contain a text.",
                handler=self._grep,
                parameters=(session, Parameter(name="q", where="query", about="The text.")),
            ),
        )

    async def _files(self, request: Request) -> Response:
        files = session_files(self._registry, request.path_params["session"])
        listing = await asyncio.to_thread(self._finder.listing, files.folder)
        names = [name for name in listing.paths if not name.endswith("/")]
        shown = [name for name in names[:MOST_NAMES] if not _hides(files, name)]
        whole = listing.whole and len(names) <= MOST_NAMES
        return json_answer({"folder": files.folder, "files": shown, "whole": whole})

    async def _grep(self, request: Request) -> Response:
        text = request.query_params.get("q", "")
        if not text or len(text) > MOST_TEXT or "\n" in text or "\0" in text:
            raise Refusal("bad_message", f"Search for a text of 1 to {MOST_TEXT} characters.")
        files = session_files(self._registry, request.path_params["session"])
        if self._waiting >= WAITING:
            raise Refusal("too_many", "Too many searches at once. Try again.")
        self._waiting += 1
        try:
            async with self._slots:
                matches, whole, how = await self._search(files, text)
        finally:
            self._waiting -= 1
        rows = [
            MatchRow(
                id=id_of(each.path), path=shown_path(each.path), line=each.line, text=each.text
            )
            for each in matches[:MOST_MATCHES]
            if not _hides(files, each.path)
        ]
        whole = whole and len(matches) <= MOST_MATCHES
        return json_answer({"matches": rows, "whole": whole, "by": how})

    async def _search(self, files: SessionFiles, text: str) -> tuple[list[Match], bool, str]:
        """The matches, whether they are all, and what searched."""
        program = await asyncio.to_thread(find_ripgrep)
        if program is not None:
            matches, whole = await _by_ripgrep(program, files, text)
            return matches, whole, "ripgrep"
        matches, whole = await asyncio.to_thread(self._by_walk, files, text)
        return matches, whole, "walk"

    def _by_walk(self, files: SessionFiles, text: str) -> tuple[list[Match], bool]:
        listing = self._finder.listing(files.folder)
        end = time.monotonic() + WALK_S
        exact = text != text.lower()
        wanted = text if exact else text.lower()
        matches: list[Match] = []
        for name in listing.paths:
            if time.monotonic() > end or len(matches) > MOST_MATCHES:
                return matches, False
            if name.endswith("/"):
                continue
            content = files.read(os.path.join(files.folder, name), WALKED_FILE_BYTES + 1)
            if content is None or len(content) > WALKED_FILE_BYTES or b"\0" in content[:8_000]:
                continue
            lines = content.decode("utf-8", "replace").split("\n")
            for number, line in enumerate(lines, start=1):
                if wanted in (line if exact else line.lower()):
                    matches.append(Match(name, number, line[:LINE_CHARS].rstrip("\r")))
        return matches, listing.whole


async def _by_ripgrep(program: str, files: SessionFiles, text: str) -> tuple[list[Match], bool]:
    opening = files.policy.opening
    folder = await asyncio.to_thread(opening.open_folder, files.folder)
    try:
        printed = await ripgrep(
            program, folder, files.folder, text, limit=OUTPUT_BYTES, deadline_s=SEARCH_S
        )
    finally:
        os.close(folder)
    matches = await asyncio.to_thread(parse_ripgrep, printed, MOST_MATCHES + 1)
    return matches, len(printed) <= OUTPUT_BYTES


def _hides(files: SessionFiles, name: str) -> bool:
    return files.policy.opening.hides(Path(files.folder, name))
