"""Groups of tools: those that read files, write files, need the user, or are harmless.

Names are the CLI's. A tool that is in no group (an MCP tool, a tool of a later version) runs only
with an allow rule or after a question.
"""

from __future__ import annotations

import re

from fairlead.permissions.rules.decisions import ToolCall

__all__ = [
    "AGENTS",
    "EDITORS",
    "HARMLESS",
    "INTERACTIVE",
    "READERS",
    "SHELLS",
    "SKILLS",
    "file_of",
    "same_tool",
]

READERS = frozenset(("Read", "Glob", "Grep", "LS", "NotebookRead"))
EDITORS = frozenset(("Edit", "Write", "NotebookEdit", "MultiEdit"))
SHELLS = frozenset(("Bash", "Monitor"))
"""Tools that run a command line; rules for Bash apply to all of them (measured on 2.1.325)."""
AGENTS = frozenset(("Agent", "Task"))
SKILLS = frozenset(("Skill", "SlashCommand"))
_SEARCHES = frozenset(("Glob", "Grep", "LS"))
INTERACTIVE = frozenset(("AskUserQuestion", "ExitPlanMode"))
_HARMLESS_WORDS = """Agent BashOutput EnterPlanMode KillShell ListMcpResourcesTool ReadMcpResourceTool Task
    TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TodoWrite ToolSearch"""
HARMLESS = frozenset(_HARMLESS_WORDS.split())
"""They start nothing that is not itself checked (rec tools_tasks, subagent, plan_enter;
for the resources of MCP servers measured on 2.1.38 and 2.1.325)."""

_ALIASES = {"Task": "Agent", "Monitor": "Bash", "SlashCommand": "Skill"}
"""Tools to which rules for another tool apply: 2.1.325 calls the Task tool Agent."""


def same_tool(rule_tool: str, tool: str) -> bool:
    """Whether a rule for `rule_tool` applies to this tool."""
    if rule_tool == "Monitor":
        return tool == "Monitor"
    return _ALIASES.get(rule_tool, rule_tool) == _ALIASES.get(tool, tool)


def file_of(call: ToolCall) -> str:
    """The file or directory that a file tool accesses; empty if the input names none.

    A search starts at the working directory unless its path or its pattern names another one.
    """
    if call.tool not in _SEARCHES:
        return call.text("file_path") or call.text("notebook_path") or call.text("path")
    pattern = call.text("pattern") if call.tool == "Glob" else ""
    if ".." in pattern.split("/"):
        return "/"
    if pattern.startswith(("/", "~")):
        return re.split(r"[*?\[{]", pattern)[0].rpartition("/")[0] or "/"
    return call.text("path") or "./"
