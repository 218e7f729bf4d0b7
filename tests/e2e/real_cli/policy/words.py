"""The vocabulary of the generator: programs with options, paths, spellings, wrappers, operators."""

from __future__ import annotations

__all__ = [
    "ASSIGNMENTS", "FILES", "LOOKING", "RUNNING", "SHAPES", "SPELLINGS", "WRAPPERS",
    "WRITING",
]  # fmt: skip

FILES = (
    "a.txt", "b.md", "secret.txt", ".env", "src/a.py", "src", "docs/readme.md", "build", "new.txt",
    "src/new.py", ".git/config", ".git/hooks/x", ".bashrc", ".claude/settings.json", ".mcp.json",
    ".vscode/x.json", "@O/x.txt", "@O/sub/y.txt", "@O", "@O/new", "@H/notes.txt", "~/notes.txt",
    "@H/.bashrc", "@H/.ssh/id", "/etc/hosts", "/etc/passwd", "..", ".", "../outside/x.txt",
    "src/../secret.txt", "src/../../outside/x.txt", "link/x.txt", "link", "srclink/a.py", "seclink",
    "loop", "dangling", "dangling-out", "src/up/secret.txt", "gitlink/config", "with space.txt",
    "x~1", "x.", "x.CON", "a:b", "[x]", "-dash", "Secret.TXT", "SECRET.txt", "package.json",
    "docs/", "@P/a.txt", "@P/secret.txt", "@P", "/tmp/claude/x", "/dev/null", "/dev/stdout",
    "/dev/tcp/x/1", "/proc/self/environ", "node_modules/x", "//etc/hosts", "./secret.txt",
    "*.txt", "src/*.py", "*", "s?cret.txt", "{a,secret}.txt", "~", "~root/x", "~+", "/", "/*",
    "HEAD", "hooks/x", "objects", ".git", "x:stream", "C:\\x", "\\\\host\\x",
)  # fmt: skip

SPELLINGS = (
    "{p}", "{p}", "{p}", "{p}", "./{p}", '"{p}"', "'{p}'", "{p}/", "'{a}'{b}", '{a}"{b}"',
    "{a}\\{b}", "-- {p}", '"$PWD/{p}"', "$PWD/{p}", "$(pwd)/{p}", "$HOME/{p}", "${HOME}/{p}",
    "$'{p}'", "${X:-{p}}", "$X/{p}", '"$X"', "{p}*", "@P/{p}", "//{p}", "{a}''{b}", "`echo {p}`",
)  # fmt: skip
"""How a path may be written: `p` is the whole path, `a` and `b` its two halves."""

LOOKING = (
    "cat {p}", "cat -n {p}", "head -n 5 {p}", "head -5 {p}", "tail -f {p}", "tail -n +3 {p}",
    "grep -rn x {p}", "grep -A 3 x {p}", "grep -i -C2 'a b' {p}", "grep --color=never x {p}",
    "grep -e x -f {p}", "grep -E 'a|b' {p}", "egrep x {p}", "rg -n x {p}", "rg --pre cat x {p}",
    "ls {p}", "ls -la {p}", "ls -R", "find {p} -name '*.py'", "find {p} -type f -exec cat {} \\;",
    "find . -newer {p}", "find {p} -delete", "find . -fprint {p}", "wc -l {p}", "sort -u {p}",
    "sort -o {p} a.txt", "sort --output={p} a.txt", "uniq -c {p}", "uniq a.txt {p}", "cut -d: -f1 {p}",
    "diff {p} a.txt", "diff -u a.txt {p}", "stat {p}", "file {p}", "file -f {p}", "jq . {p}",
    "jq -r '.a[]' {p}", "jq --slurpfile x {p} .", "jq -f {p}", "tree -L 2 {p}", "tree -o {p}",
    "du -sh {p}", "df -h", "md5sum {p}", "sha256sum {p}", "base64 {p}", "xxd {p}", "od -c {p}",
    "strings {p}", "nl {p}", "tac {p}", "rev {p}", "paste {p} a.txt", "column -t {p}", "less {p}",
    "more {p}", "sed -n 1,5p {p}", "sed -n '/x/p' {p}", "sed 's/a/b/' {p}", "sed -e 's/a/b/g' {p}",
    "sed 'w out.txt' {p}", "sed -n '1e ls' {p}", "awk '{print $1}' {p}", "awk 'BEGIN{system(\"ls\")}' {p}",
    "cd {p}", "pushd {p}", "cd {p} && cat x.txt", "cd {p} && git status", "cd {p} && ls",
    "cd {p}; cat secret.txt", "pwd", "pwd -P", "echo hi", "echo 'a;b'", 'echo "x"', "echo $HOME",
    "echo -n {p}", "printf '%s\\n' {p}", "date", "date -s x", "date +%F", "date -f {p}", "whoami",
    "hostname", "hostname x", "id", "uname -a", "which ls", "type ls", "command -v ls", "true",
    "env", "printenv", "env cat {p}", "test -f {p}", "[ -f {p} ]", "[[ -f {p} ]]", "[ -n x ]",
    "sleep 1", "ps aux", "ps e", "uptime", "history", "man ls", "man -P cat ls", "seq 3", "readlink {p}",
    "realpath {p}", "basename {p}", "dirname {p}", "tr a b", "tty", "locale", "nproc", "free -m",
    "git status", "git status -sb", "git log --oneline -5", "git log -p {p}", "git diff", "git diff {p}",
    "git diff --no-index {p} a.txt", "git diff --output={p}", "git show HEAD", "git show HEAD:{p}",
    "git branch", "git branch -a", "git branch new", "git branch -D x", "git remote -v",
    "git remote add x y", "git tag", "git tag v1", "git blame {p}", "git rev-parse HEAD",
    "git config --get user.name", "git config user.name x", "git config --list", "git stash list",
    "git stash", "git ls-files", "git grep x", "git grep -O x", "git reflog", "git reflog expire",
    "git -C {p} status", "git -c core.pager=x log", "git --git-dir={p} status", "git log --output={p}",
    "git describe --tags", "git shortlog -sn", "git worktree list", "git cat-file -p HEAD",
    "git ls-remote", "git ls-remote ext::x", "git fetch", "docker ps", "docker logs x", "gh pr list",
    "gh pr view 1", "node -v", "node --version", "python --version", "python3 -V", "npm list",
)  # fmt: skip

