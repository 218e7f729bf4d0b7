"""Names of files and folders that fit a few letters, for whoever completes a path.

Only names: nothing is opened but `.gitignore` files. A tree is walked breadth first, without
following links and without what git ignores, up to a number of entries and a time, so that a
huge one costs no more than a large one; a listing is kept for some seconds, because letters come
one by one. The walk blocks: call it in a thread. Who may see which folder is up to the caller.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec import Struct
from pathspec import GitIgnoreSpec

__all__ = ["Finder", "Found", "Listing", "fit", "folders_like"]

NEVER = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"))
"""Folders that nobody means, also where no .gitignore says so."""

IGNORE_BYTES = 64 * 1024
"""Of a .gitignore; a longer one is not read any further."""

WORD_STARTS = "/_-. "


class Found(Struct, frozen=True, kw_only=True):
    """A name that fits."""

    path: str
    """Below the folder that was asked for; a folder ends with a slash."""
    is_folder: bool = False


class Listing(Struct, frozen=True, kw_only=True):
    """The names of a tree, those near its root first."""

    paths: tuple[str, ...]
    """Folders end with a slash."""
    whole: bool
    """False if the walk stopped before its end."""


class Finder:
    """Finds files by few letters; the last trees are remembered."""

    def __init__(
        self,
        *,
        entries: int = 50_000,
        seconds: float = 1.5,
        fresh_s: float = 5.0,
        trees: int = 8,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._entries = entries
        self._seconds = seconds
        self._fresh_s = fresh_s
        self._trees = trees
        self._clock = clock
        self._known: dict[str, tuple[float, Listing]] = {}
        self._lock = threading.Lock()

    def find(self, folder: str, letters: str, count: int) -> tuple[list[Found], bool]:
        """The best `count` names below a folder, and whether all of them were looked at."""
        listing = self.listing(folder)
        if letters:
            fitting = ((fit(letters, path), at) for at, path in enumerate(listing.paths))
            best = sorted((-score, at) for score, at in fitting if score is not None)[:count]
            paths = [listing.paths[at] for _, at in best]
        else:
            paths = list(listing.paths[:count])
        return [Found(path=one, is_folder=one.endswith("/")) for one in paths], listing.whole

    def listing(self, folder: str) -> Listing:
        """The names below a folder, as they were some seconds ago at most."""
        with self._lock:  # Two who ask at the same time need one walk.
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
        found: list[str] = []
        waiting: deque[tuple[str, _Ignored]] = deque([("", ())])
        while waiting:
            below, ignored = waiting.popleft()
            names, ignored = _look(root, below, ignored)
            found += names
            waiting.extend((one, ignored) for one in names if one.endswith("/"))
            if len(found) > self._entries or self._clock() > end:
                return Listing(paths=tuple(found[: self._entries]), whole=False)
        return Listing(paths=tuple(found), whole=True)


_Ignored = tuple[tuple[str, GitIgnoreSpec], ...]
"""What is ignored: from a folder on, by its .gitignore."""


def _look(root: str, below: str, ignored: _Ignored) -> tuple[list[str], _Ignored]:
    """The names in one folder, folders last, and what is ignored from here on."""
    files: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(os.path.join(root, below)) as entries:
            listed = sorted(entries, key=lambda entry: entry.name.lower())
    except OSError:
        return [], ignored  # Gone, or not ours to read.
    if any(entry.name == ".gitignore" for entry in listed):
        ignored = (*ignored, (below, _spec(os.path.join(root, below, ".gitignore"))))
    for entry in listed:
        if entry.name in NEVER or _is_odd(entry.name):
            continue
        is_folder = _is_folder(entry)
        path = f"{below}{entry.name}/" if is_folder else f"{below}{entry.name}"
        if not _is_ignored(path, ignored):
            (folders if is_folder else files).append(path)
    return [*files, *folders], ignored


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_odd(name: str) -> bool:
    """Whether a name cannot be written into a prompt: it breaks the line, or is no text."""
    return not name.isprintable()


def _spec(path: str) -> GitIgnoreSpec:
    try:
        # A link may lead anywhere, and a pipe would be waited for.
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(file, "rb") as opened:
            text = opened.read(IGNORE_BYTES).decode(errors="replace")
        return GitIgnoreSpec.from_lines(text.splitlines())
    except (OSError, ValueError):
        return GitIgnoreSpec([])


def _is_ignored(path: str, ignored: _Ignored) -> bool:
    """The nearest .gitignore that says anything about a path decides, as in git."""
    for below, spec in reversed(ignored):
        said = spec.check_file(path[len(below) :]).include
        if said is not None:
            return said
    return False


def fit(letters: str, path: str) -> float | None:
    """How well letters fit a path, the higher the better; None if they do not.

    All in a row count more than scattered ones, the last name more than the folders before it,
    the start of a word more than its middle, and of equals the shorter path.
    """
    wanted, given = letters.lower(), path.lower()
    name = given.rstrip("/").rfind("/") + 1
    whole = given.find(wanted, name)
    if whole < 0:
        whole = given.find(wanted)
    if whole >= 0:
        score = 200.0 if whole >= name else 140.0
        score += 60 if whole == name else 20 if _starts_word(given, whole) else 0
        return score - len(given) / 100
    scattered = _scattered(wanted, given, name)
    if scattered is not None:
        return min(60 + scattered, 129.0) - len(given) / 100
    scattered = _scattered(wanted, given, 0)
    return None if scattered is None else min(scattered, 59.0) - len(given) / 100


def _scattered(wanted: str, given: str, at: int) -> float | None:
    """A score for letters that follow one another with gaps, from a place on."""
    score = 0.0
    for letter in wanted:
        place = given.find(letter, at)
        if place < 0:
            return None
        score += 4 if _starts_word(given, place) else 2 if place == at else 0
        at = place + 1
    return score


def _starts_word(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] in WORD_STARTS


def folders_like(typed: str, roots: Sequence[str], count: int) -> list[str]:
    """Folders that begin as somebody has typed, each at or below one of the roots.

    Nothing typed gives the roots themselves. A hidden folder is given once its dot is typed.
    """
    tops = [Path(root).resolve() for root in roots]
    if not typed.startswith(("/", "~")) or "\0" in typed:
        return [str(top) for top in tops[:count]] if typed == "" else []
    parent, _, begun = os.path.expanduser(typed).rpartition("/")
    folder = Path(parent or "/").resolve()
    inside = any(folder.is_relative_to(top) for top in tops)
    names = _folders_in(folder, begun) if inside else []
    above = [top for top in tops if not inside and str(top).startswith(os.path.expanduser(typed))]
    paths: Iterable[Path] = [*above, *(folder / name for name in names)]
    return [str(path) for path in paths][:count]


def _folders_in(folder: Path, begun: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if _is_folder(entry)]
    except OSError:
        return []
    fitting = (
        name
        for name in names
        if name.lower().startswith(begun.lower())
        and not _is_odd(name)
        and (begun.startswith(".") or not name.startswith("."))
    )
    return sorted(fitting, key=str.lower)
