"""The state of the running session: who it is, where it works, how it was started.

Mutable and without behaviour of its own beyond small questions; every part of the engine reads
it and the owners of a field change it. No I/O: paths are only put together here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fairlead.emulator.cost import Spending, resolve_model
from fairlead.emulator.flags import Arguments
from fairlead.emulator.profile import Profile
from fairlead.emulator.subagent_stats import SubagentStats

__all__ = ["Place", "Session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the process lives: folders and environment, as values."""

    cwd: str
    home: str
    tmp: str
    pid: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)
    is_root: bool = False

    @property
    def config(self) -> str:
        return self.environment.get("CLAUDE_CONFIG_DIR") or f"{self.home}/.claude"

    @property
    def slug(self) -> str:
        """The name of a project's folder: its path with every odd character as a dash."""
        return re.sub(r"[^a-zA-Z0-9]", "-", self.cwd)

    @property
    def projects(self) -> str:
        return f"{self.config}/projects/{self.slug}"

    def tasks(self, session_id: str, profile: Profile) -> str:
        """Where background tasks put their output."""
        base = f"{self.tmp}/claude-{self.environment.get('UID', '0')}/{self.slug}"
        return f"{base}/{session_id}/tasks" if profile.is_modern else f"{base}/tasks"


@dataclass(slots=True, kw_only=True)
class Session:
    """One running session."""

    profile: Profile
    arguments: Arguments
    place: Place
    session_id: str
    mode: str
    new_id: Callable[[], str]
    """A fresh UUID."""
    now: Callable[[], float]
    """Seconds since the epoch."""
    spending: Spending
    settings: dict[str, Any] = field(default_factory=dict)
    """What the settings files and --settings say, merged."""
    mode_before_plan: str = "default"
    model: str = ""
    tools: tuple[str, ...] = ()
    custom_commands: dict[str, str] = field(default_factory=dict)
    agents: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Agents of the host and the project, beside the built-in ones."""
    structured_schema: Any = None
    is_initialized: bool = False
    results: int = 0
    started_at: float = 0.0
    lines_added: int = 0
    lines_removed: int = 0
    title: str | None = None
    subagents: SubagentStats = field(default_factory=SubagentStats)
    last_was_error: bool = False
    plan_text: str | None = None
    plan_file: str | None = None
    allows_bypass: bool = False

    def __post_init__(self) -> None:
        if not self.model:
            asked = self.arguments.one("--model") or self.settings.get("model")
            self.model = resolve_model(self.profile, asked)

    @property
    def partial(self) -> bool:
        return self.arguments.has("--include-partial-messages")

    @property
    def replays(self) -> bool:
        return self.arguments.has("--replay-user-messages")

    @property
    def persists(self) -> bool:
        return not self.arguments.has("--no-session-persistence")

    @property
    def asks_host(self) -> bool:
        return self.arguments.one("--permission-prompt-tool") == "stdio"

    @property
    def fast_mode(self) -> dict[str, Any]:
        """What every message says of it: a host must ask for it in its settings (measured)."""
        if self.settings.get("fastMode") is True:
            return {"fast_mode_state": "on"}
        return {"fast_mode_state": "off", "fast_mode_disabled_reason": "sdk_opt_in_required"}

    @property
    def transcript_path(self) -> str:
        return f"{self.place.projects}/{self.session_id}.jsonl"

    @property
    def key_source(self) -> str:
        return "ANTHROPIC_API_KEY" if self.has_key else "none"

    @property
    def has_key(self) -> bool:
        """A model that is scripted needs no key; a script may still play the missing one."""
        return self.place.environment.get("FAIRLEAD_EMULATE_LOGGED_OUT") != "1"
