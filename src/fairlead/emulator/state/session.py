"""The state of the running session.

Mutable, with almost no behavior of its own: every part of the engine reads it, and the owner of a
field changes it. No I/O: paths are only composed here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field

from fairlead.emulator.state.conversation import Conversation
from fairlead.emulator.state.cost import Spending, resolve_model
from fairlead.emulator.state.flags import Arguments
from fairlead.emulator.state.profile import Profile
from fairlead.emulator.state.subagent_stats import SubagentStats
from fairlead.wire.config_folder import config_folder

__all__ = ["Session", "Workspace"]


class Workspace(Struct, frozen=True, kw_only=True):
    """The folders and the environment of the process, as values."""

    cwd: str
    home: str
    tmp: str
    pid: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)
    is_root: bool = False

    @property
    def config(self) -> str:
        return config_folder({**self.environment, "HOME": self.home})

    @property
    def slug(self) -> str:
        """The name of a project's folder: its path with a dash for every other character."""
        return re.sub(r"[^a-zA-Z0-9]", "-", self.cwd)

    @property
    def projects(self) -> str:
        return f"{self.config}/projects/{self.slug}"

    def tasks(self, session_id: str, profile: Profile) -> str:
        """The folder for the output of background tasks."""
        base = f"{self.tmp}/claude-{self.environment.get('UID', '0')}/{self.slug}"
        return f"{base}/{session_id}/tasks" if profile.tasks_are_per_session else f"{base}/tasks"


class Session(Struct, kw_only=True):
    """One running session."""

    profile: Profile
    arguments: Arguments
    workspace: Workspace
    session_id: str
    mode: str
    new_id: Callable[[], str]
    """A fresh UUID."""
    now: Callable[[], float]
    """Seconds since the epoch."""
    spending: Spending
    settings: dict[str, Any] = field(default_factory=dict)
    """The settings of all files and of --settings, merged."""
    mode_before_plan: str = "default"
    plan_asks: bool = False
    """Plan mode was set by an answer to a permission request: it asks and judges nothing (CLI-1727)."""
    model: str = ""
    tools: tuple[str, ...] = ()
    denied_tools: frozenset[str] = frozenset()
    """Tools and servers that a deny rule of the settings covers as a whole: they are not
    offered."""
    custom_commands: dict[str, str] = field(default_factory=dict)
    custom_grants: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Name of a skill or a command -> the rules of its `allowed-tools`."""
    custom_skills: tuple[str, ...] = ()
    hidden_skills: frozenset[str] = frozenset()
    """Skills and commands that the model must not start (`disable-model-invocation`)."""
    custom_about: dict[str, str] = field(default_factory=dict)
    agents: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """Agents of the host and the project, in addition to the built-in ones."""
    structured_schema: Any = None
    is_initialized: bool = False
    suggests_prompts: bool | None = None
    """Whether the host wants suggested prompts; None if `initialize` did not say so."""
    awaits_suggestion: bool = False
    """The model was asked for a suggested prompt: the process does not end before the answer."""
    results: int = 0
    started_at: float = 0.0
    lines_added: int = 0
    lines_removed: int = 0
    title: str | None = None
    subagents: SubagentStats = field(default_factory=SubagentStats)
    has_structured_output: bool = False
    """A turn of this session had a valid structured output."""
    last_was_error: bool = False
    last_was_interrupted: bool = False
    """The last turn was interrupted by the host."""
    plan_text: str | None = None
    plan_file: str | None = None
    allows_bypass: bool = False
    conversation: Conversation = field(default_factory=Conversation)
    """The main conversation."""
    flag_directories: tuple[str, ...] = ()
    """The folders of `--add-dir` that exist."""
    prompt_id: str = ""
    turns_begun: int = 0
    """Turns of this process."""
    """The id of the running turn's prompt; hooks get it."""
    turn_uuids: list[str] = field(default_factory=list)
    checkpoints: list[str] = field(default_factory=list)
    """The first prompt of each turn: files can be put back to what they were before it."""
    noted_late_stop: bool = False
    """A Stop hook that answers too late is reported once (CLI-1655)."""
    safety_stops: int = 0
    """How many replies the model refused."""
    """The uuids of the prompts of the running turn."""
    added_directories: list[str] = field(default_factory=list)
    """Directories that the host added while the session ran."""
    crashes_with: str | None = None
    """The error that ends the process at the next prompt."""
    turn_model: str | None = None
    """The model of the running turn, if a change only applies to the next one."""
    is_first_turn: bool = True
    last_usage: Mapping[str, Any] = field(default_factory=dict)
    """Tokens of the last reply."""
    pending_note: str | None = None
    """A text for the model that is added to the next prompt."""
    _messages: int = 0

    def __post_init__(self) -> None:
        if not self.model:
            requested = self.arguments.one("--model") or self.settings.get("model")
            self.model = resolve_model(self.profile, requested)

    def message_id(self, scripted: str | None) -> str:
        """The id of the next reply: the script's, or the next number."""
        self._messages += 1
        return scripted or f"msg_{self._messages:04d}"

    @property
    def is_over_budget(self) -> bool:
        """Whether the session has spent what `--max-budget-usd` allows."""
        limit = self.arguments.one("--max-budget-usd")
        return limit is not None and self.spending.dollars >= float(limit)

    @property
    def replays_early(self) -> bool:
        """Whether the replay of a prompt precedes the stream events of its answer."""
        return self.partial and self.profile.replays_before_stream

    def spent(self, conversation: Conversation, usage: Mapping[str, Any]) -> None:
        """Tokens of a reply."""
        self.last_usage = dict(usage)
        if not usage:
            return
        self.spending.add(conversation.model or self.model, usage)
        if conversation.is_main:
            counted = ("input_tokens", "cache_read_input_tokens", "output_tokens")
            self.spending.context_tokens = sum(int(usage.get(n) or 0) for n in counted)

    def keep_plan(self, text: str) -> None:
        """Set the plan that needs approval; `get_plan` returns it."""
        self.plan_text = text
        self.plan_file = f"{self.workspace.config}/plans/{self.session_id[:8]}.md"

    def want_structure(self, schema: Any) -> None:
        """Require structured output."""
        self.structured_schema = schema
        if "StructuredOutput" not in self.tools:
            self.tools = (*self.tools, "StructuredOutput")

    @property
    def turn_uuid(self) -> str:
        """The uuid of the prompt whose turn runs; empty if it had none."""
        return self.turn_uuids[0] if self.turn_uuids else ""

    @property
    def slash_commands(self) -> list[str]:
        """All commands, in the order in which the CLI lists them (measured)."""
        built_in = self.profile.catalog.slash_commands
        first = [name for name in built_in if name in self.profile.catalog.skills]
        rest = [name for name in built_in if name not in first]
        return [*first, *self.custom_commands, *rest]

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
        return f"{self.workspace.projects}/{self.session_id}.jsonl"

    @property
    def key_source(self) -> str:
        return "ANTHROPIC_API_KEY" if self.has_key else "none"

    @property
    def has_key(self) -> bool:
        """Whether there is an API key: a scripted model needs none, but a script can emulate its
        absence."""
        return self.workspace.environment.get("FAIRLEAD_EMULATE_LOGGED_OUT") != "1"
