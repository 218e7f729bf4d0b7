"""Which tools read files, which write them, which need a person, and which harm nothing.

Names are the CLI's. A tool that is not named here (an MCP tool, one of a later version) belongs to
no group: only a rule or a person lets it run.
"""

from __future__ import annotations

import re

from fairlead.permissions.decisions import ToolCall

__all__ = ["EDITORS", "HARMLESS", "INTERACTIVE", "READERS", "file_of", "same_tool"]

READERS = frozenset(("Read", "Glob", "Grep", "LS", "NotebookRead"))
EDITORS = frozenset(("Edit", "Write", "NotebookEdit", "MultiEdit"))
_SEARCHES = frozenset(("Glob", "Grep", "LS"))
INTERACTIVE = frozenset(("AskUserQuestion", "ExitPlanMode"))
_HARMLESS_WORDS = """Agent BashOutput EnterPlanMode KillShell ListMcpResourcesTool ReadMcpResourceTool Skill Task
    TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TodoWrite ToolSearch"""
HARMLESS = frozenset(_HARMLESS_WORDS.split())
"""They start nothing that is not itself asked about (rec tools_tasks, subagent, plan_enter;
for the resources of MCP servers measured on 2.1.38 and 2.1.325)."""

_ALIASES = {"Task": "Agent"}
"""2.1.325 calls the Task tool Agent, and takes rules under either name."""


def same_tool(rule_tool: str, tool: str) -> bool:
    """Whether a rule's tool name means this tool."""
    return _ALIASES.get(rule_tool, rule_tool) == _ALIASES.get(tool, tool)


def file_of(call: ToolCall) -> str:
    """The file or directory a file tool works on; nothing if it names none that is text.

    Searches start at the working directory unless they say otherwise, in their path or pattern.
    """
    if call.tool not in _SEARCHES:
        return call.text("file_path") or call.text("notebook_path") or call.text("path")
    pattern = call.text("pattern") if call.tool == "Glob" else ""
    if ".." in pattern.split("/"):
        return "/"
    if pattern.startswith(("/", "~")):
        return re.split(r"[*?\[{]", pattern)[0].rpartition("/")[0] or "/"
    return call.text("path") or "."
