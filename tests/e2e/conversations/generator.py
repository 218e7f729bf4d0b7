"""Generates host scripts from a seed: the same seed and number give the same script.

A script has one to three segments, the first of which is its theme, and decorations that apply to
all of it: partial messages, replay, limits, modes. Every theme gets the same number of scripts.
The last hundred of every 500 scripts are combinations: two or three themes in one conversation.
The twenty before them are about flags of the command line.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from tests.e2e.conversations import (
    agent_segments,
    crossing_segments,
    extension_segments,
    flag_segments,
    hook_segments,
    rule_segments,
    segments,
    server_segments,
    session_segments,
    tool_segments,
)
from tests.e2e.conversations.draft import Draft
from tests.e2e.conversations.host_script import HostScript
from tests.e2e.conversations.interrupt_segments import interrupt

__all__ = ["THEMES", "generate", "generate_all"]

SEED = 13

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "s": {"type": "string", "enum": ["a", "b"]}},
    "required": ["n"],
    "additionalProperties": False,
}


def structured(draft: Draft) -> None:
    """--json-schema: valid and invalid output, and text instead of output."""
    draft.flags += ["--json-schema", json.dumps(SCHEMA)]
    for _ in range(draft.one_of(0, 0, 1, 2)):
        wrong = draft.one_of({}, {"n": "x"}, {"n": 1, "z": 2}, {"n": 1, "s": "c"})
        if draft.chance(0.3):
            draft.reply(draft.text("no json"))
            break
        draft.reply(draft.tool("StructuredOutput", **wrong))
    if draft.chance(0.2):
        draft.reply(draft.bash("echo one"))
    draft.reply(draft.tool("StructuredOutput", n=1, s=draft.one_of("a", "b")))
    draft.reply(draft.text("after"))
    draft.turn()
    draft.is_last = True


def limits(draft: Draft) -> None:
    """--max-turns and --max-budget-usd."""
    if draft.chance(0.6):
        draft.flags += ["--max-turns", draft.one_of("1", "2")]
    else:
        draft.flags += ["--max-budget-usd", draft.one_of("0.0001", "0.0015")]
    for _ in range(draft.one_of(1, 2, 3)):
        draft.reply(draft.bash("echo one"))
    draft.reply(draft.text())
    draft.turn()
    if draft.chance(0.5):
        draft.reply(draft.text())
        draft.turn("again")
    draft.is_last = True


Segment = Callable[[Draft], None]

THEMES: dict[str, Segment] = {
    "plain": segments.plain,
    "tools": segments.automatic_tool,
    "permissions": segments.permission,
    "parallel tools": segments.parallel,
    "questions": segments.question,
    "plans": segments.plan,
    "queue": segments.queued,
    "cancelled prompts": segments.cancelled_queue,
    "interrupts": interrupt,
    "model errors": segments.model_error,
    "slash commands": segments.slash,
    "control requests": segments.control,
    "control requests in a turn": segments.control_midturn,
    "unusual prompts": segments.odd_prompt,
    "malformed lines": segments.bad_line,
    "subagents": agent_segments.subagent,
    "background work": agent_segments.background,
    "sdk servers": server_segments.sdk_server,
    "stdio servers": server_segments.stdio_server,
    "changed servers": server_segments.changed_servers,
    "host hooks": hook_segments.host_hook,
    "several hooks": hook_segments.several_hooks,
    "settings hooks": hook_segments.settings_hook,
    "structured output": structured,
    "limits": limits,
    "resumed sessions": session_segments.resumed,
    "end of input": session_segments.end_of_input,
    "rewinding": session_segments.rewinding,
    "session states": session_segments.states,
    "rules": rule_segments.rules,
    "modes": rule_segments.modes,
    "permission updates": rule_segments.updates,
    "file tools": tool_segments.file_tools,
    "shell": tool_segments.shell_tools,
    "wrong inputs": tool_segments.wrong_inputs,
    "task lists": tool_segments.task_tools,
    "commands and skills": extension_segments.commands,
    "agents": extension_segments.agents,
    "initialize": extension_segments.initialized,
    "compaction": extension_segments.compaction,
    "unusual ends": extension_segments.unusual_ends,
    "message fields": extension_segments.message_fields,
    "crossings": crossing_segments.crossing,
}

WEIGHTS = {
    "crossings": 6,
    "interrupts": 3,
    "permissions": 2,
    "model errors": 2,
    "subagents": 2,
    "sdk servers": 2,
    "stdio servers": 2,
    "host hooks": 2,
    "settings hooks": 2,
    "resumed sessions": 2,
    "rules": 2,
}
"""Themes with many cases get more scripts; all others have weight 1."""

FOLLOWING = ("plain", "tools", "permissions", "interrupts", "slash commands", "control requests")
"""Segments that may follow any other."""


COMBINED = (
    "plain", "tools", "permissions", "parallel tools", "questions", "plans", "slash commands",
    "control requests", "host hooks", "several hooks", "settings hooks", "stdio servers", "rules",
    "modes", "file tools", "shell", "wrong inputs", "task lists", "agents", "compaction",
    "session states", "commands and skills", "structured output", "limits",
)  # fmt: skip
"""Themes that only wait for results, so that a hook or rule of another one cannot hold them up."""
COMBINATIONS = range(400, 500)
"""The numbers, modulo 500, of the scripts that are combinations."""
FLAGGED = range(380, 400)
"""The numbers, modulo 500, of the scripts about flags."""


def combination(draft: Draft) -> None:
    """Two or three themes in one conversation, under the flags, rules and hooks of all of them."""
    for place, name in enumerate(draft.random.sample(COMBINED, draft.one_of(2, 2, 3))):
        if draft.is_last:
            break
        draft.segment += bool(place)
        THEMES[name](draft)
    draft.is_last = True


def _theme(number: int) -> tuple[str, Segment]:
    if number % 500 in COMBINATIONS:
        return "combinations", combination
    if number % 500 in FLAGGED:
        return "flags", flag_segments.flags
    names = [name for name in THEMES for _ in range(WEIGHTS.get(name, 1))]
    name = names[number % len(names)]
    return name, THEMES[name]


def generate(number: int, seed: int = SEED) -> HostScript:
    """The script with this number."""
    theme, segment = _theme(number)
    draft = Draft(random.Random(f"{seed}-{number}"))
    draft.is_partial = draft.chance(0.5)
    if draft.is_partial:
        draft.flags.append("--include-partial-messages")
    if draft.chance(0.4):
        draft.flags.append("--replay-user-messages")
    if draft.chance(0.2):
        draft.new_flags.append("--include-hook-events")
    segment(draft)
    for _ in range(draft.one_of(0, 0, 0, 1, 1, 2)):
        if draft.is_last:
            break
        draft.segment += 1
        THEMES[draft.one_of(*FOLLOWING)](draft)
    return draft.finished(f"{seed}-{number:04d}", theme)


def generate_all(count: int, seed: int = SEED) -> list[HostScript]:
    """The first scripts of a seed."""
    return [generate(number, seed) for number in range(count)]
