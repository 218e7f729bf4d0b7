"""Segments with subagents and with work in the background."""

from __future__ import annotations

from typing import Any

from tests.e2e.conversations.draft import Draft


def _task(draft: Draft, number: int, **more: Any) -> dict[str, Any]:
    return draft.tool(
        "Task",
        description=f"Some work {number}",
        prompt=f"AGENT-{number} look into it",
        **{"subagent_type": "general-purpose", "run_in_background": False, **more},
    )


def subagent(draft: Draft) -> None:
    """A subagent in the foreground: what it uses, what it is denied, how it ends."""
    kind = draft.one_of("plain", "tool", "asks", "asks", "fails", "unknown", "two", "held", "open")
    own = f"AGENT-{draft.segment}"
    if kind == "unknown":
        draft.reply(_task(draft, draft.segment, subagent_type="no-such-agent"))
        draft.reply(draft.text())
        draft.turn()
        return
    if kind == "two":
        draft.reply(_task(draft, draft.segment), _task(draft, draft.segment + 50))
        draft.reply(draft.text("Found."), **{"for": own})
        draft.reply(draft.text("Found too."), **{"for": f"AGENT-{draft.segment + 50}"})
        draft.reply(draft.text())
        draft.turn()
        return
    draft.reply(_task(draft, draft.segment))
    if kind == "tool":
        for _ in range(draft.one_of(1, 2)):
            draft.reply(draft.bash("ls"), **{"for": own})
    elif kind in ("asks", "open"):
        if kind == "asks":
            draft.permissions.append(draft.one_of("allow", "deny", "deny_interrupt", "error"))
        else:
            draft.permissions.append("hold")
        draft.reply(draft.bash("touch made"), **{"for": own})
    elif kind == "fails":
        draft.fail(403, retry=False, **{"for": own})
    elif kind == "held":
        draft.reply(draft.text(), waits=[{"before": 0, "forever": True}], **{"for": own})
    if kind != "held":
        draft.reply(draft.text("It is so."), **{"for": own})
    draft.prompt()
    if kind in ("held", "open"):
        draft.wait("model tool_use" if kind == "held" else "permission")
        draft.interrupt()
        draft.wait("result")
        return
    draft.reply(draft.text())
    draft.wait("result")


def background(draft: Draft) -> None:
    """Commands and subagents in the background."""
    kind = draft.one_of("short", "fails", "long", "agent", "stopped", "output")
    draft.allow("Bash")
    if kind == "agent":
        own = f"AGENT-{draft.segment}"
        draft.reply(_task(draft, draft.segment, run_in_background=True))
        draft.reply(draft.text("It is so."), **{"for": own})
        draft.reply(draft.text("It runs."))
        draft.turn()
        draft.wait("quiet")
        return
    command = {"short": "echo one", "fails": "echo one; exit 3"}.get(kind, "echo one; sleep 6")
    draft.reply(draft.bash(command, run_in_background=True))
    if kind == "output":
        draft.reply(draft.tool("TaskOutput", task_id="unknown"))
    draft.reply(draft.text("It runs."))
    draft.turn()
    draft.wait("quiet")
    if kind == "stopped":
        draft.request("stop_task", task_id="unknown")
        draft.wait("quiet")
    if draft.chance(0.4):
        draft.reply(draft.text("Another."))
        draft.turn()
