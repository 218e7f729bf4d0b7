"""The answer to `initialize`: what the session can do, in the form of each version. Pure."""

from __future__ import annotations

from typing import Any

from fairlead.emulator.state.catalog import Model
from fairlead.emulator.state.descriptions import AGENTS, COMMANDS
from fairlead.emulator.state.session import Session
from fairlead.wire.modes import EFFORTS

__all__ = ["Introduction"]


class Introduction:
    """Lists commands, models and agents for a host."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def whole(self, state: str) -> dict[str, Any]:
        """The body of the answer."""
        s = self._session
        account: dict[str, Any] = {"tokenSource": "none", "apiKeySource": s.key_source}
        body: dict[str, Any] = {
            "commands": self.commands(),
            "output_style": "default",
            "available_output_styles": list(s.profile.catalog.output_styles),
            "models": self.models(),
            "account": account,
        }
        if not s.profile.details_initialize:
            return body
        account["apiProvider"] = "firstParty"
        off = (
            "remote_control_auto_enable",
            "remote_control_auto_connect_default",
            "remote_control_available",
            "remote_control_auto_on_by_default",
            "ide_rc_auto_enable_gate",
        )
        return {
            **body,
            "agents": self.agents(),
            "user_output_styles_dir": f"{s.workspace.config}/output-styles",
            "pid": s.workspace.pid,
            "claude_code_version": s.profile.version,
            "current_permission_mode": s.mode,
            "hook_on_failure_supported": True,
            "other_hook_ask_outranks_host": True,
            "feedback_mode": {"kind": "disabled"},
            "analytics_disabled": True,
            **dict.fromkeys(off, False),
            **s.fast_mode,
            "session_state": state,
            "capabilities": [
                name for name in s.profile.catalog.capabilities if name.startswith("mcp_call")
            ],
        }

    def commands(self, *, skills: bool = False) -> list[dict[str, Any]]:
        """The slash commands."""
        s = self._session
        catalog = s.profile.catalog
        names = [*catalog.skills, *s.custom_skills] if skills else s.slash_commands
        report = []
        for name in names:
            entry: dict[str, Any] = {
                "name": name,
                "description": s.custom_about.get(name) or COMMANDS.get(name, ""),
                "argumentHint": catalog.argument_hints.get(name, ""),
            }
            if s.profile.details_commands:
                aliases = [alias for alias, runs in catalog.aliases.items() if runs == name]
                entry |= {"aliases": aliases} if aliases else {}
                entry["builtin"] = name not in s.custom_commands
            report.append(entry)
        return report

    def models(self) -> list[dict[str, Any]]:
        """The models to choose from."""
        models = self._session.profile.catalog.models
        first = self._model(models[0], "default", "Default (recommended)")
        return [first, *(self._model(m, m.alias, m.display_name) for m in models)]

    def _model(self, model: Model, value: str, name: str) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "value": value,
            "displayName": name,
            "description": f"{model.title}, scripted",
        }
        if self._session.profile.details_models:
            entry |= {
                "resolvedModel": model.name,
                "supportsEffort": True,
                "supportedEffortLevels": list(EFFORTS),
                "supportsAdaptiveThinking": True,
                "supportsFastMode": True,
                "supportsAutoMode": True,
                "supportsThinkingOff": False,
            }
        return entry

    def agents(self) -> list[dict[str, Any]]:
        """The subagents that can be started."""
        s = self._session
        built_in = [
            {"name": name, "description": AGENTS[name]} for name in s.profile.catalog.agents
        ]
        own = [
            {"name": name, "description": str(about.get("description", ""))}
            for name, about in s.agents.items()
        ]
        return built_in + own
