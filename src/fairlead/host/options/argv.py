"""From options and a version to the command line and the `initialize` request of the CLI.

Pure. Every value is one token with its flag, `--flag=value`, so that no value can be read as a
flag; the CLIs take that form for every flag, also for those that list several values and those
that parse their command line separately (--settings, --debug-file). Prompts, agents and the
output schema go into `initialize`, which all versions accept, has no length limit, and is not
visible to other users of the machine. Other texts that may contain secrets are returned by
`contents`: the caller writes them to files in a private folder before the CLI starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from fairlead.errors import OptionError
from fairlead.host.options.checks import UUID
from fairlead.host.options.flags import BASE, FLAGS, MANAGED_IN_INITIALIZE, Content, Flag
from fairlead.wire.versions import OLDEST, Feature, Version

if TYPE_CHECKING:
    from fairlead.host.options.options import Options

__all__ = [
    "INITIALIZE_FIELDS",
    "PRIVATE",
    "TOKEN_LIMIT",
    "InitializeField",
    "build",
    "contents",
    "initialize_fields",
]

TOKEN_LIMIT = 128 * 1024 - 1
"""Bytes in one command-line argument; Linux refuses to start a program with a longer one."""


class InitializeField(Struct, frozen=True, kw_only=True):
    """One field of the initialize request that an option asks for."""

    name: str
    option: str
    value: Callable[[Options], Any]
    """What to send; None leaves the field out."""
    since: Version = OLDEST
    """The first version that uses it; earlier ones ignore it silently."""
    needed: bool = True
    """Whether ignoring it would change the behavior that the option requests."""


def _field(
    name: str, option: str, value: Callable[[Options], Any], since: int = 29, *, needed: bool = True
) -> InitializeField:
    first = Version(2, 1, since)
    return InitializeField(name=name, option=option, value=value, since=first, needed=needed)


INITIALIZE_FIELDS: tuple[InitializeField, ...] = (
    # A text, not the list that newer versions know as well: 2.1.38 drops a list.
    _field("systemPrompt", "prompt.text", lambda o: o.prompt.text),
    _field("appendSystemPrompt", "prompt.append", lambda o: o.prompt.append),
    _field("planModeInstructions", "prompt.plan_mode_instructions",
           lambda o: o.prompt.plan_mode_instructions, 118),
    # By flag, `--agents X --agent X` ends 2.1.38 silently (CLI-112); this way it works.
    _field("agents", "agents.definitions", lambda o: o.agents.definitions or None),
    _field("jsonSchema", "json_schema", lambda o: o.json_schema),
    _field("title", "title", lambda o: o.title, needed=False),
    _field("agentProgressSummaries", "agents.progress_summaries",
           lambda o: o.agents.progress_summaries or None, 72, needed=False),
    _field("supportedDialogKinds", "stream.dialog_kinds",
           lambda o: list(o.stream.dialog_kinds) or None, 169, needed=False),
    _field("perTaskStopAffordance", "agents.interrupt_spares_tasks",
           lambda o: o.agents.interrupt_spares_tasks or None, 246),
    # Earlier versions get it by flag.
    _field("managedSettings", "settings.managed", lambda o: o.settings.managed,
           MANAGED_IN_INITIALIZE, needed=False),
)  # fmt: skip

BY_FLAG_BEFORE = frozenset({"managedSettings"})
"""Fields that a version before `since` gets by a flag instead."""

PRIVATE = "private"
"""A placeholder for the folder of the private files if no process is started."""

RESERVED = frozenset({"subtype", "hooks", "sdkMcpServers"})
"""Fields that the host writes itself, regardless of the options."""


def build(options: Options, version: Version, folder: str = PRIVATE) -> tuple[str, ...]:
    """The command line after the executable's name; `folder` contains the files of `contents`."""
    _check_version(options, version)
    tokens = list(BASE)
    for flag in FLAGS:
        tokens += _tokens_of(flag, options, version, folder)
    for name, value in options.extra_flags.items():
        tokens.append(_token(name, value, "extra_flags"))
    return tuple(tokens)


def contents(options: Options, version: Version) -> dict[str, str]:
    """Name -> text of each file that the command line of `build` names."""
    return {
        value.file: value.text
        for flag in FLAGS
        if _is_used(flag, version)
        for value in flag.values(options)
        if isinstance(value, Content)
    }


