"""Names of files and folders that match a few characters, for path completion.

Only names: nothing is opened except `.gitignore` files. A tree is walked breadth first, without
following links and without what git ignores, up to a number of entries and a time limit, so that a
huge tree costs no more than a large one. A listing is cached for some seconds, because the user
types one character after the other. Folders are opened by descriptor (`files`), so that a link
that replaces a folder leads nowhere. The walk blocks: call it in a thread. The caller checks who
may see a folder.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct

from fairlead.permissions.rules.gitignore import IgnoreList
from fairlead.server.files import Folders

__all__ = ["Finder", "Found", "Listing", "fit", "folders_like"]

NEVER = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"))
"""Folders that are never searched, even without a .gitignore."""

IGNORE_BYTES = 64 * 1024
"""Most bytes of a .gitignore; the rest of a longer file is ignored."""

FOLDER_ENTRIES = 200_000
"""Most names of one folder, because they are sorted before the first one is used."""

WORD_STARTS = "/_-. "


class Found(Struct, frozen=True, kw_only=True):
    """A name that matches."""

    path: str
    """Relative to the folder that is searched; the path of a folder ends with a slash."""
    is_folder: bool = False


class Listing(Struct, frozen=True, kw_only=True):
    """The names of a tree, those near its root first."""

    paths: tuple[str, ...]
    """Folders end with a slash."""
    whole: bool
    """False if the walk stopped before its end."""


class Finder:
    """Finds files by a few characters; the last trees are cached."""

    def __init__(
        self,
        *,
        entries: int = 50_000,
        seconds: float = 1.5,
        fresh_s: float = 5.0,
        trees: int = 8,
        clock: Callable[[], float] = time.monotonic,
        opening: Folders | None = None,
        for_prompts: bool = True,
    ) -> None:
        self._opening = opening or Folders()
        self._is_left_out = _is_odd if for_prompts else _is_no_text
        self._entries = entries
        self._seconds = seconds
        self._fresh_s = fresh_s
        self._trees = trees
        self._clock = clock
        self._known: dict[str, tuple[float, Listing]] = {}
        self._lock = threading.Lock()

    def find(self, folder: str, text: str, count: int) -> tuple[list[Found], bool]:
        """The best `count` names below a folder, and whether the listing is complete."""
        listing = self.listing(folder)
        if text:
            scores = ((fit(text, path), at) for at, path in enumerate(listing.paths))
            best = sorted((-score, at) for score, at in scores if score is not None)[:count]
            paths = [listing.paths[at] for _, at in best]
        else:
            paths = list(listing.paths[:count])
        return [Found(path=path, is_folder=path.endswith("/")) for path in paths], listing.whole

    def listing(self, folder: str) -> Listing:
        """The names below a folder, at most some seconds old."""
        with self._lock:  # Two concurrent requests need one walk.
            known = self._known.get(folder)
            if known is not None and self._clock() - known[0] < self._fresh_s:
                return known[1]
            listing = self._walk(folder)
            self._known.pop(folder, None)
            self._known[folder] = self._clock(), listing
            while len(self._known) > self._trees:
                del self._known[next(iter(self._known))]
            return listing

    def _walk(self, root: str) -> Listing:
        end = self._clock() + self._seconds
        paths: list[str] = []
        queue: deque[tuple[str, _Ignored]] = deque([("", ())])
        while queue:
            below, ignored = queue.popleft()
            names, ignored, complete = self._look(root, below, ignored, end)
            paths += names
            queue.extend((name, ignored) for name in names if name.endswith("/"))
            if len(paths) > self._entries or not complete:
                return Listing(paths=tuple(paths[: self._entries]), whole=False)
        return Listing(paths=tuple(paths), whole=True)

    def _look(
        self, root: str, below: str, ignored: _Ignored, end: float
    ) -> tuple[list[str], _Ignored, bool]:
        """The names in one folder, folders last; what is ignored from here on; and completeness.

        One folder with many names and patterns can take long, so each name checks the clock.
        """
        try:
            folder = self._opening.open_folder(root, tuple(filter(None, below.split("/"))))
        except OSError:
            return [], ignored, True  # Deleted, replaced by a link, or not readable.
        try:
            return self._look_into(folder, below, ignored, end)
        except OSError:
            return [], ignored, True
        finally:
            os.close(folder)

    def _look_into(
        self, folder: int, below: str, ignored: _Ignored, end: float
    ) -> tuple[list[str], _Ignored, bool]:
        files: list[str] = []
        folders: list[str] = []
        with os.scandir(folder) as entries:
            first = list(islice(entries, FOLDER_ENTRIES))
        listed = sorted(first, key=lambda entry: entry.name.lower())
        if any(entry.name == ".gitignore" for entry in listed):
            ignored = (*ignored, (below, _spec(folder)))
        for entry in listed:
            if self._clock() > end:
                return [*files, *folders], ignored, False
            if entry.name in NEVER or self._is_left_out(entry.name):
                continue
            is_folder = _is_folder(entry)
            path = f"{below}{entry.name}/" if is_folder else f"{below}{entry.name}"
            if not _is_ignored(path, ignored):
                (folders if is_folder else files).append(path)
        return [*files, *folders], ignored, len(first) < FOLDER_ENTRIES


_Ignored = tuple[tuple[str, IgnoreList], ...]
"""The .gitignore patterns that apply, each with the folder it is in."""


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_odd(name: str) -> bool:
    """Whether a name cannot be written into a prompt: it breaks the line or is not text."""
    return not name.isprintable()


def _is_no_text(name: str) -> bool:
    """Whether a name has bytes that are not UTF-8, so that JSON cannot contain it."""
    return not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name)


def _spec(folder: int) -> IgnoreList:
    try:
        # A link may lead anywhere, and opening a pipe would block.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.open(".gitignore", flags, dir_fd=folder)
        with os.fdopen(file, "rb") as opened:
            text = opened.read(IGNORE_BYTES).decode(errors="replace")
        return IgnoreList(text)
    except OSError:
        return IgnoreList("")


def _is_ignored(path: str, ignored: _Ignored) -> bool:
    """As in git, the nearest .gitignore that matches a path decides."""
    for below, spec in reversed(ignored):
        verdict = spec.verdict(path[len(below) :].rstrip("/"), is_dir=path.endswith("/"))
        if verdict is not None:
            return verdict
    return False


def fit(text: str, path: str) -> float | None:
    """The score of a path for a search text, higher is better; None if it does not match.

    A match in a row scores higher than scattered characters, the last name higher than the
    folders before it, the start of a word higher than its middle, and a shorter path higher.
    """
    wanted, searched = text.lower(), path.lower()
    name = searched.rstrip("/").rfind("/") + 1
    start = searched.find(wanted, name)
    if start < 0:
        start = searched.find(wanted)
    if start >= 0:
        score = 200.0 if start >= name else 140.0
        score += 60 if start == name else 20 if _starts_word(searched, start) else 0
        return score - len(searched) / 100
    scattered = _scattered(wanted, searched, name)
    if scattered is not None:
        return min(60 + scattered, 129.0) - len(searched) / 100
    scattered = _scattered(wanted, searched, 0)
    return None if scattered is None else min(scattered, 59.0) - len(searched) / 100


def _scattered(wanted: str, searched: str, at: int) -> float | None:
    """The score of characters that follow one another with gaps, from a position on."""
    score = 0.0
    for character in wanted:
        found_at = searched.find(character, at)
        if found_at < 0:
            return None
        score += 4 if _starts_word(searched, found_at) else 2 if found_at == at else 0
        at = found_at + 1
    return score


def _starts_word(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] in WORD_STARTS


def folders_like(
    typed: str, roots: Sequence[str], count: int, opening: Folders | None = None
) -> list[str]:
    """Folders whose paths start with the typed text, each at or below one of the roots.

    An empty text returns the roots themselves. A hidden folder is returned once its dot is typed.
    The roots are real paths already: a root that became a link since then is no longer a root.
    """
    tops = [Path(root) for root in roots]
    if not typed.startswith(("/", "~")) or "\0" in typed:
        return [str(top) for top in tops[:count]] if typed == "" else []
    parent, _, prefix = os.path.expanduser(typed).rpartition("/")
    try:
        folder = Path(parent or "/").resolve()
    except (OSError, RuntimeError, ValueError):
        return []  # It was replaced during the lookup, or it is not a path.
    inside = any(folder.is_relative_to(top) for top in tops)
    names = _folders_in(opening or Folders(), folder, prefix) if inside else []
    above = [top for top in tops if not inside and str(top).startswith(os.path.expanduser(typed))]
    paths: Iterable[Path] = [*above, *(folder / name for name in names)]
    return [str(path) for path in paths][:count]


def _folders_in(opening: Folders, folder: Path, prefix: str) -> list[str]:
    try:
        opened = opening.open_folder(str(folder))
    except OSError:
        return []
    try:
        with os.scandir(opened) as entries:
            names = [entry.name for entry in entries if _is_folder(entry)]
    except OSError:
        return []
    finally:
        os.close(opened)
    matches = (
        name
        for name in names
        if name.lower().startswith(prefix.lower())
        and not _is_odd(name)
        and (prefix.startswith(".") or not name.startswith("."))
    )
    return sorted(matches, key=str.lower)
