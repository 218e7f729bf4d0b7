"""All options of a session that a caller can set before it starts.

A plain value: checked when it is created and never changed afterwards (`dataclasses.replace`
makes a changed copy). Frequent options are fields of `Options` itself, rarer ones are in groups.
This module does no I/O: whether a folder or an executable exists is checked at the start, and
`argv`, which builds the command line, checks what a CLI version supports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from fairlead.errors import OptionError
from fairlead.host.literals import Effort, PermissionMode, ProjectPrograms
from fairlead.host.options import checks as check
from fairlead.host.options.conflicts import check_conflicts
from fairlead.host.options.groups import (
    AgentOptions,
    McpOptions,
    Path,
    Plugins,
    SettingsSources,
    SystemPrompt,
    ToolRules,
)
from fairlead.host.options.mcp_config import check_servers
from fairlead.host.options.switches import (
    Danger,
    Debug,
    Profile,
    SessionFlags,
    Stream,
    Thinking,
    Tuning,
)
from fairlead.host.process.process import Graces
from fairlead.wire.modes import EFFORTS, MODES
from fairlead.wire.versions import Version

if TYPE_CHECKING:
    from fairlead.host.mcp.tools import Tool
    from fairlead.host.requests.decisions import PermissionHandler
    from fairlead.host.requests.elicitations import DialogHandler, ElicitationHandler
    from fairlead.host.requests.hooks import Hook
    from fairlead.host.requests.plans import PlanHandler
    from fairlead.host.requests.questions import QuestionHandler

__all__ = ["EFFORTS", "PERMISSION_MODES", "Options", "permission_mode"]

PERMISSION_MODES = MODES
"""Every mode; `auto` only if the version has it."""

PROJECT_PROGRAMS: tuple[str, ...] = get_args(ProjectPrograms)

MEBIBYTE = 1024 * 1024

GROUPS: Mapping[str, type] = {
    "prompt": SystemPrompt,
    "rules": ToolRules,
    "settings": SettingsSources,
    "mcp": McpOptions,
    "thinking": Thinking,
    "session": SessionFlags,
    "agents": AgentOptions,
    "plugins": Plugins,
    "profile": Profile,
    "stream": Stream,
    "tuning": Tuning,
    "debug": Debug,
    "danger": Danger,
    "graces": Graces,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to start a CLI and how to interact with it."""

    # Folder, executable, environment
    cwd: Path = "."
    """The folder the CLI works in."""
    agent: Path = "claude"
    """Name (found on PATH) or path of the CLI. `demo` is an emulated one with a scripted model,
    which comes with Fairlead and needs no account."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables added to those that the CLI gets anyway; not shown, as they may be secrets."""
    pass_env: Sequence[str] = ()
    """Names of more variables of this process that the CLI gets, such as `SSH_AUTH_SOCK`. The
    model can read every variable that the CLI has."""
    inherit_env: bool = True
    """False: the CLI gets `env` and what `pass_env` names, and nothing else of this process, not
    even PATH."""
    version: str | None = None
    """The CLI's version, if it is known; saves running the executable with --version."""

    # Conversation
    resume: str | None = None
    """Id of the session to continue; from 2.1.101 on also its title."""
    continue_latest: bool = False
    """Continue the latest session of the folder."""
    fork: bool = False
    """Continue under a new id and leave the old session unchanged."""
    session_id: str | None = None
    """Id for the new session, a UUID that was not used before."""
    resume_at: str | None = None
    """With `resume`: drop everything after the message with this uuid."""
    title: str | None = None
    """Name of the session, if the version stores one."""

    # The model and its limits
    model: str | None = None
    fallback_model: str | Sequence[str] | None = None
    """Model to use when the first is overloaded; several, in order, from 2.1.160 on."""
    effort: Effort | None = None
    max_turns: int | None = None
    max_budget_usd: float | None = None
    json_schema: Mapping[str, Any] | None = None
    """Schema of the structured output that each turn must end with."""

    # Decisions
    permission_mode: PermissionMode | None = "default"
    """None leaves the mode to the user's settings, and newer CLIs may then start in `auto`."""
    on_permission: PermissionHandler | None = None
    on_question: QuestionHandler | None = None
    on_plan: PlanHandler | None = None
    on_elicitation: ElicitationHandler | None = None
    on_dialog: DialogHandler | None = None
    hooks: Sequence[Hook] = ()
    project_programs: ProjectPrograms = "run"
    """What happens to the hooks, MCP servers and other programs and permissions that files of the
    project give the CLI (`.claude/settings.json`, `.mcp.json`, agents, skills). "run": the CLI
    runs them without asking, as it does on its own; for folders whose content you trust.
    "ignore": the CLI reads only the settings of the user (`--setting-sources user`), so neither
    the programs nor other settings and instructions of the project apply. "refuse": if there are
    any, `ProjectProgramsRefused` lists them and the CLI is not started."""

    # Tools
    tools: Sequence[Tool[..., Any]] = ()
    """Functions of this program that the model may call."""
    mcp_servers: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Servers by name: a `Server`, an object of the `mcp` package, or the configuration of a
    program or address as a dict, which is passed to the CLI in a private file."""
    add_dirs: Sequence[Path] = ()
    """More folders that the tools may work in."""

    # Messages, checkpoints, logs
    partial_messages: bool = True
    replay_user_messages: bool = True
    """Get an echo of each prompt when the CLI starts it; required before 2.1.220, where nothing
    else reports the start."""
    file_checkpoints: bool = False
    """Keep copies of changed files, so that `rewind_files` can restore them."""
    on_stderr: Callable[[str], object] | None = None
    record: Path | None = None
    """File to record both pipes in."""
    debug_file: Path | None = None

    # Limits
    reader_limit: int = 256 * MEBIBYTE
    """Bytes that one reader may leave unread before it is closed."""
    line_limit: int = 64 * MEBIBYTE
    """Bytes in one line of the CLI; a longer one is skipped and reported."""
    control_timeout: float = 60.0
    start_timeout: float = 60.0
    """Seconds for the handshake. It took up to eleven on a busy machine (CLI-111)."""
    graces: Graces = field(default_factory=Graces)

    # Groups
    prompt: SystemPrompt = field(default_factory=SystemPrompt)
    rules: ToolRules = field(default_factory=ToolRules)
    settings: SettingsSources = field(default_factory=SettingsSources)
    mcp: McpOptions = field(default_factory=McpOptions)
    thinking: Thinking = field(default_factory=Thinking)
    session: SessionFlags = field(default_factory=SessionFlags)
    agents: AgentOptions = field(default_factory=AgentOptions)
    plugins: Plugins = field(default_factory=Plugins)
    profile: Profile = field(default_factory=Profile)
    stream: Stream = field(default_factory=Stream)
    tuning: Tuning = field(default_factory=Tuning)
    debug: Debug = field(default_factory=Debug)
    danger: Danger = field(default_factory=Danger)

    # Flags and fields without an option
    extra_flags: Mapping[str, str | None] = field(default_factory=dict)
    """Flags passed to the CLI unchanged, `{"--flag": "value"}`, or None for a flag without a value."""
    extra_initialize: Mapping[str, Any] = field(default_factory=dict)
    """Fields added to the initialize request unchanged."""

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise `OptionError` for the first value that cannot work; run by the constructor."""
        check.settle(self, **CHECKS)
        for name, kind in GROUPS.items():
            check.instance(kind, f"{kind.__name__}(…)")(name, getattr(self, name))
        for name in Graces.__struct_fields__:
            check.seconds(f"graces.{name}", getattr(self.graces, name))
        check_conflicts(self)


