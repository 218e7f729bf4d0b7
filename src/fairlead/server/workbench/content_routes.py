"""The routes for the content of a session's files: lines of text, and images.

Only reads, and only below the folders of the session (`review/session_files`). An image is sent
only if its first bytes are those of an image, and always under that type, so that no file of a
project becomes a page of this server.
"""

from __future__ import annotations

import asyncio

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairlead.git.errors import GitError
from fairlead.git.reader import GitReader
from fairlead.git.repository import find_repository
from fairlead.server.http.bodies import json_answer
from fairlead.server.http.routes import Parameter, Route
from fairlead.server.intents.registry import Registry
from fairlead.server.refusal import Refusal
from fairlead.server.review.comment_place import text_lines
from fairlead.server.review.session_files import SessionFiles
from fairlead.server.working_files import path_of_id

__all__ = ["ContentAnswer", "ContentRoutes", "image_type", "object_id", "session_files"]

MOST_BYTES = 8 * 1024 * 1024
"""Of a file that is shown; of a longer file the beginning is shown."""
LINES, MOST_LINES = 2_000, 20_000
"""Default and largest number of lines in one answer."""
AT_ONCE = 4

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


class ContentAnswer(Struct, frozen=True, kw_only=True):
    """A part of a text file."""

    path: str
    size: int
    first: int = 1
    """The number of the first line in `lines`."""
    lines: tuple[str, ...] = ()
    total: int = 0
    """How many lines the file has, as far as it was read."""
    binary: bool = False
    image: bool = False
    cut: bool = False
    """Whether the file is longer than what is read of a file."""


class ContentRoutes:
    """The handlers."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._slots = asyncio.Semaphore(AT_ONCE)

        def query(name: str, about: str, *, needed: bool = False) -> Parameter:
            return Parameter(name=name, where="query", about=about, needed=needed)

        file = (
            Parameter(name="session", where="path", about="The session's id."),
            query("file", "The file's id.", needed=True),
            query("tree", "repository (the default) or folder: what the id is relative to."),
        )
        self.routes = (
            Route(
                method="GET",
                path="/api/sessions/{session}/content",
                role="operator",
                about="Lines of a file of the session.",
                handler=self._content,
                parameters=(
                    *file,
                    query("from", "The number of the first line."),
                    query("lines", "The most lines to return."),
                ),
            ),
            Route(
                method="GET",
                path="/api/sessions/{session}/image",
                role="operator",
                about="An image of the session's folder, now or in a commit.",
                handler=self._image,
                parameters=(*file, query("base", "The id of a commit or tree.")),
                returns="application/octet-stream",
            ),
        )

    async def _content(self, request: Request) -> Response:
        parameters = request.query_params
        files = session_files(self._registry, request.path_params["session"])
        first = max(1, _number(parameters.get("from"), 1))
        count = min(max(1, _number(parameters.get("lines"), LINES)), MOST_LINES)
        async with self._slots:
            answer = await asyncio.to_thread(
                _read,
                files,
                parameters.get("tree", "repository"),
                parameters.get("file", ""),
                first,
                count,
            )
        return json_answer(answer)

    async def _image(self, request: Request) -> Response:
        parameters = request.query_params
        files = session_files(self._registry, request.path_params["session"])
        tree, file = parameters.get("tree", "repository"), parameters.get("file", "")
        async with self._slots:
            path = await asyncio.to_thread(files.absolute, tree, file)
            if parameters.get("base"):
                content = await _committed(files, parameters["base"], file)
            else:
                content = await asyncio.to_thread(files.read, path, MOST_BYTES + 1)
        if content is None or len(content) > MOST_BYTES:
            raise Refusal("not_found", "There is no such file, or it is too large.")
        kind = image_type(content)
        if kind is None:
            raise Refusal("not_found", "This file is not a PNG, JPEG, GIF or WebP image.")
        return Response(content, media_type=kind, headers={"cache-control": "no-store"})


def session_files(registry: Registry, session: str) -> SessionFiles:
    """The files of a session; refuses if its folder may not be read."""
    row = registry.lobby.session(session)
    if row is None:
        raise Refusal("not_found", "Session not found.")
    folder = registry.policy.check_folder(row.cwd)
    if folder != row.cwd and session in registry.sessions.rows:
        raise Refusal(
            "not_found",
            "The folder of this session was replaced by a link, so the server does not read it.",
        )
    return SessionFiles(registry.policy, folder)


def image_type(content: bytes) -> str | None:
    """The media type of an image, from its first bytes."""
    for signature, kind in _SIGNATURES:
        if content.startswith(signature):
            return kind
    return "image/webp" if content[:4] == b"RIFF" and content[8:12] == b"WEBP" else None


def object_id(name: str) -> str:
    """The id of a commit or tree, and nothing that git could read as something else."""
    plain = name.isascii() and len(name) in (40, 64) and not set(name) - set("0123456789abcdef")
    if not plain:
        raise Refusal("bad_message", "`base` must be the id of a commit or tree.")
    return name


def _read(files: SessionFiles, tree: str, file: str, first: int, count: int) -> ContentAnswer:
    path = files.absolute(tree, file)
    size = files.size(path)
    content = files.read(path, MOST_BYTES)
    if size is None or content is None:
        raise Refusal("not_found", "There is no such file, or it is a link or not a regular file.")
    shown = files.shown(path)
    if image_type(content) is not None:
        return ContentAnswer(path=shown, size=size, image=True, binary=True)
    if b"\0" in content[:8_000]:  # git's own test for a binary file.
        return ContentAnswer(path=shown, size=size, binary=True)
    lines = text_lines(content)
    return ContentAnswer(
        path=shown,
        size=size,
        first=first,
        lines=tuple(lines[first - 1 : first - 1 + count]),
        total=len(lines),
        cut=size > len(content),
    )


async def _committed(files: SessionFiles, base: str, file: str) -> bytes | None:
    """The content of a file in a commit."""
    repository = await asyncio.to_thread(find_repository, files.folder)
    relative = path_of_id(file)
    if repository is None or relative is None:
        return None
    try:
        name = f"{object_id(base)}:{relative}"
        return await GitReader(repository).read("cat-file", "blob", name, limit=MOST_BYTES)
    except GitError:
        return None


def _number(text: str | None, default: int) -> int:
    digits = text is not None and text.isascii() and text.isdigit() and len(text) < 9
    return int(text) if text is not None and digits else default
