"""More of the vocabulary: forms in which a shell, git, sed, awk, xargs or curl does more than it says."""

from __future__ import annotations

import random

__all__ = ["FORMS", "PLACES", "url"]

FORMS = (
    # Here-documents and here-strings
    "cat <<-'E'\n\thi\n\tE", "cat <<\"E\"\n$X\nE", "cat <<'A' <<'B'\na\nA\nb\nB", "cat <<'E' | {c}\nhi\nE",
    "bash <<E\n{c}\nE", "git commit -F - <<'E'\nx\nE", "git commit -m \"$(cat <<EOF\nx $X\nEOF\n)\"",
    "git commit -m \"$(cat <<'EOF'\nx `y`\nEOF\n)\" && {c}", "tee {p} <<'E'\nhi\nE", "cat <<'E' >> {p}\nhi\nE",
    # Globs, braces, arithmetic, substitutions
    "cat {a,b}.{txt,md}", "ls [a-c]*", "ls !(a.txt)", "ls **/*.py", "cat a.tx?", "echo {1..3}", "echo a{b,c}d",
    "cat $(ls *.txt)", "cat `ls`", "diff <(cat {p}) <(cat a.txt)", "tee >({c})", "echo $((1 + 2))",
    "echo $((x=1))", "echo ${#X}", "echo ${X/a/b}", "echo ${X:0:1}", "echo ${!X}", "echo ${X@P}", "echo $[1+1]",
    "echo \"${X:-$({c})}\"", "echo $_", "echo $$", "echo $!", "echo $-", "x[0]=1", "echo ${x[0]}", "echo $RANDOM",
    "let x=1", "((x++))", "[[ -f {p} && -n x ]]", "[[ $X == a* ]]", "[ \"$X\" = a ]", "test -n \"$X\"", "[ -e {p} -a -x {p} ]",
    # Functions, aliases, control flow
    "f() { {c}; }", "function f { {c}; }; f x", "alias ll='{c}'; ll", "unalias -a", "for ((i=0;i<2;i++)); do {c}; done",
    "for x in $(ls); do {c}; done", "for x; do {c}; done", "while read -r x; do {c}; done < {p}", "if [ -f {p} ]; then {c}; else {d}; fi",
    "case $X in a|b) {c};; *) {d};; esac", "{ {c}; } > {p}", "({c}) 2>&1 | tee {p}", "! {c} | grep x", "{c} && { {d}; }",
    "time { {c}; }", "{c} ;; {d}", "trap '{c}' EXIT; {d}", "set -- a; {c}", "shift; {c}", "return", "exit 0", "exit; {c}",
    # Redirections
    "{c} >&-", "{c} 2>&1 1>/dev/null", "{c} >/dev/tty", "{c} > /dev/stderr", "{c} 1>&2", "{c} >& /dev/null", "{c} &>> {p}",
    "{c} 3> {p}", "{c} {fd}> {p}", "{c} <> {p}", "{c} < {p} > b.md", "> {p} {c}", "2>/dev/null {c}", "{c} >'{p}'", "{c} > $X",
    "{c} > \"$X\"", "{c} > ~/x", "{c} > /dev/fd/1", "{c} < /dev/zero", "{c} > {p} > b.md", "{c} 2>{p}", "{c} >{p} &", "{c} <&3", "{c} >&2",
    "{c} > /dev/null/x", "{c} >/dev/nullx", "{c} 2>/dev/null 1>&2", "{c} > -", "{c} > --", "{c} > *.txt", "{c} > {a,b}", "{c} > !",
    # xargs, find, parallel
    "ls | xargs", "ls | xargs cat", "ls | xargs -I{} cat {}", "ls | xargs -n 1 grep x", "ls | xargs -0 wc -l", "ls | xargs sh -c '{c}'",
    "ls | xargs -a {p} echo", "ls | xargs -P4 -n1 {c}", "ls | xargs -L1 head", "ls | xargs --no-run-if-empty rm", "ls | xargs grep -f x",
    "find . -name x -print0 | xargs -0 cat", "find {p} -exec {c} \\;", "find {p} -exec {c} {} +", "find . -execdir {c} ';'", "find . -ok rm {} \\;",
    "find . -fprintf {p} x", "find {p} -fls x", "find . -regex '.*x' -o -name y", "find . \\( -name a -o -name b \\)", "find . -name '*.txt' -printf '%p\\n'",
    "find . ! -name x", "find -L . -type l", "find . -type f -print", "find . -quit", "find / -name x", "find -files0-from {p}", "find . -D exec", "find ~ -name x",
    # git
    "git -C @O log", "git -C {p} diff", "git --git-dir={p} log", "git --git-dir {p} log", "git --work-tree={p} status", "git -c a.b=c status", "git -p log",
    "git --no-pager log", "git --exec-path=x status", "git --no-pager diff {p}", "git --bare log", "git --paginate status", "git -c core.fsmonitor=x status",
    "git diff --ext-diff", "git log --ext-diff", "git show --textconv", "git log -L 1,2:{p}", "git log --format='%(x)'", "git log -- {p}", "git log ..", "git log a...b",
    "git grep --open-files-in-pager=x y", "git grep -n x -- {p}", "git blame -L1,2 {p}", "git blame --contents {p} x", "git branch -m x y", "git branch --list 'a*'",
    "git branch --edit-description", "git tag -d x", "git tag -l 'v*'", "git tag -a v1 -m x", "git remote show origin", "git remote get-url origin", "git remote -v show",
    "git stash show", "git stash show -p", "git stash pop", "git config -l", "git config --get-all x", "git config --global --list", "git config --edit", "git reflog show",
    "git reflog delete x", "git worktree add {p}", "git rev-list HEAD", "git rev-parse --git-dir", "git cat-file -t HEAD", "git cat-file --batch", "git cat-file --textconv x",
    "git ls-tree HEAD", "git ls-files -o", "git ls-remote --upload-pack=x y", "git archive HEAD", "git bundle create {p}", "git show-ref", "git for-each-ref --shell", "git status -- {p}",
    "git 'status'", "git \"log\" -1", "git st''atus", "git status -uno", "git status --help", "git help status", "git log --help", "git version", "git --version", "git merge-base a b",
    "git diff --stat -- {p} a.txt", "git diff a.txt {p}", "git diff HEAD -- {p}", "git diff -- {p}", "git diff --no-index -- {p} {p}", "git show {p}", "git hash-object -w {p}", "git rm -r .",
    # sed, awk, jq
    "sed -n '5p;7p' {p}", "sed -n '$p' {p}", "sed -n 5p", "sed -n '1,5w out' {p}", "sed 's/a/b/w out' {p}", "sed 's/a/b/e' {p}", "sed -f {p} a.txt", "sed --expression='s/a/b/' {p}",
    "sed -E 's/(a)/\\1/g' {p}", "sed 's|a|b|' {p}", "sed 1d {p}", "sed -n -e 1p {p}", "sed -ne 1p {p}", "sed -i '' s/a/b/ {p}", "sed --in-place s/a/b/ {p}", "sed -i '1d' {p}", "sed -z s/a/b/ {p}",
    "sed -s -n 1p {p}", "sed 'r {p}' a.txt", "sed -i 's/a/b/;s/c/d/' {p}", "sed -n '/a/,/b/p' {p}", "sed 's/a/b/gI' {p}", "sed y/a/b/ {p}", "sed = {p}", "sed q {p}", "sed -u s/a/b/ {p}",
    "awk 1 {p}", "awk -F: '{print $1}' {p}", "awk '{print > \"out\"}' {p}", "awk '{getline x < \"f\"}' {p}", "awk '{print | \"sh\"}' {p}", "awk -v x=1 '{print x}' {p}", "gawk -i inplace 1 {p}", "awk '/x/' {p}",
    "jq '.a | .b' {p}", "jq -c . {p}", "jq 'env' {p}", "jq '$ENV' {p}", "jq -n 'input' {p}", "jq --arg a b '.x' {p}", "jq -e .a {p}", "jq -L {p} .", "jq 'import \"x\" as x; .' {p}", "jq --rawfile a {p} .", "jq -rf {p}",
    # Other programs
    "curl -o {p} https://example.invalid/", "curl -d @{p} https://example.invalid/", "wget -O {p} https://example.invalid/", "tee {p} b.md", "tee -- {p}", "echo x | tee {p}", "echo x | tee -a {p} > /dev/null",
    "tar tf {p}", "unzip -l {p}", "gzip {p}", "zcat {p}", "cp -a src {p}", "cp src/* {p}", "cp a.txt b.md {p}", "mv -- a.txt {p}", "mv src/* {p}", "ln -sf {p} x", "install -d {p}", "mkdir -m 777 {p}", "mkdir {p} {p}2",
    "touch a.txt {p}", "touch -r {p} a.txt", "rm -i {p}", "rm --recursive {p}", "rm -rf {p} a.txt", "rm -- -dash", "rm -rf \"$PWD\"", "rm -rf \"${X:?}\"", "rm -rf $(pwd)", "rm -rf {a,b}", "rm -rf src/", "rm -rf ./", "rm -rf ../",
    "rm -rf ../*", "rm -rf ~/*", "rm -rf //", "rm -rf /.", "rm -rf /etc/../", "rm -rf src/..", "rm -rf src/../..", "rm -rf .git", "rm -rf .*", "rm -rf /tmp/*", "rm -rf @H", "rm -rf @P", "rm -rf @O", "rm -rf @P/", "rm -rf @P/*", "rm -rf @P/..",
    "rmdir /", "rmdir ~", "rmdir --ignore-fail-on-non-empty .", "/bin/rm -rf /", "\\rm -rf /", "'rm' -rf /", "rm -rf '/'", "rm -rf \"/\"", "rm -rf /home", "rm -rf /usr/", "rm -rf /var/*", "cd / && rm -rf *", "cd src && rm -rf ..", "find / -delete", "unlink /",
    "sort -o {p} {p}", "sort -T {p} a.txt", "sort --compress-program=x a.txt", "sort -k 2 -t, {p}", "uniq {p} out", "uniq -c -d {p}", "uniq -f 1 {p}", "tree -o out", "tree --fromfile {p}", "file -m {p} a.txt", "file -C -m {p}", "date -d yesterday", "date --set=x",
    "hostname -F {p}", "man -H ls", "man -k x", "man 3 x", "less -o {p} a.txt", "ps -ef", "ps auxe", "ps -o pid", "kill -0 1", "netstat -an", "ss -tlnp", "lsof -i", "top -b", "id -u", "who", "w", "last", "dmesg", "env -0", "env A=b", "printenv PATH", "set", "export",
    "declare -p", "compgen -c", "type -a ls", "which -a ls", "hash -r", "command -V ls", "help cd", "ulimit -n 5", "umask 0", "times", "dirs", "popd", "pushd", "cd -", "cd", "cd ~", "cd --", "cd -- {p}", "cd -P {p}", "cd {p} x", "cd $X", "cd \"$(pwd)\"", "cd {p} && cd .. && ls", "cd {p} || {c}",
    "cd {p} && echo x > y", "cd {p} && rm x", "cd {p} && cat *", "cd {p} && npm test", "cd {p}; git log", "cd {p} | ls", "(cd {p} && {c})", "cd src && cat ../{p}", "cd src && cat {p} && cd ..", "pushd {p} && {c}", "xxd -r {p} out", "od -An {p}", "base64 -d {p}", "base64 -w0 {p}",
    "test -f {p}", "test {p} -nt a.txt", "[ {p} -ot a.txt ]", "printf x", "printf '%d' 3", "printf '%s' \"$X\"", "printf -v y %s x", "echo -e 'a\\nb'", "echo \\\\", "echo a\\ b", "echo \"a\\$b\"", "echo 'it'\\''s'", "echo \"!\"", "echo a#b", "echo '#'", "echo %", "echo a=b", "echo =ls", "echo ~",
    "pgrep -f x", "pgrep -a node", "pkill x", "docker images", "docker inspect x", "docker logs -f x", "docker exec x ls", "gh pr diff 1", "gh api x", "gh issue view 1", "npm view x", "npm ls", "pip show x", "pip freeze", "python -V", "python3 --version", "node --check {p}", "go version", "cargo --version",
    "xdg-open {p}", "open {p}", "code {p}", "nano {p}", "ssh-keygen -f {p}", "openssl enc -in {p}", "gpg -d {p}", "sqlite3 {p} .dump", "psql -f {p}", "mysql x", "nc -l 1", "telnet x", "scp {p} x:", "rsync -e sh a b", "socat - x", "at -f {p} now", "logger x", "mail x", "wall x", "mount {p}", "chattr +i {p}", "setfacl x {p}",
)  # fmt: skip
"""Commands with the marks of `words`: `c` and `d` are commands, `p` is a path."""

