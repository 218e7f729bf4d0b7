"""What people type in a project: the mix that must mostly come out equal.

Single commands with the options that people use, and the ways in which they join them.
"""

from __future__ import annotations

import random

__all__ = ["EVERYDAY", "everyday_command"]

EVERYDAY = (
    "ls", "ls -la", "ls -la src", "ls src docs", "ls *.txt", "pwd", "cat a.txt", "cat src/a.py",
    "cat package.json", "head -20 src/a.py", "head -n 50 a.txt", "tail -n 20 a.txt", "wc -l src/a.py",
    "grep -rn foo src", "grep -r \"def main\" src", "grep -n -A 3 foo src/a.py", "grep -B2 -A2 foo a.txt",
    "grep -i foo a.txt", "grep -rl foo .", "grep -E 'a|b' a.txt", "grep -c foo a.txt", "grep -v foo a.txt",
    "grep --include='*.py' -rn foo .", "rg foo", "rg -n foo src", "rg -l foo", "rg -A 3 foo src",
    "rg --files", "rg -t py foo", "find . -name '*.py'", "find src -type f", "find . -maxdepth 2 -name a.txt",
    "find . -name '*.py' | head -20", "find . -type f | wc -l", "sort a.txt", "sort a.txt | uniq -c",
    "sort -rn a.txt", "sort -k2 a.txt", "uniq -c a.txt", "cut -d, -f1 a.txt", "diff a.txt b.md",
    "diff -u a.txt b.md", "stat a.txt", "file a.txt", "du -sh .", "du -sh src", "df -h", "which python3",
    "echo hi", "echo \"done\"", "date", "whoami", "uname -a", "tree -L 2", "jq . package.json",
    "jq '.scripts' package.json", "jq -r .name package.json", "sed -n '1,20p' src/a.py", "basename a.txt",
    "git status", "git status -s", "git status -sb", "git status --porcelain", "git diff", "git diff --stat",
    "git diff HEAD", "git diff --cached", "git diff HEAD~1", "git diff main..HEAD", "git diff -- src/a.py",
    "git log", "git log --oneline", "git log --oneline -10", "git log -n 5", "git log -3 --stat",
    "git log --oneline --graph --all", "git log -p -1", "git log --since=yesterday", "git show", "git show HEAD",
    "git show --stat HEAD", "git branch", "git branch -a", "git branch --show-current", "git remote -v",
    "git rev-parse HEAD", "git rev-parse --abbrev-ref HEAD", "git blame src/a.py", "git stash list",
    "git ls-files", "git tag", "git tag -l", "git log --format='%h %s' -5", "git show HEAD:src/a.py",
    "git log --author=x --oneline", "git diff --name-only HEAD~3", "git describe --tags",
    "git add .", "git add src/a.py", "git commit -m 'Fix it'", "git commit -m \"Add x\"",
    "git commit -m \"$(cat <<'EOF'\nFix the thing.\n\nBecause it was broken.\nEOF\n)\"",
    "git add -A && git commit -m 'x'", "git push", "git push origin main", "git checkout -b new",
    "git checkout main", "git pull", "git fetch", "git stash", "git merge main", "git rebase main",
    "npm test", "npm run build", "npm run lint", "npm install", "npm ci", "npm run test -- -t x",
    "npm test 2>&1 | tail -20", "npm run build 2>&1 | head -50", "npx tsc --noEmit", "yarn test",
    "make", "make test", "make -j4", "make clean && make", "pytest", "pytest -q", "pytest tests/test_a.py -x",
    "python -m pytest -q", "python3 src/a.py", "python3 -c 'print(1)'", "python --version", "node -v",
    "node --version", "npm --version", "pip list", "pip install x", "cargo test", "cargo build", "go test ./...",
    "go build", "tsc --noEmit", "ruff check .", "mypy src", "eslint .", "prettier --check .", "docker ps",
    "docker logs x", "gh pr list", "gh pr view 1", "gh issue list", "curl -s https://example.invalid",
    "mkdir -p build/x", "mkdir src/new", "touch src/new.py", "rm build/out.o", "rm -rf build", "mv a.txt c.txt",
    "cp a.txt c.txt", "chmod +x a.txt", "ln -s a.txt l", "echo x > out.txt", "echo x >> out.txt",
    "cat a.txt | grep foo", "cat a.txt | grep foo | wc -l", "ls | head", "ls src && cat src/a.py",
    "cd src && ls", "cd src && cat a.py", "cd src && npm test", "cd .. && ls", "test -f a.txt && echo yes",
    "[ -f a.txt ] && echo yes", "[ -d src ]", "cat a.txt 2>/dev/null", "ls nothere 2>/dev/null || true",
    "ls -la | grep x", "echo a | tee out.txt", "sleep 1", "true", "env | grep PATH", "ps aux | grep node",
    "kill 123", "for f in src/*.py; do echo $f; done", "if [ -f a.txt ]; then cat a.txt; fi",
    "cat ../outside/x.txt", "cat @O/x.txt", "ls @O", "cat ~/notes.txt", "cat /etc/hosts", "cat .env",
    "cat secret.txt", "timeout 10 npm test", "time make", "NODE_ENV=test npm test", "DEBUG=1 npm test",
    "sudo make install", "bash run.sh", "./run.sh", "sh -c 'ls'", "export A=1", "source .venv/bin/activate",
    "sed -i 's/a/b/' a.txt", "awk '{print $1}' a.txt", "xargs ls < a.txt", "find . -name '*.o' -delete",
    "tar czf x.tgz src", "echo $HOME", "echo $PATH", "ls $HOME", "cat \"a.txt\"", "cat 'a.txt'",
    "cat <<'E' > out.txt\nhi\nE", "python3 - <<'E'\nprint(1)\nE", "git log | head -5 && git status",
    # Searching and reading
    "grep -rn 'TODO' src", "grep -rn \"import os\" --include='*.py' src", "grep -n 'def ' src/a.py", "grep -rin error .", "grep -rnw foo src", "grep -rn -C 3 foo src",
    "grep -l foo src/a.py docs/readme.md", "grep -o 'a.*b' a.txt", "grep -rnE 'foo|bar' src", "grep -q foo a.txt", "grep -rn foo src | head -20", "grep -rn foo src | wc -l", "grep -rn foo . --exclude-dir=node_modules",
    "rg 'foo bar'", "rg -i foo src docs", "rg -n 'def main' -g '*.py'", "rg --type py -l foo", "rg -c foo", "rg -w foo", "rg -C 2 foo src", "rg foo | head", "rg --files | wc -l", "rg --files -g '*.md'",
    "find . -type f -name '*.txt'", "find . -name '*.py' -not -path './node_modules/*'", "find . -type d -name src", "find . -name '*.py' -mtime -1", "find src -name '*.py' | xargs wc -l", "find . -iname '*readme*'",
    "find . -type f -size +1M", "find . -maxdepth 1 -type d", "find . -name '*.py' -o -name '*.md'", "find . -empty", "find . -name a.txt -print", "find . -type f | sort | head", "find . -name '*.pyc' -exec rm {} +",
    "ls -l", "ls -a", "ls -lah", "ls -lt | head -5", "ls -1 src", "ls -R src", "ls -d */", "ls -S", "ls src/*.py", "ls -la .git", "ls ..", "ls /tmp", "ls -la ~", "ls ./src/", "ls 'docs'",
    "cat -n src/a.py", "cat a.txt b.md", "cat Makefile", "cat src/a.py | head -40", "cat package.json | jq .name", "cat docs/readme.md", "cat .git/config", "cat -A a.txt", "cat src/main.c docs/readme.md",
    "head a.txt", "head -1 a.txt", "head -c 100 a.txt", "head -n 5 src/a.py b.md", "tail a.txt", "tail -5 a.txt", "tail -f a.txt", "tail -n +10 a.txt", "tail -c 50 a.txt", "wc a.txt", "wc -l src/*.py", "wc -w docs/readme.md", "wc -c a.txt",
    "sed -n '5,10p' a.txt", "sed -n 3p a.txt", "sed 's/foo/bar/g' a.txt", "sed -i 's/foo/bar/g' src/a.py", "sed -e 's/a/b/' -e 's/c/d/' a.txt", "sed '1d' a.txt", "sed -n '/foo/p' a.txt", "sed -E 's/(a)b/\\1/' a.txt",
    "awk '{print $2}' a.txt", "awk -F, '{print $1}' a.txt", "awk 'NR==1' a.txt", "awk '/foo/ {print}' a.txt", "cut -f2 a.txt", "cut -c1-10 a.txt", "cut -d' ' -f1,3 a.txt", "tr a-z A-Z < a.txt", "sort -u a.txt", "sort -n a.txt | uniq", "sort -t, -k2 -n a.txt",
    "uniq a.txt", "sort a.txt | uniq -c | sort -rn | head", "diff -r src docs", "diff <(ls src) <(ls docs)", "comm -12 a.txt b.md", "cmp a.txt b.md", "tee out.txt < a.txt", "xargs -n1 echo < a.txt", "jq '.scripts | keys' package.json", "jq -r '.a[]' package.json",
    "jq '.dependencies' package.json", "jq . a.json", "jq length package.json", "jq '.a.b' package.json", "file src/a.py", "stat src", "du -h src | sort -h", "du -sh *", "du -d 1 .", "df", "tree", "tree src", "tree -a -I node_modules", "basename src/a.py .py", "dirname src/a.py", "realpath a.txt", "readlink -f a.txt", "md5sum a.txt", "sha256sum a.txt", "base64 a.txt", "xxd a.txt | head", "strings a.txt", "column -t a.txt", "nl a.txt", "od -c a.txt | head", "less a.txt", "rev a.txt", "tac a.txt",
    # Git
    "git status --short", "git status -uno", "git status src", "git diff src/a.py", "git diff --staged", "git diff -w", "git diff HEAD~3 HEAD", "git diff main", "git diff main...HEAD", "git diff --name-status main", "git diff --stat HEAD~1", "git diff --shortstat", "git diff HEAD -- docs", "git diff --color=never", "git diff -U0", "git --no-pager diff",
    "git log -1", "git log -5 --oneline", "git log --stat -2", "git log --oneline main..HEAD", "git log --graph --oneline -20", "git log -- src/a.py", "git log --follow src/a.py", "git log -p src/a.py", "git log --grep=fix", "git log --all --oneline", "git log --pretty=format:'%h %an %s'", "git log --pretty=oneline -5", "git log --name-only -3", "git log --date=short -3", "git log -S foo", "git log --no-merges -5", "git --no-pager log -5", "git log --author='A B'", "git log --since='2 weeks ago'", "git log --reverse", "git log -L 1,5:src/a.py", "git log origin/main", "git log --first-parent -5", "git log v1.0..v2.0 --oneline",
    "git show HEAD~1", "git show --name-only", "git show HEAD --stat", "git show abc1234", "git show main:src/a.py", "git show -s --format=%B", "git blame -L 1,10 src/a.py", "git branch -v", "git branch -vv", "git branch -r", "git branch --list", "git branch --merged", "git branch new-branch", "git branch -d old", "git branch -D old", "git branch --contains HEAD", "git remote", "git remote show origin", "git remote get-url origin", "git rev-parse --show-toplevel", "git rev-parse --short HEAD", "git rev-parse --git-dir", "git rev-list --count HEAD", "git merge-base main HEAD", "git ls-files src", "git ls-files -m", "git ls-files --others --exclude-standard", "git ls-tree HEAD", "git grep foo", "git grep -n foo", "git grep -i 'foo bar' -- src", "git stash show -p", "git stash pop", "git stash push -m x", "git tag --list 'v*'", "git tag v1.0", "git config --get user.email", "git config --list", "git config user.name x", "git reflog", "git reflog -5", "git shortlog -sn", "git worktree list", "git worktree add ../wt main", "git cat-file -p HEAD", "git for-each-ref", "git describe", "git submodule status", "git check-ignore a.txt", "git count-objects", "git fsck", "git help log", "git --version",
    "git add -A", "git add -p", "git add src docs", "git add -u", "git commit -am 'Fix'", "git commit", "git commit --amend --no-edit", "git commit -m 'Fix the bug' -m 'More'", "git commit --allow-empty -m x", "git commit -m \"Fix: it's done\"", "git commit -F msg.txt", "git push -u origin HEAD", "git push --force-with-lease", "git push --tags", "git pull --rebase", "git pull origin main", "git fetch --all", "git fetch origin main", "git checkout -- src/a.py", "git checkout HEAD~1 src/a.py", "git switch main", "git switch -c new", "git restore a.txt", "git restore --staged a.txt", "git reset HEAD~1", "git reset --hard HEAD", "git reset", "git rebase -i HEAD~3", "git rebase --continue", "git merge --no-ff x", "git cherry-pick abc1234", "git revert HEAD", "git rm a.txt", "git mv a.txt c.txt", "git clean -fd", "git clean -n", "git init", "git clone https://example.invalid/x.git", "git apply x.patch", "git bisect start", "git -C src status", "git -C src log --oneline",
    # Packages, tests and builds
    "npm run", "npm run dev", "npm start", "npm run test:unit", "npm run build --silent", "npm test -- --watch", "npm test -- src/a.test.js", "npm run lint -- --fix", "npm install --save-dev x", "npm install x@1.2.3", "npm uninstall x", "npm ls", "npm ls --depth=0", "npm outdated", "npm audit", "npm view x version", "npm publish", "npm pack", "npm init -y", "npm run build && npm test", "npm ci && npm run build", "npm config get registry", "npx eslint src", "npx prettier --write .", "npx jest", "npx vitest run", "npx tsc -p .", "yarn", "yarn install", "yarn build", "yarn add x", "yarn lint", "pnpm install", "pnpm test", "pnpm -r build", "pnpm run dev", "bun test", "bun install", "bun run dev", "deno test", "node src/a.js", "node -e 'console.log(1)'", "node -p 1+1", "node --test", "tsc", "tsc -p tsconfig.json", "eslint src --fix", "prettier --write src", "vitest", "jest", "jest --coverage", "webpack", "vite build",
    "pytest -x -q", "pytest tests", "pytest tests/test_a.py::test_b", "pytest -k foo", "pytest -v --tb=short", "pytest -n 4", "pytest --lf", "pytest -q 2>&1 | tail -20", "pytest tests -q | tail -5", "pytest --cov=src", "pytest -m 'not slow'", "python -m pytest tests -q", "python3 -m pytest", "python src/a.py", "python3 --version", "python -V", "python -m venv .venv", "python -m http.server", "python -c \"import sys; print(sys.version)\"", "python3 -m json.tool package.json", "pip install -r requirements.txt", "pip install -e .", "pip freeze", "pip show x", "pip --version", "uv sync", "uv run pytest", "uv pip install x", "poetry install", "poetry run pytest", "ruff check src --fix", "ruff format .", "ruff format --check .", "mypy .", "mypy --strict src", "black .", "black --check src", "isort .", "flake8", "tox", "nox -s tests", "pre-commit run --all-files", "alembic upgrade head", "python manage.py migrate", "coverage report",
    "make build", "make -n", "make help", "make lint test", "make -C src", "make VERBOSE=1", "make test 2>&1 | tail -30", "cmake -B build", "cmake --build build", "ninja -C build", "gcc -o x src/main.c", "cargo check", "cargo run", "cargo clippy", "cargo fmt", "cargo test -- --nocapture", "cargo build --release", "cargo --version", "rustc --version", "go vet ./...", "go run .", "go mod tidy", "go fmt ./...", "go version", "go test -v ./pkg", "mvn test", "./gradlew build", "gradle test", "dotnet build", "bundle install", "bundle exec rspec", "rake", "composer install", "php -v", "java -version", "ruby -v",
    # Containers, services, the machine
    "docker ps -a", "docker images", "docker build -t x .", "docker run --rm x", "docker compose up -d", "docker compose logs", "docker compose ps", "docker exec x ls", "docker logs --tail 50 x", "docker stop x", "docker rm x", "docker inspect x", "docker --version", "docker system df", "kubectl get pods", "kubectl logs x", "kubectl describe pod x", "kubectl apply -f x.yml", "helm list", "terraform plan", "terraform apply", "aws s3 ls", "gcloud config list", "gh pr create --fill", "gh pr checks", "gh pr diff", "gh pr status", "gh run list", "gh run view 1", "gh repo view", "gh api user", "gh issue view 1", "gh auth status",
    "ps", "ps aux", "ps -ef | grep python", "top -b -n 1", "kill -9 123", "pkill node", "pgrep -f server", "lsof -i :3000", "netstat -an", "ss -tlnp", "uptime", "free -h", "nproc", "uname", "hostname", "id", "groups", "date +%Y-%m-%d", "date -u", "cal", "env", "printenv HOME", "printenv", "history", "which node npm", "type ls", "command -v node", "echo $?", "echo $USER", "echo \"$HOME\"", "ulimit -n", "man ls", "curl https://example.invalid/api", "curl -sS -X POST https://example.invalid -d '{}'", "curl -I https://example.invalid", "curl -o x.zip https://example.invalid/x.zip", "wget https://example.invalid/x", "ping -c 1 example.invalid", "dig example.invalid", "ssh host ls", "scp a.txt host:", "rsync -av src/ dst/", "sudo apt install x", "apt list --installed", "brew install x", "systemctl status x", "journalctl -u x", "crontab -l", "sqlite3 x.db .tables", "psql -c 'select 1'", "redis-cli ping",
    # Files
    "mkdir build", "mkdir -p src/a/b", "touch a.txt b.md", "touch .env.local", "rm a.txt", "rm -f build/out.o", "rm -r build", "rm -rf node_modules", "rm -rf dist build", "rm *.o", "rm src/new.py", "rmdir build", "mv src/a.py src/b.py", "mv a.txt docs/", "mv build dist", "cp -r src copy", "cp src/a.py src/b.py", "cp a.txt docs/", "cp -a src dst", "ln -sf a.txt l", "chmod 644 a.txt", "chmod -R u+w src", "chown x a.txt", "tar xzf x.tgz", "tar tf x.tgz", "zip -r x.zip src", "unzip x.zip", "gzip a.txt", "split -l 100 a.txt", "truncate -s 0 a.txt",
    "echo 'hello world'", "echo -n x", "echo \"a: $A\"", "echo hi > a.txt", "echo 'x' >> docs/readme.md", "echo '{}' > x.json", "echo done && date", "printf 'a\\n'", "printf '%s\\n' a b", "cat > out.txt <<'E'\nhello\nE", "cat <<'E' >> docs/readme.md\nmore\nE", "cat a.txt > c.txt", "cat a.txt >> c.txt", "ls > out.txt", "ls > /dev/null", "sort a.txt > sorted.txt", "grep foo a.txt > out.txt", "tee -a out.txt", "seq 5", "seq 1 10 | head -3", "sleep 5 && echo done", "true && echo ok", "false || echo failed", "test -d src", "test -f a.txt || touch a.txt", "[ -z \"$A\" ] && echo empty", "[ \"$A\" = b ]", "[[ -f a.txt ]] && cat a.txt", "if [ -d src ]; then ls src; fi", "for i in 1 2 3; do echo $i; done", "for f in *.txt; do wc -l \"$f\"; done", "while read l; do echo $l; done < a.txt", "ls | while read f; do echo $f; done", "(cd src && ls)", "{ ls; pwd; }", "a=1; echo $a", "A=1 B=2 npm test", "export PATH=$PATH:/x", "unset A", "alias ll='ls -l'", "set -e; npm test", "set -euo pipefail", "trap 'echo x' EXIT", "npm test &", "npm start > log.txt 2>&1 &", "nohup npm start &", "wait", "jobs", "time npm test", "timeout 60 pytest", "nice make", "xargs rm < a.txt", "ls | xargs -I{} echo {}", "echo $(date)", "echo \"$(git rev-parse HEAD)\"", "cd \"$(git rev-parse --show-toplevel)\"", "cd src", "cd ..", "cd -", "cd ~", "cd src && git status", "cd src && grep -rn foo .", "cd docs && ls -la && cd ..", "pushd src", "bash -c 'ls'", "bash -n run.sh", "sh run.sh", "./run.sh --flag", "source .env", ". .venv/bin/activate", "eval \"$(x)\"", "exit 0", "clear", "pwd && ls", "ls -la && cat a.txt", "ls; pwd", "cat a.txt; echo; cat b.md", "ls src || ls docs", "git status && git diff", "git add . && git commit -m 'x' && git push", "git fetch && git status", "npm run lint && npm test", "# list files\nls", "ls -la\ngit status", "npm run build \\\n  --silent", "vim a.txt", "nano a.txt", "code .", "open .",
)  # fmt: skip

_JOINED = ("{a} && {b}", "{a}; {b}", "{a} | head -20", "{a} | tail -5", "{a} 2>&1 | tail -20", "{a} 2>/dev/null", "{a} | wc -l", "{a} | grep foo", "{a} || true", "{a} 2>&1", "cd src && {a}", "{a} > /dev/null 2>&1", "{a}\n{b}", "{a} | sort", "echo start && {a}")  # fmt: skip
"""How two commands are joined, or one is followed by a filter."""


def everyday_command(dice: random.Random) -> str:
    """A command that people type; one in ten is joined with another one or with a filter."""
    command = dice.choice(EVERYDAY)
    if dice.random() >= 0.1 or "\n" in command or command.endswith("&"):
        return command
    other = dice.choice([text for text in EVERYDAY if "\n" not in text])
    return dice.choice(_JOINED).replace("{a}", command).replace("{b}", other)
