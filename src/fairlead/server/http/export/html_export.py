"""A transcript as one HTML file that needs no server and looks like the web app.

The file is a page that the build of the web app makes (`web/exported.html`), with all scripts,
styles and fonts inside. This module puts the snapshot into it as data. The page's own content
policy allows no request to anywhere and no script but its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from fairlead.server.http.static import WEB_FOLDER
from fairlead.server.refusal import Refusal
from fairlead.server.view.export import json_parts
from fairlead.transcript.snapshot import Snapshot

__all__ = ["PAGE", "html_parts"]

PAGE = WEB_FOLDER / "exported.html"

_PLACE = b"null/*session*/"
"""What the page has in place of a session."""

_REMEDY = "Build the web app (`make web`) on the server, or export Markdown or a recording."


def html_parts(snapshot: Snapshot) -> Iterator[bytes]:
    """The page with a session in it, part by part.

    Refuses at once, before the first part, if the web app has not been built.
    """
    try:
        page = PAGE.read_bytes()
    except OSError:
        raise Refusal("unavailable", f"The page for exports is missing. {_REMEDY}") from None
    before, place, after = page.partition(_PLACE)
    if not place:
        raise Refusal("unavailable", f"The page for exports is damaged. {_REMEDY}")
    return _filled(before, snapshot, after)


def _filled(before: bytes, snapshot: Snapshot, after: bytes) -> Iterator[bytes]:
    yield before
    for part in json_parts(snapshot):
        # In JSON `<` occurs only inside strings: escaped, no text can end the script element.
        yield part.replace(b"<", b"\\u003c")
    yield after
