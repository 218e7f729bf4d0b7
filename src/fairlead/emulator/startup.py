"""Reads the outside world at the start: flags, environment, settings, servers, past sessions.

Gives a `Setup` for the engine, or raises `NoStart` with what the real CLI would say and its exit
code (TRUTH 1.1, 1.7, 4). All reading of files at the start happens here and in `session_files`.
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

from fairlead.emulator.cost import Spending, TurnUse, resolve_model
from fairlead.emulator.flags import Arguments, BadFlags, read_flags
from fairlead.emulator.mcp_server import Server
from fairlead.emulator.profile import DEFAULT_VERSION, Profile, profile_of
from fairlead.emulator.project_files import custom_commands, read_book, read_settings
from fairlead.emulator.scenario import Scenario, load_file, load_tour
from fairlead.emulator.session import Place, Session
from fairlead.emulator.session_files import Past, SessionFiles
from fairlead.emulator.setup import Setup
from fairlead.emulator.tool_menu import offered
from fairlead.permissions.families import family_of
from fairlead.permissions.paths import Place as PermissionPlace
from fairlead.wire.inputs import is_uuid

__all__ = ["NoStart", "prepare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoStart(Exception):
    """The process ends before a session begins."""

    code: int
    stderr: str = ""
    stdout: str = ""
    result: dict[str, Any] | None = None
    """A result line that is said all the same."""


def prepare(given: Sequence[str], environ: Mapping[str, str], cwd: str) -> Setup:
    """Everything for a session with these arguments in this place."""
    profile = profile_of(environ.get("FAIRLEAD_EMULATE") or DEFAULT_VERSION)
    try:
        arguments = read_flags(given, profile)
    except BadFlags as problem:
        raise NoStart(code=1, stderr=f"{problem}\n") from None
    _answer_at_once(given, arguments, profile)
    place = _place(environ, cwd)
    _refuse_root(arguments, place)
    servers, problems = _servers(arguments, place, profile)
    settings = read_settings(arguments, place)
    past = _past(arguments, place, profile)
    session = _session(arguments, place, profile, settings, past)
    return Setup(
        session=session,
        scenario=_scenario(environ),
        book=read_book(arguments, place),
        permission_place=_permission_place(place, profile),
        servers=servers,
        server_problems=tuple(problems),
        history=past.messages if past else (),
        seen=past.uuids if past else frozenset(),
        parent=past.last_uuid if past else None,
    )


def _answer_at_once(given: Sequence[str], arguments: Arguments, profile: Profile) -> None:
    if arguments.has("--version"):
        raise NoStart(code=0, stdout=f"{profile.version} (Claude Code)\n")
    if arguments.has("--help"):
        text = "Usage: claude [options] [prompt]\n\nFairlead's emulator of the CLI.\n"
        raise NoStart(code=0, stdout=text)
    if list(given) == ["auth", "status"] and profile.is_modern:
        told = {"loggedIn": True, "authMethod": "api_key", "apiProvider": "firstParty"}
        raise NoStart(code=0, stdout=json.dumps(told, indent=2) + "\n")
    doomed = arguments.has("--agents") and arguments.has("--agent")
    if doomed and not profile.is_modern:
        raise NoStart(code=0)  # silent, as the real one is (TRUTH 4)


def _place(environ: Mapping[str, str], cwd: str) -> Place:
    return Place(
        cwd=os.path.realpath(cwd),
        home=environ.get("HOME") or os.path.expanduser("~"),
        tmp=environ.get("CLAUDE_CODE_TMPDIR") or environ.get("TMPDIR") or "/tmp",
        pid=os.getpid(),
        environment={**environ, "UID": str(os.getuid())},
        is_root=os.getuid() == 0 and environ.get("IS_SANDBOX") != "1",
    )


def _refuse_root(arguments: Arguments, place: Place) -> None:
    bypass = arguments.one("--permission-mode") == "bypassPermissions"
    if place.is_root and (bypass or arguments.has("--dangerously-skip-permissions")):
        text = "--dangerously-skip-permissions cannot be used with root/sudo privileges\n"
        raise NoStart(code=1, stderr=text)


def _scenario(environ: Mapping[str, str]) -> Scenario:
    chosen = environ.get("FAIRLEAD_SCRIPT")
    return load_file(Path(chosen)) if chosen else load_tour()


def _permission_place(place: Place, profile: Profile) -> PermissionPlace:
    return PermissionPlace(
        cwd=place.cwd,
        home=place.home,
        family=family_of(profile.version),
        trusted=_is_trusted(place),
        resolve=os.path.realpath,
        is_directory=os.path.isdir,
    )


def _is_trusted(place: Place) -> bool:
    try:
        config = json.loads(Path(place.home, ".claude.json").read_text(encoding="utf-8"))
        return bool(config["projects"][place.cwd]["hasTrustDialogAccepted"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


# Servers


def _servers(
    arguments: Arguments, place: Place, profile: Profile
) -> tuple[dict[str, Server], list[dict[str, Any]]]:
    servers: dict[str, Server] = {}
    problems: list[dict[str, Any]] = []
    found: list[tuple[str, Any, str]] = []
    for given in arguments.many("--mcp-config"):
        found += [(n, c, "dynamic") for n, c in _config(given, place, profile).items()]
    if not arguments.has("--strict-mcp-config"):
        project = Path(place.cwd, ".mcp.json")
        if project.exists():
            text = project.read_text(encoding="utf-8")
            found += [(n, c, "project") for n, c in _config(text, place, profile).items()]
    if profile.is_modern:
        found.sort(key=lambda entry: entry[2] != "project")
    for name, config, scope in found:
        if config.get("type") == "sdk" and not config.get("name"):
            if not profile.is_modern:
                raise NoStart(code=0)  # silent, as the real one is (TRUTH 1.8)
            problems.append(
                {"name": name, "type": "invalid_config", "message": f'"{name}" has no name'}
            )
            continue
        servers[name] = Server(name=name, config=config, scope=scope)
    return servers, problems


def _config(given: str, place: Place, profile: Profile) -> dict[str, Any]:
    text = given
    if not given.lstrip().startswith("{") or not _is_json(given):
        path = Path(place.cwd, given)
        if not path.exists():
            if not profile.is_modern:
                raise NoStart(code=0)  # silent, as the real one is (TRUTH 4)
            words = f"Error: Invalid MCP configuration:\nMCP config file not found: {path}\n"
            raise NoStart(code=1, stderr=words)
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


def _past(arguments: Arguments, place: Place, profile: Profile) -> Past | None:
    files = SessionFiles(place)
    wanted = arguments.one("--resume")
    if wanted is None and arguments.has("--continue"):
        wanted = files.latest()
        if wanted is None:
            return None
    if wanted is None:
        return None
    if not is_uuid(wanted):
        text = f'Error: --resume requires a valid session ID. "{wanted}" is not one.'
        raise _no_conversation(text, wanted, profile)
    past = files.read(wanted)
    if past is None:
        text = f"No conversation found with session ID: {wanted}"
        raise _no_conversation(text, wanted, profile)
    return past.until(arguments.one("--resume-session-at"))


def _no_conversation(text: str, wanted: str, profile: Profile) -> NoStart:
    usage = TurnUse().report(modern=profile.is_modern)
    result: dict[str, Any] = {
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": True,
        "duration_ms": 0,
        "duration_api_ms": 0,
        "num_turns": 0,
        "stop_reason": None,
        "session_id": wanted if profile.is_modern else str(uuid.uuid4()),
        "total_cost_usd": 0,
        "usage": usage,
        "modelUsage": {},
        "permission_denials": [],
        "uuid": str(uuid.uuid4()),
        "errors": [text],
    }
    if profile.is_modern:
        result["result_index"] = 0
    return NoStart(code=1, stderr=f"{text}\n" if profile.is_modern else "", result=result)


def _session(
    arguments: Arguments,
    place: Place,
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
    chosen = {"manual": "default", "delegate": "default"}.get(mode or "", mode)
    schema = arguments.one("--json-schema")
    agents = arguments.one("--agents")
    return Session(
        profile=profile,
        arguments=arguments,
        place=place,
        session_id=_session_id(arguments, place, past),
        mode=chosen or str(default or "default"),
        new_id=lambda: str(uuid.uuid4()),
        now=time.time,
        spending=Spending(profile, carried),
        settings=settings,
        model=resolve_model(profile, arguments.one("--model") or settings.get("model")),
        tools=offered(arguments, place, profile),
        custom_commands=custom_commands(place),
        agents=json.loads(agents) if agents else {},
        structured_schema=json.loads(schema) if schema else None,
        started_at=time.time(),
        allows_bypass=allows or chosen == "bypassPermissions",
    )


def _session_id(arguments: Arguments, place: Place, past: Past | None) -> str:
    files = SessionFiles(place)
    wanted = arguments.one("--session-id")
    if wanted is not None and files.exists(wanted):
        raise NoStart(code=1, stderr=f"Error: Session ID {wanted} is already in use.\n")
    if past is None:
        return wanted or str(uuid.uuid4())
    if not arguments.has("--fork-session"):
        return past.session_id
    own = wanted or str(uuid.uuid4())
    if not arguments.has("--no-session-persistence"):
        files.copy(past, own)
    return own
