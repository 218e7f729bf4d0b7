"""Segments that cross ingredients: circumstances, a stage of a turn, and what happens at that stage.

The other segments vary one subject each. A crossing takes one or two circumstances (hooks, servers, a
schema, a resumed session, …), brings a turn to a stage (the model is silent, a permission request is
open, a subagent waits, …) and lets the host act there (interrupt, queue prompts, change a mode, end
the input, …). At the end the host interrupts the turn, so that no stage lasts.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.e2e.conversations.draft import Draft
from tests.e2e.conversations.host_script import Data
from tests.e2e.conversations.interrupt_segments import HELD_STAGES, STREAMED
from tests.e2e.conversations.segments import CONTROLS

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
HOOKED = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "PermissionRequest")


def crossing(draft: Draft) -> None:
    """One or two circumstances, a stage, and what the host does there."""
    for name in draft.random.sample(sorted(CIRCUMSTANCES), draft.one_of(1, 1, 2)):
        CIRCUMSTANCES[name](draft)
    stages = sorted(set(STAGES) - (set() if draft.is_partial else set(STREAMED)))
    STAGES[draft.one_of(*stages)](draft)
    if ACTIONS[draft.one_of(*sorted(ACTIONS))](draft):
        draft.is_last = True
        return
    draft.interrupt()
    draft.wait("quiet")
    if draft.chance(0.5):
        draft.reply(draft.text("After the interrupt."))
        draft.prompt("again")
        draft.wait("quiet")
    draft.is_last = True


# Circumstances


def _callbacks(draft: Draft) -> None:
    """Callbacks of the host that decide nothing, for two events."""
    for event in draft.random.sample(HOOKED, 2):
        answer = draft.one_of({}, {}, {"systemMessage": "a message for the user"})
        draft.hooks[f"passive-{event}"] = [answer]
        draft.hook_events[event] = [{"hookCallbackIds": [f"passive-{event}"]}]


def _commands(draft: Draft) -> None:
    """Command hooks of the user that decide nothing, for two events."""
    hooks = {
        event: [{"hooks": [{"type": "command", "command": draft.one_of("true", "echo out")}]}]
        for event in draft.random.sample(HOOKED, 2)
    }
    draft.files["home/.claude/settings.json"] = json.dumps({"hooks": hooks})


def _sdk_server(draft: Draft) -> None:
    draft.servers.append("calc")


def _stdio_server(draft: Draft) -> None:
    server = {"command": "{python}", "args": ["{root}/stdio_server.py", "good"]}
    draft.files["mcp.json"] = json.dumps({"mcpServers": {"small": server}})
    draft.flags += ["--mcp-config", "{root}/mcp.json"]


def _schema(draft: Draft) -> None:
    draft.flags += ["--json-schema", json.dumps(SCHEMA)]


def _states(draft: Draft) -> None:
    draft.env["CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"] = "1"


def _mode(draft: Draft) -> None:
    draft.flags += ["--permission-mode", draft.one_of("plan", "acceptEdits")]


def _resumed(draft: Draft) -> None:
    """The session was begun by an earlier process."""
    draft.reply(draft.text("Before."))
    draft.turn("begin")
    draft.segment += 1
    draft.step(restart=draft.one_of(["--continue"], ["--continue", "--fork-session"]))


def _background(draft: Draft) -> None:
    """A command runs in the background."""
    draft.allow("Bash(sleep:*)")
    draft.reply(draft.bash("sleep 30", run_in_background=True))
    draft.reply(draft.text("It runs."))
    draft.turn("start it")


def _compacted(draft: Draft) -> None:
    """The context is full, so the next turn begins with a compaction."""
    draft.reply(draft.text("Much."), usage={"input_tokens": 190_000, "output_tokens": 5})
    draft.turn("read all")


CIRCUMSTANCES: dict[str, Callable[[Draft], None]] = {
    "callbacks": _callbacks,
    "commands": _commands,
    "sdk server": _sdk_server,
    "stdio server": _stdio_server,
    "schema": _schema,
    "states": _states,
    "mode": _mode,
    "resumed": _resumed,
    "background": _background,
    "compacted": _compacted,
}


# Stages


def _agent(draft: Draft) -> str:
    own = f"AGENT-{draft.segment}"
    draft.reply(
        draft.tool("Task", description="Some work", prompt=f"{own} look into it",
                   subagent_type="general-purpose", run_in_background=False)
    )  # fmt: skip
    return own


def _agent_asks(draft: Draft) -> None:
    own = _agent(draft)
    draft.permissions.append("hold")
    draft.reply(draft.tool("WebFetch", url="http://127.0.0.1:9/", prompt="x"), **{"for": own})
    draft.prompt()
    draft.wait("permission")


def _agent_runs(draft: Draft) -> None:
    own = _agent(draft)
    draft.allow("Bash")
    draft.reply(draft.bash("touch started; sleep 30"), **{"for": own})
    draft.prompt()
    draft.wait("file started")


def _mcp_asks(draft: Draft) -> None:
    if "calc" not in draft.servers:
        draft.servers.append("calc")
    draft.permissions.append("hold")
    draft.reply(draft.tool("mcp__calc__add", n=1))
    draft.prompt()
    draft.wait("permission")


def _mcp_runs(draft: Draft) -> None:
    if "calc" not in draft.servers:
        draft.servers.append("calc")
    draft.allow("mcp__calc")
    draft.reply(draft.tool("mcp__calc__silent", n=1))
    draft.prompt()
    draft.wait("mcp_call")


def _asks_again(draft: Draft) -> None:
    """A second request is open, after the first was denied."""
    draft.permissions += ["deny", "hold"]
    draft.reply(draft.tool("WebFetch", url="http://127.0.0.1:9/", prompt="x"))
    draft.reply(draft.tool("WebFetch", url="http://127.0.0.1:9/", prompt="y"))
    draft.prompt()
    draft.wait("permission 2")


STAGES: dict[str, Callable[[Draft], None]] = {
    **HELD_STAGES,
    "agent asks": _agent_asks,
    "agent runs": _agent_runs,
    "mcp asks": _mcp_asks,
    "mcp runs": _mcp_runs,
    "asks again": _asks_again,
}


# What the host does; true if nothing may follow


def _interrupts(draft: Draft) -> bool:
    draft.interrupt()
    draft.wait("quiet")
    draft.reply(draft.text("After the first interrupt."))
    draft.prompt("next")
    draft.wait("quiet")
    return True


def _queues(draft: Draft) -> bool:
    for number in range(draft.one_of(1, 2)):
        draft.prompt(f"queued {number}", uuid=f"queued{number}")
        draft.wait("quiet")
    if draft.chance(0.3):
        draft.request("cancel_async_message", message_uuid="{uuid queued0}")
        draft.wait("quiet")
    draft.request("interrupt", **draft.one_of({}, {}, {"cancel_queued": True}))
    draft.wait("quiet")
    return True


def _queues_command(draft: Draft) -> bool:
    draft.prompt(draft.one_of("/cost", "/context", "/compact", "/nothing"))
    draft.wait("quiet")
    return False


def _asks(draft: Draft) -> bool:
    requests: tuple[Data, ...] = (
        *CONTROLS[:9],
        {"subtype": "get_context_usage"},
        {"subtype": "get_settings"},
    )
    for _ in range(draft.one_of(1, 2)):
        draft.step(request=draft.one_of(*requests))
        draft.wait("quiet")
    return False


def _comes_first(draft: Draft) -> bool:
    draft.reply(draft.text("First things first."))
    draft.prompt("at once", fields={"priority": "now"})
    draft.wait("quiet")
    return False


def _ends(draft: Draft) -> bool:
    """The input ends, or a signal arrives first."""
    draft.step(signal=draft.one_of("SIGINT", "SIGTERM"))
    draft.wait("quiet")
    return True


ACTIONS: dict[str, Callable[[Draft], bool]] = {
    "interrupts": _interrupts,
    "interrupts once": lambda draft: False,
    "queues": _queues,
    "queues a command": _queues_command,
    "asks": _asks,
    "comes first": _comes_first,
    "ends": _ends,
}
