"""The `system` lines, one value per `subtype`.

Public subtypes of the CLI have their own class, as have the few internal ones that are useful to
users; any other subtype becomes an `UnknownSystem`. Only `decode` builds them.
"""

from typing import Any, TypeAlias

from msgspec import Struct, field

from fairlead.wire.blocks import NEVER
from fairlead.wire.message import SessionMessage

__all__ = [
    "ApiRetry",
    "BackgroundTask",
    "BackgroundTasksChanged",
    "CommandsChanged",
    "CompactBoundary",
    "CompactMetadata",
    "ControlRequestProgress",
    "ElicitationComplete",
    "FilesPersisted",
    "HookProgress",
    "HookResponse",
    "HookStarted",
    "Informational",
    "Init",
    "LocalCommandOutput",
    "McpServer",
    "MemoryRecall",
    "MirrorError",
    "ModelFallback",
    "ModelRefusalFallback",
    "ModelRefusalNoFallback",
    "Notification",
    "PermissionDenied",
    "PluginInfo",
    "PluginInstall",
    "SessionStateChanged",
    "SessionTitleChanged",
    "SessionWritesLost",
    "Status",
    "System",
    "SystemMessage",
    "TaskNotification",
    "TaskPatch",
    "TaskProgress",
    "TaskStarted",
    "TaskUpdated",
    "TaskUsage",
    "ThinkingTokens",
    "TurnPreempted",
    "UnknownSystem",
    "WorkerShuttingDown",
]


class SystemMessage(SessionMessage, frozen=True):
    """Base of all `system` lines."""

    @property
    def type(self) -> str:
        """Always `system`."""
        return "system"

    @property
    def subtype(self) -> str:
        """Which of the `system` lines this is."""
        return str(self.__struct_config__.tag)


class McpServer(Struct, frozen=True):
    """An MCP server and whether it is connected."""

    name: str = ""
    status: str | None = None
    source: str | None = None


class PluginInfo(Struct, frozen=True):
    """A plugin that is loaded."""

    name: str = ""
    path: str | None = None
    source: str | None = None
    version: str | None = None


class Init(SystemMessage, frozen=True, tag_field="subtype", tag="init"):
    """A turn begins; sent with every turn, but not before the first prompt (CLI-105)."""

    cwd: str | None = None
    tools: tuple[str, ...] = ()
    mcp_servers: tuple[McpServer, ...] | None = None
    model: str | None = None
    permission_mode: str | None = field(default=None, name="permissionMode")
    slash_commands: tuple[str, ...] = ()
    terminal_slash_commands: tuple[str, ...] = ()
    api_key_source: str | None = field(default=None, name="apiKeySource")
    claude_code_version: str | None = None
    output_style: str | None = None
    agents: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    plugins: tuple[PluginInfo, ...] | None = None
    capabilities: tuple[str, ...] = ()
    betas: tuple[str, ...] | None = None
    fast_mode_state: str | None = None
    fast_mode_disabled_reason: str | None = None
    effort: str | None = None
    view_mode: str | None = None
    user_message_uuids: tuple[str, ...] | None = None
    additional_directories: tuple[str, ...] | None = None
    mcp_server_errors: Any = None
    plugin_errors: Any = None
    memory_paths: Any = None


class CompactMetadata(Struct, frozen=True):
    """The figures of a compaction."""

    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    cumulative_dropped_tokens: int | None = None
    duration_ms: float | None = None
    messages_summarized: int | None = None


class CompactBoundary(SystemMessage, frozen=True, tag_field="subtype", tag="compact_boundary"):
    """The conversation before this point was summarized."""

    compact_metadata: CompactMetadata | None = None
    logical_parent_uuid: str | None = None


class Status(SystemMessage, frozen=True, tag_field="subtype", tag="status"):
    """The CLI starts or finishes compacting or a request; also reports a new permission mode."""

    status: str | None = None
    permission_mode: str | None = field(default=None, name="permissionMode")
    compact_result: str | None = None
    compact_error: str | None = None
    user_message_uuids: tuple[str, ...] | None = None


class ApiRetry(SystemMessage, frozen=True, tag_field="subtype", tag="api_retry"):
    """A request to the API failed and will be retried after a delay."""

    attempt: int = 0
    max_retries: int | None = None
    retry_delay_ms: float | None = None
    error_status: int | None = None
    error: str | None = None
    no_response: Any = None


class ControlRequestProgress(
    SystemMessage, frozen=True, tag_field="subtype", tag="control_request_progress"
):
    """A control request of the host is still being processed."""

    request_id: str = ""
    status: str | None = None
    attempt: int | None = None
    max_retries: int | None = None
    retry_delay_ms: float | None = None
    error_status: int | None = None


