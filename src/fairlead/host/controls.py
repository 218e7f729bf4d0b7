"""Every public control request as a method, for a class that can send them.

Only names and fields are defined here; `control` sends the request and handles errors. A CLI
that does not know a request answers with an error, or, up to 2.1.38, not at all; both become
an exception (`ControlError`, `ControlTimeout`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from fairlead.errors import UsageError
from fairlead.host.literals import PermissionMode
from fairlead.wire.modes import MODES

__all__ = ["Controls"]


class Controls(ABC):
    """The control requests that a host can send to a running CLI."""

    @abstractmethod
    async def control(
        self, subtype: str, *, timeout: float | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Send any control request and return the CLI's answer."""

    # Model, mode, limits

    async def set_model(self, model: str | None = None) -> str | None:
        """Use another model from the next request on; None is the default one."""
        fields: dict[str, Any] = {} if model is None else {"model": model}
        return (await self.control("set_model", **fields)).get("model")

    async def set_permission_mode(self, mode: PermissionMode) -> str:
        """Change the permission mode; returns the mode the CLI is in now."""
        mode_name = "default" if mode == "manual" else mode
        if mode_name not in MODES:
            # 2.1.38 takes any text, even nonsense (CLI-210).
            raise UsageError(f"permission mode {mode!r} is not one of {', '.join(MODES)}")
        answer = await self.control("set_permission_mode", mode=mode_name)
        return str(answer.get("mode") or mode_name)

    async def set_max_thinking_tokens(self, tokens: int | None) -> None:
        """Limit the model's thinking to this many tokens; 0 disables it, None is the default."""
        await self.control("set_max_thinking_tokens", max_thinking_tokens=tokens)

    async def list_models(self) -> list[dict[str, Any]]:
        """The models that can be selected."""
        return _list(await self.control("list_models"), "models")

    async def set_color(self, color: str) -> None:
        """Set the color of the session."""
        await self.control("set_color", color=color)

    # Cost and context

    async def context_usage(self, detail: str = "summary") -> dict[str, Any]:
        """How full the context is, by category; `detail` is `summary` or `full`."""
        return await self.control("get_context_usage", detail=detail)

    async def session_cost(self) -> str:
        """The cost so far, as text written by the CLI."""
        return _text(await self.control("get_session_cost"), "text")

    async def usage(self) -> dict[str, Any]:
        """Cost, durations, lines changed and rate limits."""
        return await self.control("get_usage")

    async def binary_version(self) -> str:
        """The version of the running CLI."""
        return _text(await self.control("get_binary_version"), "version")

    async def status_report(self) -> list[dict[str, Any]]:
        """What /status shows, by section."""
        return _list(await self.control("get_status"), "sections")

    # Files

    async def file_suggestions(self, query: str) -> list[dict[str, Any]]:
        """Files whose names match, for completing an @ mention."""
        return _list(await self.control("file_suggestions", query=query), "suggestions")

    async def read_file(self, path: str, **limits: Any) -> dict[str, Any]:
        """A file's content as the session sees it; the Read rules apply."""
        return await self.control("read_file", path=path, **limits)

    async def seed_read_state(self, path: str, mtime: float) -> None:
        """Tell the CLI that a file was read, so that it may be edited."""
        await self.control("seed_read_state", path=path, mtime=mtime)

    async def rewind_files(self, prompt_uuid: str, *, dry_run: bool = False) -> dict[str, Any]:
        """Restore files to their state before a prompt; needs file checkpoints."""
        return await self.control("rewind_files", user_message_id=prompt_uuid, dry_run=dry_run)

    async def workspace_diff(self) -> dict[str, Any]:
        """What changed in the working tree."""
        return await self.control("get_workspace_diff")

    async def register_repo_root(self, directory: str, **reloads: bool) -> str:
        """Add a repository to the session."""
        answer = await self.control("register_repo_root", directory=directory, **reloads)
        return str(answer.get("directory", directory))

    async def set_cwd(self, path: str, *, trusted: str | None = None) -> dict[str, Any]:
        """Work in another folder from now on.

        For a folder that is not trusted yet, the answer is `{"status": "needs_trust",
        "directory": …}`: ask the user, and call again with that directory as `trusted`.
        """
        trust_fields: dict[str, Any] = {}
        if trusted is not None:
            trust_fields = {"trust_accepted": True, "trusted_directory": trusted}
        return await self.control("set_cwd", path=path, **trust_fields)

    # Settings and rules

    async def settings(self) -> dict[str, Any]:
        """The settings in force, and where each comes from."""
        return await self.control("get_settings")

    async def apply_flag_settings(self, settings: Mapping[str, Any]) -> None:
        """Change settings for this process only; None removes a key."""
        await self.control("apply_flag_settings", settings=dict(settings))

    async def update_settings(self, source: str, settings: Mapping[str, Any]) -> None:
        """Write a settings file (`localSettings` or `userSettings`); few keys are allowed."""
        await self.control("update_settings", source=source, settings=dict(settings))

    async def permission_rules(self) -> dict[str, Any]:
        """What /permissions shows."""
        return _dict(await self.control("list_permission_rules"), "state")

    async def hooks_listing(self) -> dict[str, Any]:
        """The hooks that are configured, by event."""
        return await self.control("get_hooks_listing")

    async def plan(self) -> str | None:
        """The text of the current plan, if there is one."""
        content = (await self.control("get_plan")).get("content")
        return content if isinstance(content, str) else None

    # Tasks

    async def stop_task(self, task_id: str) -> None:
        """Stop a background task."""
        await self.control("stop_task", task_id=task_id)

    async def background_tasks(self, tool_use_id: str | None = None) -> dict[str, Any]:
        """Move a running tool, or all of them, to the background."""
        fields: dict[str, Any] = {} if tool_use_id is None else {"tool_use_id": tool_use_id}
        return await self.control("background_tasks", **fields)

    async def task_output(self, task_id: str) -> dict[str, Any]:
        """The last part of a background task's output."""
        return await self.control("get_task_output", task_id=task_id)

    async def cancel_queued(self, prompt_uuid: str) -> bool:
        """Cancel a prompt in the CLI's own queue."""
        answer = await self.control("cancel_async_message", message_uuid=prompt_uuid)
        return answer.get("cancelled") is True

    # MCP

    async def mcp_status(self) -> list[dict[str, Any]]:
        """The MCP servers; each once, though 2.1.38 lists dynamic ones twice (CLI-806)."""
        servers = _list(await self.control("mcp_status"), "mcpServers")
        return list({server.get("name"): server for server in servers}.values())

    async def mcp_set_servers(self, servers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Replace the servers that were added at run time."""
        plain = {name: dict(config) for name, config in servers.items()}
        return await self.control("mcp_set_servers", servers=plain)

    async def mcp_reconnect(self, server: str) -> None:
        """Reconnect a server."""
        await self.control("mcp_reconnect", serverName=server)

    async def mcp_toggle(self, server: str, *, enabled: bool) -> None:
        """Enable or disable a server."""
        await self.control("mcp_toggle", serverName=server, enabled=enabled)

    async def mcp_message(self, server: str, message: Mapping[str, Any]) -> dict[str, Any]:
        """Pass a JSON-RPC message of an in-process server to the MCP client of the CLI."""
        return await self.control("mcp_message", server_name=server, message=dict(message))

    async def mcp_call(
        self, tool: str, arguments: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Run an MCP tool without a turn of the model."""
        return await self.control("mcp_call", tool=tool, arguments=dict(arguments or {}))

    async def mcp_read_resource(self, server: str, uri: str) -> list[dict[str, Any]]:
        """The contents of a server's resource."""
        return _list(
            await self.control("mcp_read_resource", serverName=server, uri=uri), "contents"
        )

    # Plugins, skills, the session itself

    async def reload_plugins(self) -> dict[str, Any]:
        """Reload the plugins."""
        return await self.control("reload_plugins")

    async def reload_skills(self) -> list[dict[str, Any]]:
        """Reload the skills."""
        return _list(await self.control("reload_skills"), "skills")

    async def reload_output_styles(self) -> Sequence[str]:
        """Reload the output styles."""
        styles = (await self.control("reload_output_styles")).get("available_output_styles")
        return tuple(styles) if isinstance(styles, list) else ()

    async def rename(self, title: str) -> None:
        """Rename the session."""
        await self.control("rename_session", title=title)

    async def generate_title(self, description: str) -> str:
        """Have the model generate a title for the session; empty if it returns none."""
        return _text(await self.control("generate_session_title", description=description), "title")

    async def side_question(self, question: str) -> str:
        """Ask a side question; neither the question nor the answer is added to the conversation."""
        return _text(await self.control("side_question", question=question), "response")

    async def set_has_subscribers(self, watched: bool | None) -> None:
        """Tell the CLI whether a user is watching."""
        await self.control("set_has_subscribers", has_subscribers=watched)

    async def end_session(self, reason: str) -> None:
        """Let the CLI end the session by itself."""
        await self.control("end_session", reason=reason)


def _text(answer: dict[str, Any], key: str) -> str:
    value = answer.get(key)
    return value if isinstance(value, str) else ""


def _list(answer: dict[str, Any], key: str) -> list[dict[str, Any]]:
    value = answer.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _dict(answer: dict[str, Any], key: str) -> dict[str, Any]:
    value = answer.get(key)
    return value if isinstance(value, dict) else {}
