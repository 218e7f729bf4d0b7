"""Segments in which the host interrupts a turn, at every stage that a host can see."""

from __future__ import annotations

from tests.e2e.conversations.draft import Draft
from tests.e2e.conversations.segments import LONG_TEXT

STAGES = (
    "idle", "silent", "speaking", "thinking", "tool_input", "permission", "running", "between",
    "hook", "retry", "question", "second_text", "parallel", "queue", "at_once",
)  # fmt: skip
STREAMED = ("speaking", "thinking", "tool_input", "second_text", "queue")


def interrupt(draft: Draft) -> None:
    """One interrupt, sometimes two, and sometimes a turn afterwards."""
    stage = draft.one_of(*STAGES)
    if stage in STREAMED and not draft.is_partial:
        stage = "silent"
    if stage == "hook" and draft.segment:
        stage = "permission"  # its hook would hold up the earlier segments
    _STAGES[stage](draft)
    draft.interrupt()
    if draft.chance(0.2):
        draft.interrupt()
    draft.wait("answered" if stage == "idle" else "quiet")
    if draft.chance(0.4):
        draft.reply(draft.text("After the interrupt."))
        draft.turn("again")


def _idle(draft: Draft) -> None:
    draft.reply(draft.text("One."))
    draft.turn()


def _silent(draft: Draft) -> None:
    draft.reply(draft.text(), waits=[{"before": 0, "forever": True}])
    draft.prompt()
    draft.wait("model init")


def _speaking(draft: Draft) -> None:
    after = draft.one_of(1, 3)
    draft.reply(draft.text(LONG_TEXT), piece=8, waits=[{"before": after, "forever": True}])
    draft.prompt()
    draft.wait(f"model delta {after}")


def _thinking(draft: Draft) -> None:
    block = draft.thinking(LONG_TEXT)
    draft.reply(block, draft.text(), piece=8, waits=[{"before": 2, "forever": True}])
    draft.prompt()
    draft.wait("model delta 2")


def _tool_input(draft: Draft) -> None:
    before = [draft.text("I try.")] if draft.chance(0.5) else []
    after = 2 + len(before)
    tool = draft.one_of(
        draft.bash("echo a rather long command line"),
        draft.tool("Write", file_path="{root}/project/w.txt", content="some longer content\n"),
    )
    draft.reply(*before, tool, piece=8, waits=[{"before": after, "forever": True}])
    draft.prompt()
    draft.wait(f"model delta {after}")


def _second_text(draft: Draft) -> None:
    blocks = (draft.text("First."), draft.text(LONG_TEXT))
    draft.reply(*blocks, piece=8, waits=[{"before": 3, "forever": True}])
    draft.prompt()
    draft.wait("model delta 3")


def _permission(draft: Draft) -> None:
    draft.permissions.append("hold")
    tool = draft.one_of(
        draft.bash("touch made"),
        draft.tool("Write", file_path="{root}/project/w.txt", content="x\n"),
    )
    draft.reply(*([draft.text("I try.")] if draft.chance(0.4) else []), tool)
    draft.prompt()
    draft.wait("permission")


def _running(draft: Draft) -> None:
    draft.allow("Bash")
    draft.reply(draft.bash("echo some; touch started; sleep 30"))
    draft.prompt()
    draft.wait("file started")


def _between(draft: Draft) -> None:
    """The model is silent after a tool's result."""
    draft.reply(draft.bash("echo one"))
    draft.reply(draft.text(), waits=[{"before": 0, "forever": True}])
    draft.prompt()
    draft.wait("model tool_result")


def _hook(draft: Draft) -> None:
    event = draft.one_of("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop")
    draft.hook_events.setdefault(event, []).append({"hookCallbackIds": ["held"]})
    draft.hooks["held"] = ["hold"]
    draft.reply(draft.bash("echo one"))
    draft.reply(draft.text())
    draft.prompt()
    draft.wait("hook")
    draft.is_last = True


def _retry(draft: Draft) -> None:
    draft.fail(529, retry_after=60)
    draft.prompt()
    draft.wait("quiet")


def _question(draft: Draft) -> None:
    options = [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]
    asked = {"question": "Which?", "header": "W", "multiSelect": False, "options": options}
    draft.permissions.append("hold")
    draft.reply(draft.tool("AskUserQuestion", questions=[asked]))
    draft.prompt()
    draft.wait("permission")


def _parallel(draft: Draft) -> None:
    draft.files["outside/x.txt"] = "x\n"
    draft.files["outside/d/y.txt"] = "y\n"
    if draft.chance(0.5):
        first, second = (
            draft.tool("Read", file_path=f"{{root}}/outside/{name}")
            for name in ("x.txt", "d/y.txt")
        )
        draft.permissions += ["hold", "hold"]
        wait = "permission 2"
    else:
        first, second = draft.bash("echo one"), draft.bash("touch made")
        draft.permissions.append("hold")
        wait = "permission"
    draft.reply(first, second)
    draft.prompt()
    draft.wait(wait)


def _queue(draft: Draft) -> None:
    draft.reply(draft.text(LONG_TEXT), piece=8, waits=[{"before": 2, "forever": True}])
    draft.prompt()
    draft.wait("model delta 2")
    draft.prompt("next one")
    draft.reply(draft.text("The next one."))


def _at_once(draft: Draft) -> None:
    draft.reply(draft.text(), waits=[{"before": 0, "forever": True}])
    draft.prompt()
    draft.wait("model init")
    draft.interrupt()
    draft.prompt("and at once another")
    draft.reply(draft.text("Another."))
    draft.wait("quiet")


_STAGES = {
    "idle": _idle,
    "silent": _silent,
    "speaking": _speaking,
    "thinking": _thinking,
    "tool_input": _tool_input,
    "second_text": _second_text,
    "permission": _permission,
    "running": _running,
    "between": _between,
    "hook": _hook,
    "retry": _retry,
    "question": _question,
    "parallel": _parallel,
    "queue": _queue,
    "at_once": _at_once,
}

HELD_STAGES = {
    name: stage
    for name, stage in _STAGES.items()
    if name not in ("idle", "hook", "queue", "at_once")
}
"""Stages that last until the host interrupts them."""
