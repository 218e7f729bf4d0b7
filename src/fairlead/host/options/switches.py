"""Groups of options that enable or limit something in the CLI.

Like those in `groups`, they are fields of `Options` with a default, checked on creation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fairlead.errors import OptionError
from fairlead.host.literals import ThinkingDisplay, ThinkingMode
from fairlead.host.options import checks as check

__all__ = [
    "Danger",
    "Debug",
    "Profile",
    "SessionFlags",
    "Stream",
    "Thinking",
    "Tuning",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """How long the model may think, and what is shown of it."""

    max_tokens: int | None = None
    mode: ThinkingMode | None = None
    """enabled, adaptive (the same) or disabled."""
    display: ThinkingDisplay | None = None
    """summarized, omitted or highlights."""

    def __post_init__(self) -> None:
        check.settle(
            self,
            "thinking.",
            max_tokens=check.optional(check.count),
            mode=check.optional(check.one_of("enabled", "adaptive", "disabled")),
            display=check.optional(check.one_of("summarized", "omitted", "highlights")),
        )
        if self.max_tokens is not None and self.mode is not None:
            raise OptionError(
                "thinking.max_tokens", "cannot be given together with mode.", "Choose one."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFlags:
    """Less common ways to start and store a session."""

    persist: bool = True
    """False writes no transcript, and the session cannot be resumed."""
    resume_drops_turn: str | None = None
    """With `resume_at`: the prompt whose turn is dropped; it fails if more would be dropped."""
    from_pr: str | None = None
    """Resume the session that belongs to this pull request (number or address)."""
    name: str | None = None
    """Name shown in the CLI's own list of sessions."""
    worktree: str | bool = False
    """Work in a new git worktree, with this name if it is a text."""
    mirror: bool = False
    """Repeat every write to the transcript on stdout."""

    def __post_init__(self) -> None:
        check.settle(
            self,
            "session.",
            persist=check.switch,
            resume_drops_turn=check.optional(check.uuid),
            from_pr=check.optional(check.word),
            name=check.optional(check.flag_value),
            worktree=_name_or_switch,
            mirror=check.switch,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Which parts of the CLI are enabled."""

    bare: bool = False
    """Without hooks, plugins, memory and CLAUDE.md."""
    safe: bool = False
    """Without any customization."""
    restricted: bool = False
    """Without tools that run code, and with file tools kept to the working folders."""
    slash_commands: bool = True
    brief: bool = False
    chrome: bool | None = None
    ide: bool = False

    def __post_init__(self) -> None:
        names = ("bare", "safe", "restricted", "slash_commands", "brief", "ide")
        check.settle(self, "profile.", **dict.fromkeys(names, check.switch))
        check.settle(self, "profile.", chrome=check.optional(check.switch))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """What the CLI sends besides the conversation."""

    hook_events: bool = False
    """Start, output and end of every hook that runs."""
    prompt_suggestions: bool = False
    """A guess at the next prompt after each turn."""
    where_known: bool = False
    """Leave `hook_events` and `prompt_suggestions` out on a version without them. Otherwise such a
    version is refused."""
    dialog_kinds: Sequence[str] = ()
    """Kinds of dialog that `on_dialog` can show; others are never asked."""

    def __post_init__(self) -> None:
        check.settle(
            self,
            "stream.",
            hook_events=check.switch,
            prompt_suggestions=check.switch,
            where_known=check.switch,
            dialog_kinds=check.each(check.text),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What goes to the model's API with every request."""

    betas: Sequence[str] = ()
    task_budget: int | None = None
    """Tokens that the whole task may use, known to the model."""
    autocompact: int | None = None
    """Tokens at which the conversation is compacted; the CLI takes 100,000 to 1,000,000."""

    def __post_init__(self) -> None:
        check.settle(
            self,
            "tuning.",
            betas=check.each(check.word),
            task_budget=check.optional(check.count),
            autocompact=check.optional(check.count),
        )
        if self.autocompact is not None and not 100_000 <= self.autocompact <= 1_000_000:
            raise OptionError("tuning.autocompact", "takes a number from 100,000 to 1,000,000.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Debug:
    """The CLI's own debug log; `debug_file` says where it goes."""

    enabled: bool = False
    filter: str | None = None
    """Categories such as `api,hooks` or `!file`."""

    def __post_init__(self) -> None:
        check.settle(self, "debug.", enabled=check.switch, filter=check.optional(check.flag_value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    """Switches that turn off safety checks."""

    skip_permissions: bool = False
    """Run every tool without asking, from the start."""
    allow_skip: bool = False
    """Let `set_permission_mode("bypassPermissions")` do so later."""

    def __post_init__(self) -> None:
        check.settle(self, "danger.", skip_permissions=check.switch, allow_skip=check.switch)


def _name_or_switch(option: str, value: Any) -> Any:
    return value if isinstance(value, bool) else check.word(option, value)
