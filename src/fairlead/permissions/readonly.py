"""The commands that never ask: they only look, whatever their arguments are.

The table holds what both measured CLIs let through without a rule, narrowed to the options that
were tried; an option that is not listed makes a command ask. Whether the paths it looks at may
be read is another question (`command_paths`). Pure data and one function.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fairlead.permissions.commands import SimpleCommand
from fairlead.permissions.families import Family
from fairlead.permissions.wrappers import inner_index, safe_assignments

__all__ = ["is_read_only"]

_ANYTHING_WORDS = """basename cal cat column cut df diff dirname du echo expand false fold free groups head
    hexdump id locale ls nl nproc od paste readlink realpath rev sleep stat strings tac tail tr
    true type uname unexpand uptime wc
    cmp comm expr fmt numfmt pr seq tsort"""
_ANYTHING = frozenset(_ANYTHING_WORDS.split())
"""Programs that neither write nor start others, with any options at all."""

_NEWER = frozenset(
    (
        "cmp",
        "comm",
        "egrep",
        "expr",
        "fgrep",
        "fmt",
        "numfmt",
        "pr",
        "printf",
        "seq",
        "test",
        "tsort",
    )
)
"""Those of them that only families listing them as `extra_readonly` let through."""

_FIND_ACTIONS = frozenset(
    (
        "-delete",
        "-exec",
        "-execdir",
        "-ok",
        "-okdir",
        "-fprint",
        "-fprint0",
        "-fprintf",
        "-fls",
        "-files0-from",
    )
)
_PLAIN_WORD = re.compile(r"[\w./:,@=+~-]*|'[\w ./:,@=+~*-]*'|\"[\w ./:,@=+~*-]*\"")
_QUOTED_WORD = re.compile(r"[\w./:,@=+~-]*|'[^']*'|\"[^\"$`\\]*\"")
_SED_SCRIPT = re.compile(r"\d+(?:,\d+)?p(?:;\d+(?:,\d+)?p)*")
_JQ_FILTER = re.compile(r"[A-Za-z0-9_.\[\], |\"()-]*")
_JQ_WORDS = re.compile(r"\b(?:env|input|inputs|include|import|debug|stderr|halt|getpath)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """Which arguments a command may have."""

    options: str = r"(?!)"
    """A pattern for each option that may stand alone."""
    valued: str = r"(?!)"
    """A pattern for each option that takes the next word."""
    operands: int | None = None
    """How many other words there may be; None for any number."""
    least: int = 0
    """How many arguments there must be: a bare `python3` reads commands from its input."""

    def fits(self, arguments: list[str]) -> bool:
        if len(arguments) < self.least:
            return False
        operands, index = 0, 0
        while index < len(arguments):
            word = arguments[index]
            if word == "--":
                operands += len(arguments) - index - 1
                break
            if re.fullmatch(self.valued, word) and index + 1 < len(arguments):
                index += 1
            elif not re.fullmatch(self.options, word):
                if word.startswith("-") and word != "-":
                    return False
                operands += 1
            index += 1
        return self.operands is None or operands <= self.operands


_BARE = _Shape(operands=0)
_SHAPES = {
    "arch": _BARE,
    "base64": _Shape(options="-d"),
    "date": _Shape(options=r"-u|\+.*", valued="-d", operands=0),
    "egrep": _Shape(options=r"-[nirvcl]+"),
    "fgrep": _Shape(options=r"-[nirvcl]+"),
    "file": _Shape(options="-b"),
    "grep": _Shape(options=r"-[nirvclE]+"),
    "history": _Shape(options=r"\d+", operands=0),
    "hostname": _Shape(options="-f|-I", operands=0),
    "man": _Shape(options="-k"),
    "md5sum": _Shape(options="-c"),
    "netstat": _Shape(options="-an", operands=0),
    "node": _Shape(options="-v", operands=0, least=1),
    "printf": _Shape(),
    "ps": _Shape(options="-ef|aux", operands=0),
    "pwd": _BARE,
    "python": _Shape(options="--version", operands=0, least=1),
    "python3": _Shape(options="--version", operands=0, least=1),
    "rg": _Shape(options=r"-[nil]+|-[ABC]\d+", valued="-e|-g"),
    "sha1sum": _Shape(options="-c"),
    "sha256sum": _Shape(options="-c"),
    "sort": _Shape(options=r"-[rnu]+"),
    "test": _Shape(valued="-d|-e|-f", operands=0),
    "tree": _Shape(options="-a", valued="-L"),
    "uniq": _BARE,
    "whoami": _BARE,
    "which": _Shape(options="-a"),
}
_SUBCOMMANDS = {
    "docker images": _Shape(options="-a", operands=0),
    "docker inspect": _Shape(operands=1),
    "docker logs": _Shape(operands=1),
    "docker ps": _Shape(options="-a", operands=0),
    "git blame": _Shape(valued="-L"),
    "git branch": _Shape(
        options="-a|-r|-v|-vv|--all|--list|--show-current",
        valued="--list|--contains",
        operands=0,
    ),
    "git cat-file": _Shape(options="-p"),
    "git config": _Shape(valued="--get", operands=0, least=2),
    "git describe": _Shape(options="--tags"),
    "git diff": _Shape(options="--stat|--cached|--name-only"),
    "git for-each-ref": _BARE,
    "git grep": _Shape(),
    "git log": _Shape(
        options=r"--oneline|-p|-\d+|--graph|--all|--format=[^\s]*|--since=[^\s]*|--stat",
        valued="-n|-S",
    ),
    "git ls-files": _Shape(options="-m"),
    "git merge-base": _Shape(operands=2),
    "git reflog": _BARE,
    "git reflog show": _Shape(operands=1),
    "git remote": _Shape(options="-v", operands=0),
    "git rev-list": _Shape(options="--count"),
    "git rev-parse": _Shape(options="--abbrev-ref"),
    "git shortlog": _Shape(options="-sn", operands=0),
    "git show": _Shape(options="--stat"),
    "git stash list": _BARE,
    "git stash show": _Shape(options="-p", operands=0),
    "git status": _Shape(options="-s|--short|--porcelain"),
    "git tag": _Shape(options="-l|--list", valued="-l|--list", operands=0),
    "git worktree list": _BARE,
}


def is_read_only(command: SimpleCommand, family: Family) -> bool:
    """Whether this command only looks, so that no rule is needed for it."""
    if any(word.value is None for word in command.words):
        return False
    if command.assignments and not family.readonly_variables:
        return False
    if not safe_assignments(command, family):
        return False
    if "glob-in-read-only" in family.doubts and any(word.glob for word in command.words):
        return False
    here = any(redirect.operator == "<<" for redirect in command.redirects)
    if here and "here-document" in family.doubts:
        return False
    index = 0
    while (inner := inner_index(command.words, index, family, family.readonly_wrappers)) > 0:
        index = inner
    name, *arguments = [word.value or "" for word in command.words[index:]]
    if name in _ANYTHING and family.plain_words_only:
        shape = _QUOTED_WORD if name == "echo" else _PLAIN_WORD
        plain = all(shape.fullmatch(word.source) for word in command.words)
        return plain and _looks_only(name, arguments, family)
    return _looks_only(name, arguments, family)


def _looks_only(name: str, arguments: list[str], family: Family) -> bool:
    if name in _NEWER and name not in family.extra_readonly:
        return False
    if name in _ANYTHING:
        return True
    if name == "node" and arguments == ["--version"]:
        return "node --version" in family.extra_readonly
    if name == "find":
        return not _FIND_ACTIONS.intersection(arguments)
    if name == "sed":
        return _is_sed_print(arguments, family)
    if name == "jq":
        return _is_plain_jq(arguments)
    if name in _SHAPES:
        return _SHAPES[name].fits(arguments)
    return _is_known_subcommand(name, arguments)


def _is_known_subcommand(name: str, arguments: list[str]) -> bool:
    for length in (2, 1):
        shape = _SUBCOMMANDS.get(" ".join((name, *arguments[:length])))
        if shape is not None and len(arguments) >= length:
            rest = arguments[length:]
            return shape.fits(rest) and _are_revisions_or_paths(name, rest)
    return False


def _are_revisions_or_paths(name: str, rest: list[str]) -> bool:
    return name != "git" or all(
        word.startswith("-") or re.fullmatch(r"[^\s;|&<>$`]*", word) for word in rest
    )


def _is_sed_print(arguments: list[str], family: Family) -> bool:
    options = [word for word in arguments if word.startswith("-")]
    operands = [word for word in arguments if not word.startswith("-")]
    if "-n" not in options or not set(options) <= {"-n", "-E"} or not operands:
        return False
    if len(operands) > 1 and not family.sed_reads_files:
        return False
    return _SED_SCRIPT.fullmatch(operands[0]) is not None


def _is_plain_jq(arguments: list[str]) -> bool:
    operands = [word for word in arguments if word != "-r"]
    if not operands or any(word.startswith("-") for word in operands):
        return False
    return bool(_JQ_FILTER.fullmatch(operands[0])) and not _JQ_WORDS.search(operands[0])
