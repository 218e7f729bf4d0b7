"""What each emulated version offers: tools, slash commands, agents, models, capabilities.

Names are those the real CLIs announce (rec 2.1.38/init_plain, 2.1.325/init_plain); the
descriptions are Fairlead's own. Data only, chosen by `profile`.
"""

from __future__ import annotations

from msgspec import Struct, field

__all__ = ["NEW", "OLD", "Catalog", "Model"]


class Model(Struct, frozen=True, kw_only=True):
    """A model that can be chosen: by its alias or its full name."""

    alias: str
    name: str
    display_name: str
    title: str
    """How notes name it, e.g. in the answer of /model."""
    dollars_per_million: tuple[float, float]
    """Input and output tokens."""
    context_window: int
    max_output: int


class Catalog(Struct, frozen=True, kw_only=True):
    """Everything that init and the initialize answer list."""

    tools: tuple[str, ...]
    hidden_tools: tuple[str, ...] = ()
    """Offered only when named in --allowedTools or --tools (CLI-1008)."""
    slash_commands: tuple[str, ...]
    local_commands: tuple[str, ...]
    """Those that the CLI answers itself."""
    terminal_commands: tuple[str, ...] = ()
    unavailable_commands: tuple[str, ...] = ()
    """Known, but only in a terminal."""
    argument_hints: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    """Another spelling -> the command that runs."""
    agents: tuple[str, ...]
    skills: tuple[str, ...]
    plugins: tuple[dict[str, str], ...] = ()
    capabilities: tuple[str, ...] = ()
    output_styles: tuple[str, ...]
    models: tuple[Model, ...]
    """The first is the default."""
    other_prices: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Part of the name of a model that is not listed -> dollars per million tokens."""
    unknown_price: tuple[float, float]
    """Dollars per million tokens of any other model (CLI-1636)."""
    model_aliases: dict[str, str] = field(default_factory=dict)
    """Other names of models -> the alias of the model that answers."""


_HINTS = {
    "debug": "[issue description]",
    "compact": "<optional custom summarization instructions>",
    "config": "key=value",
    "model": "<model>",
    "rename": "[name]",
    "clear": "[name]",
}

OLD = Catalog(
    tools=(
        "Task", "TaskOutput", "Bash", "Glob", "Grep", "ExitPlanMode", "Read", "Edit", "Write",
        "NotebookEdit", "WebFetch", "TodoWrite", "WebSearch", "TaskStop", "AskUserQuestion",
        "Skill", "EnterPlanMode", "ToolSearch",
    ),
    slash_commands=(
        "debug", "compact", "context", "cost", "init", "pr-comments", "release-notes", "review",
        "security-review", "insights",
    ),
    local_commands=("compact", "context", "cost", "release-notes"),
    argument_hints=_HINTS,
    agents=("Bash", "general-purpose", "statusline-setup", "Explore", "Plan"),
    skills=("debug",),
    output_styles=("default", "Explanatory", "Learning"),
    models=(
        Model(alias="sonnet", name="claude-sonnet-4-5-20250929", display_name="Sonnet",
              title="Sonnet 4.5", dollars_per_million=(5, 25), context_window=200_000,
              max_output=64_000),
        Model(alias="opus", name="claude-opus-4-6", display_name="Opus", title="Opus 4.6",
              dollars_per_million=(5, 25), context_window=200_000, max_output=64_000),
        Model(alias="haiku", name="claude-haiku-4-5-20251001", display_name="Haiku",
              title="Haiku 4.5", dollars_per_million=(1, 5), context_window=200_000,
              max_output=64_000),
    ),
    other_prices={"3-5-haiku": (0.8, 4), "opus-4-1": (15, 75)},
    unknown_price=(3, 15),
    model_aliases={"opusplan": "sonnet"},
)  # fmt: skip
"""2.1.38"""

NEW = Catalog(
    tools=(
        "Task", "AskUserQuestion", "Bash", "CronCreate", "CronDelete", "CronList", "Edit",
        "EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree", "ListAgents", "Monitor",
        "NotebookEdit", "Read", "ReportFindings", "ScheduleWakeup", "SendMessage", "Skill",
        "TaskStop", "ToolSearch", "WebFetch", "WebSearch", "Workflow", "Write",
    ),
    hidden_tools=("Glob", "Grep", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TodoWrite"),
    slash_commands=(
        "deep-research", "dataviz", "update-config", "verify", "debug", "code-review", "simplify",
        "batch", "fewer-permission-prompts", "doctor", "loop", "claude-api",
        "workflow-authoring", "run", "run-skill-generator", "plugin-authoring", "agents",
        "auto-mode-setup", "autocompact", "clear", "color", "compact", "config", "output-style",
        "context", "effort", "fast", "focus", "heapdump", "init", "mcp", "model",
        "__remote-workflow", "workflow-launch-exec", "reload-plugins", "reload-skills", "rename",
        "security-review", "usage", "insights", "recap", "goal", "list-agents",
        "team-onboarding",
    ),
    local_commands=(
        "clear", "compact", "config", "context", "effort", "fast", "mcp", "model", "output-style",
        "rename", "usage", "list-agents", "agents",
    ),
    terminal_commands=("doctor", "color", "focus", "reload-plugins"),
    unavailable_commands=("help", "release-notes", "login", "logout", "vim", "theme", "terminal-setup", "ide"),
    argument_hints=_HINTS,
    aliases={"cost": "usage"},
    agents=("claude", "Explore", "general-purpose", "Plan", "statusline-setup"),
    skills=(
        "deep-research", "dataviz", "update-config", "verify", "debug", "code-review", "simplify",
        "batch", "fewer-permission-prompts", "doctor", "loop", "claude-api",
        "workflow-authoring", "run", "run-skill-generator", "plugin-authoring",
    ),
    plugins=tuple(
        {"name": name, "path": "builtin", "source": f"{name}@builtin"}
        for name in ("cc-plugin-agents-md", "cc-plugin-privacy", "cc-plugin-plugin-authoring")
    ),
    capabilities=(
        "interrupt_receipt_v1", "interrupt_cancel_queued_v1", "interrupt_send_now_v1",
        "interrupt_requeue_taken_v1", "msg_lifecycle_v1", "request_marker_lists_v1",
        "ask_user_question_unanswered_v1", "lifecycle_wakeup_source_v1",
        "sdk_mcp_tools_list_changed", "sdk_mcp_manifests", "mcp_read_resource_v1",
        "mcp_tool_ui_meta_v1", "ui_surface_v1", "mcp_call_result_not_for_model_v1",
        "mcp_call_check_permissions_v1", "voice_call_talk_line_v1", "withdrawn_files_note_v2",
        "ui_pane_widget_v1", "reload_plugins_refuse_if_busy_v1",
    ),
    output_styles=("default", "Proactive", "Concise", "Explanatory", "Learning"),
    models=(
        Model(alias="opus", name="claude-opus-5-5", display_name="Opus", title="Opus 5.5",
              dollars_per_million=(4, 20), context_window=1_000_000, max_output=128_000),
        Model(alias="fable", name="claude-fable-5-2", display_name="Fable", title="Fable 5.2",
              dollars_per_million=(10, 50), context_window=1_000_000, max_output=128_000),
        Model(alias="sonnet", name="claude-sonnet-5-5", display_name="Sonnet",
              title="Sonnet 5.5", dollars_per_million=(2, 10), context_window=1_000_000,
              max_output=128_000),
        Model(alias="haiku", name="claude-haiku-5-5", display_name="Haiku", title="Haiku 5.5",
              dollars_per_million=(0.1, 0.5), context_window=1_000_000, max_output=128_000),
    ),
    other_prices={"3-5-haiku": (0.8, 4), "sonnet-4-6": (3, 15)},
    unknown_price=(4, 20),
    model_aliases={"opusplan": "sonnet", "claude-opus-4-1-20250805": "opus"},
)  # fmt: skip
"""2.1.325"""
