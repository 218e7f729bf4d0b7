"""The commands that need no rule because they are read-only.

A program is read-only with any options, or with the options listed in `options`. Whether the paths
that it names may be read is checked elsewhere (`command_paths`). Pure data and one function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import dropwhile, pairwise

from fairlead.permissions.model.families import Family
from fairlead.permissions.shell.commands import SimpleCommand, Word
from fairlead.permissions.shell.evaluating import names_stat_variable
from fairlead.permissions.shell.options import NEW_OPTIONS, OLD_OPTIONS, OPTIONS, Options
from fairlead.permissions.shell.wrappers import inner_index, safe_assignments

__all__ = ["is_read_only", "quotes_options"]

_ANYTHING_WORDS = """basename cal cat column cut df diff dirname du echo expand false fold free groups head
    hexdump id locale ls nl nproc od paste readlink realpath rev sleep stat strings tac tail tr
    true type uname unexpand uptime wc
    cmp comm expr fmt numfmt pr seq tsort"""
_ANYTHING = frozenset(_ANYTHING_WORDS.split())
"""Programs that neither write files nor start programs, with any options."""

_NEWER = frozenset(
    (
        "[",
        "[[",
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
"""Those of them that are read-only only in families that list them in `extra_readonly`."""

_FIND_ACTIONS_WORDS = (
    """-delete -exec -execdir -ok -okdir -fprint -fprint0 -fprintf -fls -files0-from -rm"""
)
_FIND_ACTIONS = frozenset(_FIND_ACTIONS_WORDS.split())
_FIND_VALUES_WORDS = """-amin -anewer -atime -cmin -cnewer -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex
    -iwholename -links -lname -maxdepth -mindepth -mmin -mtime -name -newer -path -perm -printf -regex -regextype
    -samefile -size -type -uid -used -user -wholename -xtype"""
_FIND_VALUES = frozenset(_FIND_VALUES_WORDS.split())
"""Tests of find whose next word is a value."""
_EXACT = frozenset(
    (
        ("pwd",),
        ("whoami",),
        ("node", "-v"),
        ("python", "--version"),
        ("python3", "--version"),
    )
)
"""Commands that are read-only only in this form."""

_PLAIN_WORD = re.compile(r"[\w./:,@=+~-]*|'[\w ./:,@=+~*-]*'|\"[\w ./:,@=+~*-]*\"", re.ASCII)
_QUOTED_WORD = re.compile(r"[\w./:,@=+~-]*|'[^']*'|\"[^\"$`\\]*\"", re.ASCII)
_GIT_TOKEN = re.compile(r"(\s(?:-c|--exec-path|--config-env)(?=[\s=]))|(\bgit\b)")
_SED_SCRIPT = re.compile(r"\d+(?:,\d+)?p(?:;\d+(?:,\d+)?p)*")
_JQ_FILTER = re.compile(r"[A-Za-z0-9_.\[\], |\"()-]*")
_JQ_WORDS = re.compile(r"\b(?:env|input|inputs|include|import|debug|stderr|halt|getpath)\b")
_CONTAINER = re.compile(r"[\w./:-]+")
_UNIQ_OPTION = re.compile(r"-[a-zA-Z]+|--[a-zA-Z-]+(?:=\S+)?")
_TEST_OPERATORS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_TEST_UNSUPPORTED = frozenset(("-v", "-R", "-a", "-o", "-t", "(", ")", "--"))
_TEST_KNOWN_WORDS = """-b -c -d -e -f -g -h -k -n -p -r -s -u -w -x -z -G -L -N -O -S
    -ef -eq -ge -gt -le -lt -ne -nt -ot"""
_TEST_KNOWN = frozenset(_TEST_KNOWN_WORDS.split())
_TEST_BINARY = _TEST_OPERATORS | {"-ef", "-nt", "-ot"}
_XARGS = Options(
    flags=frozenset(("-0", "-t", "-r", "-x")), numbers=frozenset(("-n", "-P", "-L", "-s"))
)
_XARGS_TARGETS = frozenset(("echo", "wc", "grep", "head", "tail"))
_GLOBS_ALLOWED = _ANYTHING | {"egrep", "fgrep", "grep"}
"""Programs that are read-only with an unquoted star (measured on 2.1.325)."""
_WHOLE_WORD = re.compile(r"[^'\"\\]*|'[^']*'|\"[^\"]*\"")
_UNQUOTED = frozenset(("hostname", "jq", "uniq"))
"""Programs that every version asks about if their name or an option is quoted (CLI-340, CLI-1722)."""
_ALONE = frozenset(
    ("arch", "history", "hostname", "jq", "man", "printf", "ps", "type", "uniq", "xargs")
)
"""Programs that are certain to be read-only only without an assignment or a wrapper (CLI-1729)."""
_TESTS = frozenset(("[", "[[", "test"))


def is_read_only(command: SimpleCommand, family: Family) -> bool:
    """Whether this command is read-only, so that no rule is needed for it."""
    if any(word.value is None or _is_other_home(word) for word in command.words):
        return False
    if command.assignments and not family.readonly_variables:
        return False
    if not safe_assignments(command, family) or _configures_git(command, family):
        return False
    globs = any(word.glob for word in command.words)
    if "glob-in-read-only" in family.doubts and globs:
        return False
    here = any(redirect.operator == "<<" for redirect in command.redirects)
    writes = any(redirect.writes and not redirect.duplicates for redirect in command.redirects)
    if here and (writes or "here-document" in family.doubts):
        return False
    index = _unwrapped(command, family)
    if index is None:
        return False
    name, *arguments = [word.value or "" for word in command.words[index:]]
    if globs and (name not in _GLOBS_ALLOWED or any(map(_is_far_pattern, command.words))):
        return False
    if name == "jq" and not all(_WHOLE_WORD.fullmatch(word.source) for word in command.words):
        return False
    if (family.plain_words_only or name in _UNQUOTED) and quotes_options(command.words[index:]):
        return False
    if not _may_have_prefix(name, command, index):
        return False
    if name in _ANYTHING and family.plain_words_only:
        shape = _QUOTED_WORD if name == "echo" else _PLAIN_WORD
        plain = all(shape.fullmatch(word.source) for word in command.words)
        return plain and _is_harmless(name, arguments, family)
    return _is_harmless(name, arguments, family)


def _may_have_prefix(name: str, command: SimpleCommand, index: int) -> bool:
    """Whether the assignments and wrappers before this program leave it read-only."""
    if name in _ALONE:
        return not command.assignments and index == 0
    return name not in _TESTS or _is_bare_test(command, index)


def _is_bare_test(command: SimpleCommand, index: int) -> bool:
    """Whether a test stands alone, with a blank after its bracket.

    The grammar of bash reads `[[+ -f x ]]` as a test, too; 2.1.325 asks about it (CLI-1522).
    """
    if command.assignments or command.redirects:
        return False
    return re.match(r"(?:\[\[?|test)(?:\s|$)", command.text_from(index)) is not None


def _configures_git(command: SimpleCommand, family: Family) -> bool:
    """Whether 2.1.38 takes the text for git with options that can run programs (CLI-1538)."""
    if not family.plain_words_only or command.words[0].value in ("egrep", "fgrep", "grep", "rg"):
        return False
    # Either may come first: `tail -c 50 git` asks, too (CLI-1728).
    found = _GIT_TOKEN.findall(command.source)
    return any(option for option, _ in found) and any(git for _, git in found)


def _is_other_home(word: Word) -> bool:
    """Whether the word is a path such as `~root/x`, about which 2.1.325 asks everywhere (CLI-1503)."""
    return word.source.startswith("~") and word.source[1:2] not in ("", "/")


def _is_far_pattern(word: Word) -> bool:
    """Whether the word may stand for files outside, as the search text of grep may (CLI-344)."""
    return word.glob and (word.value or "").startswith(("/", "~", "..", "-"))


def quotes_options(words: Sequence[Word]) -> bool:
    """Whether the name of the program or of one of its options is quoted."""
    names = [words[0].source]
    names += [
        word.source.partition("=")[0] for word in words[1:] if (word.value or "").startswith("-")
    ]
    return any(char in name for name in names for char in "'\"\\")


def _unwrapped(command: SimpleCommand, family: Family) -> int | None:
    """The position of the program behind wrappers; None if a wrapper has options."""
    index = 0
    while (inner := inner_index(command.words, index, family, family.readonly_wrappers)) > 0:
        if inner - index > (2 if command.words[index].value == "timeout" else 1):
            return None
        index = inner
    return index


def _is_harmless(name: str, arguments: list[str], family: Family) -> bool:
    if name in _NEWER and name not in family.extra_readonly:
        return False
    if family.never_readonly.intersection((name, " ".join((name, *arguments[:1])))):
        return False
    if name == "stat" and any(map(names_stat_variable, arguments)):
        return False
    if name in _ANYTHING or (name, *arguments) in _EXACT:
        return True
    if name == "node" and arguments == ["--version"]:
        return "node --version" in family.extra_readonly
    check = _SPECIAL.get(name)
    if check is not None:
        return check(arguments, family)
    return _has_known_options(name, arguments, family)


def _has_known_options(name: str, arguments: list[str], family: Family) -> bool:
    table = OPTIONS | (OLD_OPTIONS if family.plain_words_only else NEW_OPTIONS)
    if (name, *arguments[:1]) == ("git", "remote") and family.plain_words_only:
        return len(arguments) == 1 or arguments[1:] in (["-v"], ["--verbose"])  # CLI-1728
    for length in (2, 1, 0):
        options = table.get(" ".join((name, *arguments[:length])))
        if options is not None and len(arguments) >= length:
            rest = arguments[length:]
            if name == "docker" and not all(map(_CONTAINER.fullmatch, rest)):
                return False
            return options.fit(rest, name) and all(map(_is_literal, rest))
    return False


def _is_literal(word: str) -> bool:
    """Whether the CLI takes the argument for what it is, without looking for an expansion in it."""
    if "$" in word or "`" in word or "\n" in word:
        return False
    return not ("{" in word and ("," in word or ".." in word))


def _is_sed_print(arguments: list[str], family: Family) -> bool:
    options = [word for word in arguments if word.startswith("-")]
    operands = [word for word in arguments if not word.startswith("-")]
    if "-n" not in options or not set(options) <= {"-n", "-E"} or not operands:
        return False
    if len(operands) > 1 and not family.sed_reads_files:
        return False
    return _SED_SCRIPT.fullmatch(operands[0]) is not None


def _is_plain_jq(arguments: list[str], family: Family) -> bool:
    operands = [word for word in arguments if word != "-r"]
    if not operands or any(word.startswith("-") for word in operands):
        return False
    return bool(_JQ_FILTER.fullmatch(operands[0])) and not any(map(_JQ_WORDS.search, operands))


def _is_plain_find(arguments: list[str], family: Family) -> bool:
    # A pattern that is not the value of a test such as -name is a place to search (CLI-1502).
    roots = [
        word
        for before, word in pairwise(("", *arguments))
        if before not in _FIND_VALUES and any(char in word for char in "*?[")
    ]
    return not roots and not _FIND_ACTIONS.intersection(arguments)


def _is_plain_man(arguments: list[str], family: Family) -> bool:
    # An option behind a page asks, and so does a page that is a file (CLI-1719).
    operands = list(dropwhile(lambda word: word.startswith("-"), arguments))
    if any(word.startswith("-") or "/" in word for word in operands):
        return False
    return OPTIONS["man"].fit(arguments, "man") and all(map(_is_literal, arguments))


def _is_plain_uniq(arguments: list[str], family: Family) -> bool:
    return all(_UNIQ_OPTION.fullmatch(word) for word in arguments)


def _is_plain_date(arguments: list[str], family: Family) -> bool:
    operands = [word for word in arguments if not word.startswith("-")]
    if arguments[:1] in (["-d"], ["--date"]):
        operands = operands[1:]
    return OPTIONS["date"].fit(arguments, "date") and all(word.startswith("+") for word in operands)


def _is_plain_printf(arguments: list[str], family: Family) -> bool:
    if not arguments or arguments[0].startswith("-") or "$" in arguments[0]:
        return False
    if re.search(r"\\[uUx0-7]", arguments[0]):
        return False
    only_text = not re.search(r"%(?![s%])", arguments[0].replace("%%", ""))
    return only_text or all(word.isdigit() for word in arguments[1:])


def _is_plain_ps(arguments: list[str], family: Family) -> bool:
    return arguments in ([], ["aux"], ["-ef"], ["-e"], ["-f"], ["-A"], ["-ax"])


def _is_plain_history(arguments: list[str], family: Family) -> bool:
    return len(arguments) <= 1 and all(word.isdigit() for word in arguments)


def _is_plain_test(arguments: list[str], family: Family) -> bool:
    if arguments[-1:] in (["]"], ["]]"]):
        arguments = arguments[:-1]
    if _TEST_UNSUPPORTED.intersection(arguments) or any("[" in word for word in arguments):
        return False
    if len(arguments) > 3 or any(not _is_literal(word) for word in arguments):
        return False
    # An operator must be known, and something must follow it (CLI-1522).
    if any(word.startswith("-") and word not in _TEST_KNOWN for word in arguments):
        return False
    if arguments[-1:] and arguments[-1].startswith("-"):
        return False
    if len(arguments) == 3 and arguments[1] in _TEST_KNOWN - _TEST_BINARY:
        return arguments[0] == "!"
    if len(arguments) == 3 and arguments[1] in _TEST_OPERATORS:
        return arguments[0].isdigit() and arguments[2].isdigit()
    return not _TEST_OPERATORS.intersection(arguments)


def _is_plain_xargs(arguments: list[str], family: Family) -> bool:
    for index, word in enumerate(arguments):
        if word in _XARGS_TARGETS:
            rest = arguments[index + 1 :]
            known = word != "grep" or OPTIONS["grep"].fit(rest, "grep")
            return known and _XARGS.fit(arguments[:index], "xargs") and all(map(_is_literal, rest))
        if not word.startswith("-") and not word.isdigit():
            return False
    return False


_SPECIAL: dict[str, Callable[[list[str], Family], bool]] = {
    "date": _is_plain_date,
    "find": _is_plain_find,
    "history": _is_plain_history,
    "jq": _is_plain_jq,
    "man": _is_plain_man,
    "printf": _is_plain_printf,
    "ps": _is_plain_ps,
    "sed": _is_sed_print,
    "test": _is_plain_test,
    "[": _is_plain_test,
    "[[": _is_plain_test,
    "uniq": _is_plain_uniq,
    "xargs": _is_plain_xargs,
}
"""Programs whose arguments need more than a table of options."""
