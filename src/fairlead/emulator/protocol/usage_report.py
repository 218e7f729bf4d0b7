"""Cost and context of the session as figures and as text, for commands and control requests.
Pure."""

from __future__ import annotations

from typing import Any

from fairlead.emulator.state.cost import model_of
from fairlead.emulator.state.session import Session

__all__ = ["context_report", "context_usage", "cost_report"]

SYSTEM_PROMPT_TOKENS = 11_000
TOOL_TOKENS = 1_200
BUFFER_TOKENS = 33_000


def cost_report(session: Session) -> str:
    """What /cost prints."""
    spending = session.spending
    wall = round(session.now() - session.started_at)
    lines = [
        f"Total cost:            ${spending.dollars:.4f}",
        f"Total duration (API):  {spending.api_ms // 1000}s",
        f"Total duration (wall): {wall}s",
        f"Total code changes:    {session.lines_added} lines added, "
        f"{session.lines_removed} lines removed",
    ]
    if not spending.uses:
        return "\n".join([*lines, "Usage:                 0 input, 0 output"])
    lines.append("Usage by model:")
    for name, use in spending.uses.items():
        counts = use.counts
        lines.append(
            f"  {name}:  {counts['input_tokens']} input, {counts['output_tokens']} output, "
            f"{counts['cache_read_input_tokens']} cache read, "
            f"{counts['cache_creation_input_tokens']} cache write (${use.dollars:.4f})"
        )
    return "\n".join(lines)


def context_usage(session: Session) -> dict[str, Any]:
    """The answer to get_context_usage."""
    window = model_of(session.profile, session.model).context_window
    messages = session.spending.context_tokens
    used = SYSTEM_PROMPT_TOKENS + TOOL_TOKENS + messages
    free = max(0, window - used - BUFFER_TOKENS)
    categories = [
        _category("system_prompt", "System prompt", SYSTEM_PROMPT_TOKENS, "used"),
        _category("system_tools", "System tools", TOOL_TOKENS, "used"),
        _category("messages", "Messages", messages, "used"),
        _category("autocompact_buffer", "Autocompact buffer", BUFFER_TOKENS, "buffer"),
        _category("free_space", "Free space", free, "free"),
    ]
    return {
        "categories": categories,
        "totalTokens": used,
        "maxTokens": window,
        "rawMaxTokens": window,
        "autocompactSource": "model-default",
        "percentage": round(100 * used / window),
        "gridRows": [],
        "model": session.model,
        "memoryFiles": [],
        "mcpTools": [],
        "mcpInstructions": [],
        "agents": [],
        "slashCommands": {"totalCommands": 0, "includedCommands": 0, "tokens": 0},
        "skills": {"totalSkills": 0, "includedSkills": 0, "tokens": 0, "skillFrontmatter": []},
        "autoCompactThreshold": window - BUFFER_TOKENS,
        "isAutoCompactEnabled": True,
        "messageBreakdown": {},
        "apiUsage": None,
    }


def _category(id: str, name: str, tokens: int, kind: str) -> dict[str, Any]:
    return {"id": id, "name": name, "tokens": tokens, "color": "inactive", "kind": kind}


def context_report(session: Session) -> str:
    """What /context prints."""
    usage = context_usage(session)
    total, window = usage["totalTokens"], usage["maxTokens"]
    rows = [
        f"| {c['name']} | {c['tokens']} | {100 * c['tokens'] / window:.1f}% |"
        for c in usage["categories"]
    ]
    return "\n".join(
        [
            "## Context Usage\n",
            f"**Model:** {session.model}  ",
            f"**Tokens:** {total} / {window} ({usage['percentage']}%)\n",
            "| Category | Tokens | Percentage |",
            "|----------|--------|------------|",
            *rows,
        ]
    )
