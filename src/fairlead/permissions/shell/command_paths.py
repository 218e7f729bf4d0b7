"""Which files a simple command reads and writes, as far as its arguments tell.

Only programs whose arguments are files are known (those the CLI looks at as well); for any other
program the answer is nothing, and a rule has to speak for it. Neighbors: `readonly`,
`bash_policy`; `paths` decides whether a file may be touched.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, replace
from itertools import dropwhile

from fairlead.permissions.model.families import CURRENT
from fairlead.permissions.shell.commands import SimpleCommand, Word
from fairlead.permissions.shell.wrappers import inner_index

__all__ = ["EDIT_COMMANDS", "CommandPaths", "command_paths", "is_plain_edit", "writes_files"]

EDIT_COMMANDS = frozenset(("mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"))
"""What acceptEdits allows inside the working directories (rec mode_acceptEdits, CLI-312)."""

_READERS_WORDS = """awk base64 cat column cmp comm cut diff egrep expand fgrep file find fold fmt git-diff
    git-grep grep head hexdump jq less ls man md5sum more nl numfmt od paste pr rev rg sed sha1sum sha256sum sort stat
    strings tac tail tr tsort unexpand uniq wc xxd cd"""
_READERS = frozenset(_READERS_WORDS.split())
_WRITERS = frozenset(("mkdir", "touch", "rm", "rmdir", "tee"))
_SCRIPT_FIRST = frozenset(("awk", "egrep", "fgrep", "git-grep", "grep", "jq", "rg", "sed"))
_EDIT_OPTIONS = {
    "mkdir": r"-[pv]+|-m",
    "touch": r"(?!)",
    "rm": r"-[rRfv]+",
    "rmdir": r"-p",
    "mv": r"(?!)",
    "cp": r"(?!)",
    "sed": r"-i|-E",
}
_WITHOUT_FILES = {"cd": "~", "find": ".", "git-grep": ".", "ls": ".", "rg": "."}
"""What a program reads if it names no file; `grep -r` reads the working directory, too (CLI-1531)."""
_RECURSIVE = re.compile(r"-[a-qs-zA-QS-Z]*[rR][a-zA-Z]*|--(?:dereference-)?recursive")
_GIT_VALUES = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"))
"""Options of git itself whose next word is a value."""
_FIND_FILE = re.compile(r"-(?:newer|samefile|anewer|cnewer|i?path|i?wholename|i?lname)")
_DELETES = re.compile(r"-[a-ce-zA-Z]*d[a-zA-Z]*|--delete")
_SED_SCRIPT_OPTION = re.compile(r"-[nErsuz]*[ef]|--(?:expression|file)")
_SED_PRINT = re.compile(r"(?:\d+(?:,\d+)?p;?)+")
_TOLERANT = replace(CURRENT, literal_arguments=False)
"""A path is looked for behind a wrapper even if the CLI would not take the wrapper for one."""
_REVISION = re.compile(r"[A-Za-z0-9_-]+(?:[~^]\d*)+")
"""`HEAD~1`: a revision for git, and not the name of a file."""
_SUBSTITUTION = re.compile(r"s/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/[gpiI0-9]*")
"""`s/a/b/g`: with another delimiter than a slash the CLI asks (CLI-346)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPaths:
    """The files one command touches, as it names them."""

    program: str
    reads: tuple[Word, ...] = ()
    writes: tuple[Word, ...] = ()
    redirected: tuple[Word, ...] = ()
    """The files that the shell itself writes for it, with `>` and the like."""

    @property
    def changes(self) -> tuple[Word, ...]:
        """Every file that is written, by the program or by the shell."""
        return self.writes + self.redirected


def command_paths(command: SimpleCommand) -> CommandPaths:
    """The files this command names, redirections included."""
    program, reads, writes = _arguments(command)
    redirected: list[Word] = []
    for redirect in command.redirects:
        if redirect.target is None or redirect.duplicates:
            continue
        if redirect.target.value == "/dev/null":
            continue
        (redirected if redirect.writes else reads).append(redirect.target)
    return CommandPaths(
        program=program, reads=tuple(reads), writes=tuple(writes), redirected=tuple(redirected)
    )


