"""Generates permission rules: all tools, all forms, malformed ones among them."""

from __future__ import annotations

import random

from tests.e2e.real_cli.policy.scenario import PlacedRule

__all__ = ["BEHAVIORS", "everyday_rules", "matching_commands", "matching_paths", "wild_rules"]

BASH = (
    "npm:*", "npm run *", "npm run build", "npm test", "npm *", "npm test:*", "make", "make:*", "make *",
    "lint *", "deploy:*", "* --version", "git push:*", "git *", "git commit:*", "git commit *", "git:*",
    "git status", "git log:*", "git add:*", "rm:*", "rm -rf *", "rm -rf build", "rm *", "rmdir:*",
    "touch:*", "mkdir:*", "mv:*", "cp:*", "ls:*", "ls", "cat:*", "cat *", "cat secret.txt", "echo hi",
    "echo:*", "echo *", "npm test && make", "find:*", "find *", "xargs:*", "sed:*", "sed *", "awk:*",
    "python3:*", "python:*", "python3 *", "node:*", "bash:*", "sh:*", "bash -c:*", "bash *", "env:*",
    "sudo:*", "eval:*", "cd:*", "cd *", "curl:*", "tee:*", "timeout:*", "timeout 5 npm test", "time:*",
    "xargs rm:*", "git -C:*", "git config:*", "git branch:*", "sort:*", "jq:*", "[:*", "test:*", "export:*",
    "docker:*", "* install", "*", "**", "npm t?st", "n*m test", "NODE_ENV=test npm test", "FOO=1 npm:*",
    "./npm:*", "/usr/bin/npm:*", "cat:*.txt", "grep:*", "grep *", "head:*", "tail:*", "pushd:*", "dd:*",
    "chmod:*", "ln:*", "pytest:*", "pip:*", "cargo:*", "go:*", "for:*", "source:*", "exec:*", "kill:*",
    "run_in_background:true", "command:npm", "command:*", "timeout:5000", "description:d",
    "dangerouslyDisableSandbox:true", "git commit -m *", "echo \\*", "echo \\(x\\)", "cat <<:*",
    "git * main", "* test", "npm  test", "npm run:*", "'npm' test", "cat *.txt", "npm test *", "ls -la:*",
    "cd src && npm test", "cd src && npm test:*", "npm test; make", "npm test | tee:*", "npm test > out.txt",
    "sed -i:*", "find . -name:*", "find . -exec:*", "git diff:*", "git diff *", "git -C * status", "rm -rf ./*",
    "printf:*", "xargs *", "nohup:*", "nice:*", "env *", "sh -c *", "command:*", "builtin:*", "time *", "uniq:*",
    "tee *", "ls *", "wc:*", "stat:*", "pwd", "date:*", "which:*", "diff:*", "tree:*", "true", "awk *", "jq *",
    "* *", "*npm*", "npm*", "git*", "g* status", "cat:* ", " cat:*", "cat\\ a.txt", "kill *", "set:*", "read:*",
    "curl https://example.invalid/*", "docker run:*", "pkill:*", "make *test*", "NPM:*", "/bin/rm:*", "rm -rf /:*",
)  # fmt: skip
PATHS = (
    "./secret.txt", "secret.txt", "src/**", "/src/**", "/@O/**", "/@O/x.txt", "./**", "**", "*", "/**",
    "//**", "*.md", "*.txt", ".env", "**/.env", "~/notes.txt", "~/**", "~/.ssh/**", "/docs/**", "docs/",
    "src", "src/", "src/*", "src/*.py", "//etc/**", "//etc/hosts", "///etc/hosts", "///@O/**", "///**",
    "@O/**", "@P/secret.txt", "/@P/secret.txt", "/@P/**", "../outside/**", "!secret.txt", "Secret.TXT",
    ".git/**", ".bashrc", "link/**", "/@O", "srclink/**", "new.txt", "{a,secret}.txt", "s*t.txt", "[as]*.txt",
    "s?cret.txt", "secret.txt:*", "out.txt", "build/**", "/build/**", "x~1", "x.", "./src/../secret.txt",
    "$HOME/**", "~", "/", ".", "..", "node_modules/**", "./docs/**", "~/.bashrc", "//dev/**", "//tmp/**",
    ".claude/**", "~/.claude/**", "/tmp/**", "**/*.py", "src/**/*.py", "a.txt", "/a.txt", "link", "HEAD",
    "./", "./*", "**/*", "**/src", "**/src/**", "src/**/", "src/[ab].py", "src//a.py", "//", "~/", "~/*", "\\*.txt", "#x",
    "a.txt,b.md", " secret.txt", "secret.txt ", "/./src/**", "/../outside/**", "docs/*.md", "*.{txt,md}", "**.txt", "src/***",
    "[!s]*.txt", "?.txt", ".*", ".?*", "*/", "*/*", "a*", "**/a*", "/*", "/*.txt", "//*", "//@O/**", "//@P/src", "@H/**", "/@H/**",
    "$PWD/**", "%USERPROFILE%/**", "C:/**", "c:\\**", "src\\**", "file://**", "~root/**", "~/.claude/settings.json", "link/x.txt",
    "//proc/**", "//dev/null", "/dev/**", "//tmp", "build", "build/", "*.o", "tests/**", "!src/**", "with space.txt", "[[]x]", "x~*",
)  # fmt: skip
DOMAINS = (
    "domain:example.invalid", "domain:*.example.invalid", "domain:EXAMPLE.invalid", "domain:*",
    "domain:example.invalid:8080", "https://example.invalid/*", "example.invalid", "domain:",
    "domain:docs.python.org", "domain:.example.invalid", "domain:*.invalid", "url:https://example.invalid/a",
    "domain:example.*", "domain:*example.invalid", "domain:example.invalid/", "domain:example.invalid/a", "domain: example.invalid",
    "domain:example.invalid.", "domain:https://example.invalid", "domain:127.0.0.1", "domain:github.com", "domain:*.python.org",
    "domain:**", "domain:*.*", "domain:www.*.invalid", "Domain:example.invalid", "domain:ex%61mple.invalid", "url:*",
)  # fmt: skip
WHOLE = (
    "Bash", "Read", "Edit", "Write", "WebFetch", "WebSearch", "Glob", "Grep", "Task", "Agent", "Skill",
    "NotebookEdit", "TodoWrite", "Bash(*)", "Read(*)", "Edit(*)", "Write(*)", "WebFetch(*)", "Monitor",
    "AskUserQuestion", "mcp__srv", "mcp__srv__echo", "mcp__srv__*", "mcp__*", "mcp__srv__ec*", "mcp__srv__add",
    "mcp__other", "Bash()", "MultiEdit", "SlashCommand", "ExitPlanMode", "Skill(*)", "*",
    "mcp__srv__x", "mcp__srv__x__*", "mcp__srv__x__echo", "mcp__s*", "mcp__*__echo", "mcp__srv__*__echo", "mcp__srv*", "Web*", "*Edit",
    "LS", "NotebookRead", "BashOutput", "KillShell", "Task(*)", "Agent(*)", "mcp__srv__echo*", "Read(**)", "Edit(**)", "Glob(*)", "NotebookEdit(*)",
)  # fmt: skip
NARROW = (
    "Skill(plain)", "Skill(plain:*)", "Skill(tools)", "Skill(hooked)", "Skill(pl*)", "Skill(/plain)",
    "Task(Explore)", "Task(general-purpose)", "Agent(Explore)", "Agent(Plan)", "Task(model:opus)",
    "Agent(model:opus)", "Agent(model:*)", "Write(content:x)", "Write(file_path:*)", "Task(description:d)",
    "SlashCommand(/plain)", "Glob(src/**)", "Grep(src/**)", "NotebookEdit(src/**)", "Skill(agentic)",
    "Monitor(npm:*)", "WebSearch(x)", "TodoWrite(x)", "Read(file_path:a.txt)", "Edit(old_string:x)",
    "Task(run_in_background:true)", "Glob(pattern:*)", "WebFetch(prompt:p)",
    "Task(own)", "Agent(own)", "Agent(o*)", "Task(subagent_type:Explore)", "Agent(prompt:*)", "Skill(mine)", "Skill(mi*)", "Skill(command)",
    "Skill(skill:plain)", "Skill(args:x)", "Skill(tools:*)", "Skill( plain)", "Edit(replace_all:true)", "Edit(new_string:*)", "NotebookEdit(new_source:x)",
    "Monitor(command:*)", "Monitor(*)", "Monitor(timeout_ms:1000)", "mcp__srv__echo(text:x)", "WebSearch(query:*)", "Grep(pattern:x)", "Read(limit:5)",
    "Bash(description:*)", "Bash(timeout:*)", "Bash(run_in_background:false)", "Bash(RUN_IN_BACKGROUND:true)", "Bash(run_in_background: true)", "Bash(cwd:x)",
)  # fmt: skip
MALFORMED = (
    "", "bash(ls)", "Bash(", "Bash)", "Bash(ls", "Bash ls", "Bash(go:*x)", "Bash(:*)", "Bash(npm:* x)",
    "(ls)", "Bash(ls))", "Bash((ls)", "mcp__srv(x)", "mcp__", "Read()", "Edit( )", "Foo", "Foo(x)", "read(a)",
    " Bash(ls:*)", "Bash(ls:*) ", "Bash (ls:*)", "Bash(npm test\n)", "**", "Ba*", "mcp__srv__echo(x)",
)  # fmt: skip

