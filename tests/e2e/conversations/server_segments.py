"""Segments with MCP servers of the host (sdk) and of a configuration (stdio)."""

from __future__ import annotations

import json

from tests.e2e.conversations.draft import Draft
from tests.e2e.conversations.host_answers import SERVER_TOOLS

STDIO_MODES = ("good", "good", "exits", "refuses", "crashes", "empty", "missing")


def sdk_server(draft: Draft) -> None:
    """Tools of a server in the host: every kind of result, permission and interrupt."""
    if "calc" not in draft.servers:
        draft.servers.append("calc")
    if draft.chance(0.15) and "refusing" not in draft.servers:
        draft.servers.append("refusing")
    is_allowed = draft.chance(0.5)
    if is_allowed:
        draft.allow("mcp__calc")
    name = draft.one_of(*SERVER_TOOLS, "unknown")
    if name in SERVER_TOOLS and not is_allowed:
        # An answer of its own: otherwise its request would take the answer of a later segment.
        kinds = ("allow",) if name == "silent" else ("allow", "allow", "deny", "allow_always")
        draft.permissions.append(draft.one_of(*kinds))
    if draft.chance(0.3):
        draft.request("mcp_status")
        draft.wait("answered")
    draft.reply(draft.tool(f"mcp__calc__{name}", n=1))
    if name == "silent":
        draft.prompt()
        draft.wait("mcp_call")
        draft.interrupt()
        draft.wait("result")
        return
    draft.reply(draft.text())
    draft.turn()
    if draft.chance(0.3):
        draft.request("mcp_status")
        draft.wait("answered")
    if draft.chance(0.15):
        draft.request("mcp_toggle", serverName="calc", enabled=False)
        draft.wait("quiet")
        draft.request("mcp_status")
        draft.wait("answered")
        draft.reply(draft.tool("mcp__calc__add", n=1))
        draft.reply(draft.text())
        draft.turn()


def stdio_server(draft: Draft) -> None:
    """A server that the CLI starts: working, failing to start, crashing, disabled."""
    mode = draft.one_of(*STDIO_MODES)
    command = "{root}/no-such-program" if mode == "missing" else "{python}"
    config = {
        "mcpServers": {
            "small": {"command": command, "args": ["{root}/stdio_server.py", mode]},
        }
    }
    place = draft.one_of("project/.mcp.json", "mcp.json")
    draft.files[place] = json.dumps(config)
    if place == "mcp.json":
        draft.flags += ["--mcp-config", "{root}/mcp.json"]
        if draft.chance(0.3):
            draft.flags.append("--strict-mcp-config")
    if draft.chance(0.15):
        draft.files["project/.claude/settings.local.json"] = json.dumps(
            {"disabledMcpjsonServers": ["small"]}
        )
    draft.allow("mcp__small")
    draft.reply(draft.tool("mcp__small__echo", text="hello"))
    draft.reply(draft.text())
    draft.turn()
    if draft.chance(0.6):
        draft.request("mcp_status")
        draft.wait("answered")
    if draft.chance(0.3):
        draft.request("mcp_toggle", serverName="small", enabled=False)
        draft.wait("quiet")
        draft.request("mcp_status")
        draft.wait("answered")
    if draft.chance(0.2):
        draft.request("mcp_reconnect", serverName="small")
        draft.wait("answered")
        draft.request("mcp_status")
        draft.wait("answered")


def changed_servers(draft: Draft) -> None:
    """Servers that the host adds, removes and asks about while the session runs."""
    draft.allow("mcp__small")
    server = {"command": "{python}", "args": ["{root}/stdio_server.py", "good"]}
    bad = {"command": "{root}/no-such-program", "args": []}
    added = draft.one_of(
        {"small": server}, {"small": bad}, {"calc": {"type": "sdk", "name": "calc"}}, {}
    )
    if draft.chance(0.4):
        draft.reply(draft.text("One."))
        draft.turn()
    draft.request("mcp_set_servers", servers=added)
    draft.wait("quiet")
    draft.request("mcp_status")
    draft.wait("answered")
    tool = "mcp__calc__add" if "calc" in added else "mcp__small__echo"
    draft.reply(draft.tool(tool, text="hello"))
    draft.reply(draft.text())
    draft.turn()
    match draft.one_of("remove", "toggle", "reconnect", "none"):
        case "remove":
            draft.request("mcp_set_servers", servers={})
        case "toggle":
            draft.request("mcp_toggle", serverName=next(iter(added), "small"), enabled=False)
        case "reconnect":
            draft.request("mcp_reconnect", serverName=next(iter(added), "small"))
        case _:
            return
    draft.wait("quiet")
    draft.request("mcp_status")
    draft.wait("answered")
    draft.reply(draft.text("After."))
    draft.turn()
