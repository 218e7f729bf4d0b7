"""The built web app, from inside the package.

Browsers may cache files with a hash in their name forever, and the service worker for a day. The
app checks for a new worker once the server has proved its identity; the browser must not check at
each reload, when any program may listen at the server's address. The page itself is never cached.
Nothing here needs a token: the files contain no secret, and the page must load before it can pair.
For the same reason they can be compressed: a secret next to text that a stranger chooses could be
guessed from the compressed size (BREACH), so responses of the API are never compressed.
"""

from __future__ import annotations

import asyncio
import gzip
import os
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from fairlead.server.access.requests.headers import DIAGRAM_HEADERS
from fairlead.server.access.requests.public_url import base_path_of
from fairlead.server.http.app_files import page_below, worker_below

__all__ = ["WEB_FOLDER", "StaticFiles", "is_built"]

WEB_FOLDER = Path(__file__).parent.parent / "static"

NOT_BUILT = """<!doctype html><meta charset="utf-8"><title>Fairlead</title>
<p>The web app is not built. Run <code>make web</code>, then start the server again.</p>
"""

TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
"""The types of the app's files. `mimetypes` would read the tables of the machine, which may be wrong
and take 0.4 MiB."""


PAGE = "index.html"
DIAGRAM = "diagram.html"
WORKER = "sw.js"
WORKER_CACHED = "max-age=86400"
"""As long as browsers cache a service worker."""
DIAGRAM_CACHED = "max-age=86400"
"""The page for diagrams is large, and an older one draws them as well."""


COMPRESSED = frozenset({".css", ".html", ".js", ".svg", ".webmanifest"})
"""Fonts and pictures are compressed already."""

SMALLEST_COMPRESSED = 1_000
"""A smaller file fits into one packet anyway."""


LARGE = 200_000
"""A larger file is kept open and not in memory. There are five of them, most of the app's bytes, and
few browsers request them. A file that is replaced while the server runs stays as it was."""

LARGE_FONT = 16_000
"""The same for a file that is not compressed. There are 19 more of them, and most are fonts for
mathematics, which few conversations contain."""


@dataclass(slots=True)
class _File:
    """One file of the web app."""

    kind: str
    compresses: bool
    plain: bytes | None = None
    """Its content, if it is small and not compressed."""
    gzipped: bytes | None = None
    """Its compressed content; that of a large file, once a browser has requested it."""
    descriptor: int | None = None
    """Where a large file is open."""

    @classmethod
    def read(cls, path: Path) -> _File:
        """A file as it is now. Compressing all of them takes 20 ms."""
        size = path.stat().st_size
        file = cls(
            kind=TYPES.get(path.suffix, "application/octet-stream"),
            compresses=path.suffix in COMPRESSED and size >= SMALLEST_COMPRESSED,
        )
        if size > (LARGE if file.compresses else LARGE_FONT):
            file.descriptor = os.open(path, os.O_RDONLY)
        elif file.compresses:
            file.gzipped = gzip.compress(path.read_bytes(), 6, mtime=0)
        else:
            file.plain = path.read_bytes()
        return file

    @property
    def content(self) -> bytes:
        """What the file had when the server started."""
        if self.plain is not None:
            return self.plain
        if self.descriptor is not None:
            return os.pread(self.descriptor, os.fstat(self.descriptor).st_size, 0)
        return gzip.decompress(self.gzipped or b"")

    def __del__(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)

    async def response(self, request: Request, headers: dict[str, str]) -> Response:
        """The file, compressed for a browser that accepts it."""
        if not self.compresses:
            return Response(self.content, media_type=self.kind, headers=headers)
        headers = {**headers, "vary": "accept-encoding"}
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(self.content, media_type=self.kind, headers=headers)
        if self.gzipped is None:
            # In a thread: the page for diagrams takes a tenth of a second.
            self.gzipped = await asyncio.to_thread(gzip.compress, self.content, 6, mtime=0)
        headers["content-encoding"] = "gzip"
        return Response(self.gzipped, media_type=self.kind, headers=headers)


def is_built(folder: Path = WEB_FOLDER) -> bool:
    """Whether there is a web app to serve."""
    return (folder / PAGE).is_file()


class StaticFiles:
    """The files of one folder, as they are when this is created."""

    def __init__(self, folder: Path = WEB_FOLDER) -> None:
        self._files: dict[str, _File] = {}
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.is_file():
                self._files[path.relative_to(folder).as_posix()] = _File.read(path)

    @property
    def built(self) -> bool:
        """Whether there is a web app to serve."""
        return PAGE in self._files

    async def page(self, request: Request) -> Response:
        """The page, for every address of the app."""
        if _wants_worker(request):
            return self._worker(request)
        if not self.built:
            return HTMLResponse(NOT_BUILT, 503)
        content = page_below(self._files[PAGE].content, base_path_of(request.scope))
        return Response(content, media_type="text/html; charset=utf-8")

    async def file(self, request: Request) -> Response:
        """One file by its exact name; the name is not a path."""
        name = request.path_params["name"]
        if _wants_worker(request) or name == WORKER:
            return self._worker(request)
        file = self._files.get(name)
        if name == PAGE or (file is None and "." not in name):
            return await self.page(request)
        if file is None:
            return Response(status_code=404)
        if name == DIAGRAM:
            headers = {**DIAGRAM_HEADERS, "cache-control": DIAGRAM_CACHED}
            return await file.response(request, headers)
        cached = "public, max-age=31536000, immutable" if name.startswith("assets/") else "no-cache"
        return await file.response(request, {"cache-control": cached})

    def _worker(self, request: Request) -> Response:
        """The server's service worker, at whatever address the browser requests it.

        A program that listened at this address before may have registered its own worker under
        any path. When the browser looks for an update of that worker, it gets this one instead.
        """
        worker = self._files.get(WORKER)
        if worker is None:
            return Response(status_code=404)
        base = base_path_of(request.scope)
        page = self._files[PAGE].content if self.built else b""
        content = worker_below(worker.content, page, base)
        headers = {"cache-control": WORKER_CACHED, "service-worker-allowed": f"{base}/"}
        return Response(content, media_type=worker.kind, headers=headers)


def _wants_worker(request: Request) -> bool:
    """Whether a browser fetches the script of a service worker; pages cannot set this header."""
    return request.headers.get("service-worker") == "script"