PLACES = (
    "{p}", "{p}", "{p}", "./{p}", "{p}/", "@P/./{p}", "@P//{p}", "@P/src/../{p}", "/{p}", " {p}", "{p} ", "{p}.", "{p}~1",
    "{p}:x", "{p}::$DATA", "{p}.con", "{p}\n", "~/{p}", "~x/{p}", "$HOME/{p}", "{p}/..", "{p}/../x", "file://{p}", "@P\\{p}", "{p}*",
    "@H/{p}", "@O/{p}", "@O/../project/{p}", "@H/linked/{p}", "link/../{p}", "@P/link/{p}", "{p}%20", "\u00e4/{p}", ".../{p}", "{p}/.../x",
)  # fmt: skip
"""How the input of a file tool may spell a path."""

_HOSTS = (
    "example.invalid", "EXAMPLE.invalid", "www.example.invalid", "sub.sub.example.invalid", "example.invalid.", "xexample.invalid",
    "example.invalid.evil.invalid", "ex%61mple.invalid", "example%2einvalid", "ex\u00e4mple.invalid", "xn--exmple-cua.invalid", "e\u00adxample.invalid",
    "example\u3002invalid", "127.0.0.1", "[::1]", "0x7f.1", "localhost", "docs.python.org", "docs.python.org.", "DOCS.PYTHON.ORG", "www.docs.python.org",
    "github.com", "react.dev", "nodejs.org", "example.invalid%00.x.invalid", "example_x.invalid", "-example.invalid", "",
)  # fmt: skip
_USERS = (
    "",
    "",
    "",
    "",
    "u@",
    "u:p@",
    "example.invalid@",
    "docs.python.org@",
    "%40@",
    "a@b@",
    "u:@",
)
_PORTS = ("", "", "", "", ":443", ":80", ":8080", ":", ":99999", ":x")
_PATHS = (
    "",
    "/",
    "/a",
    "/a/../b",
    "/a?b=https://x.invalid/",
    "/%2e%2e/x",
    "/a#b",
    "?x",
    "#x",
    "/@x.invalid/",
    "\\@x.invalid/",
    "//x.invalid/",
)
_SCHEMES = ("https://", "https://", "https://", "https://", "http://", "HTTPS://", "https:/", "https:", "https:\\\\", "ftp://", "file://", " https://", "https:///")  # fmt: skip


def url(dice: random.Random) -> str:
    """An address put together from parts, some of which browsers and libraries read differently."""
    parts = (_SCHEMES, _USERS, _HOSTS, _PORTS, _PATHS)
    return "".join(dice.choice(part) for part in parts)