def _arguments(command: SimpleCommand) -> tuple[str, list[Word], list[Word]]:
    if not command.words:
        return "", [], []
    name, words = _program(command)
    folders: list[str] = []
    if name == "git":
        words, folders = _without_git_options(words)
    if name == "git" and words and words[0].value == "diff":
        words = [word for word in words if not _REVISION.fullmatch(word.value or "")]
        name, words = "git-diff", words[1:]
    elif name == "git" and words and words[0].value == "grep":
        name, words = "git-grep", words[1:]
    operands, options = _split(words)
    inner = [path for option in options for path in _paths_in_option(option)]
    inner += _late_options(words)
    if name in ("mv", "cp"):
        # The CLI takes the source of a copy for a file that is changed, too (CLI-1516).
        return name, operands[:-1] + inner, operands
    if name == "sed":
        files = _files_of_sed(words) + inner
        return name, files, [] if _only_prints(operands, options) else files
    if name in _WRITERS:
        return name, inner, operands
    if name not in _READERS:
        return name, [], []
    if name in _SCRIPT_FIRST and not any(_gives_script(option) for option in options):
        operands = operands[1:]
    if name == "find":
        operands = _roots_of_find(words)
    if name == "tr":
        operands, inner = _files_of_tr(words), []
    paths = operands + inner or _default_files(name, options)
    return name, paths + _below(folders, paths), []


def _without_git_options(words: list[Word]) -> tuple[list[Word], list[str]]:
    """The words from the subcommand on, and the folders of `-C`: `git -C src diff x` (CLI-1536)."""
    index, folders = 0, []
    while index < len(words) and (words[index].value or "").startswith("-"):
        if words[index].value == "-C" and index + 1 < len(words):
            folders.append(words[index + 1].value or "")
        index += 2 if words[index].value in _GIT_VALUES else 1
    return words[index:], folders


def _below(folders: list[str], files: list[Word]) -> list[Word]:
    """The files again, as seen from the folder that git changes to."""
    if not folders:
        return []
    folder = posixpath.join("", *folders)
    paths = [posixpath.normpath(posixpath.join(folder, word.value or "")) for word in files]
    return [Word(source=path, value=path) for path in paths]


def _default_files(name: str, options: list[Word]) -> list[Word]:
    path = _WITHOUT_FILES.get(name)
    if name in ("egrep", "fgrep", "grep") and any(
        _RECURSIVE.fullmatch(option.value or "") for option in options
    ):
        path = "."
    return [Word(source=path, value=path)] if path else []


def _program(command: SimpleCommand) -> tuple[str, list[Word]]:
    index = 0
    while (inner := inner_index(command.words, index, _TOLERANT, CURRENT.wrappers)) > 0:
        if command.words[index].value == "xargs":
            break
        index = inner
    name = posixpath.basename(command.words[index].value or "")
    return name, list(command.words[index + 1 :])


def _split(words: list[Word]) -> tuple[list[Word], list[Word]]:
    operands: list[Word] = []
    options: list[Word] = []
    for position, word in enumerate(words):
        if word.value == "--":
            return operands + words[position + 1 :], options
        if (word.value or "").startswith("-") and word.value != "-":
            options.append(word)
        elif word.value != "-":
            operands.append(word)
    return operands, options


def _paths_in_option(option: Word) -> list[Word]:
    """A file may hide in an option: `--file=/etc/passwd`, `-f/etc/passwd`."""
    value = option.value or ""
    match = re.search(r"(?<==).+|(?<=^-\w)[/~].*", value, re.DOTALL)
    if not match or not re.search(r"[/~]|\.\w", match.group()):
        return []
    return [Word(source=match.group(), value=match.group(), glob=option.glob)]


