"""Control requests that only read: settings, models, status, files, usage. Newer versions only.

Each answer has the keys that 2.1.325 gives (rec control_new); figures that an emulator cannot know
are constants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fairlead.emulator.engine.rule_report import report_rules
from fairlead.emulator.protocol.introduction import Introduction
from fairlead.emulator.protocol.output import Output
from fairlead.emulator.protocol.usage_report import context_usage, cost_report
from fairlead.emulator.state.effects import ReadFile, Suggest
from fairlead.emulator.turn.parts import TurnParts

__all__ = ["ControlReports"]

HOOK_EVENTS = (
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart",
    "SessionEnd", "Stop", "SubagentStop", "PreCompact", "PermissionRequest", "Notification",
)  # fmt: skip

Report = Callable[[Mapping[str, Any]], dict[str, Any]]


class ControlReports:
    """Answers questions about the session."""

    def __init__(self, parts: TurnParts, output: Output, introduction: Introduction) -> None:
        self._parts = parts
        self._output = output
        self._effects = parts.effects
        self._introduction = introduction
        self._is_indexed = False

    def handlers(self) -> dict[str, Callable[[str | None, Mapping[str, Any]], None]]:
        """Subtype -> handler."""
        reports: dict[str, Report] = {
            "get_context_usage": lambda request: {
                **context_usage(self._parts.session),
                "mcpTools": self._mcp_tools(),
            },
            "get_settings": self._settings,
            "list_models": lambda request: {"models": self._introduction.models()},
            "get_status": self._status,
            "list_permission_rules": self._rules,
            "get_plan": self._plan,
            "get_hooks_listing": self._hooks,
            "get_workspace_diff": self._diff,
            "get_binary_version": self._version,
            "get_session_cost": lambda request: {"text": cost_report(self._parts.session)},
            "get_usage": self._usage,
            "reload_plugins": self._plugins,
            "reload_skills": lambda request: {"skills": self._introduction.commands(skills=True)},
            "reload_output_styles": self._styles,
            "generate_session_title": lambda request: {"title": None},
        }
        handlers = {name: self._answering(report) for name, report in reports.items()}
        return {
            **handlers,
            "read_file": self._read_file,
            "file_suggestions": self._suggest,
            "get_task_output": self._task_output,
        }

    def _answering(self, report: Report) -> Callable[[str | None, Mapping[str, Any]], None]:
        def handler(request_id: str | None, request: Mapping[str, Any]) -> None:
            self._output.answer(request_id, report(request))

        return handler

    def _mcp_tools(self) -> list[dict[str, Any]]:
        """The tools of the servers by name; those that were used are loaded (CLI-1643)."""
        used = self._parts.session.conversation.used_tools()
        return [
            {
                "name": name,
                "serverName": name.split("__")[1],
                "tokens": 0,
                "isLoaded": name in used,
            }
            for name in sorted(self._parts.mcp.tool_names())
        ]

    def _plan(self, request: Mapping[str, Any]) -> dict[str, Any]:
        session = self._parts.session
        if session.plan_text is None:
            return {"exists": False}
        return {"exists": True, "content": session.plan_text, "path": session.plan_file}

    def _settings(self, request: Mapping[str, Any]) -> dict[str, Any]:
        session = self._parts.session
        applied = {
            "model": session.model,
            "effort": "medium",
            "advisor": None,
            "ultracode": False,
            "ultracodeRequested": False,
            "ultracodeAvailable": True,
            "ultrathinkAvailable": False,
            "outsideFileToolReadsBlocked": False,
            "outsideFileToolWritesBlocked": False,
            "outsideBlocksCountLaunchFoldersOnly": False,
            "launchEnvLeftOwnFilesInPlace": True,
        }
        return {"effective": dict(session.settings), "sources": [], "applied": applied}

    def _status(self, request: Mapping[str, Any]) -> dict[str, Any]:
        session = self._parts.session
        rows = {
            "Version": session.profile.version,
            "Session ID": session.session_id,
            "cwd": session.workspace.cwd,
        }
        first = {"title": "Session", "rows": [{"label": k, "value": v} for k, v in rows.items()]}
        second = {"title": "Environment", "rows": [{"label": "Model", "value": session.model}]}
        return {"sections": [first, second]}

    def _rules(self, request: Mapping[str, Any]) -> dict[str, Any]:
        state = {
            "rules": report_rules(self._parts.permissions.book.rules),
            "workspaceDirectories": [],
            "originalCwd": self._parts.session.workspace.cwd,
            "managedOnly": False,
        }
        return {"state": state}

    def _hooks(self, request: Mapping[str, Any]) -> dict[str, Any]:
        catalog = [
            {"name": name, "summary": name, "supportsMatcher": "Tool" in name}
            for name in HOOK_EVENTS
        ]
        policy = {"disableAllHooks": False, "allowManagedHooksOnly": False}
        return {
            "events": self._parts.hooks.listing(),
            "hooks": [],
            "eventCatalog": catalog,
            "policy": policy,
        }

    def _diff(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return {"diff": None, "noDiffReason": "no-repository"}

    def _version(self, request: Mapping[str, Any]) -> dict[str, Any]:
        version = self._parts.session.profile.version
        return {"version": version, "buildTime": "2026-11-13T00:00:00Z"}

    def _usage(self, request: Mapping[str, Any]) -> dict[str, Any]:
        session = self._parts.session
        return {
            "session": {
                "total_cost_usd": session.spending.dollars,
                "total_api_duration_ms": session.spending.api_ms,
                "total_duration_ms": round((session.now() - session.started_at) * 1000),
                "total_lines_added": session.lines_added,
                "total_lines_removed": session.lines_removed,
                "model_usage": session.spending.by_model(),
            },
            "subscription_type": None,
            "rate_limits_available": False,
            "rate_limits": None,
            "behaviors": None,
        }

    def _plugins(self, request: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "commands": self._introduction.commands(),
            "agents": self._introduction.agents(),
            "plugins": [dict(p) for p in self._parts.session.profile.catalog.plugins],
            "mcpServers": self._parts.mcp.status(),
            "error_count": 0,
        }

    def _styles(self, request: Mapping[str, Any]) -> dict[str, Any]:
        styles = self._parts.session.profile.catalog.output_styles
        return {"available_output_styles": list(styles)}

    # Files: read outside

    def _read_file(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        self._effects.spawn(self._read(request_id, str(request.get("path") or "")))

    async def _read(self, request_id: str | None, path: str) -> None:
        text: str | None = None
        if path:
            text = await self._effects.perform(lambda n: ReadFile(n, path))
        if text is None:
            self._output.refuse(request_id, f"read denied: {path}")
            return
        answer = {"contents": text, "absPath": path, "lossy": False, "requested_path": path}
        self._output.answer(request_id, answer)

    def _suggest(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        self._effects.spawn(self._suggested(request_id, str(request.get("query") or "")))

    async def _suggested(self, request_id: str | None, query: str) -> None:
        paths: list[str] = []
        # The first request starts the index of files and finds nothing (CLI-1615).
        was_indexed, self._is_indexed = self._is_indexed, True
        if query and was_indexed:
            paths = await self._effects.perform(lambda n: Suggest(n, query))
        suggestions = [{"path": path} for path in paths]
        answer = {"suggestions": suggestions, "cwd": self._parts.session.workspace.cwd}
        self._output.answer(request_id, answer)

    def _task_output(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        task_id = str(request.get("task_id", ""))
        self._effects.spawn(self._read_output(request_id, task_id))

    async def _read_output(self, request_id: str | None, task_id: str) -> None:
        path = self._parts.tasks.output_file(task_id)
        text: str | None = await self._effects.perform(lambda n: ReadFile(n, path))
        if text is None:
            self._output.refuse(request_id, f"No task found with ID: {task_id}")
            return
        answer = {"output": text[-8192:], "total_bytes": len(text), "truncated": len(text) > 8192}
        self._output.answer(request_id, answer)
