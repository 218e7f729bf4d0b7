"""Every flag that Fairlead passes to a CLI, with its option and the versions that know it.

An unknown flag ends the CLI at once (CLI-110), so this is the one table of flags and of the
versions that know them. `since` is exact: read in the published packages on either side of the
change, and tried on the versions of `MEASURED` by `claude FLAG --input-format=stream-json`, which
stops after reading its flags. Pure; the values are formed here, the tokens in `argv`.

Every user of the machine can read a command line. A value that may contain a secret or a private
text is never put there: it is a `Content`, which is passed in a file that only its owner can read,
or it goes into `initialize`. What stays visible: names, numbers, modes, paths, rules, addresses
of plugins, and `extra_flags`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from fairlead.host.options.mcp_config import external_servers, write_config
from fairlead.wire.versions import OLDEST, Span, Version

if TYPE_CHECKING:
    from fairlead.host.options.options import Options

__all__ = ["BASE", "FLAGS", "MANAGED", "MANAGED_IN_INITIALIZE", "SUBAGENT_FILE", "Content", "Flag"]


class Content(Struct, frozen=True):
    """A text for a file; the flag gets the path of that file."""

    file: str
    """The name of the file, without a folder."""
    text: str


Values: TypeAlias = Iterable[str | Content | None]
"""One token for each: `--flag=text`, `--flag=path` for a content, the bare `--flag` for None."""

BASE = ("--output-format=stream-json", "--input-format=stream-json", "--verbose")
"""Without any of these there is no protocol. `-p` changes nothing (CLI-101)."""


SUBAGENT_FILE = 261
"""2.1.x from which `--append-subagent-system-prompt-file` exists."""
MANAGED_IN_INITIALIZE = 323
"""2.1.x from which managed settings can go into `initialize`."""


EVERY_VERSION = Span(since=OLDEST)


class Flag(Struct, frozen=True, kw_only=True):
    """One flag of the CLI."""

    name: str
    option: str
    """The option that asks for it, as it is written in errors."""
    values: Callable[[Options], Values]
    span: Span = EVERY_VERSION
    """The versions that get this flag. From its end on, another flag of the table is used."""
    instead: bool = False
    """Whether an earlier flag of the table is used for versions before the span."""
    may_lack: Callable[[Options], bool] = lambda _: False
    """Whether the options ask to leave the flag out on a version before the span."""

    @property
    def since(self) -> Version:
        """The first version that knows the flag."""
        return self.span.since or OLDEST

    def known_by(self, version: Version) -> bool:
        """Whether a version knows the flag, also if another flag has replaced it."""
        return version >= self.since


def _flag(
    name: str,
    option: str,
    values: Callable[[Options], Values],
    since: int = 0,
    *,
    until: int = 0,
    instead: bool = False,
    may_lack: Callable[[Options], bool] = lambda _: False,
) -> Flag:
    span = Span(
        since=Version(2, 1, since) if since else OLDEST,
        until=Version(2, 1, until) if until else None,
    )
    return Flag(
        name=name, option=option, values=values, span=span, instead=instead, may_lack=may_lack
    )


def _bare(is_set: object) -> Values:
    return (None,) if is_set else ()


def _single(value: object) -> Values:
    return () if value is None else (str(value),)


def _joined(values: Iterable[str] | None) -> Values:
    """One token with commas, also for an empty list: `--tools=` means no tool."""
    return () if values is None else (",".join(values),)


def _json(value: object) -> Values:
    return () if value is None else (_as_json(value),)


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _setting_sources(options: Options) -> Values:
    sources = options.settings.sources
    if options.project_programs == "ignore":
        # Also leaves out the servers of .mcp.json (tried on 2.1.38 and 2.1.325).
        sources = ["user"] if sources is None or "user" in sources else []
    return _joined(sources)


def _mcp_configs(options: Options) -> Values:
    external = external_servers(options.mcp_servers)
    own = (Content("mcp-servers.json", write_config(external)),) if external else ()
    return (*own, *map(str, options.mcp.config_files))


def _settings(options: Options) -> Values:
    value = options.settings.value
    if isinstance(value, Mapping):
        return (Content("settings.json", _as_json(value)),)
    return _single(value)


def _subagent_prompt(options: Options) -> Values:
    text = options.agents.subagent_prompt
    return () if text is None else (Content("subagent-prompt.txt", text),)


def _mode(options: Options) -> Values:
    return () if options.danger.skip_permissions else _single(options.permission_mode)


def _worktree(options: Options) -> Values:
    worktree = options.session.worktree
    return (worktree,) if isinstance(worktree, str) else _bare(worktree)


def _debug(options: Options) -> Values:
    categories = options.debug.filter
    return (categories,) if categories is not None else _bare(options.debug.enabled)


FLAGS: tuple[Flag, ...] = (
    # Protocol
    _flag("--permission-prompt-tool", "mcp.permission_tool",
          lambda o: (o.mcp.permission_tool or "stdio",)),
    _flag("--include-partial-messages", "partial_messages", lambda o: _bare(o.partial_messages)),
    _flag("--replay-user-messages", "replay_user_messages", lambda o: _bare(o.replay_user_messages)),
    _flag("--include-hook-events", "stream.hook_events", lambda o: _bare(o.stream.hook_events), 88,
          may_lack=lambda o: o.stream.where_known),
    _flag("--prompt-suggestions", "stream.prompt_suggestions",
          lambda o: ("true",) if o.stream.prompt_suggestions else (), 154,
          may_lack=lambda o: o.stream.where_known),
    _flag("--forward-subagent-text", "agents.forward_subagent_text",
          lambda o: _bare(o.agents.forward_subagent_text), 211),
    _flag("--session-mirror", "session.mirror", lambda o: _bare(o.session.mirror), 97),
    # Session
    _flag("--resume", "resume", lambda o: _single(o.resume)),
    _flag("--continue", "continue_latest", lambda o: _bare(o.continue_latest)),
    _flag("--fork-session", "fork", lambda o: _bare(o.fork)),
    _flag("--session-id", "session_id", lambda o: _single(o.session_id)),
    _flag("--resume-session-at", "resume_at", lambda o: _single(o.resume_at)),
    _flag("--resume-drops-turn", "session.resume_drops_turn",
          lambda o: _single(o.session.resume_drops_turn), 223),
    _flag("--from-pr", "session.from_pr", lambda o: _single(o.session.from_pr)),
    _flag("--name", "session.name", lambda o: _single(o.session.name), 76),
    _flag("--worktree", "session.worktree", _worktree, 48),
    _flag("--no-session-persistence", "session.persist", lambda o: _bare(not o.session.persist)),
    # Model
    _flag("--model", "model", lambda o: _single(o.model)),
    _flag("--fallback-model", "fallback_model",
          lambda o: _joined(o.fallback_model) if o.fallback_model else ()),
    _flag("--effort", "effort", lambda o: _single(o.effort), 38),
    _flag("--thinking", "thinking.mode", lambda o: _single(o.thinking.mode), 47),
    _flag("--thinking-display", "thinking.display", lambda o: _single(o.thinking.display), 94),
    _flag("--max-thinking-tokens", "thinking.max_tokens", lambda o: _single(o.thinking.max_tokens)),
    _flag("--betas", "tuning.betas", lambda o: o.tuning.betas),
    _flag("--task-budget", "tuning.task_budget", lambda o: _single(o.tuning.task_budget), 84),
    _flag("--autocompact", "tuning.autocompact", lambda o: _single(o.tuning.autocompact), 221),
    # Limits
    _flag("--max-turns", "max_turns", lambda o: _single(o.max_turns)),
    _flag("--max-budget-usd", "max_budget_usd",
          lambda o: _single(o.max_budget_usd)),
    # Permissions and tools
    _flag("--permission-mode", "permission_mode", _mode),
    _flag("--dangerously-skip-permissions", "danger.skip_permissions",
          lambda o: _bare(o.danger.skip_permissions)),
    _flag("--allow-dangerously-skip-permissions", "danger.allow_skip",
          lambda o: _bare(o.danger.allow_skip)),
    _flag("--permission-prompts", "rules.prompts", lambda o: _single(o.rules.prompts), 259),
    _flag("--tools", "rules.available", lambda o: _joined(o.rules.available)),
    # One token for each rule: a rule may contain a comma.
    _flag("--allowedTools", "rules.allowed", lambda o: o.rules.allowed),
    _flag("--disallowedTools", "rules.disallowed", lambda o: o.rules.disallowed),
    _flag("--add-dir", "add_dirs", lambda o: map(str, o.add_dirs)),
    # Prompts that are files; prompts that are texts go into initialize, as do agents and schema
    _flag("--system-prompt-file", "prompt.file",
          lambda o: _single(o.prompt.file)),
    _flag("--append-system-prompt-file", "prompt.append_file",
          lambda o: _single(o.prompt.append_file)),
    _flag("--exclude-dynamic-system-prompt-sections", "prompt.exclude_dynamic_sections",
          lambda o: _bare(o.prompt.exclude_dynamic_sections), 98),
    _flag("--system-prompt-snapshot", "prompt.snapshot",
          lambda o: _single({None: None, True: "on", False: "off"}[o.prompt.snapshot]), 257),
    # Ignored in initialize, so it has to be a flag (tried on 2.1.220 and 2.1.325).
    _flag("--append-subagent-system-prompt", "agents.subagent_prompt",
          lambda o: _single(o.agents.subagent_prompt), 205, until=SUBAGENT_FILE),
    _flag("--append-subagent-system-prompt-file", "agents.subagent_prompt",
          _subagent_prompt, SUBAGENT_FILE, instead=True),
    _flag("--agent", "agents.agent", lambda o: _single(o.agents.agent)),
    # Settings, servers, plugins
    _flag("--setting-sources", "settings.sources", _setting_sources),
    _flag("--settings", "settings.value", _settings),
    _flag("--managed-settings", "settings.managed", lambda o: _json(o.settings.managed), 118,
          until=MANAGED_IN_INITIALIZE),
    # The CLI then waits for `initialize` before it reads any settings.
    _flag("--await-initialize", "settings.managed",
          lambda o: _bare(o.settings.managed is not None), MANAGED_IN_INITIALIZE, instead=True),
    _flag("--managed-settings-in-initialize", "settings.managed",
          lambda o: _bare(o.settings.managed is not None), MANAGED_IN_INITIALIZE, instead=True),
    _flag("--project-config-root", "settings.project_config_root",
          lambda o: _single(o.settings.project_config_root), 275),
    _flag("--mcp-config", "mcp_servers", _mcp_configs),
    _flag("--strict-mcp-config", "mcp.strict", lambda o: _bare(o.mcp.strict)),
    _flag("--plugin-dir", "plugins.folders", lambda o: map(str, o.plugins.folders)),
    _flag("--plugin-dir-no-mcp", "plugins.folders_without_mcp",
          lambda o: map(str, o.plugins.folders_without_mcp), 172),
    _flag("--plugin-url", "plugins.urls", lambda o: o.plugins.urls, 129),
    # Profile
    _flag("--bare", "profile.bare", lambda o: _bare(o.profile.bare), 81),
    _flag("--safe-mode", "profile.safe", lambda o: _bare(o.profile.safe), 169),
    _flag("--restricted", "profile.restricted", lambda o: _bare(o.profile.restricted), 248),
    _flag("--disable-slash-commands", "profile.slash_commands",
          lambda o: _bare(not o.profile.slash_commands)),
    _flag("--brief", "profile.brief", lambda o: _bare(o.profile.brief), 72),
    _flag("--chrome", "profile.chrome", lambda o: _bare(o.profile.chrome)),
    _flag("--no-chrome", "profile.chrome", lambda o: _bare(o.profile.chrome is False)),
    _flag("--ide", "profile.ide", lambda o: _bare(o.profile.ide)),
    # Debugging
    _flag("--debug", "debug.enabled", _debug),
    _flag("--debug-file", "debug_file",
          lambda o: _single(o.debug_file)),
)  # fmt: skip
"""In the order of the command line."""

MANAGED: Mapping[str, str] = {
    "--output-format": "nothing: it is always passed",
    "--input-format": "nothing: it is always passed",
    "--verbose": "nothing: it is always passed",
    "--system-prompt": "prompt.text",
    "--append-system-prompt": "prompt.append",
    "--plan-mode-instructions": "prompt.plan_mode_instructions",
    "--agents": "agents.definitions",
    "--json-schema": "json_schema",
    "--allowed-tools": "rules.allowed",
    "--disallowed-tools": "rules.disallowed",
    **{flag.name: flag.option for flag in FLAGS},
}
"""Flags that belong to an option, with that option; `extra_flags` may not contain them."""
