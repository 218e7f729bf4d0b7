"""Finds the real command behind prefixes: `NODE_ENV=test timeout 5 npm test`.

There are two views of one command. For allow rules: only prefixes that the CLI was measured to skip,
each with a syntax that is fully known. For deny rules: every prefix that might run something, with a
tolerant syntax. Neighbors: `rules`, `readonly`, `command_paths`.
"""

from __future__ import annotations

import operator
import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile, islice, pairwise

from fairlead.permissions.model.families import Family
from fairlead.permissions.shell.commands import SimpleCommand, Word, parse_command

__all__ = [
    "RUNNERS",
    "allow_views",
    "deny_views",
    "inner_index",
    "safe_assignments",
    "views_of_text",
]

_SAFE_VARIABLES_WORDS = """ANTHROPIC_API_KEY BLOCKSIZE BLOCK_SIZE CGO_ENABLED CHARSET COLORTERM FORCE_COLOR GCC_COLORS
    GO111MODULE GOARCH GOEXPERIMENT GOOS GREP_COLOR GREP_COLORS LANG LANGUAGE LC_ALL LC_CTYPE
    LC_TIME LS_COLORS NODE_ENV NO_COLOR PYTEST_DEBUG PYTEST_DISABLE_PLUGIN_AUTOLOAD
    PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED RUST_BACKTRACE RUST_LOG TERM TIME_STYLE TZ"""
_SAFE_VARIABLES = frozenset(_SAFE_VARIABLES_WORDS.split())
"""Variables that cannot make a program run another one (measured on 2.1.38 and 2.1.325)."""

_SAFE_VALUE = re.compile(r"[A-Za-z0-9_./:-]+")
_DENY_WRAPPERS_WORDS = """! { } builtin busybox caffeinate catchsegv cgexec chroot chrt command coproc dbus-run-session do doas done
    elif else entr env esac exec fakeroot fi firejail flock gdb if ionice linux64 ltrace nice nocorrect noglob
    nohup nsenter numactl parallel pkexec prlimit proxychains runuser script setarch setsid
    stdbuf strace su sudo systemd-run taskset then time timeout toybox unbuffer unshare until watch
    while xargs"""
_DENY_WRAPPERS = frozenset(_DENY_WRAPPERS_WORDS.split())
_WITH_OPERAND = frozenset(("chroot", "flock", "runuser", "script", "setarch", "su", "taskset"))
"""Wrappers that have an argument of their own before the command."""
_TIMEOUT_FLAG = (
    r"--foreground|--preserve-status|-v|--verbose|--(?:signal|kill-after)=[A-Za-z0-9.+]+"
)
_INTERPRETERS_WORDS = """bash bun deno dash eval fish ksh node perl php powershell pwsh python python2 python3 ruby
    sh tsx zsh"""
RUNNERS = frozenset(_INTERPRETERS_WORDS.split()) | _DENY_WRAPPERS
"""Programs that run their arguments."""
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "fish"))


def safe_assignments(command: SimpleCommand, family: Family) -> bool:
    """Whether an allow rule skips every assignment before the command."""
    safe = _SAFE_VARIABLES | family.extra_safe_variables
    for name, word in command.assignments:
        value = word.value
        if name not in safe or value is None or word.source != value:
            return False
        if not _SAFE_VALUE.fullmatch(value):
            return False
        if name.startswith(("LANG", "LC_")) and not value[0].isalpha():
            return False
        if name in ("COLUMNS", "LINES") and not value.isdigit():
            return False
    return True


def allow_views(command: SimpleCommand, family: Family) -> Iterator[int]:
    """The positions at which an allow rule may match: the first word, and those after known wrappers."""
    index = 0
    while index < len(command.words):
        yield index
        index = inner_index(command.words, index, family, family.wrappers)
        if index < 0:
            return


def inner_index(words: Sequence[Word], index: int, family: Family, wrappers: frozenset[str]) -> int:
    """The position of the wrapped command; -1 if this is not a known wrapper."""
    name = words[index].value
    rest = [word.value or "" for word in words[index + 1 :]]
    if name not in wrappers or not rest:
        return -1
    skipped = _skip(name, rest, family)
    if skipped < 0 or skipped >= len(rest) or rest[skipped].startswith("-"):
        return -1
    own = words[index : index + 1 + skipped]
    if family.literal_arguments and any(word.source != word.value for word in own):
        # The CLI does not take `timeout "5" npm` apart (CLI-340).
        return -1
    if "=" in rest[skipped]:
        # `timeout 5 FOO=1 npm`: the wrapper would look for a program of that name.
        return -1
    return index + 1 + skipped


def _skip(name: str | None, rest: list[str], family: Family) -> int:
    """How many words belong to the wrapper itself; -1 if its syntax is not known."""
    if name == "timeout":
        return _skip_timeout(rest, family)
    if name == "nice":
        if rest[0] == "-n" and len(rest) > 2 and re.fullmatch(r"-?\d+", rest[1]):
            return 2
        if not family.wrapper_options:
            return -1
        return 1 if re.fullmatch(r"-\d+", rest[0]) else 0
    if name == "stdbuf":
        count = 0
        while count < len(rest) and re.fullmatch(r"-[oei](?:L|\d+)", rest[count]):
            count += 1
        return count
    if name == "command":
        return 1 if rest[0] in ("-p", "--") else 0
    return 0


