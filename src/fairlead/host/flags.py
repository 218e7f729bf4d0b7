"""Every flag that Fairlead gives to a CLI: which option asks for it, which versions take it.

An unknown flag ends the CLI at once (TRUTH 1.1), so this is the one table of flags and of the
versions that know them. `since` is exact: read in the published packages on either side of the
change, and tried on the versions of `MEASURED` by `claude FLAG --input-format=stream-json`, which
stops after reading its flags. Pure; the values are formed here, the tokens in `argv`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from fairlead.host.mcp_config import external_servers, write_config
from fairlead.wire.versions import OLDEST, Version

if TYPE_CHECKING:
    from fairlead.host.options import Options

__all__ = ["BASE", "FLAGS", "MANAGED", "Flag"]

Values: TypeAlias = Iterable[str | None]
"""One token for each: `--flag=text`, or the bare `--flag` for None."""

BASE = ("--output-format=stream-json", "--input-format=stream-json", "--verbose")
"""Without any of these there is no protocol. `-p` changes nothing (TRUTH 1.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One flag of the CLI."""

    name: str
    option: str
    """The option that asks for it, as it is written in errors."""
    values: Callable[[Options], Values]
    since: Version = OLDEST

    def known_by(self, version: Version) -> bool:
        """Whether that version takes it."""
        return version >= self.since


def _flag(name: str, option: str, values: Callable[[Options], Values], since: int = 0) -> Flag:
    first = Version(2, 1, since) if since else OLDEST
    return Flag(name=name, option=option, values=values, since=first)


def _if(wanted: object) -> Values:
    return (None,) if wanted else ()


def _one(value: object) -> Values:
    return () if value is None else (str(value),)


def _joined(values: Iterable[str] | None) -> Values:
    """One token with commas, also for an empty list: `--tools=` means no tool."""
    return () if values is None else (",".join(values),)


def _json(value: object) -> Values:
    if value is None:
        return ()
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")),)


def _mcp_configs(options: Options) -> Values:
    external = external_servers(options.mcp_servers)
    inline = (write_config(external),) if external else ()
    return (*inline, *map(str, options.mcp.config_files))


def _settings(options: Options) -> Values:
    value = options.settings.value
    return _json(value) if isinstance(value, Mapping) else _one(value)


def _mode(options: Options) -> Values:
    return () if options.danger.skip_permissions else _one(options.permission_mode)


def _worktree(options: Options) -> Values:
    wanted = options.session.worktree
    return (wanted,) if isinstance(wanted, str) else _if(wanted)


def _debug(options: Options) -> Values:
    chosen = options.debug.filter
    return (chosen,) if chosen is not None else _if(options.debug.enabled)


FLAGS: tuple[Flag, ...] = (
    # Protocol
    _flag("--permission-prompt-tool", "mcp.permission_tool",
          lambda o: (o.mcp.permission_tool or "stdio",)),
    _flag("--include-partial-messages", "partial_messages", lambda o: _if(o.partial_messages)),
    _flag("--replay-user-messages", "replay_user_messages", lambda o: _if(o.replay_user_messages)),
    _flag("--include-hook-events", "stream.hook_events", lambda o: _if(o.stream.hook_events), 88),
    _flag("--prompt-suggestions", "stream.prompt_suggestions",
          lambda o: ("true",) if o.stream.prompt_suggestions else (), 154),
    _flag("--forward-subagent-text", "agents.forward_subagent_text",
          lambda o: _if(o.agents.forward_subagent_text), 211),
    _flag("--session-mirror", "session.mirror", lambda o: _if(o.session.mirror), 97),
    # Session
    _flag("--resume", "resume", lambda o: _one(o.resume)),
    _flag("--continue", "continue_latest", lambda o: _if(o.continue_latest)),
    _flag("--fork-session", "fork", lambda o: _if(o.fork)),
    _flag("--session-id", "session_id", lambda o: _one(o.session_id)),
    _flag("--resume-session-at", "resume_at", lambda o: _one(o.resume_at)),
    _flag("--resume-drops-turn", "session.resume_drops_turn",
          lambda o: _one(o.session.resume_drops_turn), 223),
    _flag("--from-pr", "session.from_pr", lambda o: _one(o.session.from_pr)),
    _flag("--name", "session.name", lambda o: _one(o.session.name), 76),
    _flag("--worktree", "session.worktree", _worktree, 48),
    _flag("--no-session-persistence", "session.persist", lambda o: _if(not o.session.persist)),
    # Model
    _flag("--model", "model", lambda o: _one(o.model)),
    _flag("--fallback-model", "fallback_model",
          lambda o: _joined(o.fallback_model) if o.fallback_model else ()),
    _flag("--effort", "effort", lambda o: _one(o.effort), 38),
    _flag("--thinking", "thinking.mode", lambda o: _one(o.thinking.mode), 47),
    _flag("--thinking-display", "thinking.display", lambda o: _one(o.thinking.display), 94),
    _flag("--max-thinking-tokens", "thinking.max_tokens", lambda o: _one(o.thinking.max_tokens)),
    _flag("--betas", "tuning.betas", lambda o: o.tuning.betas),
    _flag("--task-budget", "tuning.task_budget", lambda o: _one(o.tuning.task_budget), 84),
    _flag("--autocompact", "tuning.autocompact", lambda o: _one(o.tuning.autocompact), 221),
    # Limits
    _flag("--max-turns", "max_turns", lambda o: _one(o.max_turns)),
    _flag("--max-budget-usd", "max_budget_usd",
          lambda o: _one(o.max_budget_usd)),
    # Permissions and tools
    _flag("--permission-mode", "permission_mode", _mode),
    _flag("--dangerously-skip-permissions", "danger.skip_permissions",
          lambda o: _if(o.danger.skip_permissions)),
    _flag("--allow-dangerously-skip-permissions", "danger.allow_skip",
          lambda o: _if(o.danger.allow_skip)),
    _flag("--permission-prompts", "rules.prompts", lambda o: _one(o.rules.prompts), 259),
    _flag("--tools", "rules.available", lambda o: _joined(o.rules.available)),
    # One token for each rule: a rule may hold a comma.
    _flag("--allowedTools", "rules.allowed", lambda o: o.rules.allowed),
    _flag("--disallowedTools", "rules.disallowed", lambda o: o.rules.disallowed),
    _flag("--add-dir", "add_dirs", lambda o: map(str, o.add_dirs)),
    # Prompts that are files; prompts that are texts go into initialize, as do agents and schema
    _flag("--system-prompt-file", "prompt.file",
          lambda o: _one(o.prompt.file)),
    _flag("--append-system-prompt-file", "prompt.append_file",
          lambda o: _one(o.prompt.append_file)),
    _flag("--exclude-dynamic-system-prompt-sections", "prompt.exclude_dynamic_sections",
          lambda o: _if(o.prompt.exclude_dynamic_sections), 98),
    _flag("--system-prompt-snapshot", "prompt.snapshot",
          lambda o: _one({None: None, True: "on", False: "off"}[o.prompt.snapshot]), 257),
    # In initialize this one is not heeded, so it has to be a flag (tried on 2.1.220, 2.1.325).
    _flag("--append-subagent-system-prompt", "agents.subagent_prompt",
          lambda o: _one(o.agents.subagent_prompt), 205),
    _flag("--agent", "agents.agent", lambda o: _one(o.agents.agent)),
    # Settings, servers, plugins
    _flag("--setting-sources", "settings.sources", lambda o: _joined(o.settings.sources)),
    _flag("--settings", "settings.value", _settings),
    _flag("--managed-settings", "settings.managed", lambda o: _json(o.settings.managed), 118),
    _flag("--project-config-root", "settings.project_config_root",
          lambda o: _one(o.settings.project_config_root), 275),
    _flag("--mcp-config", "mcp_servers", _mcp_configs),
    _flag("--strict-mcp-config", "mcp.strict", lambda o: _if(o.mcp.strict)),
    _flag("--plugin-dir", "plugins.folders", lambda o: map(str, o.plugins.folders)),
    _flag("--plugin-dir-no-mcp", "plugins.folders_without_mcp",
          lambda o: map(str, o.plugins.folders_without_mcp), 172),
    _flag("--plugin-url", "plugins.urls", lambda o: o.plugins.urls, 129),
    # Profile
    _flag("--bare", "profile.bare", lambda o: _if(o.profile.bare), 81),
    _flag("--safe-mode", "profile.safe", lambda o: _if(o.profile.safe), 169),
    _flag("--restricted", "profile.restricted", lambda o: _if(o.profile.restricted), 248),
    _flag("--disable-slash-commands", "profile.slash_commands",
          lambda o: _if(not o.profile.slash_commands)),
    _flag("--brief", "profile.brief", lambda o: _if(o.profile.brief), 72),
    _flag("--chrome", "profile.chrome", lambda o: _if(o.profile.chrome)),
    _flag("--no-chrome", "profile.chrome", lambda o: _if(o.profile.chrome is False)),
    _flag("--ide", "profile.ide", lambda o: _if(o.profile.ide)),
    # Debugging
    _flag("--debug", "debug.enabled", _debug),
    _flag("--debug-file", "debug_file",
          lambda o: _one(o.debug_file)),
)  # fmt: skip
"""In the order in which they stand on the command line."""

MANAGED: Mapping[str, str] = {
    "--output-format": "nothing: it is always there",
    "--input-format": "nothing: it is always there",
    "--verbose": "nothing: it is always there",
    "--system-prompt": "prompt.text",
    "--append-system-prompt": "prompt.append",
    "--plan-mode-instructions": "prompt.plan_mode_instructions",
    "--agents": "agents.definitions",
    "--json-schema": "json_schema",
    "--allowed-tools": "rules.allowed",
    "--disallowed-tools": "rules.disallowed",
    **{flag.name: flag.option for flag in FLAGS},
}
"""Flags that belong to an option, with that option; `extra_flags` may not hold them."""
