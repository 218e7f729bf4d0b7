"""Generates what may stand before, around and after a command: programs that run their arguments.

A prefix is put together from a program, options with and without values, assignments and the
command itself, which may be quoted as a whole. Several may be nested. A frame is a piece of shell
syntax in which the command runs: a loop, a substitution, a function, a here-document.
"""

from __future__ import annotations

import random
import shlex

__all__ = ["FRAMES", "framed", "prefixed", "respelled"]

_RUNNERS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("sudo", ("-n", "-E", "-H", "-EH", "-u bob", "-ubob", "--user=bob", "--user bob", "-g x", "-i", "-s", "A=1", "--"), ()),
    ("doas", ("-u x", "-n", "--"), ()),
    ("env", ("-i", "-", "-u X", "-uX", "--unset=X", "--unset X", "-C /tmp", "--chdir=/tmp", "A=1", "A=1 B=2", "--", "-0", "-v"), ()),
    ("env -S", (), ()),
    ("exec", ("-a x", "-c", "-l", "-cl", "--"), ()),
    ("command", ("-p", "--", "-v", "-V", "-pv"), ()),
    ("builtin", ("--",), ()),
    ("nohup", ("--",), ()),
    ("nice", ("-n 10", "-n10", "-10", "--adjustment=5", "-n -5", "--"), ()),
    ("ionice", ("-c 2", "-c2 -n0", "-t", "--class idle"), ()),
    ("time", ("-p", "-v", "-o x", "-f %e", "--", "-a"), ()),
    ("timeout", ("-s KILL", "--signal=KILL", "-sKILL", "-k 5", "-k5", "--kill-after=5", "--foreground", "-v", "--preserve-status"), ("5", "5s", "0.5", "1m", "$T", "5 --", "-- 5", "1e3", "inf", ".5", "05")),
    ("stdbuf", ("-oL", "-o L", "-o0", "-e0", "-i0 -o0", "--output=L", "-eL"), ()),
    ("setsid", ("-w", "--fork", "-c"), ()),
    ("chrt", ("-f", "-b", "-r"), ("10", "0")),
    ("taskset", ("-a", "-c"), ("0", "0x1", "1,2")),
    ("flock", ("-x", "-n", "-w 5", "--shared", "-s", "-e"), ("l", "/tmp/l", "9", "l -c", "@P/l")),
    ("unshare", ("-r", "-rm", "--map-root-user", "-f", "--fork --pid"), ()),
    ("nsenter", ("-t 1", "-m", "--target 1", "--mount", "-a"), ()),
    ("pkexec", ("--user x", "--disable-internal-agent"), ()),
    ("noglob", (), ()),
    ("nocorrect", (), ()),
    ("watch", ("-n1", "-n 1", "-d", "--interval=2", "-x", "-t"), ()),
    ("strace", ("-f", "-e trace=all", "-o x", "-ff -tt", "-p 1"), ()),
    ("ltrace", ("-f", "-o x"), ()),
    ("script", ("-q", "-a"), ("/dev/null", "x", "-c", "-qc")),
    ("su", ("-", "-l", "-m"), ("-c", "root -c", "root --command")),
    ("runuser", ("-u x", "-l x", "--"), ()),
    ("chroot", ("--userspec=a",), ("/", "/x")),
    ("busybox", (), ()),
    ("xargs", ("-0", "-n1", "-n 1", "-I{}", "-I {}", "-r", "-P 4", "-L1", "-d x", "-a f", "--max-args=1", "-t"), ()),
    ("bash -c", (), ()),
    ("sh -ec", (), ()),
    ("eval", ("--",), ()),
    ("find . -exec", (), ()),
    ("setarch", ("-R",), ("x86_64",)),
    ("prlimit", ("--nproc=1", "-n5"), ()),
    ("caffeinate", ("-i", "-t 5"), ()),
    ("parallel", ("-j4",), ()),
    ("systemd-run", ("--user", "--scope", "-p X=1"), ()),
    ("firejail", ("--net=none",), ()),
    ("numactl", ("-N0",), ()),
    ("npx", ("-y", "-c"), ()),
    ("uv run", (), ()),
    ("docker exec", ("-it", "-u x"), ("c",)),
    ("ssh", ("-p 22", "-t"), ("h",)),
    ("A=1", (), ()),
    ("NODE_ENV=test", (), ()),
    ("LC_ALL=C TZ=UTC", (), ()),
    ("A='b c'", (), ()),
    ("A=$B", (), ()),
    ("A=", (), ()),
    ("A+=x", (), ()),
    ("A[0]=x", (), ()),
    ("''", (), ()),
    ('""', (), ()),
    ("!", (), ()),
    ("then", (), ()),
    ("{", (), ()),
    ("}", (), ()),
    (")", (), ()),
    ("&&", (), ()),
    ("$X", (), ()),
    ("$(true)", (), ()),
    ("@", (), ()),
    ("-", (), ()),
)  # fmt: skip
"""A program, its options, and the operands of which it needs one before the command."""

