"""Files: where they are, and which rule's pattern covers them.

Patterns are gitignore's (`gitignore`). `//x` starts at the root of the file system, `~/x` at the home
folder, `/x` at the rule's own root, anything else at the working directory. Paths are compared by
whole components, both as named and with symlinks resolved. No I/O: facts about the file system
are passed in as a `PathContext`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fairlead.permissions.model.families import CURRENT, Family
from fairlead.permissions.model.scopes import Behavior, Scope
from fairlead.permissions.rules.book import RuleBook, SourcedRule
from fairlead.permissions.rules.gitignore import LONGEST, compiled

__all__ = [
    "PathContext",
    "covering_rule",
    "is_ambiguous",
    "is_inside",
    "pattern_problem",
    "rule_covers",
    "spellings",
]


def _as_named(path: str) -> str:
    return path


def _never(path: str) -> bool:
    return False


def _unknown(name: str) -> bool | None:
    return None


def _none(name: str) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PathContext:
    """The facts about machine and CLI that a decision depends on."""

    cwd: str
    home: str
    config: str | None = None
    """The folder of the CLI's own settings; None is `.claude` in the home."""
    family: Family = CURRENT
    trusted: bool = True
    """Whether the workspace is trusted; otherwise 2.1.325 ignores allow rules of the project."""
    classifier: bool = False
    """Whether the CLI has a classifier for plan mode; without one it denies."""
    resolve: Callable[[str], str] = _as_named
    """The path with its symlinks resolved, as `os.path.realpath` does."""
    is_directory: Callable[[str], bool] = _never
    exists: Callable[[str], bool] = _never
    is_loop: Callable[[str], bool] = _never
    """Whether the path is a symbolic link that leads to itself."""
    is_link: Callable[[str], bool] = _never
    """Whether the path itself is a symbolic link, whatever it leads to."""
    is_plain_skill: Callable[[str], bool | None] = _unknown
    """Whether the file of the skill with this name grants no tools and runs no hooks; None if no
    such file is known."""
    skill_commands: Callable[[str], tuple[str, ...]] = _none
    """The shell commands in the file of the skill with this name."""

    @property
    def config_folder(self) -> str:
        """The folder of the CLI's own settings."""
        return self.config or posixpath.join(self.home, ".claude")

    def absolute(self, path: str, cwd: str | None = None) -> str:
        """The path from the root, with `~` expanded, not yet normalized."""
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        return posixpath.join(cwd or self.cwd, path)


def spellings(path: str, place: PathContext, cwd: str | None = None) -> tuple[str, ...]:
    """The path as named, and as the file system resolves it: one or two absolute paths."""
    absolute = place.absolute(path, cwd)
    named = _normalized(absolute)
    if len(absolute) > LONGEST or "\0" in absolute:
        return (named,)  # No file system has such a path, and resolving it would fail or take long.
    resolved = _normalized(place.resolve(absolute))
    return (named,) if named == resolved else (named, resolved)


def _normalized(path: str) -> str:
    return posixpath.normpath("/" + path.lstrip("/"))


def is_inside(path: str, place: PathContext, book: RuleBook) -> bool:
    """Whether a path is in the working directory or in an additional one."""
    # The target of an additional directory that is a symbolic link does not count (measured).
    added = [_normalized(place.absolute(entry.path)) for entry in book.directories]
    return any(_is_below(path, root) for root in (*spellings(place.cwd, place), *added))


def _is_below(path: str, root: str) -> bool:
    return path == root or root == "/" or path.startswith(root + "/")


_SLASHES = re.compile(r"//+")
_AMBIGUOUS = re.compile(
    r"~\d|[^./ ][. ]+(?:/|$)|\.(?:con|prn|aux|nul|com\d|lpt\d)(?:/|$)|^//[?.]/|^\\\\|(?:^|/)\.{3,}(?:/|$)",
    re.IGNORECASE,
)


def is_ambiguous(path: str) -> bool:
    """Whether Windows reads the path as another name: `x~1`, `x.`, `x.CON` (measured on 2.1.325)."""
    return _AMBIGUOUS.search(path) is not None


def pattern_problem(content: str) -> str | None:
    """Why a path pattern covers nothing; None if it may cover something."""
    if content.startswith("!"):
        return "a pattern cannot be negated with '!'"
    if content.startswith(("..", "~/..")) or "/../" in content:
        return "'..' in a pattern matches nothing"
    return None


def rule_covers(entry: SourcedRule, path: str, place: PathContext) -> bool:
    """Whether the pattern of a path rule covers one absolute, normalized path."""
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
        # In 2.1.38 `/**` covers nothing, so it allows nothing.
        idle = content == "/**" and place.family.slash_star_is_idle
        # `~/` and `//` name a folder without its files; only a final `**` covers them (CLI-350).
        idle = idle or not content.endswith("**")
        if content.startswith(("~/", "//")):
            # `~/**` does not cover `~` itself; on 2.1.38 it covers nothing (CLI-1738).
            idle = idle or path == root or (content == "~/**" and place.family.slash_star_is_idle)
        return not (idle and entry.behavior is Behavior.ALLOW)
    relative = path[len(root) :].lstrip("/")
    if pattern.endswith("/") and entry.behavior is Behavior.ALLOW:
        # `Edit(x/)` is about folders: it covers the files below them (CLI-1504).
        relative = posixpath.dirname(relative)
    if entry.behavior is not Behavior.ALLOW:
        # The CLI's matcher ignores case; only deny and ask rules may do so here.
        # It also reads `**//x` as `**/x` (CLI-1734).
        pattern, relative = _SLASHES.sub("/", pattern.lower()), relative.lower()
    if len(pattern) > LONGEST or len(relative) > LONGEST:
        # No such file can exist. A path that cannot be checked is never allowed and always denied.
        return entry.behavior is not Behavior.ALLOW
    return bool(relative) and compiled(pattern).covers(relative)


def _rooted(content: str, entry: SourcedRule, place: PathContext) -> tuple[str, str] | None:
    pattern = content.removesuffix("/**") if content not in ("**", "./**") else "/"
    if content.startswith("//"):
        if entry.behavior is not Behavior.ALLOW:
            # 2.1.325 reads any number of slashes as the root; 2.1.38 matches nothing (CLI-343).
            pattern = "/" + pattern.lstrip("/")
        return "/", pattern.removeprefix("/") if pattern.startswith("//") else pattern
    if content.startswith("~/"):
        return _normalized(place.home), pattern[1:] or "/"
    if content.startswith("/"):
        root = _root_of(entry, place)
        return None if root is None else (_normalized(root), pattern)
    return _normalized(place.cwd), pattern.removeprefix("./")


def _root_of(entry: SourcedRule, place: PathContext) -> str | None:
    if entry.root is not None:
        return entry.root
    if entry.scope is Scope.USER:
        return place.config_folder
    if entry.scope.read_only:
        # Settings given as text have no file to be relative to: such a rule has no effect (measured).
        return None
    return place.cwd


def covering_rule(
    rules: Iterable[SourcedRule], path: str, place: PathContext
) -> SourcedRule | None:
    """The first of the rules whose pattern covers the path."""
    return next((entry for entry in rules if rule_covers(entry, path, place)), None)