def _skip_timeout(rest: list[str], family: Family) -> int:
    count = 0
    while family.wrapper_options and count < len(rest):
        word = rest[count]
        if re.fullmatch(_TIMEOUT_FLAG, word):
            count += 1
        elif word in ("-s", "-k") and re.fullmatch(
            r"[A-Za-z0-9.+]+", rest[count + 1] if count + 1 < len(rest) else ""
        ):
            count += 2
        else:
            break
    if count < len(rest) and family.duration.fullmatch(rest[count]):
        return count + 1
    return -1


_MAX_WRAPPERS = 4
_MAX_GUESSES = 3
_MAX_VIEWS = 200
"""How deep wrappers are followed, how many positions are tried in each, and how many in all: enough for any
ordinary line, and few enough that no line takes long."""


_BRACKETS = {"[": "]", "[[": "]]"}
_QUOTING = re.compile(r"[\"'\\]")
_REDIRECTION = re.compile(r"\d*(?:&>>?|>>|>\||>&|<&|<>|<<<|[<>])(.*)", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=.*", re.DOTALL)


def deny_views(command: SimpleCommand) -> Iterator[tuple[str, ...]]:
    """Every list of words that this command may run as, for deny and ask rules."""
    likely, bare = _likely(command), tuple(_QUOTING.sub("", command.source).split())
    yield from islice(_views_of(likely, depth=0), _MAX_VIEWS)
    if bare != likely:
        # The CLI also compares the text without any quotes (CLI-1508).
        yield from islice(_views_of(bare, depth=0), _MAX_VIEWS)
    written = tuple(word.source for word in command.words)
    if written not in (likely, bare):
        # A rule may contain the quotes of the command (CLI-1533).
        yield from islice(_views_of(written, depth=0), _MAX_VIEWS)
    if any(word.value is None for word in command.words):
        # An expansion may be empty, and then its word is gone.
        rest = tuple(word.value for word in command.words if word.value is not None)
        yield from islice(_views_of(rest, depth=0), _MAX_VIEWS)


def views_of_text(text: str) -> Iterator[tuple[str, ...]]:
    """Every list of words that a piece of a line may run as, if the line cannot be parsed."""
    words: list[str] = []
    skip = False
    for word in _QUOTING.sub("", text).split():
        redirection = _REDIRECTION.fullmatch(word)
        if not skip and redirection is None:
            words.append(word)
        skip = redirection is not None and not redirection[1]
    yield from islice(_views_of(tuple(words), depth=0), _MAX_VIEWS)


def _likely(command: SimpleCommand) -> tuple[str, ...]:
    """The words as the program will probably receive them."""
    return tuple(
        word.value if word.value is not None else word.guess or word.source
        for word in command.words
    )


def _views_of(words: tuple[str, ...], depth: int) -> Iterator[tuple[str, ...]]:
    # The CLI skips empty words before a command (CLI-1508).
    words = tuple(dropwhile(operator.not_, words)) if words and not words[0] else words
    if not words or depth > _MAX_WRAPPERS:
        return
    yield words
    if words[0] in _BRACKETS and words[-1] == _BRACKETS[words[0]]:
        yield words[:-1]  # The CLI compares a test without its closing bracket (CLI-1523).
    if _ASSIGNMENT.fullmatch(words[0]):
        yield from _views_of(words[1:], depth + 1)
        return
    name = posixpath.basename(words[0].lstrip("\\"))
    if name != words[0]:
        yield (name, *words[1:])
    if name in _DENY_WRAPPERS:
        for inner in islice(_inner_words(name, words[1:]), _MAX_GUESSES):
            yield from _views_of(inner, depth + 1)
    for text in _strings_for_a_shell(name, words[1:]):
        for command in parse_command(text).everything:
            yield from _views_of(_likely(command), depth + 1)
    if name == "find":
        yield from _executed_by_find(words, depth)


def _inner_words(name: str, rest: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """What a wrapper may run: the words after its options, and after an option's value."""
    index, options = 0, False
    while index < len(rest):
        word = rest[index]
        if word.startswith("-"):
            options = True
        elif not re.fullmatch(r"[A-Za-z_]\w*\+?=.*|[0-9.]+[smhd]?", word, re.DOTALL):
            yield rest[index:]
            if not options and name not in _WITH_OPERAND:
                return
            options = False
        index += 1


def _strings_for_a_shell(name: str, rest: tuple[str, ...]) -> Iterator[str]:
    if name == "eval":
        yield " ".join(rest)
    elif name == "trap" and rest:
        yield rest[0]
    elif name == "env":
        # `env -S"npm test"` and `env --split-string="npm test"` (CLI-1508).
        for word in rest:
            glued = re.fullmatch(r"(?:-[a-zA-Z0-9]*S|--split-string=)(.+)", word, re.DOTALL)
            if glued:
                yield glued[1]
    elif name in _SHELLS or name in ("su", "runuser", "flock", "script", "watch"):
        for option, text in pairwise(rest):
            if re.fullmatch(r"-[a-z]*c|--command", option):
                yield text
        for word in rest:
            glued = re.fullmatch(r"(?:-[a-z]*c=?|--command=)(.+)", word, re.DOTALL)
            if glued:
                yield glued[1]  # `script -c="npm test"` (CLI-1733).
        if name == "watch" and rest:
            yield rest[-1]


def _executed_by_find(words: tuple[str, ...], depth: int) -> Iterator[tuple[str, ...]]:
    for index, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            yield from _views_of(words[index + 1 :], depth + 1)
