"""Generates commands, paths and rules from small parts instead of from lists of whole forms.

A word is put together from quoted, escaped and expanding pieces; a command from a program, any
options and such words; a line from commands, operators, redirections and here-documents. A rule is
derived from a command or a path: its first words, or some of its characters replaced by stars.
"""

from __future__ import annotations

import random
from collections.abc import Callable

__all__ = ["line", "path", "rules_from_command", "rules_from_path", "simple", "word"]

PROGRAMS = (
    "cat", "head", "tail", "ls", "grep", "rg", "find", "wc", "sort", "uniq", "cut", "diff", "stat", "file", "du", "df",
    "echo", "printf", "test", "[", "tr", "od", "xxd", "hexdump", "strings", "base64", "md5sum", "nl", "tac", "rev",
    "paste", "column", "jq", "sed", "awk", "tree", "pwd", "date", "hostname", "id", "uname", "which", "type", "seq",
    "sleep", "basename", "dirname", "realpath", "readlink", "true", "false", "man", "ps", "pgrep", "env", "less", "fold",
    "expand", "cmp", "comm", "fmt", "pr", "expr", "tsort", "numfmt", "egrep", "fgrep", "locale", "cal", "free", "groups",
    "git status", "git log", "git diff", "git show", "git branch", "git tag", "git remote", "git blame", "git grep",
    "git ls-files", "git rev-parse", "git stash list", "git config --get", "git cat-file", "git describe", "git reflog",
    "docker ps", "docker logs", "gh pr list", "gh pr view", "npm list", "pip list", "node -v", "python --version",
    "cd", "rm", "rmdir", "mv", "cp", "mkdir", "touch", "tee", "ln", "chmod", "dd", "tar", "xargs cat", "xargs grep x",
    "npm test", "npm run build", "make", "cargo test", "go test", "python3", "node", "bash", "sh -c", "eval", "source",
    "git commit -m", "git push", "git add", "git checkout", "curl", "kill", "export", "set", "read", "exec", "sudo",
)  # fmt: skip
STEMS = (
    "a.txt", "b.md", "secret.txt", "src", "src/a.py", ".env", "x", "5", "HEAD", "new.txt", "@O/x.txt", "@P/a.txt", "..",
    "/etc/hosts", "~/notes.txt", "build", "docs/readme.md", "main", "foo bar", "--flag", "-n", "a:b", "é", ".", "*.py",
)  # fmt: skip
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
LONG = (
    "all", "color", "color=never", "count", "format=%h", "format='%h %s'", "include='*.py'", "output=o", "file=a.txt",
    "help", "version", "stat", "oneline", "max-count=5", "exclude-dir=x", "no-pager", "quiet", "verbose", "recursive",
    "files0-from=a.txt", "reference=@O/x.txt", "from=~/x", "null", "lines=3", "bytes=4", "name-only", "porcelain", "x",
)  # fmt: skip
OPERATORS = (" && ", " && ", " ; ", "; ", " | ", " | ", " || ", "\n", " & ", " |& ", "&&", ";", "|")
REDIRECTS = (
    " > {w}", " >> {w}", " 2>&1", " 2>/dev/null", " > /dev/null", " < {w}", " &> {w}", " >| {w}", " 2> {w}", " >&2",
    " <<< {w}", " <<'E'\nx\nE", " <<E\nx $X\nE", " <<-\"E\"\n\tx\nE", " 3>&1", " <&0", " >&{w}", " <> {w}",
)  # fmt: skip
PREFIXES = (
    "A=1 ", "NODE_ENV=test ", "LC_ALL=C ", "CI=1 ", "X=$(ls) ", "timeout 5 ", "timeout -s KILL 5s ", "nice ", "nice -n 3 ", "nohup ",
    "time ", "command ", "env ", "env A=1 ", "sudo ", "xargs ", "stdbuf -o0 ", "builtin ", "! ", "( ", "{ ", "exec ", "\\", "busybox ",
)  # fmt: skip


def word(dice: random.Random) -> str:
    """One word: mostly plain, otherwise joined from pieces of every kind of quoting."""
    stem = dice.choice(STEMS)
    if dice.random() < 0.55:
        return stem if " " not in stem else f"'{stem}'"
    cut = dice.randrange(len(stem) + 1)
    return dice.choice(_PIECES)(stem[:cut], dice) + dice.choice(_PIECES)(stem[cut:], dice)


def _single(text: str, dice: random.Random) -> str:
    return f"'{text}'"


def _double(text: str, dice: random.Random) -> str:
    return f'"{text}"'


def _escaped(text: str, dice: random.Random) -> str:
    return f"\\{text}" if text else ""


def _plain(text: str, dice: random.Random) -> str:
    return text.replace(" ", "")


