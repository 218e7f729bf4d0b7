"""Reads flags, environment, settings, servers and stored sessions at the start.

Returns a `Setup` for the engine, or raises `NoStart` with the real CLI's message and its exit
code (CLI-100, CLI-705). All reading of files at the start happens here and in `session_files`.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairlead.emulator.engine.setup import Setup
from fairlead.emulator.mcp.server import Server
from fairlead.emulator.process.flag_values import agents_of, refused_value, schema_of
from fairlead.emulator.process.project_files import customs, read_book, read_settings, sources
from fairlead.emulator.process.session_files import Past, SessionFiles
from fairlead.emulator.process.tool_menu import offered
from fairlead.emulator.script.scenario import Scenario, load_file, load_tour
from fairlead.emulator.state.cost import Spending, TurnUse, resolve_model
from fairlead.emulator.state.flags import Arguments, BadFlags, read_flags
from fairlead.emulator.state.profile import DEFAULT_VERSION, Profile, profile_of
from fairlead.emulator.state.session import Session, Workspace
from fairlead.permissions.model.families import family_of
from fairlead.permissions.model.scopes import Behavior
from fairlead.permissions.rules.paths import PathContext
from fairlead.permissions.rules.settings import place_of
from fairlead.wire.config_folder import state_file
from fairlead.wire.inputs import is_uuid

__all__ = ["NoStart", "prepare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoStart(Exception):
    """The process ends before a session begins."""

    code: int
    stderr: str = ""
    stdout: str = ""
    result: dict[str, Any] | None = None
    """A result line that is written nevertheless."""


def prepare(argv: Sequence[str], environ: Mapping[str, str], cwd: str) -> Setup:
    """The setup for these arguments, this environment and this folder."""
    profile = profile_of(environ.get("FAIRLEAD_EMULATE") or DEFAULT_VERSION)
    try:
        arguments = read_flags(argv, profile)
        used = sources(arguments)
    except BadFlags as problem:
        raise NoStart(code=1, stderr=f"{problem}\n") from None
    _answer_at_once(argv, arguments, profile)
    workspace = _workspace(environ, cwd)
    refusal = refused_value(arguments, workspace.cwd, profile)
    if refusal is not None:
        raise NoStart(code=refusal[0], stderr=refusal[1])
    _refuse_root(arguments, workspace)
    settings = read_settings(arguments, workspace)
    disabled = settings.get("disabledMcpjsonServers")
    project_servers = _project_servers(workspace, profile) if "project" in used else {}
    left_out = set(disabled) if isinstance(disabled, list) else set()
    if arguments.has("--strict-mcp-config"):
        left_out |= set(project_servers)
    used_servers = {n: c for n, c in project_servers.items() if n not in left_out}
    servers, problems = _servers(arguments, workspace, profile, used_servers)
    past = _past(arguments, workspace, profile)
    session = _session(arguments, workspace, profile, settings, past)
    forgets = arguments.has("--fork-session") and profile.forks_forget_prompts
    book = read_book(arguments, workspace)
    denied = [entry for entry in book.of_behavior(Behavior.DENY) if entry.whole_tool]
    session.denied_tools = frozenset(entry.rule.tool for entry in denied)
    session.tools = tuple(name for name in session.tools if name not in session.denied_tools)
    return Setup(
        session=session,
        scenario=_scenario(environ),
        book=book,
        path_context=_path_context(workspace, profile),
        servers=servers,
        server_problems=tuple(problems),
        unused_servers=frozenset(project_servers) - frozenset(used_servers),
        history=past.messages if past else (),
        seen=past.uuids if past and not forgets else frozenset(),
        parent=past.last_uuid if past else None,
    )


def _answer_at_once(argv: Sequence[str], arguments: Arguments, profile: Profile) -> None:
    if arguments.has("--version"):
        raise NoStart(code=0, stdout=f"{profile.version} (Claude Code)\n")
    if arguments.has("--help"):
        text = "Usage: claude [options] [prompt]\n\nFairlead's emulator of the CLI.\n"
        raise NoStart(code=0, stdout=text)
    if list(argv) == ["auth", "status"] and profile.has_auth_status:
        listing = {"loggedIn": True, "authMethod": "api_key", "apiProvider": "firstParty"}
        raise NoStart(code=0, stdout=json.dumps(listing, indent=2) + "\n")
    doomed = arguments.has("--agents") and arguments.has("--agent")
    if doomed and not profile.takes_agents_with_agent:
        raise NoStart(code=0)  # silent, as the real one is (CLI-100)


def _workspace(environ: Mapping[str, str], cwd: str) -> Workspace:
    return Workspace(
        cwd=os.path.realpath(cwd),
        home=environ.get("HOME") or os.path.expanduser("~"),
        tmp=environ.get("CLAUDE_CODE_TMPDIR") or environ.get("TMPDIR") or "/tmp",
        pid=os.getpid(),
        environment={**environ, "UID": str(os.getuid())},
        is_root=os.getuid() == 0 and environ.get("IS_SANDBOX") != "1",
    )


def _refuse_root(arguments: Arguments, workspace: Workspace) -> None:
    bypass = arguments.one("--permission-mode") == "bypassPermissions"
    if workspace.is_root and (bypass or arguments.has("--dangerously-skip-permissions")):
        text = "--dangerously-skip-permissions cannot be used with root/sudo privileges\n"
        raise NoStart(code=1, stderr=text)


def _scenario(environ: Mapping[str, str]) -> Scenario:
    path = environ.get("FAIRLEAD_SCRIPT")
    return load_file(Path(path)) if path else load_tour()


def _path_context(workspace: Workspace, profile: Profile) -> PathContext:
    return place_of(
        workspace.cwd,
        workspace.home,
        family_of(profile.version),
        config=workspace.config,
        trusted=_is_trusted(workspace),
    )


def _is_trusted(workspace: Workspace) -> bool:
    try:
        state = state_file({**workspace.environment, "HOME": workspace.home})
        config = json.loads(Path(state).read_text(encoding="utf-8"))
        return bool(config["projects"][workspace.cwd]["hasTrustDialogAccepted"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


# Servers


def _servers(
    arguments: Arguments,
    workspace: Workspace,
    profile: Profile,
    project_servers: Mapping[str, Any],
) -> tuple[dict[str, Server], list[dict[str, Any]]]:
    servers: dict[str, Server] = {}
    problems: list[dict[str, Any]] = []
    entries: list[tuple[str, Any, str]] = []
    inline: set[str] = set()
    for config in arguments.many("--mcp-config"):
        flagged = _config(config, workspace, profile)
        entries += [(n, c, "dynamic") for n, c in flagged.items()]
        inline |= set(flagged) if config.lstrip().startswith("{") else set()
    entries += [(n, c, "project") for n, c in project_servers.items()]
    if profile.lists_project_first:
        entries.sort(key=lambda entry: entry[2] != "project")
    for name, config, scope in entries:
        if config.get("type") == "sdk" and not config.get("name"):
            if not profile.reports_bad_servers:
                raise NoStart(code=0)  # silent, as the real one is (CLI-112)
            problems.append(
                {"name": name, "type": "invalid_config", "message": f'"{name}" has no name'}
            )
            continue
        was_set = scope == "dynamic" and name in inline
        servers[name] = Server(name=name, config=config, scope=scope, was_set=was_set)
    return servers, problems


def _project_servers(workspace: Workspace, profile: Profile) -> dict[str, Any]:
    """The servers that `.mcp.json` names."""
    path = Path(workspace.cwd, ".mcp.json")
    return _config(path.read_text("utf-8"), workspace, profile) if path.exists() else {}


def _config(config: str, workspace: Workspace, profile: Profile) -> dict[str, Any]:
    text = config
    if not config.lstrip().startswith("{") or not _is_json(config):
        path = Path(workspace.cwd, config)
        if not path.exists():
            if not profile.reports_bad_servers:
                raise NoStart(code=0)  # silent, as the real one is (CLI-100)
            text = f"Error: Invalid MCP configuration:\nMCP config file not found: {path}\n"
            raise NoStart(code=1, stderr=text)
        text = path.read_text(encoding="utf-8")
    servers = json.loads(text).get("mcpServers")
    return dict(servers) if isinstance(servers, dict) else {}


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


# Sessions


def _past(arguments: Arguments, workspace: Workspace, profile: Profile) -> Past | None:
    files = SessionFiles(workspace)
    requested = arguments.one("--resume")
    if requested is None and arguments.has("--continue"):
        requested = files.latest()
        if requested is None:
            return None
    if requested is None:
        return None
    if not is_uuid(requested):
        text = f'Error: --resume requires a valid session ID. "{requested}" is not one.'
        raise _no_conversation(text, requested, profile)
    past = files.read(requested)
    if past is None:
        text = f"No conversation found with session ID: {requested}"
        raise _no_conversation(text, requested, profile)
    return past.until(arguments.one("--resume-session-at"))


def _no_conversation(text: str, requested: str, profile: Profile) -> NoStart:
    usage = TurnUse().report(profile)
    result: dict[str, Any] = {
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": True,
        "duration_ms": 0,
        "duration_api_ms": 0,
        "num_turns": 0,
        "stop_reason": None,
        "session_id": requested if profile.keeps_unknown_session_id else str(uuid.uuid4()),
        "total_cost_usd": 0,
        "usage": usage,
        "modelUsage": {},
        "permission_denials": [],
        "uuid": str(uuid.uuid4()),
        "errors": [text],
    }
    if profile.numbers_results:
        result["result_index"] = 0
    return NoStart(
        code=1, stderr=f"{text}\n" if profile.explains_failed_resume else "", result=result
    )


def _session(
    arguments: Arguments,
    workspace: Workspace,
    profile: Profile,
    settings: dict[str, Any],
    past: Past | None,
) -> Session:
    carried = past.dollars if past and profile.cost_survives_resume else 0.0
    skips = arguments.has("--dangerously-skip-permissions")
    allows = skips or arguments.has("--allow-dangerously-skip-permissions")
    mode = "bypassPermissions" if skips else arguments.one("--permission-mode")
    permissions = settings.get("permissions")
    default = permissions.get("defaultMode") if isinstance(permissions, dict) else None
    mode_name = {"manual": "default", "delegate": "default"}.get(mode or "", mode)
    own = customs(arguments, workspace, profile)
    return Session(
        profile=profile,
        arguments=arguments,
        workspace=workspace,
        session_id=_session_id(arguments, workspace, past),
        mode=mode_name or str(default or "default"),
        new_id=lambda: str(uuid.uuid4()),
        now=time.time,
        spending=Spending(profile, carried),
        settings=settings,
        model=resolve_model(profile, arguments.one("--model") or settings.get("model")),
        tools=offered(arguments, workspace, profile),
        custom_commands=own.commands,
        custom_grants=own.granted,
        custom_skills=own.skills,
        hidden_skills=own.hidden,
        custom_about=own.about,
        agents={**own.agents, **agents_of(arguments)},
        structured_schema=schema_of(arguments),
        flag_directories=tuple(
            folder
            for folder in arguments.many("--add-dir")
            if os.path.isdir(os.path.join(workspace.cwd, folder))
        ),
        started_at=time.time(),
        allows_bypass=allows or mode_name == "bypassPermissions",
    )


def _session_id(arguments: Arguments, workspace: Workspace, past: Past | None) -> str:
    files = SessionFiles(workspace)
    requested = arguments.one("--session-id")
    if requested is not None and files.exists(requested):
        raise NoStart(code=1, stderr=f"Error: Session ID {requested} is already in use.\n")
    if past is None:
        return requested or str(uuid.uuid4())
    if not arguments.has("--fork-session"):
        return past.session_id
    own = requested or str(uuid.uuid4())
    if not arguments.has("--no-session-persistence"):
        files.copy(past, own)
    return own
