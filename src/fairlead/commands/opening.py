"""Opens the browser without showing the one-time code to other users of the machine.

Every user can read the command line of every program, so the browser gets the name of a file: a
page in a private folder that redirects to the link. The file is removed when the code expires or
the server ends. A browser from a snap can read neither /tmp nor hidden folders, so if snaps are
installed, the folder is created in the home folder itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

__all__ = ["LaunchPage"]

PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={link}">
<title>Fairlead</title>
<p>Opening Fairlead. If nothing happens, <a href="{link}">open it here</a>.</p>
"""


class LaunchPage:
    """A page in its own folder that redirects to a link; call `remove` at the end."""

    def __init__(self, link: str, folder: Path | None = None) -> None:
        """The page's own folder is created in `folder`."""
        import html  # Only a server that opens the browser needs its table of characters.

        parent = folder or _parent()
        self._folder = Path(tempfile.mkdtemp(prefix="fairlead-open-", dir=parent))  # 0700
        self.path = self._folder / "open.html"
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(PAGE.format(link=html.escape(link)))

    def open(self, browse: Callable[[str], object] | None = None) -> None:
        """Open the page in the browser."""
        import webbrowser  # Not loaded by a server that opens no browser.

        browse = browse or webbrowser.open
        browse(self.path.as_uri())

    async def remove_after(self, seconds: float) -> None:
        """Remove the page when its code has expired, or earlier if this is cancelled."""
        try:
            await asyncio.sleep(seconds)
        finally:
            self.remove()

    def remove(self) -> None:
        """Remove the page; it may have been removed already."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _parent() -> Path | None:
    """A folder whose files browsers can read; None is the system's temporary folder."""
    home = Path.home()
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    with contextlib.suppress(OSError):
        if (home / "snap").is_dir():
            return home
        if runtime and Path(runtime).stat().st_uid == os.getuid():
            return Path(runtime)
    return None
