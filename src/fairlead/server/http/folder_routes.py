"""Routes for the prompt of a new session: the names of files in its folder, and the git branch."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from fairlead.server.branches import branch_of
from fairlead.server.files import Folders
from fairlead.server.http.bodies import json_answer
from fairlead.server.http.routes import Parameter, Route
from fairlead.server.http.search.file_search import Finder
from fairlead.server.policy import Policy

__all__ = ["FolderRoutes"]

MOST_CHARS = 200
MOST_NAMES = 30


class FolderRoutes:
    """The handlers. A folder outside of the server's roots is refused."""

    def __init__(self, policy: Policy, opening: Folders) -> None:
        self._policy = policy
        self._finder = Finder(opening=opening)
        folder = Parameter(name="cwd", where="query", about="An absolute path of a folder.")
        text = Parameter(name="q", where="query", about="A part of the name.", needed=False)
        self.routes = (
            Route(
                method="GET",
                path="/api/names",
                role="operator",
                about="Files in a folder whose names match.",
                handler=self._names,
                parameters=(folder, text),
            ),
            Route(
                method="GET",
                path="/api/branch",
                role="operator",
                about="The git branch of a folder.",
                handler=self._branch,
                parameters=(folder,),
            ),
        )

    async def _names(self, request: Request) -> Response:
        text = request.query_params.get("q", "")[:MOST_CHARS]
        names, complete = await asyncio.to_thread(
            self._finder.find, self._folder(request), text, MOST_NAMES
        )
        return json_answer({"names": names, "whole": complete})

    async def _branch(self, request: Request) -> Response:
        return json_answer({"branch": await asyncio.to_thread(branch_of, self._folder(request))})

    def _folder(self, request: Request) -> str:
        return self._policy.check_folder(request.query_params.get("cwd", ""))
