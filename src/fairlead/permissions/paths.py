"""Files: where they are, which rule's pattern covers them, and which only a person may let be written.

Patterns are gitignore's (pathspec). `//x` starts at the root of the file system, `~/x` at home,
`/x` at the rule's own root, anything else at the working directory. Paths are compared by whole
components, and both as named and with symlinks resolved. No I/O: what the file system knows comes
in through `Place`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from fairlead.permissions.book import RuleBook, SourcedRule
from fairlead.permissions.families import CURRENT, Family
from fairlead.permissions.scopes import Behaviour, Scope

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = [
    "Place",
    "covering_rule",
    "is_inside",
    "is_protected",
    "pattern_problem",
    "rule_covers",
    "spellings",
]

_PROTECTED_WORDS = """.git .vscode .idea .claude .gitmodules .gitconfig .claude.json .mcp.json .bashrc
    .bash_profile .zshrc .zprofile .profile .ripgreprc"""
_PROTECTED = frozenset(_PROTECTED_WORDS.split())
"""Names that can make a program run: a person decides, even where edits are accepted."""


def _as_named(path: str) -> str:
    return path


def _never(path: str) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The facts about machine and CLI that a decision depends on."""

    cwd: str
    home: str
    family: Family = CURRENT
    trusted: bool = True
    """Whether the workspace was trusted, which 2.1.325 wants before project allow rules count."""
    classifier: bool = False
    """Whether the CLI's own classifier answers in plan mode; without one it refuses."""
    resolve: Callable[[str], str] = _as_named
    """The path with its symlinks resolved, as `os.path.realpath` does."""
    is_directory: Callable[[str], bool] = _never

    def absolute(self, path: str, cwd: str | None = None) -> str:
        """The path from the root, `~` expanded, not yet normalised."""
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        return posixpath.join(cwd or self.cwd, path)


def spellings(path: str, place: Place, cwd: str | None = None) -> tuple[str, ...]:
    """The path as named, and as the file system resolves it: one or two absolute paths."""
    absolute = place.absolute(path, cwd)
    named = _normalised(absolute)
    resolved = _normalised(place.resolve(absolute))
    return (named,) if named == resolved else (named, resolved)


def _normalised(path: str) -> str:
    return posixpath.normpath("/" + path.lstrip("/"))


def is_inside(path: str, place: Place, book: RuleBook) -> bool:
    """Whether a path lies in the working directory or in one that was added to it."""
    directories = [place.cwd, *(entry.path for entry in book.directories)]
    return any(
        _is_below(path, root) for directory in directories for root in spellings(directory, place)
    )


def _is_below(path: str, root: str) -> bool:
    return path == root or root == "/" or path.startswith(root + "/")


def is_protected(path: str, family: Family) -> bool:
    """Whether the file can make programs run, so that only a person may let it be written."""
    lower = path.lower()
    if "/.claude/worktrees/" in lower:
        lower = lower.replace("/.claude/worktrees/", "/worktrees/")
    # Windows reads `.git.` and `.git::$DATA` as `.git`: so do we, to be safe everywhere.
    parts = [part.split("::")[0].rstrip(". ") for part in lower.split("/")]
    flat = "/" + "/".join(part for part in parts if part) + "/"
    return any(f"/{name}/" in flat for name in _PROTECTED | family.extra_protected)


def pattern_problem(content: str) -> str | None:
    """Why a path pattern covers nothing, in words; None if it may cover something."""
    if content.startswith("!"):
        return "a pattern cannot be turned round with '!'"
    if content.startswith(("..", "~/..")) or "/../" in content:
        return "'..' in a pattern matches nothing"
    return None


def rule_covers(entry: SourcedRule, path: str, place: Place) -> bool:
    """Whether the pattern of a path rule covers one absolute, normalised path."""
    content = (entry.rule.content or "").strip()
    if not content or pattern_problem(content):
        return False
    rooted = _rooted(content, entry, place)
    if rooted is None:
        return False
    root, pattern = rooted
    if not _is_below(path, root):
        return False
    if not pattern.strip("/"):
        # 2.1.38 takes `/**` to mean nothing, so there it allows nothing.
        idle = content == "/**" and place.family.slash_star_is_idle
        return not (idle and entry.behaviour is Behaviour.ALLOW)
    relative = path[len(root) :].lstrip("/")
    if entry.behaviour is not Behaviour.ALLOW:
        # The CLI's matcher knows no case; only what forbids may be that generous.
        pattern, relative = pattern.lower(), relative.lower()
    return bool(relative) and _matches(pattern, relative)


def _rooted(content: str, entry: SourcedRule, place: Place) -> tuple[str, str] | None:
    pattern = content.removesuffix("/**") if content != "**" else "/"
    if content.startswith("//"):
        return "/", pattern[1:] or "/"
    if content.startswith("~/"):
        return _normalised(place.home), pattern[1:] or "/"
    if content.startswith("/"):
        root = _root_of(entry, place)
        return None if root is None else (_normalised(root), pattern)
    return _normalised(place.cwd), pattern.removeprefix("./")


def _root_of(entry: SourcedRule, place: Place) -> str | None:
    if entry.root is not None:
        return entry.root
    if entry.scope is Scope.USER:
        return posixpath.join(place.home, ".claude")
    if entry.scope.read_only:
        # Settings given as text have no file to be relative to: measured, such a rule is idle.
        return None
    return place.cwd


@lru_cache(maxsize=512)
def _spec(pattern: str) -> GitIgnoreSpec | None:
    # Loaded at the first path rule, not with the package.
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines([pattern])
    except ValueError:
        return None


def _matches(pattern: str, relative: str) -> bool:
    spec = _spec(pattern)
    if spec is None:
        return False
    return spec.match_file(relative) or spec.match_file(relative + "/")


def covering_rule(rules: Iterable[SourcedRule], path: str, place: Place) -> SourcedRule | None:
    """The first of the rules whose pattern covers the path."""
    return next((entry for entry in rules if rule_covers(entry, path, place)), None)