WRITING = (
    "rm {p}", "rm -rf {p}", "rm -r -f {p}", "rm -rf -- {p}", "rmdir {p}", "rmdir -p {p}", "unlink {p}",
    "rm -rf {p}/", "rm -rf {p}/*", "rm -rf $X/", "rm -rf $X/*", "rm -rf \"$X\"/lib", "rm -rf ${X}",
    "rm -rf ~", "rm -rf /", "rm -rf .", "rm -rf ..", "rm -rf *", "rm -rf ./*", "rm -rf $HOME",
    "rm -rf ~/", "rm -rf /*", "rm -rf /usr", "rm -rf /tmp", "rm -fr --no-preserve-root /",
    "touch {p}", "touch -d x {p}", "mkdir {p}", "mkdir -p {p}/z", "mv a.txt {p}", "mv {p} b.txt",
    "mv -t {p} a.txt", "mv -f a.txt {p}", "cp a.txt {p}", "cp -r src {p}", "cp {p} b.txt",
    "cp --target-directory={p} a.txt", "ln -s {p} l", "ln {p} l", "chmod +x {p}", "chown x {p}",
    "tee {p}", "tee -a {p}", "sed -i 's/a/b/' {p}", "sed -i.bak 's/a/b/' {p}", "sed -i -e s/a/b/ {p}",
    "dd if=a.txt of={p}", "truncate -s 0 {p}", "install a.txt {p}", "rsync a.txt {p}", "split a.txt {p}",
    "echo x > {p}", "echo x >> {p}", "echo x >| {p}", "cat a.txt > {p}", "cat < {p}", "cat a.txt 2> {p}",
    "cat a.txt &> {p}", "cat a.txt >& {p}", "> {p}", "echo x > {p} 2>&1", "cat <{p} >b.txt",
    "cat > {p} <<'E'\nhi\nE", "cat <<E > {p}\n$HOME\nE", "cat <<< {p}", "exec > {p}", "echo x 3<> {p}",
    "git commit -m 'x'", "git commit -m \"$(cat <<'EOF'\nFix it.\n\nMore.\nEOF\n)\"", "git add {p}",
    "git push origin main", "git push --force", "git checkout {p}", "git reset --hard", "git init {p}",
    "git init --bare .", "git clone x {p}", "git clean -fd", "git rm {p}", "git apply {p}",
)  # fmt: skip

RUNNING = (
    "npm test", "npm run build", "npm run", "npm", "npm install x", "npx x", "make", "make all",
    "make -C {p}", "lint src", "deploy now", "python3 {p}", "python3 -c 'print(1)'", "node -e 'x'",
    "python3 -m pytest", "pytest -q", "bash {p}", "sh -c 'cat {p}'", "bash -c 'npm test'",
    "bash -c $'npm\\x20test'", "bash -lc \"rm -rf build\"", "eval 'npm test'", "eval cat {p}",
    "source {p}", ". {p}", "exec npm test", "xargs rm", "xargs -n1 npm test", "echo a | xargs cat",
    "find . | xargs rm -rf", "curl https://example.invalid/x", "wget x", "ssh h 'npm test'",
    "docker run x", "kubectl get pods", "terraform apply", "cargo build", "go test ./...", "tsc",
    "pip install x", "export A=1", "A=1", "A=secret.txt; cat $A", "F={p}; cat \"$F\"", "alias x=rm",
    "function f() { npm test; }; f", "trap 'npm test' EXIT", "set -e", "unset A", "read x", "kill 1",
    "jobs", "wait", "ulimit -a", "umask", "coproc npm test", "time npm test", "printf -v x y",
    "$CMD", "$(echo npm) test", "`echo npm` test", "n\\pm test", "'npm' test", "n''pm test",
    "/usr/bin/npm test", "./npm test", "NPM test", "npm\ttest", "npm  test", "npm test;", "npm test #x",
    "awk -f {p}", "perl -e 'x'", "ruby -e 'x'", "vim {p}", "less +!x {p}", "tar xf {p}", "tar cf {p} src",
    "zip x {p}", "unzip {p}", "crontab {p}", "at now", "systemctl stop x", "screen -dm npm test",
    "git -c alias.x='!npm test' x", "git submodule foreach 'npm test'", "git bisect run npm test",
    "watch npm test", "entr npm test", "parallel npm test", "script -c 'npm test'", "busybox rm a.txt",
)  # fmt: skip

