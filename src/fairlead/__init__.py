"""Fairlead hosts Claude Code: it starts the real CLI and speaks its stream-json protocol.

    async with fairlead.Session(fairlead.Options(cwd="project")) as session:
        turn = await session.send("What is 2 + 2?")
        async for message in turn:
            ...
        print(turn.text, turn.cost_usd)

Names are loaded when they are first used, so that `import fairlead` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairlead.errors import (
        AgentExited,
        AgentNotFound,
        ControlError,
        ControlTimeout,
        FairleadError,
        OptionError,
        PeerError,
        ProcessError,
        ReaderOverrun,
        Refused,
        SessionClosed,
        SettingsError,
        TurnCancelled,
        UsageError,
    )
    from fairlead.host.ask import Answer, ask
    from fairlead.host.attachments import document, image
    from fairlead.host.decisions import Allow, Deny, PermissionRequest
    from fairlead.host.elicitations import (
        Accept,
        Cancel,
        Decline,
        DialogRequest,
        ElicitationRequest,
    )
    from fairlead.host.hooks import Hook, HookCall
    from fairlead.host.mcp import Server
    from fairlead.host.mcp_prompts import prompt
    from fairlead.host.mcp_resources import resource
    from fairlead.host.mcp_results import Image
    from fairlead.host.option_groups import (
        AgentOptions,
        McpOptions,
        Plugins,
        SettingsSources,
        SystemPrompt,
        ToolRules,
    )
    from fairlead.host.option_switches import (
        Danger,
        Debug,
        Profile,
        SessionFlags,
        Stream,
        Thinking,
        Tuning,
    )
    from fairlead.host.options import Options
    from fairlead.host.plans import Approve, PlanRequest, Reject
    from fairlead.host.questions import Answers, Choice, Question, QuestionRequest
    from fairlead.host.tools import Tool, ToolContext, tool
    from fairlead.host.turn import Turn
    from fairlead.live import Session

_HOME = {
    "fairlead.errors": (
        "AgentExited", "AgentNotFound", "ControlError", "ControlTimeout", "FairleadError",
        "OptionError", "PeerError", "ProcessError", "ReaderOverrun", "Refused", "SessionClosed",
        "SettingsError", "TurnCancelled", "UsageError",
    ),
    "fairlead.host.ask": ("Answer", "ask"),
    "fairlead.host.attachments": ("document", "image"),
    "fairlead.host.decisions": ("Allow", "Deny", "PermissionRequest"),
    "fairlead.host.elicitations": (
        "Accept", "Cancel", "Decline", "DialogRequest", "ElicitationRequest",
    ),
    "fairlead.host.hooks": ("Hook", "HookCall"),
    "fairlead.host.mcp": ("Server",),
    "fairlead.host.mcp_prompts": ("prompt",),
    "fairlead.host.mcp_resources": ("resource",),
    "fairlead.host.mcp_results": ("Image",),
    "fairlead.host.option_groups": (
        "AgentOptions", "McpOptions", "Plugins", "SettingsSources", "SystemPrompt", "ToolRules",
    ),
    "fairlead.host.option_switches": (
        "Danger", "Debug", "Profile", "SessionFlags", "Stream", "Thinking", "Tuning",
    ),
    "fairlead.host.options": ("Options",),
    "fairlead.host.plans": ("Approve", "PlanRequest", "Reject"),
    "fairlead.host.questions": ("Answers", "Choice", "Question", "QuestionRequest"),
    "fairlead.host.tools": ("Tool", "ToolContext", "tool"),
    "fairlead.host.turn": ("Turn",),
    "fairlead.live": ("Session",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Accept",
    "AgentExited",
    "AgentNotFound",
    "AgentOptions",
    "Allow",
    "Answer",
    "Answers",
    "Approve",
    "Cancel",
    "Choice",
    "ControlError",
    "ControlTimeout",
    "Danger",
    "Debug",
    "Decline",
    "Deny",
    "DialogRequest",
    "ElicitationRequest",
    "FairleadError",
    "Hook",
    "HookCall",
    "Image",
    "McpOptions",
    "OptionError",
    "Options",
    "PeerError",
    "PermissionRequest",
    "PlanRequest",
    "Plugins",
    "ProcessError",
    "Profile",
    "Question",
    "QuestionRequest",
    "ReaderOverrun",
    "Refused",
    "Reject",
    "Server",
    "Session",
    "SessionClosed",
    "SessionFlags",
    "SettingsError",
    "SettingsSources",
    "Stream",
    "SystemPrompt",
    "Thinking",
    "Tool",
    "ToolContext",
    "ToolRules",
    "Tuning",
    "Turn",
    "TurnCancelled",
    "UsageError",
    "ask",
    "document",
    "image",
    "prompt",
    "resource",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'fairlead' has no attribute {name!r}")
    module = importlib.import_module(_MODULE_OF[name])
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
