"""Facts about the session as a whole: from every init, and from answers to the host's requests.

An init comes with every turn, so only what changed becomes a change. The session id is the one
of the last init, because `/clear` gives a new one within a process (CLI-604).
"""

from __future__ import annotations

from typing import Any

import msgspec

from fairlead.transcript.state import plain
from fairlead.transcript.state.facts import Described, Forked
from fairlead.transcript.state.fold import Fold
from fairlead.wire.events import ActiveGoal, PromptSuggestion
from fairlead.wire.system import CommandsChanged, Init, SessionTitleChanged
from fairlead.wire.versions import Feature, Version

__all__ = [
    "describe",
    "does",
    "fast_mode",
    "on_active_goal",
    "on_commands_changed",
    "on_prompt_suggestion",
    "on_title_changed",
    "take_init",
    "take_initialized",
    "take_mcp_servers",
    "take_reloaded",
]


def does(fold: Fold, feature: Feature) -> bool:
    """Whether the CLI's version is known to do this."""
    version = Version.parse(fold.session.version or "")
    return version is not None and version.has(feature)


def take_init(fold: Fold, message: Init) -> None:
    """What an init says about the session."""
    _take_id(fold, message.session_id)
    known = {
        "cwd": message.cwd,
        "model": message.model,
        "permission_mode": message.permission_mode,
        "version": message.claude_code_version,
        "output_style": message.output_style,
        "effort": message.effort,
        "api_key_source": message.api_key_source,
    }
    fold.put(
        "session",
        **{name: value for name, value in known.items() if value is not None},
        **fast_mode(message.fast_mode_state, message.fast_mode_disabled_reason),
        tools=message.tools,
        commands=_with_descriptions(fold, message.slash_commands),
        terminal_commands=message.terminal_slash_commands,
        agents=message.agents,
        skills=message.skills,
        plugins=tuple(msgspec.to_builtins(plugin) for plugin in message.plugins or ()),
        capabilities=message.capabilities,
        directories=message.additional_directories or (),
        suggestion=None,
    )
    _take_mcp_of_init(fold, message)


def fast_mode(state: Any, reason: Any) -> dict[str, Any]:
    """What the CLI says of its fast mode; no reason means that nothing is in its way."""
    if not plain.text(state):
        return {}
    return {"fast_mode": state, "fast_mode_reason": plain.text(reason) or None}


def take_initialized(fold: Fold, answer: dict[str, Any]) -> None:
    """What the answer to `initialize` says; it comes before the first init."""
    known = {
        "output_style": plain.text(answer.get("output_style")),
        "permission_mode": plain.text(answer.get("current_permission_mode")),
        "version": plain.text(answer.get("claude_code_version")),
        "api_key_source": plain.text(plain.mapping(answer.get("account")).get("apiKeySource")),
        "commands": _commands(answer.get("commands")),
        "models": tuple(plain.rows(answer.get("models"))),
        "capabilities": tuple(plain.strings(answer.get("capabilities"))),
        "agents": tuple(
            plain.text(agent.get("name")) for agent in plain.rows(answer.get("agents"))
        ),
    }
    fast = fast_mode(answer.get("fast_mode_state"), answer.get("fast_mode_disabled_reason"))
    fold.put("session", **{name: value for name, value in known.items() if value}, **fast)


def take_reloaded(fold: Fold, answer: dict[str, Any]) -> None:
    """What the answers to `reload_plugins` and `reload_skills` say."""
    known = {
        "commands": _commands(answer.get("commands")),
        "agents": tuple(
            plain.text(agent.get("name")) for agent in plain.rows(answer.get("agents"))
        ),
        "plugins": tuple(plain.rows(answer.get("plugins"))),
        "skills": tuple(
            plain.text(skill.get("name")) for skill in plain.rows(answer.get("skills"))
        ),
    }
    fold.put("session", **{name: value for name, value in known.items() if value})
    if "mcpServers" in answer:
        take_mcp_servers(fold, answer["mcpServers"])


def take_mcp_servers(fold: Fold, servers: Any) -> None:
    """A full list of MCP servers; 2.1.38 may list one twice (CLI-806)."""
    by_name: dict[str, dict[str, Any]] = {}
    for server in plain.rows(servers):
        name = plain.text(server.get("name"))
        by_name[name] = _server(
            name,
            server.get("status"),
            plain.field_of(server, "source", "scope"),
            server.get("error"),
        )
    fold.put("session", mcp_servers=tuple(by_name.values()))


def describe(fold: Fold, fact: Described) -> None:
    """What the records of a transcript file say about their session."""
    if fact.session_id is not None:
        _take_id(fold, fact.session_id)
    known = {
        "cwd": fact.cwd,
        "version": fact.version,
        "permission_mode": fact.permission_mode,
        "model": fact.model,
        "effort": fact.effort,
    }
    fields = {name: value for name, value in known.items() if value is not None}
    fold.put("session", **fields, **fast_mode(fact.fast_mode, None))


def on_forked(fold: Fold, fact: Forked) -> None:
    """The ids so far belong to the session that was forked; the CLI reports the id of this session."""
    fold.put("session", id=None, previous_ids=())


def on_title_changed(fold: Fold, message: SessionTitleChanged) -> None:
    """The session has a new name."""
    fold.put("session", title=message.title)


def on_commands_changed(fold: Fold, message: CommandsChanged) -> None:
    """The slash commands are now these."""
    fold.put("session", commands=_commands(list(message.commands)))


def on_active_goal(fold: Fold, message: ActiveGoal) -> None:
    """The standing goal changed."""
    fold.put("session", goal=message.value)


def on_prompt_suggestion(fold: Fold, message: PromptSuggestion) -> None:
    """What the user might ask next; removed when the next turn starts."""
    fold.put("session", suggestion=message.suggestion)


def _take_id(fold: Fold, session_id: str | None) -> None:
    old = fold.session.id
    if session_id is None or session_id == old:
        return
    if old is not None and old not in fold.session.previous_ids:
        fold.put("session", previous_ids=(*fold.session.previous_ids, old))
    fold.put("session", id=session_id)


def _take_mcp_of_init(fold: Fold, message: Init) -> None:
    errors = {
        plain.text(row.get("name")): row.get("message")
        for row in plain.rows(message.mcp_server_errors)
    }
    servers = {
        server.name: _server(
            server.name, server.status, server.source, errors.pop(server.name, None)
        )
        for server in message.mcp_servers or ()
    }
    for name, error in errors.items():
        servers[name] = _server(name, "failed", None, error)
    fold.put("session", mcp_servers=tuple(servers.values()))


def _server(name: str, status: Any, source: Any, error: Any) -> dict[str, Any]:
    return {"name": name, "status": status, "source": source, "error": error}


def _with_descriptions(fold: Fold, names: tuple[str, ...]) -> tuple[dict[str, Any], ...]:
    """The commands of an init, with their descriptions from `initialize`."""
    known = {command["name"]: command for command in fold.session.commands}
    return tuple(known.get(name) or _command(name, "", "") for name in names)


def _commands(value: Any) -> tuple[dict[str, Any], ...]:
    return tuple(
        _command(
            plain.text(row.get("name")),
            plain.text(row.get("description")),
            plain.text(row.get("argumentHint")),
        )
        for row in plain.rows(value)
    )


def _command(name: str, description: str, hint: str) -> dict[str, Any]:
    return {"name": name, "description": description, "hint": hint}
