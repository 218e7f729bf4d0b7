"""Which tools a session offers: the version's list, changed by flags and environment. Pure."""

from __future__ import annotations

from fairlead.emulator.state.flags import Arguments
from fairlead.emulator.state.profile import Profile
from fairlead.emulator.state.session import Workspace

__all__ = ["offered"]

TASKS = ("TaskCreate", "TaskGet", "TaskList", "TaskUpdate")


def offered(arguments: Arguments, workspace: Workspace, profile: Profile) -> tuple[str, ...]:
    """The names, in the order of init."""
    tools = list(profile.catalog.tools)
    tasks = workspace.environment.get("CLAUDE_CODE_ENABLE_TASKS")
    if profile.offers_tools_by_name:
        named = set(arguments.listed("--allowedTools")) | set(arguments.listed("--tools"))
        hidden = _hidden(profile, tasks)
        if "FAIRLEAD_SCRIPT" not in workspace.environment:
            named.add("TodoWrite")  # a stop of the tour
            hidden = [*hidden, "TodoWrite"]
        tools += [name for name in dict.fromkeys(hidden) if name in named]
    elif tasks == "1":
        tools = [name for name in tools if name != "TodoWrite"] + list(TASKS)
    if arguments.has("--tools") and "default" not in arguments.listed("--tools"):
        only = arguments.listed("--tools")
        tools = [name for name in tools if name in only]
    banned = arguments.listed("--disallowedTools")
    tools = [name for name in tools if name not in banned]
    if arguments.has("--json-schema"):
        tools.append("StructuredOutput")
    return tuple(tools)


def _hidden(profile: Profile, tasks: str | None) -> list[str]:
    off = TASKS if tasks == "0" else ("TodoWrite",)
    return [name for name in profile.catalog.hidden_tools if name not in off]
