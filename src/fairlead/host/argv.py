"""From options and a version to what the CLI is told: its command line and its `initialize`.

Pure. Every value is one token with its flag, `--flag=value`, so that no value can be read as a
flag; the CLIs take that form for every flag, also for those that list several values and those
that look at their command line by themselves (--settings, --debug-file). Prompts, agents and
the output schema go into `initialize`, which all versions take, has no limit of length, and is
not seen by the other users of the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairlead.errors import OptionError
from fairlead.host.flags import BASE, FLAGS, Flag
from fairlead.host.option_checks import UUID
from fairlead.wire.versions import OLDEST, Feature, Version

if TYPE_CHECKING:
    from fairlead.host.options import Options

__all__ = ["INITIALIZE_FIELDS", "TOKEN_LIMIT", "InitializeField", "build", "initialize_fields"]

TOKEN_LIMIT = 128 * 1024 - 1
"""Bytes in one word of a command line; Linux refuses to start a program with a longer one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InitializeField:
    """One field of the initialize request that an option asks for."""

    name: str
    option: str
    value: Callable[[Options], Any]
    """What to send; None leaves the field out."""
    since: Version = OLDEST
    """The first version that heeds it; earlier ones ignore it without a word."""
    needed: bool = True
    """Whether a version that ignores it would do something else than was asked for."""


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
    # By flag, `--agents X --agent X` ends 2.1.38 without a word (TRUTH 4.11); this way it works.
    _field("agents", "agents.definitions", lambda o: o.agents.definitions or None),
    _field("jsonSchema", "json_schema", lambda o: o.json_schema),
    _field("title", "title", lambda o: o.title, needed=False),
    _field("agentProgressSummaries", "agents.progress_summaries",
           lambda o: o.agents.progress_summaries or None, 72, needed=False),
    _field("supportedDialogKinds", "stream.dialog_kinds",
           lambda o: list(o.stream.dialog_kinds) or None, 169, needed=False),
    _field("perTaskStopAffordance", "agents.interrupt_spares_tasks",
           lambda o: o.agents.interrupt_spares_tasks or None, 246),
)  # fmt: skip

RESERVED = frozenset({"subtype", "hooks", "sdkMcpServers"})
"""Fields that the host writes itself, whatever the options say."""


def build(options: Options, version: Version) -> tuple[str, ...]:
    """The command line after the executable's name."""
    _check_version(options, version)
    tokens = list(BASE)
    for flag in FLAGS:
        tokens += _tokens_of(flag, options, version)
    for name, value in options.extra_flags.items():
        tokens.append(_token(name, value, "extra_flags"))
    return tuple(tokens)


def initialize_fields(
    options: Options,
    version: Version,
    *,
    hooks: Mapping[str, Any] | None = None,
    sdk_mcp_servers: Sequence[str] = (),
) -> dict[str, Any]:
    """The fields of the initialize request, all but its subtype.

    `hooks` is the registration of the host's callbacks, `sdk_mcp_servers` the names of the
    servers in this process: one line there is all the CLI needs to connect to them (TRUTH 1.8).
    """
    fields: dict[str, Any] = {}
    for entry in INITIALIZE_FIELDS:
        value = entry.value(options)
        if value is None:
            continue
        if version < entry.since and entry.needed:
            raise _too_old(entry.option, entry.since, version)
        fields[entry.name] = value
    if hooks:
        fields["hooks"] = dict(hooks)
    if sdk_mcp_servers:
        fields["sdkMcpServers"] = list(sdk_mcp_servers)
    taken = RESERVED.union(entry.name for entry in INITIALIZE_FIELDS)
    for name, value in options.extra_initialize.items():
        if name in taken:
            raise OptionError("extra_initialize", f"{name!r} belongs to another option.")
        fields[name] = value
    return fields


def _tokens_of(flag: Flag, options: Options, version: Version) -> Iterator[str]:
    for value in flag.values(options):
        if not flag.known_by(version):
            raise _too_old(flag.option, flag.since, version)
        yield _token(flag.name, value, flag.option)


def _token(name: str, value: str | None, option: str) -> str:
    """One word; the last gate before the command line, whatever made the value."""
    if value is None:
        return name
    if value.startswith("-") or "\0" in value:
        raise OptionError(option, f"cannot stand on a command line as {value[:60]!r}.")
    token = f"{name}={value}"
    # A path may hold bytes that are no UTF-8, kept as surrogates.
    if len(token.encode(errors="surrogateescape")) > TOKEN_LIMIT:
        raise OptionError(
            option, f"is longer than the {TOKEN_LIMIT:,} bytes a command line can carry.",
            "Put it into a file, if the option takes one.",
        )  # fmt: skip
    return token


def _check_version(options: Options, version: Version) -> None:
    """What depends on the version though the flag is known to all."""
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
        f"what is asked for needs CLI {since} or later; this one is {version}.",
        "Update Claude Code, or leave the option out.",
    )