PLACES = ("user", "user", "project", "local", "flag", "allowedTools")
BEHAVIORS = ("allow", "allow", "allow", "deny", "ask")


def _text(dice: random.Random) -> str:
    kind = dice.random()
    if kind < 0.45:
        return f"Bash({dice.choice(BASH)})"
    if kind < 0.72:
        return f"{dice.choice(('Read', 'Read', 'Edit', 'Edit', 'Write'))}({dice.choice(PATHS)})"
    if kind < 0.77:
        return f"WebFetch({dice.choice(DOMAINS)})"
    if kind < 0.88:
        return dice.choice(WHOLE)
    if kind < 0.96:
        return dice.choice(NARROW)
    return dice.choice(MALFORMED)


def _place(dice: random.Random, rule: str) -> PlacedRule:
    where, behavior = dice.choice(PLACES), dice.choice(BEHAVIORS)
    if where == "allowedTools":
        # The command line splits rules at commas and blanks; what that gives is not the question.
        if any(char in rule for char in " ,\n") or not rule:
            return "user", behavior, rule
        return ("disallowedTools" if behavior == "deny" else where), behavior, rule
    return where, behavior, rule


def wild_rules(dice: random.Random) -> tuple[PlacedRule, ...]:
    """Rules of every form, in every scope."""
    count = dice.choice((0, 1, 1, 2, 3, 4, 6))
    rules = [_place(dice, _text(dice)) for _ in range(count)]
    if dice.random() < 0.35:
        # A broad allow rule shows what the CLI asks about in spite of it.
        rules.append(("user", "allow", dice.choice(("Bash", "Bash(*)", "Edit", "Write", "Read"))))
    return tuple(
        ("user" if where == "allowedTools" and behavior == "ask" else where, behavior, rule)
        for where, behavior, rule in rules
    )


