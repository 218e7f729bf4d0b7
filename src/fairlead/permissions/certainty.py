"""Whether a CLI is certain to allow what the policy allows: the policy's safety net.

The policy predicts what a CLI does with a call. A prediction is certain only for calls of a form that
was measured: plain words, simple quotes, ordinary paths, host names and rules. For any other call that
would be allowed the decision becomes "may ask", with the reason that this module gives. It never looks
at calls that ask or are denied. Pure.
"""

from __future__ import annotations

import re
from dataclasses import replace

from fairlead.permissions.model.families import Family
from fairlead.permissions.model.modes import Mode
from fairlead.permissions.model.scopes import Behavior
from fairlead.permissions.rules.book import RuleBook, SourcedRule
from fairlead.permissions.rules.decisions import Decision, Reason, ToolCall
from fairlead.permissions.rules.paths import PathContext, spellings
from fairlead.permissions.rules.tools import EDITORS, READERS, SHELLS, file_of
from fairlead.permissions.shell.commands import (
    CommandLine,
    Redirect,
    SimpleCommand,
    Word,
    parse_command,
)

__all__ = ["certain_rules", "uncertainty"]

_UNQUOTED = re.compile(r"[\w./:,@=+%^*?-]*")
_QUOTED = re.compile(
    r"(?:--?[\w-]+(?:=[\w:]*)?)?(?:'[^'\r]*(?<!\\)'|\"(?:[^\"\\\r$`]|\\.)*\")", re.DOTALL
)
_QUOTED_IN_OLD = re.compile(r"(?:--?[\w-]+=)?(?:'[^'\r$`]*(?<!\\)'|\"[^\"\r$`!]*(?<!\\)\")")
_REVISION = re.compile(r"[\w./-]+(?:[~^]\d*)+")
_HOME = re.compile(r"~(?:/[\w./-]*)?")
_ODD_CONTINUATION = re.compile(
    r"(?:^|[^ \t])[ \t]*\\\n(?![ \t]*[\w./'\"-])|(?<![ \t])\\\n|^\s*\\\n"
)
_DOUBLE_QUOTED_END = re.compile(r"<<-?[ \t]*\"")
_PIPED_REDIRECTS = frozenset(("2>&1", "2>/dev/null", ">/dev/null", "1>/dev/null"))
_OPEN_LINE = re.compile(r"[&|;][ \t]*\n")
_REDIRECTS = frozenset((">", ">>", ">|", "&>", "&>>", ">&", "<"))
_OLD_REDIRECTS = frozenset((">", ">>", ">&", "<"))
_TESTING = frozenset(("[", "[[", "]", "]]", "!", "==", "=~", "<", ">"))
_WITH_PATTERNS = frozenset(("cat", "du", "echo", "grep", "head", "ls", "stat", "tail", "wc"))
"""Programs whose arguments may be patterns such as `*.py`; 2.1.325 asks about `expr *.py` (CLI-1501)."""
_PLAIN_CONTENT = re.compile(r"[\w-]+|domain:(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*")
_AWKS = frozenset(("awk", "gawk", "mawk", "nawk"))
_ODD_IN_PATH = re.compile(
    r"[\\\x00-\x1f\x7f]|(?:^|/)[~ ]|[ .](?:/|$)|(?:^|/)\.\.(?:/|$)|(?<!^)//|^//"
)
_PLAIN_PATTERN = re.compile(
    r"(?:\.?/{0,2}|~/)(?:[\w@+ .,-]+|\*\*?|\*\.\w+)(?:/(?:[\w@+ .,-]+|\*\*?|\*\.\w+))*"
)
_PLAIN_COMMAND_RULE = re.compile(r"[\w./@+*-]+(?: [\w./@=+,*-]+)*(?::\*)?")
_PLAIN_URL = re.compile(
    r"https?://[a-zA-Z0-9.-]+(?::\d+)?(?:/[\w./%~-]*)?(?:\?[\w=&.%-]*)?(?:#[\w-]*)?"
)


def uncertainty(
    call: ToolCall, decision: Decision, book: RuleBook, place: PathContext
) -> str | None:
    """Why the CLI may ask about a call that the policy allows; None if it is certain not to."""
    if book.mode is Mode.BYPASS:
        return None
    if call.tool in SHELLS:
        if decision.rule is not None and decision.rule.whole_tool:
            return None
        return _about_line(parse_command(call.text("command")), place.family)
    if call.tool in READERS | EDITORS:
        return _about_path(file_of(call))
    if call.tool == "WebFetch" and decision.reason in (Reason.RULE, Reason.DOCUMENTATION):
        return (
            None if _PLAIN_URL.fullmatch(call.text("url")) else "the address is written unusually"
        )
    return None


def certain_rules(book: RuleBook, place: PathContext) -> RuleBook:
    """The book without the allow rules and directories of which no version was measured."""
    return replace(
        book,
        rules=tuple(
            entry
            for entry in book.rules
            if entry.behavior is not Behavior.ALLOW or _is_plain_rule(entry)
        ),
        directories=tuple(
            entry for entry in book.directories if _is_plain_directory(entry.path, place)
        ),
    )


