"""Scenarios that are put together from recorded commands and small fragments, word by word.

The vocabulary of the other generators holds forms that somebody expected to matter. Here a command is
cut out of commands that people type and out of fragments of scripts; words, options, redirections and
operators of one are put into another, and a rule is cut out of the same material. It reaches
combinations that nobody thought of.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

from tests.e2e.real_cli.policy.everyday import EVERYDAY
from tests.e2e.real_cli.policy.scenario import Call, PlacedRule

__all__ = ["recombined"]

FRAGMENTS = (
    "set -o pipefail; npm test | tail -3", "git diff --stat | cat", "ls -1 | sort -r | head -n 3", "cat package.json | python3 -m json.tool", "git log -1 --pretty=%B | head -1",
    "find . -type f -name '*.py' -print0 | xargs -0 grep -n foo", "tar -tzf x.tgz | head", "du -a . | sort -n | tail -5", "env | sort", "ps aux | awk '{print $2}'", "echo \"$USER\" | tr a-z A-Z",
    "test -e a.txt && cat a.txt || echo none", "mkdir -p out && cp a.txt out/", "rm -f out/*.log", "touch src/{a,b}.py", "mv src/a.py{,.bak}", "cp a.txt{,.orig}", "cat src/*.py > all.py", "cat a.txt b.md >> all.txt",
    "sed -n '/^def/p' src/a.py", "sed -i.bak -e 's/x/y/' a.txt", "sed 's/x/y/' < a.txt > c.txt", "awk -F: '{print $1}' /etc/passwd", "awk 'END{print NR}' a.txt", "grep -c '' a.txt", "grep -rlZ foo . | xargs -0 rm",
    "while read -r line; do echo \"$line\"; done < a.txt", "for d in */; do (cd \"$d\" && git status -s); done", "if grep -q foo a.txt; then echo found; fi", "case \"$1\" in start) npm start;; stop) kill 1;; esac",
    "python3 - <<'EOF'\nimport os\nprint(os.getcwd())\nEOF", "cat <<EOF > conf.ini\nname=$USER\nEOF", "cat <<'EOF' | grep x\nx\ny\nEOF", "git commit -F - <<'EOF'\nFix\nEOF", "node -e \"console.log(require('./package.json').name)\"",
    "curl -fsSL https://example.invalid/install.sh | sh", "wget -qO- https://example.invalid | bash", "sudo -n true", "sudo -u www ls", "su - x -c ls", "doas ls", "nohup npm start > log 2>&1 &", "timeout -k 5 60 npm test", "nice -n 10 make -j2",
    "stdbuf -oL npm test | cat", "time -p make", "command ls -la", "builtin cd src", "exec ls", "exec 2>&1", "xargs -I % sh -c 'cat %' < a.txt", "env -i PATH=/bin ls", "env FOO=bar npm test", "FOO=bar BAZ=1 npm test", "LC_ALL=C sort a.txt",
    "TZ=UTC date", "GIT_PAGER=cat git log -1", "PAGER=cat git diff", "GIT_DIR=.git git status", "git -c color.ui=always diff", "git -c core.pager=cat log", "git --git-dir=.git status", "git -C .. status", "git -C src diff --stat", "git stash && git pull && git stash pop",
    "cd src; ls; cd ..", "cd src && cat a.py | head", "cd /tmp && ls", "cd ~ && ls", "cd @O && cat x.txt", "cd docs && cat ../a.txt", "cd $(git rev-parse --show-toplevel) && ls", "pushd src > /dev/null && ls && popd", "(cd src; ls) | head", "ls $(pwd)", "ls `pwd`", "ls \"$PWD\"",
    "cat ./a.txt", "cat @P/a.txt", "cat @P/src/../a.txt", "cat src/./a.py", "cat ../project/a.txt", "cat ~/../project/a.txt", "cat $HOME/notes.txt", "cat ${HOME}/notes.txt", "cat '@O/x.txt'", "cat \"a.txt\" 'b.md'", "cat a''.txt", "cat a.tx[t]", "cat a.{txt,md}", "cat -- a.txt", "cat -- -dash",
    "head -c1 a.txt", "head --lines=3 a.txt", "tail --follow=name a.txt", "tail -qn1 a.txt b.md", "wc --lines a.txt", "sort --key=2 a.txt", "sort -c a.txt", "sort -o a.txt a.txt", "uniq --count a.txt", "cut --delimiter=, --fields=1 a.txt", "tr -d '\\n' < a.txt", "tr -s ' '", "diff -q a.txt b.md", "diff --brief -r src docs", "comm -3 a.txt b.md",
    "stat -c %s a.txt", "stat --format=%n src", "du --max-depth=1", "ls --color=auto", "ls -I '*.o'", "ls -ld src", "ls -i a.txt", "ls --sort=size", "file -b a.txt", "file --mime-type a.txt", "tree -d -L 1", "tree --du -h", "readlink -f src", "realpath --relative-to=. src/a.py", "basename -s .py src/a.py", "dirname src/a.py docs/readme.md", "which -a python3", "type -t ls", "date +%s", "date -r a.txt", "date -d '1 day ago' +%F", "uname -sr", "id -un", "hostname -f", "nproc --all", "free -m", "uptime -p", "seq -s, 1 3", "seq 1 2 9", "printf '%5d\\n' 3", "printf '%s ' a b c", "sleep 0.1", "sleep 1s", "true; true", "yes | head -1", "cal 2026", "expr 1 + 2", "expr length abc", "test 1 -eq 1", "test -z ''", "[ 1 -lt 2 ]", "[ -r a.txt -a -w a.txt ]", "[[ a == b ]]", "[[ -f a.txt ]]", "(( 1 + 1 ))", "let a=1", "echo $((1+1))", "echo ${A:-x}", "echo {1..3}", "echo *", "echo src/*", "echo \"*\"", "echo a\\ b", "echo 'a' \"b\" c", "echo -e 'a\\tb'", "echo !!", "echo a;echo b", "echo a&&echo b", "echo a|cat", "echo a >out", "echo a 2>&1", "echo a 1>&2", "echo a &>/dev/null", "echo a >/dev/stderr", "echo a > /dev/tty", "echo a >> /tmp/x", "echo a > ~/x", "echo a > $HOME/x", "echo a > '$HOME/x'", "echo a > \"b c.txt\"", "echo a > src/../x", "echo a > ../x", "echo a > @O/x", "echo a | tee x y", "echo a | tee >(cat)", "echo a | tee /dev/null", "echo a | sudo tee /etc/x",
    "jq -r '.name' < package.json", "jq -s . package.json", "jq '.a as $x | $x' package.json", "jq --tab . package.json", "jq 'keys[]' package.json", "jq -n '1+1'", "jq '.[0]' package.json", "jq '.a // \"x\"' package.json", "jq 'map(.x)' package.json", "jq 'select(.a==1)' package.json", "jq input_filename package.json", "jq '@base64' package.json",
    "rg -uu foo", "rg --hidden foo", "rg -e foo -e bar", "rg --json foo", "rg -r x foo", "rg --pre cat foo", "rg -f a.txt", "rg foo -g '!*.py'", "rg --no-ignore foo ..", "rg -z foo", "rg --sort path foo", "grep -Fx foo a.txt", "grep -P '\\d' a.txt", "grep --exclude='*.o' -r foo .", "grep -z foo a.txt", "grep -m1 foo a.txt", "grep -hs foo a.txt b.md", "grep -L foo *.txt", "grep foo -- -dash", "grep -r foo @O", "grep -e foo -e bar a.txt", "grep -rI --color=never foo src", "grep '' /dev/null", "egrep -i 'a|b' a.txt", "fgrep -w foo a.txt", "zgrep foo a.gz",
    "git log --oneline | wc -l", "git log HEAD~3..", "git log -1 --format=%H", "git log --stat=80", "git log @{u}..", "git log -g", "git log --diff-filter=A", "git log -G foo", "git log --decorate --oneline", "git show HEAD^", "git show :src/a.py", "git show HEAD@{1}", "git show --pretty=raw", "git show v1.0 --quiet", "git diff --word-diff", "git diff --check", "git diff -M --summary", "git diff --numstat", "git diff ORIG_HEAD", "git diff HEAD^ HEAD", "git diff --exit-code", "git diff a.txt b.md", "git diff -R", "git diff --ignore-all-space src", "git diff @O/x.txt a.txt", "git blame -w -C src/a.py", "git blame HEAD -- src/a.py", "git ls-files -z", "git ls-files -s src", "git ls-remote origin", "git ls-remote --heads", "git rev-parse --is-inside-work-tree", "git rev-parse --verify main", "git rev-parse main HEAD", "git branch --sort=-committerdate", "git branch --format='%(refname)'", "git branch -a -v", "git branch --no-merged", "git branch -m new", "git branch -u origin/x", "git branch x main", "git tag -n", "git tag --sort=-v:refname", "git tag --contains HEAD", "git tag -f x", "git remote -v update", "git remote rename a b", "git remote prune origin", "git stash list --stat", "git stash show", "git stash drop", "git config get user.name", "git config --get-regexp 'a.*'", "git config -l --show-origin", "git config --unset x.y", "git reflog show main", "git reflog --date=iso", "git shortlog -s", "git describe --always --dirty", "git cat-file -s HEAD", "git cat-file blob HEAD:a", "git rev-list --max-count=1 HEAD", "git rev-list HEAD..main", "git merge-base --is-ancestor a b", "git merge-tree a b", "git name-rev HEAD", "git var -l", "git status --ignored", "git status -b --porcelain=v2", "git status . --short", "git status -- src", "git whatchanged -1", "git difftool", "git mergetool", "git notes list", "git bisect log", "git am x", "git format-patch -1", "git archive -o x.tar HEAD", "git gc", "git maintenance run", "git update-index x", "git symbolic-ref HEAD", "git sparse-checkout list", "git submodule", "git lfs ls-files", "git grep -l foo", "git grep -e foo --and -e bar", "git grep foo HEAD -- src",
    "docker ps --format '{{.Names}}'", "docker ps -q", "docker logs -n 5 x", "docker logs --since 1h x", "docker inspect -f '{{.Id}}' x", "docker images -q", "docker stats --no-stream", "docker top x", "docker port x", "docker info", "docker version", "docker network ls", "docker volume ls", "docker context ls", "docker history x", "gh pr view 1 --json title", "gh pr list --state all", "gh pr diff 1", "gh pr checks 1", "gh issue list -L 5", "gh issue view 1 --comments", "gh run view 1 --log", "gh release list", "gh search code x", "gh workflow list", "gh label list", "gh repo list", "gh status", "kubectl get pods -A", "kubectl logs -f x", "npm ls --all", "npm list -g", "npm view x", "npm outdated --json", "npm help x", "pip list --outdated", "pip show -f x", "pip index versions x", "python3 -V", "python3 -m site", "node -p process.version", "cargo tree", "cargo metadata", "go list ./...", "go env", "go doc fmt", "java --version", "ruby --version", "perl -v", "perl -ne 'print' a.txt", "ruby -e 'puts 1'", "php -r 'echo 1;'", "lua -e 'print(1)'", "man 5 passwd", "man -k foo", "info ls", "help cd", "ls --help", "git --help", "npm --help", "python3 --help", "lsof -p 1", "lsof -i:80", "ss -s", "netstat -rn", "ip addr", "ip a", "ifconfig", "ping -c1 x", "pgrep node", "pgrep -fl node", "ps -p 1 -o comm=", "ps -ef --forest", "top -bn1", "df -h .", "mount", "lsblk", "dmesg | tail", "w", "who", "last -5", "locale -a", "tty", "stty -a", "tput cols", "getent passwd root", "getconf PAGESIZE", "arch", "sw_vers", "vm_stat", "sysctl -a", "fd foo", "fd -e py", "fd -x cat", "fdfind foo", "bat a.txt", "exa -l", "eza", "sha1sum a.txt", "sha256sum -c a.txt", "md5sum a.txt b.md", "cksum a.txt", "b2sum a.txt", "base64 -d a.txt", "base32 a.txt", "xxd -l 16 a.txt", "xxd -r a.txt b.bin", "hexdump -C a.txt", "od -An -tx1 a.txt", "strings -n 8 a.txt", "iconv -f utf8 a.txt", "fold -w 80 a.txt", "fmt -w 80 a.txt", "pr a.txt", "nl -ba a.txt", "expand -t4 a.txt", "unexpand a.txt", "join a.txt b.md", "paste -d, a.txt b.md", "paste -s a.txt", "column -s, -t a.txt", "shuf a.txt", "tsort a.txt", "split a.txt x", "csplit a.txt 1", "rev a.txt", "tac a.txt", "look foo", "aspell list", "spell a.txt", "dd if=a.txt", "sync", "vmstat", "iostat", "screen -ls", "tmux ls", "history 5", "fc -l", "jobs -l", "bg", "fg", "disown", "wait $!", "times", "umask 022", "ulimit -a", "hash", "alias", "declare -x A=1", "readonly A=1", "local a=1", "typeset a", "unset -f f", "shopt", "set", "set +x", "bind -l", "compgen -A command", "complete -p", "caller", "enable", "getopts a x", "read -p x y", "mapfile -t a < a.txt", "source ./run.sh", ". ./run.sh", "return 0", "break", "continue", "logout", "suspend", "trap - EXIT", "eval ls", "eval \"ls\"", "coproc ls", "function f { ls; }", "f() { ls; }; f", "!ls", "! ls", ":", ": > a.txt", "> a.txt", "< a.txt", "<<< x cat", "cat <<< \"$A\"", "cat <(ls)", "diff <(cat a.txt) b.md", "cat < a.txt | wc", "cat 0< a.txt", "cat a.txt >&2", "cat a.txt 2>err.txt", "cat a.txt >out 2>&1", "cat a.txt |& less", "cat a.txt; # done", "#comment", "ls # comment", "ls\\\n-la", "ls \\\n  -la", "ls\t-la", "  ls", "ls  ", "ls;", "ls&", "ls &&", "| ls", "ls ||", "'ls'", "\"ls\" -la", "l\\s", "l''s", "$'ls'", "/bin/ls", "./ls", "~/bin/x", "LS", "ls -la '", "ls \"$(", "ls ${", "ls )", "{ ls", "ls }",
)  # fmt: skip
"""Commands and pieces of scripts, whole and broken."""

_SPACES = re.compile(r"[ \t]+")
_SYNTAX = (" && ", "; ", " | ", " || ", "\n", " & ", " |& ", " > ", " >> ", " < ", " 2> ", " 2>&1 ", " $(", ") ", " `", "` ", " (", " { ", "; }", " <<< ", " -- ", " #", " \\\n", "=", "'", '"', "\\", "$", "~", "*", "!", "")  # fmt: skip
_PROGRAM_PREFIXES = ("sudo ", "env ", "timeout 5 ", "xargs ", "nohup ", "time ", "command ", "nice ", "A=1 ", "NODE_ENV=test ", "bash -c ", "cd src && ", "exec ", "busybox ", "stdbuf -o0 ", "! ", "eval ", "watch ", "setsid ", "if ", "echo ")  # fmt: skip
_TOOLS = ("Read", "Edit", "Write", "Read", "Edit")
_WHERE = ("user", "user", "user", "project", "local", "flag")
_MODES = ("default", "default", "default", "default", "acceptEdits", "acceptEdits", "bypassPermissions", "dontAsk", "plan", "auto")  # fmt: skip
_PATHS = (
    "a.txt", "b.md", "secret.txt", ".env", ".env.local", "src/a.py", "src", "docs/readme.md", "docs", "new/deep/x.txt", "tests/test_a.py", "package.json", "@O/x.txt", "@O/sub/y.txt", "@O", "@H/notes.txt", "@H", "/etc/hosts", "/etc/passwd", "/tmp/x", "/", ".", "..",
    ".git/config", ".git/hooks/pre-commit", ".gitignore", ".github/workflows/x.yml", ".vscode/settings.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/CLAUDE.md", "CLAUDE.md", ".claude/rules/x.md", ".mcp.json", ".bashrc", ".zshrc", "link/x.txt", "link", "srclink/a.py", "seclink",
    "dangling", "loop/x", "src/up/a.txt", "gitlink/config", "nb.ipynb", "Makefile", "build/out.o", "node_modules/x/index.js", "x~1", "x.", "AUX", "a:b", "with space.txt", "-dash", "[x]", "ä.txt", "it's", "$HOME.txt", ".hidden/x", "SRC/A.PY", "Secret.TXT", "%2e%2e/x", "src\\a.py", "a\tb", "...", ".. ", "~", "~/x",
)  # fmt: skip
_STARTS = ("", "", "@P/", "@P/", "@P/", "./", "@P/./", "@P//", "@P/src/../", "../project/", "~/../project/", "src/../", "@P/docs/../src/../", "file://@P/", "//")  # fmt: skip
_HOSTS = ("example.invalid", "www.example.invalid", "EXAMPLE.invalid", "docs.python.org", "github.com", "127.0.0.1", "localhost", "[::1]", "xn--bcher-kva.invalid", "bücher.invalid", "example.invalid.", "a.b.example.invalid", "developer.mozilla.org", "react.dev", "0x7f.1", "example%2einvalid", "evil.invalid#@example.invalid")  # fmt: skip
# Without the tools that change the state of the session, such as EnterPlanMode.
_OTHER: tuple[Call, ...] = (
    Call("TodoWrite", {"todos": [{"content": "x", "status": "pending", "activeForm": "x"}]}),
    Call("WebSearch", {"query": "x", "allowed_domains": ["example.invalid"]}),
    Call("KillShell", {"shell_id": "x"}), Call("TaskStop", {"task_id": "x"}), Call("TaskOutput", {"task_id": "x", "block": False, "timeout": 1}),
    Call("TaskCreate", {"subject": "x", "description": "d"}), Call("TaskList", {}), Call("TaskGet", {"taskId": "1"}), Call("TaskUpdate", {"taskId": "1", "status": "completed"}),
    Call("ListMcpResourcesTool", {"server": "srv"}), Call("ReadMcpResourceTool", {"server": "srv", "uri": "x:y"}), Call("ToolSearch", {"query": "x", "max_results": 3}),
    Call("ExitPlanMode", {}), Call("ExitPlanMode", {"plan": "p"}),
    Call("Skill", {"skill": "plain"}), Call("Skill", {"skill": "tools", "args": "a b"}), Call("Skill", {"skill": "mine"}), Call("Skill", {"skill": "command", "args": "x"}), Call("Skill", {"skill": "agentic"}), Call("Skill", {"skill": "shelly"}),
    Call("SlashCommand", {"command": "/command x"}), Call("CronCreate", {"cron": "* * * * *", "prompt": "p"}), Call("CronList", {}), Call("CronDelete", {"id": "x"}),
    Call("Task", {"description": "d", "prompt": "p"}), Call("Task", {"description": "d", "prompt": "p", "subagent_type": "Explore"}), Call("Agent", {"description": "d", "prompt": "p", "subagent_type": "own", "model": "opus"}),
    Call("Agent", {"description": "d", "prompt": "p", "subagent_type": "general-purpose"}), Call("Agent", {"description": "d", "prompt": "p", "subagent_type": "Explore", "isolation": "worktree"}),
    Call("mcp__srv__echo", {"text": "x"}), Call("mcp__other__echo", {"text": "x"}), Call("mcp__srv__x__echo", {"text": "x"}), Call("SendMessage", {"to": "x", "message": "m"}), Call("PushNotification", {"message": "m"}), Call("LSP", {"operation": "hover", "filePath": "@P/src/a.py", "line": 1, "character": 1}),
)  # fmt: skip


def _pieces(dice: random.Random) -> list[str]:
    return _SPACES.split(dice.choice(dice.choice((EVERYDAY, FRAGMENTS))))


def _spliced(dice: random.Random) -> str:
    """The start of one command with the end of another."""
    first, second = _pieces(dice), _pieces(dice)
    return " ".join(
        first[: dice.randrange(1, len(first) + 1)] + second[dice.randrange(len(second)) :]
    )


def _replaced(dice: random.Random) -> str:
    """A command with one of its words from another one."""
    words, other = _pieces(dice), _pieces(dice)
    words[dice.randrange(len(words))] = dice.choice(other)
    return " ".join(words)


def _inserted(dice: random.Random) -> str:
    """A command with a word or an operator at any place."""
    words = _pieces(dice)
    place = dice.randrange(len(words) + 1)
    extra = dice.choice(_SYNTAX) if dice.random() < 0.5 else f" {dice.choice(_pieces(dice))} "
    return (" ".join(words[:place]) + extra + " ".join(words[place:])).strip()


def _prefixed(dice: random.Random) -> str:
    return dice.choice(_PROGRAM_PREFIXES) + " ".join(_pieces(dice))


def _pathed(dice: random.Random) -> str:
    """A command about another file."""
    words = _pieces(dice)
    words[-1] = dice.choice(_STARTS) + dice.choice(_PATHS)
    if dice.random() < 0.4:
        words[-1] = dice.choice((f"'{words[-1]}'", f'"{words[-1]}"', f"--file={words[-1]}", f"-f{words[-1]}", f"{words[-1]}/"))  # fmt: skip
    return " ".join(words)


def _joined(dice: random.Random) -> str:
    return " ".join(_pieces(dice)) + dice.choice(_SYNTAX[:12]) + " ".join(_pieces(dice))


def _whole(dice: random.Random) -> str:
    return dice.choice(FRAGMENTS)


_WAYS: tuple[Callable[[random.Random], str], ...] = (
    _spliced, _replaced, _replaced, _inserted, _prefixed, _pathed, _pathed, _joined, _whole, _whole,
)  # fmt: skip


def _command_rule(dice: random.Random) -> str:
    words = _pieces(dice)
    head = " ".join(words[: dice.choice((1, 1, 1, 2, 2, 3))])
    return f"Bash({dice.choice((f'{head}:*', f'{head} *', f'{head}:*', head, ' '.join(words), f'{head}*', f'* {words[-1]}', f'{words[0]} * {words[-1]}'))})"


def _path_rule(dice: random.Random) -> str:
    path = dice.choice(_PATHS)
    folder = path.rpartition("/")[0] or path
    forms = (path, f"./{path}", f"/{path}", f"//{path}", f"**/{path}", f"{folder}/**", f"{folder}/*", f"{path}/**", "~/**", "./**", "**", f"*.{path[-2:]}", f"//@P/{path}", f"//@P/{folder}/**", "//@O/**")  # fmt: skip
    return f"{dice.choice(_TOOLS)}({dice.choice(forms)})"


def _other_rule(dice: random.Random) -> str:
    tool = dice.choice(_OTHER).tool
    return dice.choice((tool, f"{tool}(*)", "WebFetch(domain:example.invalid)", "WebFetch(domain:*.example.invalid)", "WebFetch", "mcp__srv", "mcp__srv__*", "Skill(plain)", "Agent(Explore)", "Edit", "Write", "Read", "Bash", "Bash(*)", "Glob", "Grep"))  # fmt: skip


def _rules(dice: random.Random) -> tuple[PlacedRule, ...]:
    rules = []
    for _ in range(dice.choice((0, 1, 2, 3, 4, 6, 8))):
        make = dice.choice((_command_rule, _command_rule, _path_rule, _path_rule, _other_rule))
        behavior = dice.choice(("allow", "allow", "allow", "deny", "ask"))
        rules.append((dice.choice(_WHERE), behavior, make(dice)))
    return tuple(rules)


def _call(dice: random.Random) -> Call:
    kind = dice.random()
    path = dice.choice(_STARTS) + dice.choice(_PATHS)
    if kind < 0.68:
        extra: dict[str, Any] = {"run_in_background": True} if dice.random() < 0.03 else {}
        return Call("Bash", {"command": dice.choice(_WAYS)(dice), "description": "d", **extra})
    if kind < 0.76:
        return Call("Read", {"file_path": path})
    if kind < 0.82:
        return Call("Write", {"file_path": path, "content": "x"})
    if kind < 0.85:
        return Call("Edit", {"file_path": path + ".new", "old_string": "", "new_string": "x"})
    if kind < 0.88:
        where = {"path": path} if dice.random() < 0.7 else {}
        return Call(dice.choice(("Glob", "Grep")), {"pattern": dice.choice(("*.py", "foo", "src/**/*.py", "@O/*", "~/*", "../*")), **where})  # fmt: skip
    if kind < 0.92:
        scheme = dice.choice(("https://", "https://", "http://", "HTTPS://", ""))
        tail = dice.choice(("", "/", "/a/b", ":8443/", "/?q=1", "/..%2f", "#x", "/a b"))
        return Call("WebFetch", {"url": scheme + dice.choice(_HOSTS) + tail, "prompt": "p"})
    if kind < 0.94:
        return Call("NotebookEdit", {"notebook_path": path, "new_source": "x", "cell_id": "0"})
    return dice.choice(_OTHER)


def recombined(
    dice: random.Random,
) -> tuple[tuple[PlacedRule, ...], str, Callable[[int], Call]]:
    """Rules, a mode, and what makes the calls, like the themes."""
    return _rules(dice), dice.choice(_MODES), lambda _: _call(dice)