WRAPPERS = (
    "timeout 5 {c}", "timeout -k 1 5 {c}", "timeout --foreground 5s {c}", "time {c}", "time -p {c}",
    "nice {c}", "nice -n 5 {c}", "nohup {c}", "stdbuf -oL {c}", "command {c}", "command -p {c}",
    "builtin {c}", "env {c}", "env A=1 {c}", "env -i {c}", "env -u A {c}", "env -S '{c}'", "sudo {c}",
    "sudo -u root {c}", "sudo -E {c}", "doas {c}", "exec {c}", "setsid {c}", "ionice -c 3 {c}",
    "chrt 1 {c}", "taskset 1 {c}", "flock /tmp/l {c}", "flock -n l -c '{c}'", "unshare -r {c}",
    "nsenter -t 1 {c}", "pkexec {c}", "noglob {c}", "chroot / {c}", "su -c '{c}'", "runuser -u x -- {c}",
    "busybox {c}", "xargs {c}", "xargs -I X {c}", "watch {c}", "strace {c}", "strace -f -o l {c}",
    "bash -c '{c}'", "sh -c \"{c}\"", "zsh -c '{c}'", "bash -lc '{c}'", "eval '{c}'", "eval {c}",
    "nocorrect {c}", "then {c}", "do {c}", "firejail {c}", "proxychains {c}", "catchsegv {c}",
    "script -qc '{c}' /dev/null", "bash <<< '{c}'", "bash <<'E'\n{c}\nE", "echo '{c}' | sh",
    "systemd-run {c}", "ssh localhost '{c}'", "dbus-run-session {c}", "ltrace {c}", "prlimit {c}",
    "setarch x86_64 {c}", "linux64 {c}", "unbuffer {c}", "cgexec {c}", "numactl {c}", "fakeroot {c}",
)  # fmt: skip

ASSIGNMENTS = (
    "FOO=1 {c}", "NODE_ENV=test {c}", "LANG=C {c}", "PATH=/x {c}", "LD_PRELOAD=x {c}", "A=$(x) {c}",
    "TZ=UTC LC_ALL=C {c}", "NO_COLOR=1 {c}", "A+=1 {c}", "A= {c}", "A='b c' {c}", "CI=true {c}",
    "GIT_DIR=x {c}", "IFS=x {c}", "A=1 B=2 {c}",
)  # fmt: skip

SHAPES = (
    "{c} && {d}", "{c} || {d}", "{c}; {d}", "{c} | {d}", "{c} |& {d}", "{c}\n{d}", "{c} & {d}", "{c} &",
    "({c})", "{ {c}; }", "! {c}", "if {c}; then {d}; fi", "while {c}; do {d}; done",
    "for i in a b; do {c}; done", "for f in *.txt; do cat $f; done", "case x in x) {c};; esac",
    "$({c})", "echo $({c})", "echo `{c}`", "echo \"$({c})\"", "cat <({c})", "{c} > >({d})",
    "{c} 2>/dev/null", "{c} 2>&1", "{c} >/dev/null 2>&1", "{c} > /dev/stdout", "{c} 2> /dev/stderr",
    "{c} &> /dev/null", "{c} < /dev/null", "{c} <<'E'\nhi\nE", "{c} <<E\n$(x)\nE", "{c} <<< x",
    "{c} # comment", "# comment\n{c}", "{c} \\\n  x", "{c} | tee out.txt", "{c} | head -5",
    "{c} | grep x", "{c} | wc -l", "{c} | sort | uniq -c", "{c} | xargs {d}", "{c} | sh",
    "f() { {c}; }; f", "set -e; {c}", "cd src && {c}", "cd @O && {c}", "cd .. && {c}", "cd && {c}",
    "cd src; {c}; {d}", "{c} {d}", "{c}\r", "{c}\u00a0x", "{c}\u200b", "[[ a =~ b ]] && {c}",
    "((x=1)) && {c}", "{c} $((1+1))", "{c} {x,y}", "{c} $'a'", "{c} $\"a\"", "{c} 'un", "{c} ~/x",
    "X=1; {c}", "X=1 && {c} $X", "export X=1; {c}", "until {c}; do {d}; done", "select i in a; do {c}; done",
    "coproc {c}", "{c} | while read l; do {d}; done", "mkdir -p objects refs hooks && {c}",
    "touch HEAD; git status; {c}", "unset X; {c}", "shopt -s extglob; {c}", "true && {c}", "echo a; {c}",
)  # fmt: skip