class ModelRefusalFallback(
    SystemMessage, frozen=True, tag_field="subtype", tag="model_refusal_fallback"
):
    """The model refused and another one answers; lists the messages that are withdrawn."""

    trigger: str | None = None
    direction: str | None = None
    scope: str | None = None
    original_model: str | None = None
    fallback_model: str | None = None
    request_id: str | None = None
    content: str | None = None
    retracted_message_uuids: tuple[str, ...] | None = None
    refused_user_message_uuid: str | None = None
    api_refusal_category: str | None = None
    api_refusal_explanation: str | None = None


class ModelRefusalNoFallback(
    SystemMessage, frozen=True, tag_field="subtype", tag="model_refusal_no_fallback"
):
    """The model refused, and no other model answers."""

    original_model: str | None = None
    request_id: str | None = None
    content: str | None = None
    refused_user_message_uuid: str | None = None
    api_refusal_category: str | None = None
    api_refusal_explanation: str | None = None


class ModelFallback(SystemMessage, frozen=True, tag_field="subtype", tag="model_fallback"):
    """Another model answers, because the selected one could not."""

    trigger: str | None = None
    original_model: str | None = None
    fallback_model: str | None = None
    content: str | None = None


class LocalCommandOutput(
    SystemMessage, frozen=True, tag_field="subtype", tag="local_command_output"
):
    """The output of a slash command."""

    content: str = ""


class HookStarted(SystemMessage, frozen=True, tag_field="subtype", tag="hook_started"):
    """A command hook was started."""

    hook_id: str = ""
    hook_name: str = ""
    hook_event: str = ""


class HookProgress(SystemMessage, frozen=True, tag_field="subtype", tag="hook_progress"):
    """The output of a command hook so far."""

    hook_id: str = ""
    hook_name: str = ""
    hook_event: str = ""
    stdout: str = ""
    stderr: str = ""
    output: str = ""


class HookResponse(SystemMessage, frozen=True, tag_field="subtype", tag="hook_response"):
    """A command hook has ended."""

    hook_id: str = ""
    hook_name: str = ""
    hook_event: str = ""
    stdout: str = ""
    stderr: str = ""
    output: str = ""
    exit_code: int | None = None
    outcome: str | None = None


class PluginInstall(SystemMessage, frozen=True, tag_field="subtype", tag="plugin_install"):
    """The progress of a plugin's installation."""

    status: str | None = None
    name: str | None = None
    error: str | None = None


class TaskUsage(Struct, frozen=True):
    """The usage of a background task."""

    total_tokens: int | None = None
    tool_uses: int | None = None
    duration_ms: float | None = None


class TaskStarted(SystemMessage, frozen=True, tag_field="subtype", tag="task_started"):
    """A subagent or a background command was started."""

    task_id: str = ""
    run_id: str | None = None
    tool_use_id: str | None = None
    description: str = ""
    subagent_type: str | None = None
    task_type: str | None = None
    is_backgrounded: bool | None = None
    spawn_depth: int | None = None
    parent_task_id: str | None = None
    workflow_name: str | None = None
    prompt: str | None = None
    ambient: bool | None = None


class TaskProgress(SystemMessage, frozen=True, tag_field="subtype", tag="task_progress"):
    """What a task is doing."""

    task_id: str = ""
    run_id: str | None = None
    tool_use_id: str | None = None
    description: str = ""
    subagent_type: str | None = None
    usage: TaskUsage | None = None
    last_tool_name: str | None = None
    summary: str | None = None


class TaskPatch(Struct, frozen=True):
    """The fields of a task that changed."""

    status: str | None = None
    description: str | None = None
    end_time: float | None = None
    total_paused_ms: float | None = None
    error: str | None = None
    is_backgrounded: bool | None = None


class TaskUpdated(SystemMessage, frozen=True, tag_field="subtype", tag="task_updated"):
    """A task changed; its end may be reported only here."""

    task_id: str = ""
    run_id: str | None = None
    patch: TaskPatch | None = None


class TaskNotification(SystemMessage, frozen=True, tag_field="subtype", tag="task_notification"):
    """A task has ended."""

    task_id: str = ""
    run_id: str | None = None
    tool_use_id: str | None = None
    status: str | None = None
    reason: str | None = None
    output_file: str | None = None
    summary: str | None = None
    usage: TaskUsage | None = None
    ambient: bool | None = None


class BackgroundTask(Struct, frozen=True):
    """One task of the full list."""

    task_id: str = ""
    run_id: str | None = None
    task_type: str | None = None
    subagent_type: str | None = None
    description: str = ""
    parent_task_id: str | None = None
    ambient: bool | None = None


class BackgroundTasksChanged(
    SystemMessage, frozen=True, tag_field="subtype", tag="background_tasks_changed"
):
    """The full list of running background tasks; replaces the one before."""

    tasks: tuple[BackgroundTask, ...] | None = None