def permission_mode(option: str, value: Any) -> str:
    """A permission mode; `manual`, a newer name of `default`, is stored as `default`."""
    if value == "manual":
        return "default"
    if value == "delegate":
        raise OptionError(
            option, "'delegate' never had an effect and was removed.", "Use 'default' instead."
        )
    return str(check.one_of(*PERMISSION_MODES)(option, value))


def _resume(option: str, value: Any) -> str:
    """An id or a title; whether a title is accepted depends on the version, checked later."""
    return check.flag_value(option, value)


def _models(option: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (check.word(option, value),)
    models: tuple[str, ...] = check.each(check.word)(option, value)
    return models


def _version(option: str, value: Any) -> str:
    if Version.parse(check.text(option, value)) is None:
        raise OptionError(option, f"{value!r} is not a version.", "It looks like 2.1.325.")
    return str(value)


def _extra_flags(option: str, value: Any) -> dict[str, str | None]:
    if not isinstance(value, Mapping):
        raise OptionError(option, "takes a mapping of flags to values.")
    from fairlead.host.options.flags import MANAGED

    for name, content in value.items():
        if not isinstance(name, str) or not re.fullmatch(r"--[A-Za-z][A-Za-z0-9-]*", name):
            raise OptionError(option, f"{name!r} is not a flag.", "Write it as --flag.")
        if name in MANAGED:
            raise OptionError(option, f"{name} belongs to an option.", f"Use {MANAGED[name]}.")
        if content is not None:
            check.flag_value(f"{option}[{name!r}]", content)
    return dict(value)


def _hook(option: str, value: Any) -> Any:
    if not (hasattr(value, "event") and hasattr(value, "handler")):
        raise OptionError(option, f"{value!r} is not a hook.", "Make one with Hook(…).")
    return value


def _tool(option: str, value: Any) -> Any:
    if not (hasattr(value, "name") and hasattr(value, "function")):
        raise OptionError(
            option, f"{value!r} is not a tool.", "Decorate it with @tool(name, description)."
        )
    return value


CHECKS: Mapping[str, check.Check] = {
    "cwd": check.path,
    "agent": check.path,
    "env": check.environment,
    "pass_env": check.each(check.variable_name),
    "inherit_env": check.switch,
    "version": check.optional(_version),
    "resume": check.optional(_resume),
    "continue_latest": check.switch,
    "fork": check.switch,
    "session_id": check.optional(check.uuid),
    "resume_at": check.optional(check.uuid),
    "title": check.optional(check.text),
    "model": check.optional(check.word),
    "fallback_model": check.optional(_models),
    "effort": check.optional(check.one_of(*EFFORTS)),
    "max_turns": check.optional(check.count),
    "max_budget_usd": check.optional(check.amount),
    "json_schema": check.optional(check.json_object),
    "permission_mode": check.optional(permission_mode),
    "on_permission": check.optional(check.function),
    "on_question": check.optional(check.function),
    "on_plan": check.optional(check.function),
    "on_elicitation": check.optional(check.function),
    "on_dialog": check.optional(check.function),
    "hooks": check.each(_hook),
    "project_programs": check.one_of(*PROJECT_PROGRAMS),
    "tools": check.each(_tool),
    "mcp_servers": check_servers,
    "add_dirs": check.each(check.path),
    "partial_messages": check.switch,
    "replay_user_messages": check.switch,
    "file_checkpoints": check.switch,
    "on_stderr": check.optional(check.function),
    "record": check.optional(check.path),
    "debug_file": check.optional(check.path),
    "reader_limit": check.count,
    "line_limit": check.count,
    "control_timeout": check.amount,
    "start_timeout": check.amount,
    "extra_flags": _extra_flags,
    "extra_initialize": check.json_object,
}
