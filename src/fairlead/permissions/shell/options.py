"""The options with which a program is read-only: what both measured CLIs allow without a rule.

For each program: options without a value, options with a number, options with any value. A program
with an option that is not listed asks. Pure data and the function that applies it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["NEW_OPTIONS", "OLD_OPTIONS", "OPTIONS", "Options"]

_LOOKS_LIKE_OPTION = re.compile(r"-.+", re.DOTALL)
"""2.1.325 takes `-.` and `-^x` for options, too (CLI-1521)."""


_FORMATS = frozenset(("", "oneline", "short", "medium", "full", "fuller", "email", "raw"))
"""Formats of git that the CLI knows by name; it asks about others, which a setting may define."""
_SIGNATURE = re.compile(r"%[-+ ]?G|signature")
"""Placeholders for which git starts another program, to verify a signature."""


def _is_known_format(value: str) -> bool:
    """Whether the value of `--format` or `--pretty` of git is read-only (CLI-1716)."""
    if value in _FORMATS:
        return True
    has_placeholder = "%" in value or value.startswith(("format:", "tformat:"))
    return has_placeholder and _SIGNATURE.search(value) is None


@dataclass(frozen=True, slots=True)
class Options:
    """The options that a program may have."""

    flags: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    operands: int | None = None
    """The largest number of other arguments; None for any number."""
    attached: frozenset[str] = frozenset()
    """Options whose number must follow an equals sign: a next word would be an operand."""
    ends_at_dashes: bool = True
    """Whether `--` ends the options; for some programs the CLI continues to look for options (CLI-1721)."""

    def fit(self, arguments: list[str], program: str) -> bool:
        """Whether every option is known and has the value that it needs."""
        operands = index = 0
        while index < len(arguments):
            word = arguments[index]
            index += 1
            if word == "--" and not self.ends_at_dashes:
                continue
            if word == "--":
                operands += len(arguments) - index
                break
            if not _LOOKS_LIKE_OPTION.fullmatch(word):
                operands += 1
                continue
            taken = self._values_taken(word, arguments[index : index + 1], program)
            if taken is None:
                return False
            index += taken
        return self.operands is None or operands <= self.operands

    def _values_taken(self, word: str, following: list[str], program: str) -> int | None:
        """How many further words belong to the option; None if it is not known."""
        name, equals, value = word.partition("=")
        if name in self.flags:
            return None if equals else 0
        if name in self.attached:
            return 0 if value.isdigit() else None
        if name in self.numbers or name in self.texts:
            given = [value] if equals else following
            # A lone dash is no value either (CLI-1719).
            if not given or given[0].startswith("-"):
                return None
            if name in self.numbers and not given[0].isdigit():
                return None
            if program == "git" and name in ("--format", "--pretty"):
                return (0 if equals else 1) if _is_known_format(given[0]) else None
            return 0 if equals else 1
        if program == "git" and re.fullmatch(r"-\d+", word):
            return 0
        if program in ("grep", "egrep", "fgrep", "rg") and re.fullmatch(r"-\w\d+", word):
            return 0 if word[:2] in self.numbers else None
        if word.startswith("--") or equals:
            return None
        return 0 if all(f"-{char}" in self.flags for char in word[1:]) else None


def _options(
    flags: str = "",
    numbers: str = "",
    texts: str = "",
    operands: int | None = None,
    attached: str = "",
    *,
    ends_at_dashes: bool = True,
) -> Options:
    """Single characters are short options, longer words are long ones."""
    return Options(
        _names(flags), _names(numbers), _names(texts), operands, _names(attached), ends_at_dashes
    )


def _names(text: str) -> frozenset[str]:
    return frozenset(f"-{word}" if len(word) == 1 else f"--{word}" for word in text.split())


_REFS = "all branches tags remotes"
_DATES = "since after until before"
_GRAPH = "oneline graph decorate no-decorate relative-date"
_STATS = "stat numstat shortstat name-only name-status color no-color"
_PATCH = "patch p no-patch no-ext-diff s"
_PEOPLE = "author committer grep"
_SUMS = _options(
    "b binary t text c check ignore-missing quiet status strict w warn tag z zero help version"
)
_GREP = _options(
    "F fixed-strings G basic-regexp E extended-regexp P perl-regexp i ignore-case no-ignore-case v "
    "invert-match w word-regexp x line-regexp c count L files-without-match l files-with-matches o "
    "only-matching q quiet silent s no-messages b byte-offset H with-filename h no-filename n "
    "line-number T initial-tab u unix-byte-offsets Z null z null-data no-group-separator a text r "
    "recursive R dereference-recursive line-buffered U binary help V version",
    "m max-count A after-context B before-context C context",
    "e regexp color colour label group-separator binary-files D devices d directories exclude "
    "exclude-dir include",
)

OPTIONS = {
    "git blame": _options(
        "color no-color porcelain p line-porcelain incremental root show-stats show-name show-number n "
        "show-email e f w M C score-debug s l t",
        "abbrev",
        "L date ignore-rev",
        ends_at_dashes=False,
    ),
    "git branch": _options(
        "l list a all r remotes v verbose color no-color column no-column no-abbrev show-current i ignore-case",
        "",
        "contains no-contains points-at sort",
        operands=0,
        attached="abbrev",
    ),
    "git cat-file": _options("t s p e"),
    "git config --get": _options(
        "local global system worktree bool int bool-or-int path z null name-only show-origin show-scope",
        texts="default type",
    ),
    "git describe": _options(
        "tags long always contains first-match exact-match dirty broken",
        "abbrev candidates",
        "match exclude",
    ),
    "git diff": _options(
        f"{_STATS} dirstat summary patch-with-stat word-diff color-words no-renames no-ext-diff check "
        "full-index binary break-rewrites find-renames find-copies find-copies-harder histogram patience "
        "minimal ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines "
        "function-context exit-code quiet cached staged pickaxe-regex pickaxe-all p u s M C B R",
        "abbrev inter-hunk-context",
        "word-diff-regex ws-error-highlight diff-algorithm diff-filter",
    ),
    "git for-each-ref": _options(
        "", "count", "format sort contains no-contains merged no-merged points-at"
    ),
    "git grep": _options(
        "E extended-regexp G basic-regexp F fixed-strings P perl-regexp i ignore-case v invert-match w "
        "word-regexp n line-number c count l files-with-matches L files-without-match h H heading break "
        "full-name color no-color o only-matching and or not untracked cached q quiet",
        "A after-context B before-context C context max-depth threads",
        "e",
    ),
    "git log": _options(
        f"{_GRAPH} {_REFS} {_STATS} {_PATCH} abbrev-commit full-history dense sparse simplify-merges "
        "ancestry-path source first-parent merges no-merges reverse walk-reflogs no-min-parents "
        "no-max-parents follow no-walk left-right cherry-mark cherry-pick boundary topo-order date-order "
        "author-date-order pickaxe-regex pickaxe-all",
        "max-count n skip max-age min-age",
        f"date {_DATES} {_PEOPLE} pretty format diff-filter S G",
    ),
    "git ls-files": _options(
        "cached c deleted d modified m others o ignored i stage s killed k unmerged u directory "
        "no-empty-directory eol full-name debug z t v f exclude-standard error-unmatch",
        "abbrev",
        "exclude x",
    ),
    "git merge-base": _options("is-ancestor fork-point octopus independent all"),
    "git reflog": _options(
        f"{_GRAPH} {_REFS}", "max-count n", f"date {_DATES} {_PEOPLE}", operands=0
    ),
    "git reflog show": _options(
        f"{_GRAPH} {_REFS}", "max-count n", f"date {_DATES} {_PEOPLE}", operands=1
    ),
    "git remote": _options("v verbose", operands=0),
    "git rev-list": _options(
        f"{_REFS} count reverse first-parent ancestry-path merges no-merges no-min-parents no-max-parents "
        "walk-reflogs oneline abbrev-commit full-history dense sparse source graph",
        "max-count n min-parents max-parents skip max-age min-age abbrev",
        f"{_DATES} {_PEOPLE} pretty format",
    ),
    "git rev-parse": _options(
        "verify abbrev-ref symbolic symbolic-full-name show-toplevel show-cdup show-prefix git-dir "
        "git-common-dir absolute-git-dir is-inside-work-tree is-inside-git-dir is-bare-repository "
        "is-shallow-repository",
        texts="short",
    ),
    "git shortlog": _options(
        f"{_REFS} s summary n numbered e email c committer no-merges",
        "",
        f"{_DATES} group format author",
        operands=1,
    ),
    "git show": _options(
        f"{_GRAPH} {_STATS} {_PATCH} abbrev-commit word-diff color-words first-parent raw m quiet",
        texts="date word-diff-regex pretty format diff-filter",
    ),
    "git stash list": _options(f"{_GRAPH} {_REFS}", "max-count n", "date", operands=0),
    "git stash show": _options(
        f"{_STATS} {_PATCH} word-diff", "abbrev", "word-diff-regex diff-filter", operands=0
    ),
    "git status": _options(
        "short s branch b porcelain long verbose v ignored column no-column ahead-behind "
        "no-ahead-behind renames no-renames",
        texts="untracked-files ignore-submodules find-renames",
    ),
    "git tag": _options(
        "l list column no-column i ignore-case",
        "n",
        "contains no-contains merged no-merged sort format points-at",
        operands=0,
    ),
    "git worktree list": _options("porcelain v verbose", operands=0),
    "docker images": _options("a", operands=0),
    "docker inspect": _options(operands=1),
    "docker logs": _options(operands=1),
    "docker ps": _options("a", operands=0),
    "arch": _options(operands=0),
    "base64": _options("d decode", "w wrap", ends_at_dashes=False),
    "date": _options("u utc R", texts="d date", operands=1),
    "egrep": _GREP,
    "fgrep": _GREP,
    "file": _options(
        "b brief i mime mime-type mime-encoding h L dereference no-dereference k r raw"
    ),
    "grep": _GREP,
    "hostname": _options("f s i I a d A", operands=0),
    "man": _options("k"),
    "md5sum": _SUMS,
    "netstat": _options("a l n g i s r m v", operands=0),
    "rg": _options(
        "i ignore-case S smart-case F fixed-strings w word-regexp v invert-match c count l "
        "files-with-matches files-without-match n line-number o only-matching H h heading no-heading q "
        "quiet column type-list hidden no-ignore u a text L follow json stats",
        "A after-context B before-context C context m max-count max-depth",
        "e regexp g glob t type T type-not color",
    ),
    "sha1sum": _SUMS,
    "sha256sum": _SUMS,
    "sort": _options(
        "ignore-leading-blanks b dictionary-order d ignore-case f general-numeric-sort g "
        "human-numeric-sort h i month-sort M numeric-sort n random-sort R reverse r stable s unique u "
        "version-sort V zero-terminated z check c C merge m",
        "parallel batch-size",
        "sort key k field-separator t buffer-size S",
    ),
    "tree": _options(
        "a d l f x gitignore ignore-case matchdirs prune noreport q N Q p u g s h si du D F inodes device v "
        "t c U r dirsfirst filesfirst i A S n C X J nolinks",
        "L filelimit",
        "P I charset timefmt sort",
    ),
    "which": _options("a"),
}
"""Programs and subcommands that every measured version knows."""

OLD_OPTIONS = {
    "npm list": _options("all a json long l global g link workspaces", "depth", "omit include"),
    "pip list": _options("outdated o uptodate u editable e local l user pre", "", "format exclude"),
}
"""Programs that only 2.1.29 and 2.1.38 treat as read-only."""

NEW_OPTIONS = {
    "pgrep": _options(
        "l list-name a list-full v inverse w c count f full i ignore-case n newest o oldest x exact",
        texts="d delimiter g pgroup G group P parent s session t terminal u euid U uid",
    ),
}
"""Programs that only 2.1.120 and later treat as read-only."""