FRAMES = (
    "({c})", "( {c} )", "{ {c}; }", "{ {c} ; } 2>&1", "f() { {c}; }; f", "function f { {c}; }", "f() ( {c} )", "! {c}",
    "if {c}; then :; fi", "if true; then {c}; fi", "if true; then :; else {c}; fi", "if false; then :; elif {c}; then :; fi",
    "while {c}; do :; done", "while true; do {c}; break; done", "until {c}; do sleep 1; done", "for i in 1 2; do {c}; done",
    "for i in 1 2; do {c} $i; done", "for ((;;)); do {c}; done", "for i; do {c}; done", "select i in a; do {c}; done",
    "case x in x) {c};; esac", "case x in (x) {c} ;; *) :;; esac", "coproc {c}", "coproc N { {c}; }", "time { {c}; }",
    "[[ -n x ]] && {c}", "[ -n x ] && {c}", "test x && {c}", "((1)) && {c}", "true && {c}", "false || {c}", "true; {c}", "true & {c}",
    "true | {c}", "true |& {c}", "true\n{c}", "# c\n{c}", ": ; {c}", "{c} # c", "{c} && true", "{c} ; true", "{c} | cat", "{c} |& cat",
    "{c} &", "{c} & wait", "{c} > /dev/null 2>&1", "> x {c}", "2>/dev/null {c}", "</dev/null {c}", "{c} <<< x", "{c} <<E\nx\nE",
    "echo $({c})", "echo `{c}`", 'echo "$({c})"', 'echo "`{c}`"', "x=$({c})", "x=`{c}`; echo $x", "export X=$({c})", "declare x=$({c})",
    "X=$({c}) ls", "echo ${X:-$({c})}", "echo $(( $({c}) ))", "echo $(echo $({c}))", "cat <({c})", "tee >({c})", "ls > >({c})",
    'ls "$({c})"', "[[ $({c}) ]]", '[ "$({c})" ]', "for i in $({c}); do :; done", "case $({c}) in *) ;; esac", "cat <<E\n$({c})\nE",
    'cat <<< "$({c})"', "A=1; {c}", "export A=1; {c}", "set -e; {c}", "cd src && {c}", "(cd src && {c})", "pushd src && {c} && popd",
    "unset X; {c}", "shopt -s nullglob; {c}", "exec 3>x; {c}", "alias x='{c}'; x", "trap '{c}' EXIT", "bash <<E\n{c}\nE", "bash <<< '{c}'",
    "echo '{c}' | sh", "bash -c '{c}'", "bash -c \"{c}\" x y", "eval '{c}'", "source <(echo '{c}')", "git -c alias.x='!{c}' x", "find . -exec {c} \\;",
    "awk 'BEGIN{system(\"{c}\")}'", "ls | xargs {c}", "{c}\r", "{c}\u00a0", "\u00a0{c}", "\ufeff{c}", "{c} 'un", "{c} $(", "{c} )", "{c} }", ") {c}",
    "} {c}", "&& {c}", "{c} ;; ls", "{c} $'a'", "{c} $\"a\"", "{c} $X", "{c} *", "{c} {a,b}", "{c} ~", "{c} $?", "{c} \"$@\"", " {c}", "\t{c}", "\n{c}",
    "{c}\n\n", "\\\n{c}", "{c} \\\n --y", "true &&\n{c}", "true |\n{c}", "{c};", ";{c}", '"{c}"', "'{c}'", "\\{c}", "./{c}", "/bin/{c}", "~/bin/{c}",
)  # fmt: skip
"""Syntax around a command `c`."""


def prefixed(command: str, dice: random.Random) -> str:
    """The command behind one to three prefixes."""
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        program, options, operands = dice.choice(_RUNNERS)
        chosen = dice.sample(options, min(len(options), dice.choice((0, 0, 1, 1, 2))))
        parts = [program, *chosen]
        if operands and dice.random() < 0.9:
            parts.append(dice.choice(operands))
        whole = parts[-1].endswith(("-c", "-S", "-ec", "-qc")) or dice.random() < 0.08
        parts.append(_quoted(command, dice) if whole and dice.random() < 0.85 else command)
        if dice.random() < 0.05:
            parts[0] = dice.choice(("/usr/bin/", "\\", "./", "'", '"')) + parts[0]
            parts[0] += parts[0][0] if parts[0][0] in "'\"" else ""
        glued = parts[-2].startswith("-") and dice.random() < 0.08
        command = (
            " ".join(parts[:-1]) + dice.choice(("", "=")) + parts[-1] if glued else " ".join(parts)
        )
    return command


def _quoted(command: str, dice: random.Random) -> str:
    return dice.choice((shlex.quote(command), f'"{command}"', f"'{command}'", f"$'{command}'"))


def framed(command: str, dice: random.Random) -> str:
    """The command in a piece of syntax."""
    return dice.choice(FRAMES).replace("{c}", command)


def respelled(command: str, dice: random.Random) -> str:
    """The command with some of its words written in another way."""
    words = command.split(" ")
    place = dice.randrange(len(words))
    word = words[place]
    cut = dice.randrange(len(word) + 1)
    words[place] = dice.choice(
        (
            f"'{word}'", f'"{word}"', f"{word[:cut]}''{word[cut:]}", f'{word[:cut]}""{word[cut:]}', f"{word[:cut]}\\{word[cut:]}",
            f"$'{word}'", f"{word[:cut]}$X{word[cut:]}", f"{word[:cut]}'{word[cut:]}'", f'"{word[:cut]}"{word[cut:]}', f" {word}", f"{word} ",
            f"\t{word}", f"\\\n{word}", f"{word[:cut]}*", f"{word[:cut]}?{word[cut + 1:]}", f"{{{word},{word}}}", f"$(echo {word})", f"`echo {word}`",
            f"${{X:-{word}}}", word.upper(), f"{word} ''", f"{word} --", f"{word} -x", f"-- {word}", f"{word[:cut]}\u200b{word[cut:]}", f"\\x{word}",
        )
    )  # fmt: skip
    return " ".join(words)
