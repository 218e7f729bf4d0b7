"""Segments about what a project adds: commands, skills, agents, options of `initialize`, compaction."""

from __future__ import annotations

import json

from tests.e2e.conversations.draft import Draft
from tests.e2e.conversations.host_script import Data

AGENT = {"description": "Looks into it", "prompt": "You look into it."}


def commands(draft: Draft) -> None:
    """Commands and skills of the project and of the user, by slash and by tool."""
    kind = draft.one_of(
        "plain", "shell", "allowed", "folder", "skill", "skill tool", "user", "hidden"
    )
    folder = "home/.claude" if kind == "user" else "project/.claude"
    head = {
        "allowed": "---\nallowed-tools: Bash(touch:*)\ndescription: Touches\n---\n",
        "shell": "---\nallowed-tools: Bash(echo:*)\n---\n",
        "hidden": "---\ndisable-model-invocation: true\n---\n",
    }.get(kind, "")
    body = "!`echo shell`\nSay hello to $ARGUMENTS" if kind == "shell" else "Say hello to $1"
    name = "/hello you there"
    if kind in ("skill", "skill tool", "hidden"):
        draft.files[f"{folder}/skills/hello/SKILL.md"] = (
            head or "---\nname: hello\ndescription: Says hello\n---\n"
        ) + body
    elif kind == "folder":
        draft.files[f"{folder}/commands/sub/hello.md"] = head + body
        name = draft.one_of("/sub:hello you", "/hello you")
    else:
        draft.files[f"{folder}/commands/hello.md"] = head + body
    if kind in ("skill tool", "hidden") or draft.chance(0.2):
        draft.reply(draft.tool("Skill", skill="hello", args="you"))
        draft.permissions.append(draft.one_of("allow", "deny"))
        draft.reply(draft.text("It said hello."))
        draft.turn()
        return
    if kind == "allowed":
        draft.reply(draft.bash("touch made"))
        draft.permissions.append("deny")
    draft.reply(draft.text("Hello."))
    draft.turn(name)
    draft.reply(draft.text("After."))
    draft.turn()
    draft.is_last = True


def agents(draft: Draft) -> None:
    """Agents of the command line, of `initialize` and of files, and agents that meet a permission."""
    place = draft.one_of("flag", "initialize", "project", "user")
    agent: Data = dict(AGENT)
    if draft.chance(0.4):
        agent["tools"] = draft.one_of(["Read"], ["Bash", "Read"])
    if draft.chance(0.3):
        agent["model"] = draft.one_of("haiku", "inherit")
    if place == "flag":
        draft.flags += ["--agents", json.dumps({"looker": agent})]
    elif place == "initialize":
        draft.initialize["agents"] = {"looker": agent}
    else:
        folder = "home" if place == "user" else "project"
        head = "".join(
            f"{key}: {', '.join(value) if isinstance(value, list) else value}\n"
            for key, value in agent.items()
            if key != "prompt"
        )
        draft.files[f"{folder}/.claude/agents/looker.md"] = (
            f"---\nname: looker\n{head}---\n{agent['prompt']}\n"
        )
    own = f"AGENT-{draft.segment}"
    count = draft.one_of(1, 1, 2)
    uses = [
        draft.tool("Task", description=f"Work {n}", prompt=f"{own}-{n} look", subagent_type="looker",
                   run_in_background=False)
        for n in range(count)
    ]  # fmt: skip
    draft.reply(*uses)
    for n in range(count):
        name = {"for": f"{own}-{n}"}
        if draft.chance(0.6):
            draft.reply(draft.one_of(draft.bash("touch made"), draft.bash("ls")), **name)
            draft.permissions.append(draft.one_of("allow", "deny"))
        draft.reply(draft.text("It is so."), **name)
    draft.reply(draft.text())
    draft.turn()


def initialized(draft: Draft) -> None:
    """Options of `initialize`, and a second `initialize` while a request is open."""
    draft.initialize |= draft.one_of(
        {"systemPrompt": "You are small."},
        {"appendSystemPrompt": "Be brief."},
        {"promptSuggestions": True},
        {"jsonSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        {"excludeDynamicSections": True},
        {"hooks": {}},
        {"nonsense": 1},
    )
    draft.permissions.append("hold")
    draft.reply(draft.bash("touch made"))
    draft.prompt()
    draft.wait("permission")
    draft.request("initialize")
    draft.wait("answered")
    draft.step(answer=draft.one_of("allow", "deny"))
    draft.reply(draft.text())
    draft.wait("result")


def compaction(draft: Draft) -> None:
    """Automatic and manual compaction, with hooks, and what follows it."""
    if draft.chance(0.3):
        draft.hook_events.setdefault("PreCompact", []).append({"hookCallbackIds": ["compact"]})
        draft.hooks["compact"] = [draft.one_of({}, "error", {"systemMessage": "compacting"})]
    large = {"input_tokens": draft.one_of(150_000, 185_000, 195_000), "output_tokens": 5}
    automatic = draft.chance(0.6)
    if automatic and draft.chance(0.3):
        draft.reply(draft.bash("echo one"), usage=large)
        draft.reply(draft.text("Two."))
        draft.turn()
    else:
        draft.reply(draft.text("One."), **({"usage": large} if automatic else {}))
        draft.turn()
    if not automatic:
        draft.turn(draft.one_of("/compact", "/compact keep the names"))
    draft.reply(draft.text("After."))
    draft.turn()
    if draft.chance(0.4):
        draft.turn(draft.one_of("/cost", "/context", "/compact"))


STOPS = ("pause_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded")


def unusual_ends(draft: Draft) -> None:
    """Messages that end for unusual reasons, with text or with a tool."""
    reason = draft.one_of(*STOPS)
    block = draft.one_of(draft.text("Some."), draft.bash("echo one"), draft.thinking("Hm."))
    for _ in range(draft.one_of(1, 1, 2)):
        draft.reply(block, stop_reason=reason)
    draft.reply(draft.text("And more."))
    draft.reply(draft.text("The end."))
    draft.turn()
    draft.wait("quiet")
    draft.is_last = True


def message_fields(draft: Draft) -> None:
    """Fields of a user message that change how it is handled."""
    fields = draft.one_of(
        {"shouldQuery": False},
        {"isSynthetic": True},
        {"priority": "now"},
        {"priority": "next"},
        {"session_id": "something"},
        {"parent_tool_use_id": "toolu_unknown"},
        {"isMeta": True},
        {"timestamp": "2026-01-02T03:04:05.000Z"},
    )
    draft.reply(draft.text("One."))
    draft.prompt("first", fields=fields)
    draft.wait("quiet")
    draft.reply(draft.text("Two."))
    draft.turn()
    if draft.chance(0.4):
        draft.permissions.append("hold")
        draft.reply(draft.bash("touch made"))
        draft.prompt()
        draft.wait("permission")
        draft.prompt("between", fields=fields)
        draft.wait("quiet")
        draft.reply(draft.text("Three."))
        draft.reply(draft.text("Four."))
        draft.step(answer="allow")
        draft.wait("quiet")
    draft.is_last = True