def _is_plain_rule(entry: SourcedRule) -> bool:
    tool, content = entry.rule.tool, entry.rule.content
    if content is None:
        # A star at the end of an MCP tool's name is a measured form (P23).
        server = tool.startswith("mcp__") and tool.count("__") >= 2
        return "*" not in (tool.removesuffix("*") if server else tool)
    if tool in SHELLS:
        plain = _PLAIN_COMMAND_RULE.fullmatch(content) is not None
        if not content.strip("*"):
            return content == "*"  # 2.1.38 asks about `-c x` under `Bash(**)` (CLI-1534).
        return plain or not any(char in content for char in "*?\\$`\n")
    if tool in READERS | EDITORS:
        return _PLAIN_PATTERN.fullmatch(content) is not None
    return _PLAIN_CONTENT.fullmatch(content) is not None


def _is_plain_directory(path: str, place: PathContext) -> bool:
    named = path.rstrip("/")
    return named.startswith("/") and spellings(path, place) == (named,)


def _about_line(line: CommandLine, family: Family) -> str | None:
    if _ODD_CONTINUATION.search(line.text):
        return "a backslash joins two lines at an unusual place"
    if family.plain_words_only and _OPEN_LINE.search(line.text):
        return "a line ends with an operator"
    for command in line.commands:
        problem = _about_command(command, family)
        if problem:
            return problem
    return _about_syntax(line) or (_about_old_syntax(line) if family.plain_words_only else None)


def _about_syntax(line: CommandLine) -> str | None:
    """Why a loop, a condition, a comment or a `cd` with an input may ask (CLI-1725)."""
    redirects = [redirect for command in line.commands for redirect in command.redirects]
    if "unusual-comment" in line.features:
        return "a comment follows a redirection or an operator"
    if "compound" in line.features:
        if any(line.segments):
            return "a loop or condition has a pipeline"
        if any(redirect.operator.startswith("<<") for redirect in redirects):
            return "a loop or condition has a here-document or here-string"
    names = [command.words[0].value for command in line.commands if command.words]
    if "cd" in names and any("<" in redirect.operator for redirect in redirects):
        return "it changes the directory and redirects an input"
    return None


def _about_old_syntax(line: CommandLine) -> str | None:
    """The same for 2.1.38, which takes less apart (CLI-1726)."""
    if _DOUBLE_QUOTED_END.search(line.text):
        return "a here-document has a delimiter in double quotes"
    names = [command.words[0].value for command in line.commands if command.words]
    redirects = [redirect for command in line.commands for redirect in command.redirects]
    if "cd" in names and any(not redirect.duplicates for redirect in redirects):
        return "it changes the directory and redirects a stream"
    if not any(line.segments):
        return None
    for command in line.commands:
        forms = [_written(redirect) for redirect in command.redirects]
        if len(forms) > 1 or not set(forms) <= _PIPED_REDIRECTS:
            return "a pipeline has an unusual redirection"
    return None


def _written(redirect: Redirect) -> str:
    target = redirect.target.value if redirect.target else ""
    return f"{redirect.stream}{redirect.operator}{target}"


def _about_command(command: SimpleCommand, family: Family) -> str | None:
    if family.plain_words_only and any(word.value in _AWKS for word in command.words):
        return "this version of the CLI reads the script of awk as the name of a file"
    globs = any(word.glob for word in command.words)
    if globs and not any(word.value in _WITH_PATTERNS for word in command.words):
        return "a pattern for file names stands where the CLI may not expect one"
    if "\t" in command.source and any(word.value == "xargs" for word in command.words):
        return "a tab separates the words of xargs"  # CLI-1736
    name = command.words[0].value if command.words else None
    if name is not None and name.startswith("-"):
        return "the name of the program is written like an option"
    old = family.plain_words_only and name != "echo"
    for word in command.words:
        if not _is_plain(word, old=old):
            return f"the word {word.source[:60]} is written unusually"
    return _about_redirects(command, family, old=old)


def _about_redirects(command: SimpleCommand, family: Family, *, old: bool) -> str | None:
    """Why a redirection may ask: only these forms were measured (CLI-1518)."""
    duplicated = False
    for redirect in command.redirects:
        if redirect.target is None:
            continue
        if not _is_plain(redirect.target, old=old):
            return "a redirection names its file unusually"
        if len(redirect.stream) > 1:
            return "a redirection has a stream of two digits"
        if redirect.operator not in (_OLD_REDIRECTS if family.plain_words_only else _REDIRECTS):
            return f"it has an unusual redirection ({redirect.operator})"
        if family.plain_words_only:
            if duplicated and redirect.stream:
                return "a redirection follows one such as 2>&1"
            joins = redirect.operator == ">&"
            usual = redirect.stream in ("", "1", "2")
            if joins and not (usual and (redirect.target.value or "") in ("1", "2")):
                return "a redirection leads to an unusual stream"
            duplicated = duplicated or joins
    return None


def _is_plain(word: Word, *, old: bool) -> bool:
    source = word.source
    if (word.value or "").startswith("-") and not source.isascii():
        return False  # 2.1.325 asks about `grep x -é` (CLI-1518).
    quoted = _QUOTED_IN_OLD.fullmatch(source) if old else _QUOTED.fullmatch(source)
    return (
        quoted is not None
        or source in _TESTING
        or _UNQUOTED.fullmatch(source) is not None
        or _REVISION.fullmatch(source) is not None
        or _HOME.fullmatch(source) is not None
    )


def _about_path(path: str) -> str | None:
    path = "." if path in (".", "./") else path
    if path != "." and _ODD_IN_PATH.search(path.removeprefix("./").removeprefix("~/")):
        return f"the path {path[:80]} is written unusually"
    return None
