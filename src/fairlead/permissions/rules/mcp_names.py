"""Whether a rule such as `mcp__server` or `mcp__server__tool` covers an MCP tool.

A server's name may itself contain two underscores, so the name of a tool does not always tell its
server. An allow rule then waits to be told (`server`); a deny rule assumes the worst.
"""

from __future__ import annotations

from fairlead.permissions.rules.wildcards import star_match

__all__ = ["allows_mcp", "catches_mcp", "is_mcp"]


def is_mcp(tool: str) -> bool:
    """Whether this is the name of an MCP tool."""
    return tool.startswith("mcp__")


def catches_mcp(rule_tool: str, tool: str) -> bool:
    """Whether a deny or ask rule concerns this tool."""
    if not is_mcp(rule_tool):
        return False
    if tool == rule_tool or tool.startswith(rule_tool + "__"):
        return True
    return "*" in rule_tool and star_match(rule_tool.split("*"), tool)


def allows_mcp(rule_tool: str, tool: str, server: str | None, *, globs: bool) -> bool:
    """Whether an allow rule covers this tool. A star may stand only in the tool's own name."""
    if not is_mcp(rule_tool) or not is_mcp(tool):
        return False
    if tool == rule_tool:
        return True
    prefix = rule_tool.removesuffix("__*")
    if "*" not in prefix:
        return _is_of_server(tool, prefix, server)
    head, _, pattern = prefix.rpartition("__")
    if not globs or "*" in head or head in ("", "mcp"):
        return False
    return _is_of_server(tool, head, server) and star_match(
        pattern.split("*"), tool.removeprefix(head + "__")
    )


def _is_of_server(tool: str, prefix: str, server: str | None) -> bool:
    if server is not None:
        return prefix == f"mcp__{server}" and tool.startswith(prefix + "__")
    name = prefix.removeprefix("mcp__")
    rest = tool.removeprefix(prefix + "__")
    return rest != tool and "__" not in rest and "__" not in name and name != prefix
