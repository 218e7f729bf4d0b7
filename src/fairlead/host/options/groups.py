"""Groups of options for what the model gets: prompts, tools, settings, servers, agents.

Each group is a field of `Options` with a default. It is checked when it is created, and errors
name its fields as they are reached from `Options`: `prompt.text`, `rules.allowed[2]`. `flags` and
`argv` define whether a field becomes a flag or a part of `initialize`. The other groups, which
only enable or limit something, are in `switches`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from os.path import isabs
from typing import Any, TypeAlias

from fairlead.errors import OptionError
from fairlead.host.literals import SettingSource, ToolPrompts
from fairlead.host.options import checks as check

__all__ = [
    "AgentOptions",
    "McpOptions",
    "Path",
    "Plugins",
    "SettingsSources",
    "SystemPrompt",
    "ToolRules",
]

Path: TypeAlias = str | PathLike[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPrompt:
    """The instructions that the model gets before the conversation."""

    text: str | None = None
    """Replaces the CLI's own prompt; "" is an empty prompt."""
    append: str | None = None
    """After the CLI's own prompt, or after `text`."""
    file: Path | None = None
    append_file: Path | None = None
    exclude_dynamic_sections: bool = False
    """Move the parts that depend on machine and folder out of the prompt, for a shared cache."""
    snapshot: bool | None = None
    """Whether the prompt as first rendered is used for the whole conversation."""
    plan_mode_instructions: str | None = None

    def __post_init__(self) -> None:
        check.settle(
            self,
            "prompt.",
            text=check.optional(check.text),
            append=check.optional(check.text),
            file=check.optional(check.path),
            append_file=check.optional(check.path),
            exclude_dynamic_sections=check.switch,
            snapshot=check.optional(check.switch),
            plan_mode_instructions=check.optional(check.text),
        )
        for text, other in (("text", "file"), ("append", "append_file")):
            if getattr(self, text) is not None and getattr(self, other) is not None:
                raise OptionError(f"prompt.{other}", f"cannot be given together with {text}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRules:
    """Which tools there are, and which run without asking."""

    available: Sequence[str] | None = None
    """Available built-in tools: names, ["default"], or [] for none; None is the CLI's default."""
    allowed: Sequence[str] = ()
    """Rules such as `Read` or `Bash(npm run *)` that need no permission."""
    disallowed: Sequence[str] = ()
    prompts: ToolPrompts | None = None
    """"none" denies a tool instead of asking; "host" (the CLI's default) asks."""

    def __post_init__(self) -> None:
        check.settle(
            self,
            "rules.",
            available=check.optional(check.each(check.word)),
            allowed=check.each(_rule),
            disallowed=check.each(_rule),
            prompts=check.optional(check.one_of("host", "none")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsSources:
    """Where the CLI takes its settings from."""

    sources: Sequence[SettingSource] | None = None
    """Some of user, project, local; [] reads no settings file; None is the CLI's default."""
    value: Path | Mapping[str, Any] | None = None
    """Settings on top of them: a file, or the settings themselves."""
    managed: Mapping[str, Any] | None = None
    """Settings that rank as policy."""
    project_config_root: Path | None = None
    """Folder to read project settings from instead of the working directory, as a full path."""

    def __post_init__(self) -> None:
        check.settle(
            self,
            "settings.",
            sources=check.optional(check.each(check.one_of("user", "project", "local"))),
            value=check.optional(_path_or_object),
            managed=check.optional(check.json_object),
            project_config_root=check.optional(check.path),
        )
        if self.project_config_root is not None and not isabs(self.project_config_root):
            raise OptionError("settings.project_config_root", "takes a full path, from the root.")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpOptions:
    """MCP servers besides those of `tools` and `mcp_servers`."""

    config_files: Sequence[Path] = ()
    """Files with `{"mcpServers": …}`."""
    strict: bool = False
    """Use no servers of other sources; the servers in a project's `.mcp.json` are otherwise started
    without asking."""
    permission_tool: str | None = None
    """An MCP tool that answers permission requests instead of this host."""

    def __post_init__(self) -> None:
        check.settle(
            self,
            "mcp.",
            config_files=check.each(check.path),
            strict=check.switch,
            permission_tool=check.optional(check.word),
        )
        if self.permission_tool == "stdio":
            raise OptionError(
                "mcp.permission_tool", "'stdio' is this host, and the default.", "Leave it out."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """Agents of the conversation: the main one and those it may start."""

    agent: str | None = None
    """Agent that leads the conversation, by name; may be one of `definitions`."""
    definitions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """name -> {"description", "prompt", and optionally "tools", "model", …}."""
    subagent_prompt: str | None = None
    """Added to the prompt of every subagent."""
    forward_subagent_text: bool = False
    progress_summaries: bool = False
    interrupt_spares_tasks: bool = False
    """Keep background tasks running when a turn is interrupted; stop them with `stop_task`."""

    def __post_init__(self) -> None:
        check.settle(
            self,
            "agents.",
            agent=check.optional(check.word),
            definitions=_definitions,
            subagent_prompt=check.optional(check.flag_value),
            forward_subagent_text=check.switch,
            progress_summaries=check.switch,
            interrupt_spares_tasks=check.switch,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugins:
    """Plugins for this session only. They run code: name only what you trust."""

    folders: Sequence[Path] = ()
    folders_without_mcp: Sequence[Path] = ()
    """The same, but their MCP servers are not started."""
    urls: Sequence[str] = ()

    def __post_init__(self) -> None:
        check.settle(
            self,
            "plugins.",
            folders=check.each(check.path),
            folders_without_mcp=check.each(check.path),
            urls=check.each(check.word),
        )


def _rule(option: str, value: Any) -> str:
    """A single permission rule: the CLI splits rules at spaces and commas outside ( )."""
    rule = check.flag_value(option, value)
    inside = False
    for character in rule:
        if character in "()":
            inside = character == "("
        elif character in " ," and not inside:
            raise OptionError(
                option,
                f"the CLI would split {rule!r} at {character!r}.",
                "Give one rule for each element; a rule with ( ) within its ( ) goes into a "
                "settings file.",
            )
    if inside:
        raise OptionError(option, f"{rule!r} has a '(' that is not closed.")
    return rule


def _path_or_object(option: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return check.json_object(option, value)
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return check.json_object(option, json.loads(value))
        except ValueError as error:
            raise OptionError(option, f"is not JSON: {error}.", "Give a dict or a path.") from None
    return check.path(option, value)


def _definitions(option: str, value: Any) -> dict[str, Any]:
    definitions = check.json_object(option, value)
    for name, definition in definitions.items():
        check.word(f"{option} name", name)
        field_name = f"{option}[{name!r}]"
        if not isinstance(definition, dict):
            raise OptionError(field_name, "takes a dict with description and prompt.")
        for key in ("description", "prompt"):
            if not isinstance(definition.get(key), str) or not definition[key]:
                raise OptionError(field_name, f"needs a {key}: the CLI drops an agent without one.")
    return definitions
