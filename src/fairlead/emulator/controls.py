"""Control requests of the host: one method for each, and what each version makes of the others.

An answer is said at once, before any turn goes on: control never waits behind data. What the old
version does not know it never answers (TRUTH 1.2); the new one answers everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from fairlead.emulator.control_reports import ControlReports
from fairlead.emulator.cost import resolve_model
from fairlead.emulator.effects import Rewind
from fairlead.emulator.tool_call import Use

if TYPE_CHECKING:
    from fairlead.emulator.engine import Engine

__all__ = ["Controls"]

Handler = Callable[[str | None, Mapping[str, Any]], None]

OLD = (
    "initialize", "interrupt", "set_permission_mode", "set_model", "set_max_thinking_tokens",
    "mcp_status", "mcp_message", "mcp_set_servers", "mcp_reconnect", "mcp_toggle",
    "rewind_files",
)  # fmt: skip
"""What 2.1.38 answers."""


class Controls:
    """Answers the host's control requests."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        reports = ControlReports(engine)
        self._handlers: dict[str, Handler] = {
            "initialize": self._initialize,
            "interrupt": self._interrupt,
            "set_permission_mode": self._set_mode,
            "set_model": self._set_model,
            "set_max_thinking_tokens": self._done,
            "mcp_status": self._mcp_status,
            "mcp_message": self._mcp_message,
            "mcp_set_servers": self._mcp_set_servers,
            "mcp_reconnect": self._mcp_reconnect,
            "mcp_toggle": self._mcp_toggle,
            "rewind_files": self._rewind,
            "mcp_call": self._mcp_call,
            "mcp_read_resource": self._mcp_read,
            "stop_task": self._stop_task,
            "background_tasks": self._empty,
            "cancel_async_message": self._cancel_message,
            "rename_session": self._rename,
            "apply_flag_settings": self._apply_settings,
            "update_settings": self._update_settings,
            "seed_read_state": self._done,
            "set_cwd": self._set_cwd,
            "add_directory": self._add_directory,
            "end_session": self._end_session,
            "side_question": self._side_question,
            "set_color": self._done,
            "set_has_subscribers": self._done,
            "message_rated": self._done,
            **reports.handlers(),
        }

    def answer(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        """Answer one request."""
        subtype = request.get("subtype")
        profile = self._engine.session.profile
        handler = self._handlers.get(str(subtype))
        if not profile.is_modern and subtype not in OLD:
            handler = None
        if handler is not None:
            handler(request_id, request)
        elif profile.answers_unknown_requests:
            word = "undefined" if subtype is None else subtype
            self._engine.voice.refuse(
                request_id, f"Unsupported control request subtype: {word}", "unsupported_request"
            )

    def _done(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        self._engine.voice.answer(request_id)

    def _empty(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        self._engine.voice.answer(request_id, {})

    # The session

    def _initialize(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        engine = self._engine
        session = engine.session
        modern = session.profile.is_modern
        pending = {"pending_permission_requests": engine.host.pending("can_use_tool")}
        again = session.is_initialized
        if again and not session.profile.can_initialize_again:
            engine.voice.refuse(request_id, "Already initialized", beside=pending)
            return
        session.is_initialized = True
        engine.hooks.register(request.get("hooks"))
        agents = request.get("agents")
        if isinstance(agents, dict):
            session.agents |= {name: one for name, one in agents.items() if isinstance(one, dict)}
        if request.get("jsonSchema") is not None:
            engine.want_structure(request["jsonSchema"])
        engine.mcp.host_is_ready(request.get("sdkMcpServers"))
        engine.loom.run()  # the first message to a server comes before the answer (TRUTH 1.8)
        beside = {**pending, "pending_user_dialog_requests": []} if modern else {}
        extra = {"hooks_applied": True} if modern and request.get("hooks") else {}
        engine.voice.answer_with(request_id, {**engine.introduction(), **extra}, beside)
        if again:
            engine.tasks.list_all()

    def _interrupt(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        engine = self._engine
        modern = engine.session.profile.is_modern
        cancels = modern and request.get("cancel_queued") is True
        cancelled = engine.inbox.clear() if cancels else []
        receipt: dict[str, Any] = {"still_queued": engine.inbox.uuids()}
        if cancels:
            receipt["cancelled"] = cancelled
        engine.withdraw()
        engine.voice.answer(request_id, receipt if modern else None)
        for uuid in cancelled:
            engine.voice.lifecycle(uuid, "cancelled")
        engine.stop_turn()

    def _set_mode(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        engine = self._engine
        session, asked = engine.session, request.get("mode")
        allowed = session.profile.settable_modes
        if allowed is None:
            session.mode = str(asked) if asked is not None else ""
            engine.voice.answer(request_id, {"mode": asked} if asked is not None else {})
            engine.voice.answer(request_id)
            return
        mode = "default" if asked == "manual" else asked
        if mode not in allowed:
            text = f"Cannot set permission mode: must be one of {', '.join(allowed)}"
            engine.voice.refuse(request_id, text, "invalid_mode")
            return
        if mode == "bypassPermissions" and not session.allows_bypass:
            text = "Cannot set permission mode to bypassPermissions: the session did not allow it"
            engine.voice.refuse(request_id, text, "bypass_not_launched")
            return
        if mode == "plan":
            session.mode_before_plan = session.mode
        session.mode = str(mode)
        engine.voice.answer(request_id, {"mode": session.mode})
        engine.voice.mode_changed()

    def _set_model(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        engine = self._engine
        session, asked = engine.session, request.get("model")
        before, has_spoken = session.model, session.results > 0
        session.model = resolve_model(session.profile, str(asked) if asked else None)
        if not session.profile.is_modern:
            engine.voice.answer(request_id)
            return
        if has_spoken and session.model != before:
            engine.note_model()
        engine.voice.answer(request_id, {"model": session.model})

    def _rename(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        title = str(request.get("title", ""))
        self._engine.session.title = title
        self._engine.voice.system("session_title_changed", title=title)
        self._engine.voice.answer(request_id)

    def _apply_settings(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        engine = self._engine
        settings = request.get("settings")
        settings = settings if isinstance(settings, dict) else {}
        if settings.get("model"):
            engine.session.model = resolve_model(engine.session.profile, str(settings["model"]))
            engine.note_model()
        engine.session.settings |= settings
        engine.voice.answer(request_id)

    def _update_settings(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        source = request.get("source")
        if source not in ("localSettings", "userSettings"):
            word = "undefined" if source is None else source
            text = f"update_settings: unsupported source {word}"
            self._engine.voice.refuse(request_id, text)
            return
        self._engine.session.settings |= dict(request.get("settings") or {})
        self._engine.voice.answer(request_id)

    def _set_cwd(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        if not isinstance(request.get("path"), str) or not request["path"]:
            text = "set_cwd: invalid request — path must be a non-empty string"
            self._engine.voice.refuse(request_id, text)
            return
        self._engine.voice.refuse(request_id, "set_cwd: the emulator stays in its folder")

    def _add_directory(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        if not isinstance(request.get("directory"), str):
            self._engine.voice.refuse(request_id, "add_directory: directory must be a string")
            return
        self._engine.apply_updates(
            [
                {
                    "type": "addDirectories",
                    "directories": [request["directory"]],
                    "destination": "session",
                }
            ]
        )
        self._engine.voice.answer(request_id, {})

    def _end_session(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        self._engine.voice.answer(request_id)
        self._engine.end_input()

    def _side_question(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        engine = self._engine
        engine.voice.system("control_request_progress", request_id=request_id, status="started")
        engine.voice.answer(request_id, {"response": "Done.", "synthetic": False})

    def _cancel_message(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        uuid = request.get("message_uuid")
        removed = self._engine.inbox.remove(str(uuid) if uuid else None)
        if removed:
            self._engine.voice.lifecycle(str(uuid), "cancelled")
        self._engine.voice.answer(request_id, {"cancelled": removed})

    def _stop_task(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        self._engine.tasks.stop(str(request.get("task_id", "")))
        self._engine.voice.answer(request_id, {})

    def _rewind(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        environment = self._engine.session.place.environment
        if environment.get("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING") != "1":
            self._engine.voice.refuse(request_id, "File rewinding is not enabled.")
            return
        self._engine.loom.spawn(self._rewound(request_id, request))

    async def _rewound(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        outcome: dict[str, Any] = await self._engine.perform(
            lambda number: Rewind(
                number=number,
                prompt=str(request.get("user_message_id", "")),
                dry_run=request.get("dry_run") is True,
            )
        )
        if outcome["canRewind"] and self._engine.session.profile.is_modern:
            outcome |= {"skippedLinks": 0} if "filesChanged" in outcome else {}
        self._engine.voice.answer(request_id, outcome)

    # MCP

    def _mcp_status(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        self._engine.voice.answer(request_id, {"mcpServers": self._engine.mcp.status()})

    def _mcp_message(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        message = request.get("message")
        message = message if isinstance(message, dict) else {}
        server = str(request.get("server_name", ""))
        self._engine.loom.spawn(self._pass_on(request_id, server, message))

    async def _pass_on(
        self, request_id: str | None, server: str, message: Mapping[str, Any]
    ) -> None:
        again = await self._engine.mcp.hear(server, message)
        self._engine.voice.answer(request_id)
        if again:
            await self._engine.mcp.list_again(server)

    def _mcp_call(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        arguments = request.get("arguments")
        use = Use(
            id=self._engine.session.new_id(),
            name=str(request.get("tool", "")),
            input=arguments if isinstance(arguments, dict) else {},
        )
        self._engine.loom.spawn(self._called(request_id, use))

    async def _called(self, request_id: str | None, use: Use) -> None:
        outcome = await self._engine.mcp.call(use)
        if outcome.is_error:
            self._engine.voice.refuse(request_id, str(outcome.content))
        else:
            self._engine.voice.answer(request_id, {"content": outcome.content})

    def _mcp_read(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        name, uri = str(request.get("serverName", "")), str(request.get("uri", ""))
        self._engine.loom.spawn(self._resource(request_id, name, uri))

    async def _resource(self, request_id: str | None, name: str, uri: str) -> None:
        response = await self._engine.mcp.request(name, "resources/read", {"uri": uri})
        result = response.get("result")
        if isinstance(result, dict):
            self._engine.voice.answer(request_id, {"contents": result.get("contents") or []})
        else:
            self._engine.voice.refuse(request_id, f"Cannot read {uri} of {name}")

    def _mcp_set_servers(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        servers = request.get("servers")
        self._engine.loom.spawn(
            self._set_servers(request_id, servers if isinstance(servers, dict) else {})
        )

    async def _set_servers(self, request_id: str | None, servers: Mapping[str, Any]) -> None:
        self._engine.voice.answer(request_id, await self._engine.mcp.set_servers(servers))

    def _mcp_reconnect(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        self._engine.loom.spawn(self._reconnect(request_id, str(request.get("serverName"))))

    async def _reconnect(self, request_id: str | None, name: str) -> None:
        if await self._engine.mcp.reconnect(name):
            self._engine.voice.answer(request_id)
        else:
            self._engine.voice.refuse(request_id, f"Server not found: {name}")

    def _mcp_toggle(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        name = str(request.get("serverName"))
        if self._engine.mcp.toggle(name, request.get("enabled") is True):
            self._engine.voice.answer(request_id)
        else:
            self._engine.voice.refuse(request_id, f"Server not found: {name}")