class ThinkingTokens(SystemMessage, frozen=True, tag_field="subtype", tag="thinking_tokens"):
    """An estimate of the thinking tokens if the text is hidden."""

    estimated_tokens: int | None = None
    estimated_tokens_delta: int | None = None
    user_message_uuid: str | None = None


class SessionStateChanged(
    SystemMessage, frozen=True, tag_field="subtype", tag="session_state_changed"
):
    """Idle, running, or waiting for the user: the most reliable report of activity (CLI-525)."""

    state: str | None = None


class SessionTitleChanged(
    SystemMessage, frozen=True, tag_field="subtype", tag="session_title_changed"
):
    """The session has a new name."""

    title: str | None = None


class SessionWritesLost(SystemMessage, frozen=True, tag_field="subtype", tag="session_writes_lost"):
    """The disk was full: the CLI could not save its transcript."""

    error_code: str | None = None
    lost: tuple[str, ...] = ()
    transcript_session_ids: tuple[str, ...] | None = None


class WorkerShuttingDown(
    SystemMessage, frozen=True, tag_field="subtype", tag="worker_shutting_down"
):
    """The process is about to end."""

    reason: str | None = None


class CommandsChanged(SystemMessage, frozen=True, tag_field="subtype", tag="commands_changed"):
    """The list of slash commands has changed."""

    commands: tuple[Any, ...] = ()


class Notification(SystemMessage, frozen=True, tag_field="subtype", tag="notification"):
    """A short note for the user."""

    key: str | None = None
    text: str = ""
    priority: str | None = None
    color: str | None = None
    timeout_ms: float | None = None


class FilesPersisted(SystemMessage, frozen=True, tag_field="subtype", tag="files_persisted"):
    """Uploaded files were stored, or not."""

    files: tuple[Any, ...] = ()
    failed: tuple[Any, ...] = ()
    processed_at: str | None = None


class MemoryRecall(SystemMessage, frozen=True, tag_field="subtype", tag="memory_recall"):
    """Memories that were added to the turn."""

    mode: str | None = None
    memories: tuple[Any, ...] | None = None


class ElicitationComplete(
    SystemMessage, frozen=True, tag_field="subtype", tag="elicitation_complete"
):
    """An elicitation that was answered in a browser is complete."""

    mcp_server_name: str | None = None
    elicitation_id: str | None = None


class PermissionDenied(SystemMessage, frozen=True, tag_field="subtype", tag="permission_denied"):
    """A tool call was denied without a permission request."""

    tool_name: str = ""
    tool_use_id: str = ""
    agent_id: str | None = None
    decision_reason_type: str | None = None
    decision_reason_code: str | None = None
    decision_reason: str | None = None
    message: str | None = None


class MirrorError(SystemMessage, frozen=True, tag_field="subtype", tag="mirror_error"):
    """The transcript could not be mirrored."""

    error: str | None = None
    key: Any = None


class Informational(SystemMessage, frozen=True, tag_field="subtype", tag="informational"):
    """A line of text for the user."""

    content: str = ""
    level: str | None = None
    tool_use_id: str | None = None
    tag: str | None = None
    prevent_continuation: bool | None = None
    prompt_submit_outcome: Any = None
    model_restriction: Any = None
    hook_no_verdict: Any = None


class TurnPreempted(SystemMessage, frozen=True, tag_field="subtype", tag="turn_preempted"):
    """A new prompt preempted the turn."""

    reason: str | None = None
    preempted_by_uuid: str | None = None
    preempted_message_uuids: tuple[str, ...] | None = None


class UnknownSystem(SystemMessage, frozen=True, tag_field="subtype", tag=f"{NEVER}system"):
    """An unknown subtype, or one whose fields are not valid; nothing is lost."""

    subtype_name: str = ""
    problem: str = ""
    """Why it could not be read as its subtype; empty if the subtype itself is unknown."""

    @property
    def subtype(self) -> str:
        """The subtype as the CLI wrote it."""
        return self.subtype_name


System: TypeAlias = (
    Init
    | CompactBoundary
    | Status
    | ApiRetry
    | ControlRequestProgress
    | ModelRefusalFallback
    | ModelRefusalNoFallback
    | ModelFallback
    | LocalCommandOutput
    | HookStarted
    | HookProgress
    | HookResponse
    | PluginInstall
    | TaskStarted
    | TaskProgress
    | TaskUpdated
    | TaskNotification
    | BackgroundTasksChanged
    | ThinkingTokens
    | SessionStateChanged
    | SessionTitleChanged
    | SessionWritesLost
    | WorkerShuttingDown
    | CommandsChanged
    | Notification
    | FilesPersisted
    | MemoryRecall
    | ElicitationComplete
    | PermissionDenied
    | MirrorError
    | Informational
    | TurnPreempted
    | UnknownSystem
)