def _late_options(words: list[Word]) -> list[Word]:
    """Options behind an operand: the CLI takes them for files, too (CLI-1719)."""
    found: list[Word] = []
    has_operand = False
    for word in words:
        value = word.value or ""
        if value == "--":
            break
        if not value.startswith("-"):
            has_operand = True
        elif has_operand and value != "-":
            found.append(word)
    return found


def _gives_script(option: Word) -> bool:
    return (
        re.match(r"-e|-f|--expression|--file|--regexp|--from-file", option.value or "") is not None
    )


def _roots_of_find(words: list[Word]) -> list[Word]:
    roots: list[Word] = []
    for word in words:
        if (word.value or "")[:1] in ("-", "(", "!", ")"):
            break
        roots.append(word)
    # Further files may stand behind tests such as -newer and -path (CLI-1720).
    return roots + [
        words[index + 1]
        for index, word in enumerate(words[:-1])
        if _FIND_FILE.match(word.value or "")
    ]


def _files_of_tr(words: list[Word]) -> list[Word]:
    """What follows the sets of tr: two of them, or one that is deleted (CLI-1720)."""
    rest = list(dropwhile(lambda word: (word.value or "").startswith("-"), words))
    options = [word.value or "" for word in words[: len(words) - len(rest)]]
    deletes = any(_DELETES.fullmatch(option) for option in options)
    return rest[1 if deletes else 2 :]


def _files_of_sed(words: list[Word]) -> list[Word]:
    """The operands of sed, without its script."""
    operands: list[Word] = []
    has_script = takes_value = ended = False
    for word in words:
        value = word.value or ""
        if takes_value:
            takes_value = False
        elif value == "--" and not ended:
            ended = True
        elif value.startswith("-") and value != "-" and not ended:
            takes_value = re.fullmatch(r"-[nErsuz]*[efl]|--(?:expression|file)", value) is not None
            has_script = has_script or _SED_SCRIPT_OPTION.match(value) is not None
        else:
            operands.append(word)
    return operands if has_script else operands[1:]


def _only_prints(operands: list[Word], options: list[Word]) -> bool:
    """Whether this is `sed -n 1,5p`; the CLI treats every other form as an edit (CLI-342)."""
    if not {option.value for option in options} <= {"-n", "-E"}:
        return False
    script = operands[0].value if operands else None
    return script is not None and _SED_PRINT.fullmatch(script) is not None


def writes_files(command: SimpleCommand) -> bool:
    """Whether the CLI takes the command for one that writes, even if it names no file (CLI-1526)."""
    paths = command_paths(command)
    if paths.changes or paths.program in (EDIT_COMMANDS | _WRITERS) - {"sed"}:
        return True
    values = [word.value or "" for word in command.words]
    scripts = (_SED_PRINT, _SUBSTITUTION)
    known = any(script.fullmatch(value) for value in values for script in scripts)
    return paths.program == "sed" and not known


def is_plain_edit(command: SimpleCommand) -> bool:
    """Whether this is a file command that acceptEdits covers, with options it understands.

    A wrapper (`timeout 5 touch x`), an input (`touch x <<< y`) or quotes around its name make it
    ask (CLI-1510, CLI-1722).
    """
    if command.assignments or any(word.value is None or word.glob for word in command.words):
        return False
    if any("<" in redirect.operator for redirect in command.redirects):
        return False
    name = command.words[0].value or ""
    if name not in EDIT_COMMANDS or command.words[0].source != name:
        return False
    operands, options = _split(list(command.words[1:]))
    if name in ("mv", "cp") and any(word.value == "--" for word in command.words):
        return False
    if not all(re.fullmatch(_EDIT_OPTIONS[name], option.value or "") for option in options):
        return False
    if name == "sed":
        return len(operands) >= 2 and bool(_SUBSTITUTION.fullmatch(operands[0].value or ""))
    return bool(operands)
