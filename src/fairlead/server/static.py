"""The built web app, from inside the package.

Files with a hash in their name may be kept for ever; the page itself is always asked for anew.
Nothing here needs a token: the files hold no secret, and the page must load before it can pair.
"""

from __future__ import annotations

import mimetypes
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

__all__ = ["WEB_FOLDER", "StaticFiles"]

WEB_FOLDER = Path(__file__).parent / "static"

NOT_BUILT = """<!doctype html><meta charset="utf-8"><title>Fairlead</title>
<p>The web app is not built. Run <code>make web</code>, then start the server again.</p>
"""

TYPES = {
    ".js": "text/javascript",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
"""What Python's table leaves to the machine's own, which may be wrong."""


class StaticFiles:
    """The files of one folder, read once."""

    def __init__(self, folder: Path = WEB_FOLDER) -> None:
        self._files: dict[str, tuple[bytes, str]] = {}
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.is_file():
                kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
                name = path.relative_to(folder).as_posix()
                self._files[name] = (path.read_bytes(), kind or "application/octet-stream")

    @property
    def built(self) -> bool:
        """Whether there is a web app to serve."""
        return "index.html" in self._files

    async def page(self, request: Request) -> Response:
        """The page, for every address of the app's own."""
        if not self.built:
            return HTMLResponse(NOT_BUILT, 503)
        return Response(self._files["index.html"][0], media_type="text/html; charset=utf-8")

    async def file(self, request: Request) -> Response:
        """One file by its exact name; there is no path to climb."""
        name = request.path_params["name"]
        found = self._files.get(name)
        if found is None:
            return await self.page(request) if "." not in name else Response(status_code=404)
        content, kind = found
        keep = "public, max-age=31536000, immutable" if name.startswith("assets/") else "no-cache"
        return Response(content, media_type=kind, headers={"cache-control": keep})
