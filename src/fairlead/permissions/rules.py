"""One permission rule: `Tool` or `Tool(content)`, parsed and printed.

Parsing is total: any text becomes a Rule, and what the CLI would throw away says so in
`problem`; a rule with a problem matches nothing. What the content means is not known here:
`bash_rules`, `paths`, `domains` and `mcp_names` read it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Rule"]

_ESCAPE = re.compile(r"([\\()])")
_UNESCAPE = re.compile(r"\\([\\()])")
_TOOL_NAME = re.compile(r"(?:[A-Z][A-Za-z0-9_]*|mcp__[^\s()]+)")


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
        return cls(text[:opening], _UNESCAPE.sub(r"\1", text[opening + 1 : -1]))

    def __str__(self) -> str:
        if self.content is None:
            return self.tool
        escaped = _ESCAPE.sub(r"\\\1", self.content)
        return f"{self.tool}({escaped})"

    @property
    def whole_tool(self) -> bool:
        """Whether the rule speaks of every use of the tool, as `Bash(*)` and `Bash(**)` do too."""
        if self.content is None:
            return True
        return self.tool == "Bash" and self.content in ("*", "**")

    @property
    def problem(self) -> str | None:
        """Why the CLI ignores this rule, in words; None if it does not."""
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
        if self.tool == "Bash":
            return _bash_problem(self.content)
        return None

    def _name_problem(self) -> str:
        if "(" in self.tool or ")" in self.tool:
            return "its parentheses do not match"
        return f"{self.tool!r} is not the name of a tool (names begin with a capital letter)"


def _bash_problem(content: str) -> str | None:
    # Measured: 2.1.325 drops `go:*x`, `:*` and `npm:* x`; 2.1.38 drops the whole file for them.
    star = content.find(":*")
    if star == 0:
        return "nothing stands before ':*': write `Bash` to mean every command"
    if star > 0 and not content.endswith(":*"):
        return "':*' may stand only at the very end"
    return None


def _first_unescaped(text: str, char: str) -> int:
    position = text.find(char)
    while position >= 0 and _is_escaped(text, position):
        position = text.find(char, position + 1)
    return position


def _is_escaped(text: str, position: int) -> bool:
    backslashes = len(text[:position]) - len(text[:position].rstrip("\\"))
    return backslashes % 2 == 1
