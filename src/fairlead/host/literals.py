"""The values of options and requests as literal types, for editors and type checkers."""

from __future__ import annotations

from typing import Literal, TypeAlias

from fairlead.wire.modes import Effort, ModeName

__all__ = [
    "Destination",
    "Effort",
    "HookEvent",
    "PermissionMode",
    "Priority",
    "ProjectPrograms",
    "SettingSource",
    "ThinkingDisplay",
    "ThinkingMode",
    "ToolPrompts",
]

PermissionMode: TypeAlias = Literal[ModeName, "manual"]
SettingSource: TypeAlias = Literal["user", "project", "local"]
ThinkingMode: TypeAlias = Literal["enabled", "adaptive", "disabled"]
ThinkingDisplay: TypeAlias = Literal["summarized", "omitted", "highlights"]
ToolPrompts: TypeAlias = Literal["host", "none"]
ProjectPrograms: TypeAlias = Literal["run", "ignore", "refuse"]
Priority: TypeAlias = Literal["now", "next", "later"]
Destination: TypeAlias = Literal[
    "session", "localSettings", "projectSettings", "userSettings", "cliArg"
]
HookEvent: TypeAlias = Literal[
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification",
    "UserPromptSubmit", "UserPromptExpansion", "SessionStart", "SessionEnd", "Stop",
    "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact",
    "PreModelSwitch", "PostModelSwitch", "PermissionRequest", "PermissionDenied", "Setup",
    "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation", "ElicitationResult",
    "ConfigChange", "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "CwdChanged",
    "FileChanged", "DirectoryAdded", "MessageDisplay",
]  # fmt: skip
