"""One permission rule: `Tool` or `Tool(content)`, parsed and printed.

Parsing never fails: any text becomes a Rule. `problem` says why no version of the CLI applies it;
`problem_in_old` says why 2.1.38 rejects it, and with it the whole settings file. The meaning of the
content is defined elsewhere: `shell/rules`, `paths`, `domains`, `mcp_names` and `fields`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Rule"]

_ESCAPES = str.maketrans({"\\": "\\\\", "(": "\\(", ")": "\\)"})
_TOOL_NAME = re.compile(r"(?:[A-Z*][A-Za-z0-9_*]*|mcp__[^\s()]+)")
_FILE_TOOLS = frozenset(("Read", "Write", "Edit", "Glob", "NotebookRead", "NotebookEdit"))


@dataclass(frozen=True, slots=True)
class Rule:
    """A tool name and, unless the whole tool is meant, the content that narrows it."""

    tool: str
    content: str | None = None

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read a rule as the settings files spell it. Never fails; see `problem`."""
        opening = _first_unescaped(text, "(")
        if opening <= 0 or not text.endswith(")") or _is_escaped(text, len(text) - 1):
            return cls(text)
        return cls(text[:opening], _unescape(text[opening + 1 : -1]))

    def __str__(self) -> str:
        if self.content is None:
            return self.tool
        return f"{self.tool}({self.content.translate(_ESCAPES)})"

    @property
    def whole_tool(self) -> bool:
        """Whether the rule covers every use of the tool, as `Bash` and `Bash(*)` do."""
        return self.content is None or (self.tool == "Bash" and self.content == "*")

    @property
    def problem(self) -> str | None:
        """Why every version of the CLI ignores this rule; None if at least one applies it."""
        if not self.tool:
            return "it names no tool"
        if not _TOOL_NAME.fullmatch(self.tool):
            return self._name_problem()
        if self.content is None:
            return None
        if not self.content.strip():
            return "its parentheses are empty: leave them out to mean the whole tool"
        if self.tool.startswith("mcp__"):
            return "rules for MCP tools take no parentheses"
        if self.tool == "Bash" and self.content == ":*":
            return "there is nothing before ':*': write `Bash` to mean every command"
        return None

    @property
    def problem_in_old(self) -> str | None:
        """Why 2.1.38 rejects this rule and drops its settings file (measured); None if it does not."""
        content = self.content
        if self.problem is not None or content is None:
            return self.problem
        if content.count("(") != content.count(")") or "()" in content:
            return "its parentheses do not match"
        if self.tool == "Bash" and ":*" in content.removesuffix(":*"):
            return "':*' may be used only at the very end"
        if self.tool == "WebFetch" and ("://" in content or not content.startswith("domain:")):
            return "it needs the form WebFetch(domain:HOST)"
        if self.tool == "WebSearch" and any(char in content for char in "*?"):
            return "WebSearch takes no wildcards"
        if self.tool in _FILE_TOOLS:
            return _old_path_problem(content)
        return None

    def _name_problem(self) -> str:
        if "(" in self.tool or ")" in self.tool:
            return "its parentheses do not match"
        return f"{self.tool!r} is not the name of a tool (names begin with a capital letter)"


def _old_path_problem(content: str) -> str | None:
    if ":*" in content:
        return "':*' is only for Bash rules"
    if "*" in content and not re.search(r"^\*|\*$|\*\*|/\*|\*\.|\*\)", content):
        return "a star must be at the edge of a name"
    return None


def _unescape(content: str) -> str:
    # Escaped backslashes are taken out first, from the left, so each backslash that remains
    # in a part escapes the parenthesis after it. This takes about a seventh of the time of a regex.
    parts = content.split("\\\\")
    return "\\".join(part.replace("\\(", "(").replace("\\)", ")") for part in parts)


def _first_unescaped(text: str, char: str) -> int:
    position = text.find(char)
    while position >= 0 and _is_escaped(text, position):
        position = text.find(char, position + 1)
    return position


def _is_escaped(text: str, position: int) -> bool:
    start = position
    while start > 0 and text[start - 1] == "\\":
        start -= 1
    return (position - start) % 2 == 1
