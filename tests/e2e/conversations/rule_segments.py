"""Segments about permissions: rules of every source, modes, and permission updates."""

from __future__ import annotations

import json

from tests.e2e.conversations.draft import Draft
from tests.e2e.conversations.host_script import Data

RULES = (
    "Bash(touch:*)", "Bash(touch made)", "Bash", "Write", "Edit", "Read", "Write(a.txt)",
    "Edit(*.txt)", "Bash(./tool.sh *)", "Read(//tmp/**)", "WebFetch", "Task", "mcp__calc",
)  # fmt: skip

DESTINATIONS = ("session", "localSettings", "projectSettings", "userSettings", "cliArg", "nowhere")


def _tools(draft: Draft) -> list[Data]:
    draft.files["project/a.txt"] = "one\ntwo\n"
    draft.files["project/tool.sh"] = "#!/bin/sh\necho ran $*\n"
    draft.files["outside/x.txt"] = "x\n"
    return [
        draft.bash("touch made"),
        draft.bash("./tool.sh a"),
        draft.bash("ls; touch made"),
        draft.tool("Write", file_path="{root}/project/a.txt", content="b\n"),
        draft.tool("Write", file_path="{root}/project/new.txt", content="b\n"),
        draft.tool("Read", file_path="{root}/project/a.txt"),
        draft.tool("Read", file_path="{root}/outside/x.txt"),
        draft.tool("Edit", file_path="{root}/project/a.txt", old_string="one", new_string="1"),
    ]


def _turn(draft: Draft, count: int) -> None:
    tools = _tools(draft)
    for _ in range(count):
        draft.reply(draft.one_of(*tools))
        draft.permissions.append(draft.one_of("allow", "allow", "deny"))
    draft.reply(draft.text())
    draft.turn()


def rules(draft: Draft) -> None:
    """Allow, deny and ask rules of settings files and flags, in trusted and other projects."""
    kinds = ("allow", "deny", "ask")
    place = draft.one_of("user", "project", "local", "flag", "settings flag")
    chosen = {kind: draft.random.sample(RULES, draft.one_of(0, 1, 2)) for kind in kinds}
    text = json.dumps({"permissions": chosen})
    if draft.chance(0.4):
        project = {"hasTrustDialogAccepted": True}
        draft.files["home/.claude.json"] = json.dumps({"projects": {"{root}/project": project}})
    if place == "flag":
        if chosen["allow"]:
            draft.flags += ["--allowedTools", ",".join(chosen["allow"])]
        if chosen["deny"]:
            draft.flags += ["--disallowedTools", ",".join(chosen["deny"])]
    elif place == "settings flag":
        draft.flags += ["--settings", text]
    else:
        path = {
            "user": "home/.claude/settings.json",
            "project": "project/.claude/settings.json",
            "local": "project/.claude/settings.local.json",
        }[place]
        draft.files[path] = text
    if draft.chance(0.2):
        draft.flags += ["--setting-sources", draft.one_of("user", "project", "user,project", "")]
    if draft.chance(0.2):
        draft.flags += ["--add-dir", "{root}/outside"]
    _turn(draft, draft.one_of(1, 2, 3))


def modes(draft: Draft) -> None:
    """Every permission mode, from the command line and by request."""
    draft.env["IS_SANDBOX"] = "1"
    mode = draft.one_of("default", "acceptEdits", "bypassPermissions", "dontAsk", "plan", "skip")
    if mode == "skip":
        draft.flags.append("--dangerously-skip-permissions")
    else:
        draft.flags += ["--permission-mode", mode]
    _turn(draft, draft.one_of(1, 2))
    if draft.chance(0.6):
        other = draft.one_of("default", "acceptEdits", "bypassPermissions", "dontAsk", "plan")
        draft.request("set_permission_mode", mode=other)
        draft.wait("quiet")
        _turn(draft, 1)


def updates(draft: Draft) -> None:
    """Permission updates of every type and destination in an answer."""
    tool = draft.one_of("Bash", "Write")
    kind = draft.one_of("addRules", "removeRules", "replaceRules", "addDirectories",
                        "removeDirectories", "setMode")  # fmt: skip
    destination = draft.one_of(*DESTINATIONS)
    update: Data = {"type": kind, "destination": destination}
    if kind.endswith("Rules"):
        rule: Data = {"toolName": tool}
        if draft.chance(0.4):
            rule["ruleContent"] = draft.one_of("touch:*", "touch made", "new.txt")
        update |= {"rules": [rule], "behavior": draft.one_of("allow", "deny", "ask")}
    elif kind.endswith("Directories"):
        update["directories"] = ["{root}/outside"]
    else:
        update["mode"] = draft.one_of("acceptEdits", "plan", "dontAsk", "default")
    first = (
        draft.bash("touch made")
        if tool == "Bash"
        else draft.tool("Write", file_path="{root}/project/new.txt", content="b\n")
    )
    answer = {"behavior": "allow", "updatedInput": first["input"], "updatedPermissions": [update]}
    draft.permissions.append("hold")
    draft.reply(first)
    draft.prompt()
    draft.wait("permission")
    draft.step(answer={"subtype": "success", "response": answer})
    second = (
        draft.bash("touch made more")
        if tool == "Bash"
        else draft.tool("Write", file_path="{root}/outside/new.txt", content="b\n")
    )
    draft.reply(second)
    draft.permissions.append(draft.one_of("allow", "deny"))
    draft.reply(draft.text())
    draft.wait("result")
