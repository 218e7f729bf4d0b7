"""Whether the content of a `Bash(…)` rule matches a command: exact, `npm:*` and `npm run *`.

Whole words are compared: `npm:*` matches `npm` and `npm test`, never `npmx`. A rule is
compared with one simple command at a time, so its star never matches an operator.
Neighbors: `wrappers` says where a command may begin, `bash_policy` combines the results.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

from fairlead.permissions.model.families import Family
from fairlead.permissions.rules.wildcards import star_match
from fairlead.permissions.shell.commands import CommandLine, SimpleCommand
from fairlead.permissions.shell.wrappers import (
    RUNNERS,
    allow_views,
    deny_views,
    inner_index,
    safe_assignments,
    views_of_text,
)

__all__ = ["allows_command", "catches_line", "matches_text"]

_STAR = re.compile(r"(?<!\\)\*")
_QUOTES = re.compile(r"[\"'\\]")
_PRECEDING = re.compile(
    r"^(?:(?:!|then|do|done|else|elif|esac|fi|if|while|until|time|noglob"
    r"|(?:\S*/)?[A-Za-z_]\w*\+?=\S*) )+"
)
_MAX_FRAGMENTS = 200
"""Pieces of a line that are looked at behind wrappers."""
_OPERATORS = re.compile(r"&&|\|\||[;&|(){}`\n]|\$\(")


def matches_text(content: str, exact: str, plain: str, *, bare_star: bool = True) -> bool:
    """Compare a rule's content with one command, as written and without needless quotes."""
    if content.endswith(":*"):
        prefix = content[:-2]
        return plain == prefix or plain.startswith(prefix + " ")
    parts = _star_parts(content)
    if len(parts) == 1:
        return exact.strip() == content
    if bare_star and len(parts) == 2 and content.endswith(" *"):
        # `npm run *` matches a bare `npm run`, but not `npm running`.
        prefix = parts[0].rstrip()
        return plain == prefix or plain.startswith(prefix + " ")
    return star_match(parts, plain)


@lru_cache(maxsize=512)
def _star_parts(content: str) -> tuple[str, ...]:
    """The fixed parts between the stars that no backslash escapes."""
    return tuple(part.replace("\\*", "*") for part in _STAR.split(content))


def allows_command(content: str, command: SimpleCommand, family: Family) -> bool:
    """Whether an allow rule with this content covers this one simple command."""
    if not command.words or any(word.value is None for word in command.words):
        return False
    if ":*" in content.removesuffix(":*"):
        return False
    if command.assignments:
        if command.source.strip() == content:
            return True
        if not safe_assignments(command, family):
            return False
    if _is_odd_wrapper(command, family):
        return False
    for index in allow_views(command, family):
        if _behind_xargs(command, index) and not content.endswith("*"):
            # xargs adds words of its own at the end, so the end must be open.
            continue
        if content.startswith("*") and command.words[index].value in RUNNERS:
            # `* --version` was not meant for `bash -c … --version`.
            continue
        if not command.words[index].value:
            # `"" terraform apply` has no program, and `*terraform*` does not cover it (CLI-1737).
            continue
        exact = command.text_from(index)
        plain = command.plain_from(index, literal_arguments=family.literal_arguments)
        # In 2.1.38 no star stands for an empty word alone (CLI-1527, CLI-1737).
        old = (_without_empty_end(plain), _without_empty(plain))
        texts = (plain,) if family.bare_star else old
        if all(matches_text(content, exact, text, bare_star=family.bare_star) for text in texts):
            return True
    return False


def _without_empty_end(text: str) -> str:
    end = len(text)
    while text.endswith((" ''", ' ""'), 0, end):
        end -= 3
    return text[:end]


def _without_empty(text: str) -> str:
    return " ".join(word for word in text.split(" ") if word not in ("''", '""'))


def _is_odd_wrapper(command: SimpleCommand, family: Family) -> bool:
    """Whether this is `timeout` or `env` in a form that is not known: no rule covers it (measured)."""
    name = command.words[0].value
    if name == "env":
        return any((word.value or "").startswith("-") for word in command.words[1:2])
    is_timeout = name == "timeout" and family.wrapper_options
    return is_timeout and inner_index(command.words, 0, family, family.wrappers) < 0


def _behind_xargs(command: SimpleCommand, index: int) -> bool:
    return any(word.value == "xargs" for word in command.words[:index])


def catches_line(content: str, line: CommandLine) -> bool:
    """Whether a deny or ask rule with this content matches any part of the line.

    Deliberately broad: it looks inside substitutions, groups, wrappers and strings for a shell. If
    the line cannot be parsed, it looks at every fragment between operators.
    """
    if matches_text(content, line.text.strip(), " ".join(line.text.split())):
        return True
    for command in line.everything:
        if matches_text(content, command.source, command.source):
            return True
        for words in deny_views(command):
            joined = " ".join(words)
            if matches_text(content, joined, joined):
                return True
    unclear = bool(line.doubts) or "control-flow" in line.features
    return unclear and _catches_fragment(content, line.text)


def _catches_fragment(content: str, text: str) -> bool:
    return any(matches_text(content, bare, bare) for bare in _fragments(text))


def _views(parts: Iterable[str]) -> Iterator[str]:
    for part in islice(parts, _MAX_FRAGMENTS):
        yield from (" ".join(words) for words in views_of_text(part))


@lru_cache(maxsize=16)
def _fragments(text: str) -> tuple[str, ...]:
    """The text between operators, without quotes, with and without what may precede a command."""
    bare = [" ".join(_QUOTES.sub("", part).split()) for part in _OPERATORS.split(text)]
    bare += [part[:-3] for part in bare if part.endswith(" ]]")]
    commands = [_PRECEDING.sub("", part) for part in bare]
    fragments = dict.fromkeys(filter(None, bare + commands))
    return tuple(dict.fromkeys((*fragments, *_views(fragments))))