def _expanding(text: str, dice: random.Random) -> str:
    forms = (
        "$X",
        "${X}",
        "${X:-%s}",
        "$(echo %s)",
        "`echo %s`",
        "$'%s'",
        "$HOME/%s",
        '"$X"%s',
        "$((1+1))",
        "~/%s",
    )
    return dice.choice(forms).replace("%s", text)


def _pattern(text: str, dice: random.Random) -> str:
    return text + dice.choice(("*", "?", "[ab]", "{a,b}", "{1..3}", "**", "[!a]", "+(a)"))


_PIECES: tuple[Callable[[str, random.Random], str], ...] = (
    _plain, _plain, _plain, _single, _single, _double, _double, _escaped, _expanding, _pattern,
)  # fmt: skip


def _option(dice: random.Random) -> str:
    kind = dice.random()
    if kind < 0.55:
        letters = "".join(dice.choices(LETTERS, k=dice.choice((1, 1, 1, 2))))
        return f"-{letters}"
    if kind < 0.9:
        return f"--{dice.choice(LONG)}"
    return dice.choice(
        ("--", "-", "-5", "+3", "-n5", "-n 5", "-e x", "-f a.txt", "-C src", "-o out")
    )


def simple(dice: random.Random) -> str:
    """A program with options and words in any order."""
    parts = [_option(dice) for _ in range(dice.choice((0, 0, 1, 1, 2)))]
    parts += [word(dice) for _ in range(dice.choice((0, 1, 1, 1, 2, 3)))]
    if dice.random() < 0.2:
        dice.shuffle(parts)
    command = " ".join((dice.choice(PROGRAMS), *parts))
    return f"{command} ]" if command.startswith("[ ") else command


def line(dice: random.Random, command: Callable[[], str]) -> str:
    """A line of one to four commands with prefixes, redirections and operators."""
    text = ""
    for number in range(dice.choice((1, 1, 1, 1, 2, 2, 3, 4))):
        part = command()
        if dice.random() < 0.18:
            prefix = dice.choice(PREFIXES)
            part = prefix + part + {"( ": " )", "{ ": "; }"}.get(prefix, "")
        if dice.random() < 0.2:
            part += dice.choice(REDIRECTS).replace("{w}", word(dice))
        text += (dice.choice(OPERATORS) if number else "") + part
    return text


def path(dice: random.Random) -> str:
    """The path of a file tool, put together from components."""
    start = dice.choice(
        (
            "@P/",
            "@P/",
            "@P/",
            "",
            "./",
            "../",
            "@O/",
            "@H/",
            "~/",
            "/",
            "//",
            "@P//",
            "/etc/",
            "@P/src/../",
        )
    )
    names = (
        "a.txt", "src", "src", "docs", "new.txt", ".env", ".git", "config", "secret.txt", ".claude", "settings.json", "..", ".",
        "x y", "Ä", "con", "nul.txt", "x~2", "a:b", "x.", " x", "x ", ".bashrc", ".vscode", ".husky", "node_modules", "link",
        "agents", "commands", "skills", "worktrees", "hooks", "HEAD", ".ENV", "SRC", "b.md", "a\\b", "[a]", "*", "$HOME", "@x",
    )  # fmt: skip
    return start + "/".join(dice.choices(names, k=dice.choice((1, 1, 2, 2, 3))))


def rules_from_command(command: str, dice: random.Random) -> str:
    """A Bash rule that is about this command, exactly or nearly."""
    words = command.split(" ")
    head = " ".join(words[: dice.randrange(1, min(4, len(words)) + 1)])
    kind = dice.random()
    if kind < 0.35:
        return f"Bash({head}:*)"
    if kind < 0.6:
        return f"Bash({head} *)"
    if kind < 0.7:
        return f"Bash({command})"
    if kind < 0.8:
        return f"Bash({head}*)"
    place = dice.randrange(len(words))
    return "Bash(" + " ".join("*" if place == at else text for at, text in enumerate(words)) + ")"


def rules_from_path(name: str, dice: random.Random) -> str:
    """A rule for a file tool that is about this path, exactly or nearly."""
    tool = dice.choice(("Read", "Read", "Edit", "Edit", "Write"))
    bare = name.removeprefix("@P/").removeprefix("./")
    pattern = dice.choice(
        (
            bare,
            bare,
            name,
            f"/{name}",
            f"//{name.lstrip('/')}",
            f"./{bare}",
            f"**/{bare}",
            f"/{bare}",
        )
    )
    parts = pattern.split("/")
    kind = dice.random()
    if kind < 0.25:
        parts[-1] = dice.choice(("*", "**", "*.txt", "*.*"))
    elif kind < 0.4:
        parts.append(dice.choice(("*", "**", "")))
    elif kind < 0.5 and len(parts) > 1:
        parts[dice.randrange(1, len(parts))] = dice.choice(("*", "**"))
    return f"{tool}({'/'.join(parts)})"