def initialize_fields(
    options: Options,
    version: Version,
    *,
    hooks: Mapping[str, Any] | None = None,
    sdk_mcp_servers: Sequence[str] = (),
) -> dict[str, Any]:
    """The fields of the initialize request, all but its subtype.

    `hooks` is the registration of the host's callbacks, `sdk_mcp_servers` the names of the
    servers in this process: one line there is all the CLI needs to connect to them (CLI-801).
    """
    fields: dict[str, Any] = {}
    for entry in INITIALIZE_FIELDS:
        value = entry.value(options)
        if value is None:
            continue
        if version < entry.since and entry.needed:
            raise _too_old(entry.option, entry.since, version)
        if version < entry.since and entry.name in BY_FLAG_BEFORE:
            continue
        fields[entry.name] = value
    if hooks:
        fields["hooks"] = dict(hooks)
    if sdk_mcp_servers:
        fields["sdkMcpServers"] = list(sdk_mcp_servers)
    owned = RESERVED.union(entry.name for entry in INITIALIZE_FIELDS)
    for name, value in options.extra_initialize.items():
        if name in owned:
            raise OptionError("extra_initialize", f"{name!r} belongs to another option.")
        fields[name] = value
    return fields


def _is_used(flag: Flag, version: Version) -> bool:
    """False for a flag that another one of the table replaces on this version."""
    if flag.span.until is not None and version >= flag.span.until:
        return False
    return flag.known_by(version) or not flag.instead


def _tokens_of(flag: Flag, options: Options, version: Version, folder: str) -> Iterator[str]:
    if not _is_used(flag, version):
        return
    for value in flag.values(options):
        if not flag.known_by(version):
            if flag.may_lack(options):
                return
            raise _too_old(flag.option, flag.since, version)
        text = f"{folder}/{value.file}" if isinstance(value, Content) else value
        yield _token(flag.name, text, flag.option)


def _token(name: str, value: str | None, option: str) -> str:
    """One argument; the last check before the command line, for values of any origin."""
    if value is None:
        return name
    if value.startswith("-") or "\0" in value:
        raise OptionError(option, f"cannot be passed on a command line: {value[:60]!r}.")
    token = f"{name}={value}"
    # A path may contain bytes that are not UTF-8, represented as surrogates.
    if len(token.encode(errors="surrogateescape")) > TOKEN_LIMIT:
        raise OptionError(
            option, f"is longer than the {TOKEN_LIMIT:,} bytes that a command line allows.",
            "Put it into a file, if the option takes one.",
        )  # fmt: skip
    return token


def _check_version(options: Options, version: Version) -> None:
    """Checks of values that only some versions accept, for flags that all versions know."""
    if version < OLDEST:
        raise OptionError(
            "agent", f"is version {version}; Fairlead needs {OLDEST} or later.",
            "Update Claude Code.",
        )  # fmt: skip
    if options.permission_mode == "auto":
        _require("permission_mode", Feature.AUTO_MODE, version)
    if options.resume is not None and not UUID.fullmatch(options.resume):
        _require("resume", Feature.RESUME_BY_TITLE, version)
    if len(options.fallback_model or ()) > 1:
        _require("fallback_model", Feature.FALLBACK_LIST, version)
    if options.effort == "xhigh":
        _require("effort", Feature.EFFORT_XHIGH, version)
    if options.thinking.display == "highlights":
        _require("thinking.display", Feature.THINKING_HIGHLIGHTS, version)
    if not options.replay_user_messages:
        _require("replay_user_messages", Feature.COMMAND_LIFECYCLE, version)
    loops = options.json_schema is not None and version.has(Feature.SCHEMA_LOOPS)
    if loops and options.max_budget_usd is None:
        raise OptionError(
            "json_schema",
            f"needs max_budget_usd on {version}: a model that does not fill it in is asked "
            "again without end, and max_turns does not count that.",
            f"Set max_budget_usd, or use {Feature.SCHEMA_LOOPS.span.until} or later.",
        )


def _require(option: str, feature: Feature, version: Version) -> None:
    if not version.has(feature):
        since = feature.span.since
        assert since is not None, f"{feature} has no beginning"
        raise _too_old(option, since, version)


def _too_old(option: str, since: Version, version: Version) -> OptionError:
    return OptionError(
        option,
        f"needs CLI {since} or later; this one is {version}.",
        "Update Claude Code, or leave the option out.",
    )
