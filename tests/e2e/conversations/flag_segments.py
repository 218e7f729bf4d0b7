"""Segments about flags of the command line: tools, folders, models, settings and sources."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.e2e.conversations.draft import Draft

OVERLOADED = 529


def flags(draft: Draft) -> None:
    """One or two flags, and tools that they concern."""
    for name in draft.random.sample(sorted(CASES), draft.one_of(1, 1, 2)):
        CASES[name](draft)
    draft.reply(draft.text())
    draft.turn()
    if draft.chance(0.4):
        draft.reply(draft.text("Again."))
        draft.turn()
    draft.is_last = True  # answers for requests that a flag prevents are left over


def _tools(draft: Draft) -> None:
    draft.flags += ["--tools", draft.one_of("", "Bash", "Bash,Read", "default")]
    draft.files["project/a.txt"] = "one\n"
    draft.reply(draft.bash("ls"))
    draft.reply(draft.tool("Read", file_path="{root}/project/a.txt"))


def _disallowed(draft: Draft) -> None:
    denied = draft.one_of("Bash", "Bash(ls:*)", "Bash(./tool.sh:*)", "Read", "Read(./a.txt)")
    draft.flags += ["--disallowedTools", denied]
    draft.files["project/a.txt"] = "one\n"
    draft.files["project/tool.sh"] = "#!/bin/sh\necho ran $*\n"
    commands = ("ls", "ls -l", "./tool.sh", "./tool.sh a", "pwd; ls")
    draft.reply(draft.bash(draft.one_of(*commands)))
    draft.reply(draft.tool("Read", file_path="{root}/project/a.txt"))
    draft.permissions += ["allow", "deny"]


def _allowed(draft: Draft) -> None:
    draft.flags += ["--allowedTools", draft.one_of("Bash(./tool.sh:*)", "Bash(./tool.sh a)")]
    draft.files["project/tool.sh"] = "#!/bin/sh\necho ran $*\n"
    for command in draft.random.sample(("./tool.sh", "./tool.sh a", "./tool.sh b; ls"), 2):
        draft.reply(draft.bash(command))
        draft.permissions.append("deny")


def _folder(draft: Draft) -> None:
    draft.flags += ["--add-dir", "{root}/outside"]
    draft.files["outside/x.txt"] = "x\n"
    draft.reply(draft.tool("Read", file_path="{root}/outside/x.txt"))
    draft.reply(draft.tool("Write", file_path="{root}/outside/new.txt", content="new\n"))
    draft.permissions.append(draft.one_of("allow", "deny"))


def _model(draft: Draft) -> None:
    draft.flags += ["--model", draft.one_of("haiku", "sonnet", "opusplan", "no-such-model")]


def _fallback(draft: Draft) -> None:
    draft.flags += ["--fallback-model", "haiku"]
    for _ in range(draft.one_of(2, 3)):
        draft.fail(OVERLOADED, retry_after=0)


def _settings(draft: Draft) -> None:
    rules = {"allow": ["Bash(touch:*)"], "deny": ["Read(./a.txt)"]}
    settings = {"permissions": rules, "env": {"NAME": "value"}}
    draft.flags += ["--settings", json.dumps(settings)]
    draft.files["project/a.txt"] = "one\n"
    draft.reply(draft.bash(draft.one_of("touch made", "echo $NAME", "touch $NAME")))
    draft.reply(draft.tool("Read", file_path="{root}/project/a.txt"))
    draft.permissions += ["deny", "deny"]


def _sources(draft: Draft) -> None:
    draft.flags += ["--setting-sources", draft.one_of("user", "project", "user,project,local")]
    user = {"permissions": {"allow": ["Bash(mkdir:*)"]}}
    project = {"permissions": {"allow": ["Bash(touch:*)"], "deny": ["Bash(pwd)"]}}
    draft.files["home/.claude/settings.json"] = json.dumps(user)
    draft.files["project/.claude/settings.json"] = json.dumps(project)
    for command in draft.random.sample(("touch made", "mkdir made-folder", "pwd"), 2):
        draft.reply(draft.bash(command))
        draft.permissions.append("deny")


def _session(draft: Draft) -> None:
    draft.flags += draft.one_of(
        ["--session-id", "11111111-1111-4111-8111-111111111111"],
        ["--no-session-persistence"],
        ["--append-system-prompt", "Be brief."],
        ["--max-thinking-tokens", "2000"],
    )


CASES: dict[str, Callable[[Draft], None]] = {
    "allowed": _allowed,
    "disallowed": _disallowed,
    "fallback": _fallback,
    "folder": _folder,
    "model": _model,
    "session": _session,
    "settings": _settings,
    "sources": _sources,
    "tools": _tools,
}
