"""Scenarios with a theme: all calls are about what the scenario's few rules are about.

A rule and a call that were both drawn from the whole vocabulary rarely meet. Here the rules are made
first, and each call is a command or a path that they name, in another spelling, behind prefixes, or
inside other syntax.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.e2e.real_cli.policy import more_words, words
from tests.e2e.real_cli.policy.compounds import compounds
from tests.e2e.real_cli.policy.prefixes import framed, prefixed, respelled
from tests.e2e.real_cli.policy.scenario import Call, PlacedRule

__all__ = ["THEMES", "Theme"]

Theme = Callable[[random.Random], tuple[tuple[PlacedRule, ...], str, Callable[[int], Call]]]
"""Rules, a mode, and what makes the call with a number."""

_BASES = (
    "npm test", "npm run build", "npm publish", "git push origin main", "git push", "git commit -m x", "git status", "git log -1", "git -C src status",
    "rm build/out.o", "rm -rf build", "curl https://example.invalid/", "wget x", "docker run x", "make deploy", "make", "python3 x.py", "python3 -c 'print(1)'",
    "node x.js", "cat secret.txt", "cat a.txt", "ls src", "ls", "echo hi", "touch new.txt", "mkdir new", "mv a.txt c.txt", "cp a.txt c.txt", "sed -i s/a/b/ a.txt",
    "tee out.txt", "grep -rn x src", "find . -name x", "chmod +x a.txt", "kill 1", "terraform apply", "kubectl delete pod x", "ssh h ls", "tar xf x.tgz", "pip install x",
    "bash x.sh", "sudo ls", "env", "printenv", "cd src", "head -5 a.txt", "sort a.txt", "jq . package.json", "awk 1 a.txt", "wc -l a.txt", "diff a.txt b.md", "export A=1",
)  # fmt: skip
_WHERE = ("user", "user", "project", "local", "flag")
_BROAD = (("user", "allow", "Bash"), ("user", "allow", "Bash(*)"), ("flag", "allow", "Bash"))
_MODES = ("default", "default", "default", "default", "acceptEdits", "acceptEdits", "bypassPermissions", "dontAsk", "plan", "auto")  # fmt: skip
_NAMES = (
    "secret.txt", ".env", "src/a.py", "src", "docs/readme.md", "a.txt", "new.txt", "src/new.py", "@O/x.txt", "@O/new.txt", "@O", "@H/notes.txt", "link/x.txt",
    "srclink/a.py", "seclink", "src/up/secret.txt", "dangling", "dangling-out", "loop", "Secret.TXT", "with space.txt", "tests/test_a.py", "build/out.o", "/etc/hosts",
)  # fmt: skip
_PATTERNS = (
    "{p}", "./{p}", "/{p}", "**/{p}", "{p}/**", "//{p}", "*/{b}", "{d}/**", "{d}/*", "/{d}/**", "{b}", "**/{b}", "*{b}", "{p}*", "{d}/", "~/{p}", "/@P/{p}", "//@P/{p}",
    "//@P/{d}/**", "///@P/{p}", "//@O/**", "//@H/**", "/@O/**", "{P}", "**", "*", "./**", "*.txt", "**/*.txt", "{p} ", "src/**", "**/src/**", "[s]ecret.txt", "s?cret.txt",
)  # fmt: skip
_USES = (
    "cat {p}", "head -5 {p}", "grep x {p}", "grep -r x {p}", "ls {p}", "wc -l {p}", "sort {p}", "stat {p}", "diff a.txt {p}", "find {p} -name x", "cat a.txt {p}", "cat < {p}",
    "cat -- {p}", "sed -n 1p {p}", "sed s/a/b/ {p}", "awk 1 {p}", "jq . {p}", "base64 {p}", "xxd {p}", "less {p}", "file {p}", "cut -f1 {p}", "git diff {p}", "git diff --no-index {p} a.txt",
    "git show HEAD:{p}", "git log -- {p}", "git add {p}", "cd {d} && cat {b}", "cd {d}; cat {b}", "cd {p}", "pushd {d} && cat {b}", "(cd {d} && cat {b})", "cd {d} && cat ../{p}", "env cat {p}",
    "touch {p}", "echo x > {p}", "echo x >> {p}", "echo x >| {p}", "cat a.txt &> {p}", "> {p}", "tee {p}", "tee -a {p}", "echo x | tee {p}", "rm {p}", "rm -f {p}", "rm -rf {p}", "rmdir {p}",
    "mkdir {p}", "mkdir -p {p}/z", "mv a.txt {p}", "mv {p} b.md", "cp a.txt {p}", "cp {p} b.md", "ln -s {p} l", "chmod +x {p}", "sed -i s/a/b/ {p}", "dd if=a.txt of={p}", "truncate -s0 {p}",
    "install a.txt {p}", "cat > {p} <<'E'\nx\nE", "cat <<E > {p}\nx\nE", "F={p}; cat $F", "F={p} && cat \"$F\"", "for f in {p}; do cat $f; done", "xargs cat {p}", "find . -newer {p}", "find {p} -exec cat {} \\;",
    "python3 {p}", "bash {p}", "source {p}", ". {p}", "curl -o {p} x", "curl -T {p} x", "tar cf x {p}", "tar xf {p}", "test -f {p}", "[ -f {p} ]", "echo {p}", "echo $(cat {p})", "cat <(cat {p})",
    "cat {p}*", "cat {d}/*", "cat {a}?{z}", "cat {a}*", "cat $PWD/{p}", "cat \"$PWD\"/{p}", "cat $(pwd)/{p}", "cat ./{p}", "cat {d}/../{p}", "cat ~/../{p}", "grep -f {p} a.txt", "grep --file={p} x", "sort -o {p} a.txt",
    "uniq a.txt {p}", "rg x {p}", "tail -f {p}", "od -c {p}", "strings {p}", "nl {p}", "tac {p}", "rev {p}", "paste {p} a.txt", "column {p}", "comm {p} a.txt", "cmp {p} a.txt", "md5sum {p}", "du {p}", "tree {p}",
    "timeout 5 cat {p}", "nohup cat {p}", "sudo cat {p}", "command cat {p}", "bash -c 'cat {p}'", "xargs cat < {p}", "while read l; do echo $l; done < {p}", "exec < {p}", "mapfile x < {p}", "read x < {p}", "cat 0<{p}", "cat <&0 {p}",
)  # fmt: skip
_PROTECTED = (
    ".git/x", ".git/hooks/x", ".bashrc", ".zshrc", ".profile", ".gitconfig", ".gitmodules", ".mcp.json", ".claude.json", ".claude/settings.json", ".claude/commands/x.md", ".claude/agents/x.md",
    ".claude/skills/x/SKILL.md", ".claude/worktrees/a/x", ".vscode/x", ".idea/x", ".husky/x", ".npmrc", ".envrc", ".ripgreprc", ".bash_profile", ".zprofile", ".zshenv", ".config/git/config", ".cargo/config.toml",
    ".devcontainer/x", ".pre-commit-config.yaml", "lefthook.yml", ".yarnrc.yml", ".GIT/x", ".git./x", "src/.git/x", "@H/.bashrc", "~/.bashrc", "@O/.git/x", ".ssh/x", "~/.ssh/config", "@H/.claude/x", ".gitignore", ".github/x",
)  # fmt: skip
_TARGETS = (
    "/", "~", ".", "..", "*", "./*", "/*", "~/", "~/*", "../*", "/usr", "/etc", "/tmp", "/tmp/x", "/home", "/home/x", "@H", "@H/", "@P", "@P/", "@P/*", "@P/..", "@O", "@O/..", "$X", "$X/", "$X/*", "\"$X\"/x", "${X}/x", "${X:?}/x",
    "$HOME", "$HOME/", "$HOME/*", "$HOME/x", "$PWD", "\"$PWD\"", "$(pwd)", "`pwd`", "$OLDPWD", "src", "src/", "src/*", "src/..", "src/../..", "./src", "//", "/.", "/..", "/./", "/tmp/..", "///", "'/'", "\"/\"", "\\/", "/usr/bin", "/usr/../",
    "-rf", "--no-preserve-root /", "-- /", "-- -x", "{a,b}", "{/,x}", "[/]", "?", "/?", "/e*", "~root", "~root/x", "~+", "C:\\", "c:/", "/c/", "\\\\", "x y", "'x y'", ".*", ".git", ".git/", "build /", "build ~", "build && rm /", "/mnt", "/Users/x", "/dev/null",
)  # fmt: skip
_REMOVALS = (
    "rm {t}", "rm -rf {t}", "rm -r {t}", "rm -fr {t}", "rm -rfv {t}", "rm --recursive {t}", "rmdir {t}", "rmdir -p {t}", "rm -rf build {t}", "rm -rf -- {t}", "/bin/rm -rf {t}", "\\rm -rf {t}", "sudo rm -rf {t}", "cd src && rm -rf {t}", "cd / && rm -rf {t}", "find {t} -delete",
    "xargs rm -rf {t}", "bash -c 'rm -rf {t}'", "timeout 5 rm -rf {t}", "env rm -rf {t}", "command rm -rf {t}", "r''m -rf {t}", "'rm' -rf {t}", "RM -rf {t}", "unlink {t}", "shred {t}", "true; rm -rf {t}", "true | rm -rf {t}", "(rm -rf {t})", "$(rm -rf {t})", "echo rm -rf {t}", "mv {t} x",
)  # fmt: skip
"""Removals: `t` is the target."""


def _split(path: str) -> dict[str, str]:
    folder, _, name = path.rpartition("/")
    half = max(1, len(path) // 2)
    return {
        "{p}": path, "{d}": folder or ".", "{b}": name, "{P}": path.upper(), "{a}": path[:half], "{z}": path[half + 1 :],
    }  # fmt: skip


def _filled(form: str, path: str) -> str:
    for mark, text in _split(path).items():
        form = form.replace(mark, text)
    return form


def _varied(command: str, dice: random.Random) -> str:
    for chance, change in ((0.45, respelled), (0.45, prefixed), (0.4, framed)):
        if dice.random() < chance:
            command = change(command, dice)
    return command


def _bash(command: str, dice: random.Random) -> Call:
    extra = {"run_in_background": True} if dice.random() < 0.03 else {}
    return Call("Bash", {"command": command, "description": "d", **extra})


def _rule_about(command: str, dice: random.Random) -> str:
    parts = command.split(" ")
    head = " ".join(parts[: dice.randrange(1, min(3, len(parts)) + 1)])
    forms = (
        "{h}:*",
        "{h}:*",
        "{h} *",
        "{h} *",
        "{h}",
        "{c}",
        "{c}",
        "{h}*",
        "*{h}*",
        "* {l}",
        "{f} * {l}",
        "{c} *",
        "{c}:*",
    )
    form = dice.choice(forms)
    for mark, text in (("{h}", head), ("{c}", command), ("{f}", parts[0]), ("{l}", parts[-1])):
        form = form.replace(mark, text)
    return f"Bash({form})"


def _against(dice: random.Random) -> tuple[tuple[PlacedRule, ...], str, Callable[[int], Call]]:
    """Commands that rules deny or ask about."""
    bases = dice.sample(_BASES, 4)
    rules: list[PlacedRule] = [
        (dice.choice(_WHERE), dice.choice(("deny", "deny", "ask")), _rule_about(base, dice))
        for base in bases[:3]
    ]
    if dice.random() < 0.75:
        rules.append(dice.choice(_BROAD))
    mode = dice.choice(_MODES)
    return tuple(rules), mode, lambda _: _bash(_varied(dice.choice(bases), dice), dice)


def _granted(dice: random.Random) -> tuple[tuple[PlacedRule, ...], str, Callable[[int], Call]]:
    """Commands that narrow rules allow."""
    bases = dice.sample(_BASES, 6)
    rules = tuple((dice.choice(_WHERE), "allow", _rule_about(base, dice)) for base in bases)
    mode = dice.choice(("default", "default", "acceptEdits", "dontAsk", "plan"))
    return rules, mode, lambda _: _bash(_varied(dice.choice(bases), dice), dice)


def _files(dice: random.Random) -> tuple[tuple[PlacedRule, ...], str, Callable[[int], Call]]:
    """Files that rules are about, used by commands and by file tools."""
    names = dice.sample(_NAMES, 4)
    behaviors = dice.choice((("deny",), ("deny", "ask"), ("allow",), ("allow", "deny")))
    rules: list[PlacedRule] = [
        (
            dice.choice(_WHERE),
            dice.choice(behaviors),
            f"{dice.choice(('Read', 'Read', 'Edit', 'Edit', 'Write'))}({_filled(dice.choice(_PATTERNS), name)})",
        )
        for name in names
    ]
    rules += [
        rule
        for rule in (*_BROAD[:1], ("user", "allow", "Edit"), ("user", "allow", "Read"))
        if dice.random() < 0.3
    ]

    def call(number: int) -> Call:
        path = dice.choice(names)
        if dice.random() < 0.3:
            return _file_call(dice.choice(more_words.PLACES).replace("{p}", path), dice)
        if dice.random() < 0.4:
            half = max(1, len(path) // 2)
            spelling = dice.choice(words.SPELLINGS)
            for mark, text in (("{p}", path), ("{a}", path[:half]), ("{b}", path[half:])):
                spelling = spelling.replace(mark, text)
            path = spelling
        command = _filled(dice.choice(_USES), path)
        return _bash(command if dice.random() < 0.7 else _varied(command, dice), dice)

    return tuple(rules), dice.choice(_MODES), call


def _file_call(path: str, dice: random.Random) -> Call:
    return dice.choice(
        (
            Call("Read", {"file_path": path}),
            Call("Write", {"file_path": path, "content": "x"}),
            Call("Edit", {"file_path": path + ".new", "old_string": "", "new_string": "x"}),
            Call("Grep", {"pattern": "x", "path": path}),
            Call("Glob", {"pattern": "*", "path": path}),
            Call("Glob", {"pattern": path}),
            Call("NotebookEdit", {"notebook_path": path + ".ipynb", "new_source": "x"}),
        )
    )


def _protected(dice: random.Random) -> tuple[tuple[PlacedRule, ...], str, Callable[[int], Call]]:
    """Protected files and dangerous removals under broad permission."""
    mode = dice.choice(
        ("default", "default", "acceptEdits", "bypassPermissions", "bypassPermissions")
    )
    rules: list[PlacedRule] = [
        rule
        for rule in (
            *_BROAD[:2],
            ("user", "allow", "Edit"),
            ("user", "allow", "Edit(./**)"),
            ("user", "allow", "Bash(rm:*)"),
            ("user", "allow", "Write"),
        )
        if dice.random() < 0.4
    ]

    def call(number: int) -> Call:
        if dice.random() < 0.5:
            command = dice.choice(_REMOVALS).replace("{t}", dice.choice(_TARGETS))
        elif dice.random() < 0.4:
            return _file_call(
                dice.choice(("", "@P/", "@P/src/../", "./")) + dice.choice(_PROTECTED), dice
            )
        else:
            command = _filled(dice.choice(_USES), dice.choice(_PROTECTED))
        return _bash(command if dice.random() < 0.75 else _varied(command, dice), dice)

    return tuple(rules), mode, call


THEMES: tuple[Theme, ...] = (
    _against,
    _against,
    _granted,
    _files,
    _files,
    _protected,
    compounds,
    compounds,
)
