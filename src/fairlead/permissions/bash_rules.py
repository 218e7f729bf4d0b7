"""Whether the content of a `Bash(…)` rule matches a command: exact, `npm:*` and `npm run *`.

Matching is on whole words: `npm:*` matches `npm` and `npm test`, never `npmx`. A rule is only
ever held against one simple command, so an operator can never slip under its star.
Neighbours: `wrappers` says which words count, `bash_policy` combines the answers.
"""

from __future__ import annotations

import re
from functools import lru_cache

from fairlead.permissions.commands import CommandLine, SimpleCommand
from fairlead.permissions.families import Family
from fairlead.permissions.wrappers import RUNNERS, allow_views, deny_views, safe_assignments

__all__ = ["allows_command", "catches_line", "matches_text"]

_OPERATORS = re.compile(r"&&|\|\||[;&|(){}`\n]|\$\(")


def matches_text(content: str, exact: str, plain: str, *, bare_star: bool = True) -> bool:
    """Hold a rule's content against one command, given as written and without needless quotes."""
    if content.endswith(":*"):
        prefix = content[:-2]
        return plain == prefix or plain.startswith(prefix + " ")
    if _has_wildcard(content):
        return _wildcard(content, bare_star).fullmatch(plain) is not None
    return exact.strip() == content


def _has_wildcard(content: str) -> bool:
    return re.search(r"(?<!\\)\*", content) is not None


@lru_cache(maxsize=512)
def _wildcard(content: str, bare_star: bool) -> re.Pattern[str]:
    parts = re.split(r"(?<!\\)\*", content)
    pattern = ".*".join(re.escape(part.replace("\\*", "*")) for part in parts)
    if bare_star and len(parts) == 2 and content.endswith(" *"):
        # `npm run *` matches a bare `npm run`, but not `npm running`.
        pattern = re.escape(parts[0].rstrip().replace("\\*", "*")) + r"(?: .*)?"
    return re.compile(pattern, re.DOTALL)


def allows_command(content: str, command: SimpleCommand, family: Family) -> bool:
    """Whether an allow rule with this content covers this one simple command."""
    if not command.words or any(word.value is None for word in command.words):
        return False
    if command.assignments:
        if command.source.strip() == content:
            return True
        if not safe_assignments(command, family):
            return False
    for index in allow_views(command, family):
        if _behind_xargs(command, index) and not content.endswith("*"):
            # xargs adds words of its own at the end, so the end must be open.
            continue
        if content.startswith("*") and command.words[index].value in RUNNERS:
            # `* --version` was not meant for `bash -c … --version`.
            continue
        exact, plain = command.text_from(index), command.plain_from(index)
        if matches_text(content, exact, plain, bare_star=family.bare_star):
            return True
    return False


def _behind_xargs(command: SimpleCommand, index: int) -> bool:
    return any(word.value == "xargs" for word in command.words[:index])


def catches_line(content: str, line: CommandLine) -> bool:
    """Whether a deny or ask rule with this content concerns any part of the line.

    Generous on purpose: it looks inside substitutions, groups, wrappers and strings for a shell,
    and where the line cannot be parsed it looks at every fragment between operators.
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
    return bool(line.doubts) and _catches_fragment(content, line.text)


def _catches_fragment(content: str, text: str) -> bool:
    for fragment in _OPERATORS.split(text):
        bare = " ".join(re.sub(r"[\"'\\]", "", fragment).split())
        if bare and matches_text(content, bare, bare):
            return True
    return False