def everyday_rules(dice: random.Random) -> tuple[PlacedRule, ...]:
    """Rules that people have in their settings."""
    common = (
        "Bash(npm run *)", "Bash(npm test:*)", "Bash(git commit:*)", "Bash(git add:*)", "Bash(make:*)",
        "Bash(npm:*)", "Bash(pytest:*)", "Bash(git push:*)", "Edit(src/**)", "Edit(./**)", "Read(~/**)",
        "WebFetch(domain:example.invalid)", "Bash(cargo:*)", "Bash(tee:*)", "Bash(git *)", "Bash(mkdir:*)",
        "Edit(/src/**)", "Bash(python3:*)", "Bash(docker:*)", "Bash(gh pr:*)",
    )  # fmt: skip
    forbidden = (
        ("deny", "Read(.env)"), ("deny", "Bash(rm:*)"), ("deny", "Bash(curl:*)"), ("deny", "Bash(sudo:*)"),
        ("ask", "Bash(git push:*)"), ("deny", "Read(./secret.txt)"), ("deny", "Edit(.env)"),
    )  # fmt: skip
    rules: list[PlacedRule] = [
        (dice.choice(("user", "project", "local")), "allow", rule)
        for rule in dice.sample(common, dice.choice((0, 1, 2, 3, 4)))
    ]
    if dice.random() < 0.4:
        behavior, rule = dice.choice(forbidden)
        rules.append(("user", behavior, rule))
    return tuple(rules)


def matching_commands(rule: str) -> list[str]:
    """Commands that a Bash rule is about: what it names, alone and with an argument."""
    if not rule.startswith("Bash(") or not rule.endswith(")"):
        return []
    content = rule[5:-1].replace("\\", "")
    stem = content.removesuffix(":*").removesuffix("*").replace("*", "x").strip()
    if not stem:
        return []
    return [stem, f"{stem} x", f"{stem} {{p}}", f"{stem} -x {{p}}"]


def matching_paths(rule: str) -> list[str]:
    """Paths that a file rule is about: its pattern with names in place of stars."""
    tool, _, content = rule.partition("(")
    if tool not in ("Read", "Edit", "Write") or not content.endswith(")"):
        return []
    pattern = content[:-1]
    for star, name in (("/**", "/new.txt"), ("**/", "src/"), ("*", "secret"), ("?", "e")):
        pattern = pattern.replace(star, name)
    if pattern.startswith("//"):
        pattern = "/" + pattern.lstrip("/")
    elif pattern.startswith("/@") or (pattern.startswith("/") and len(pattern) > 1):
        pattern = pattern[1:]
    names = [pattern, f"./{pattern}"] if not pattern.startswith(("/", "@", "~")) else [pattern]
    return [name for name in names if name]
