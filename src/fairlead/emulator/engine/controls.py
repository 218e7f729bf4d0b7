"""Control requests of the host: one method for each.

An answer is written at once, before a turn continues. The old version does not answer requests that
it does not know (CLI-215); the new one answers all of them.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from fairlead.emulator.engine.control_reports import ControlReports
from fairlead.emulator.protocol.host_line import HostLine
from fairlead.emulator.protocol.introduction import Introduction
from fairlead.emulator.protocol.output import Output
from fairlead.emulator.state.cost import resolve_model
from fairlead.emulator.state.effect_queue import EffectQueue
from fairlead.emulator.state.effects import FindPath, Rewind
from fairlead.emulator.state.settings import merged
from fairlead.emulator.turn.parts import TurnParts

__all__ = ["Controls"]

Handler = Callable[[str | None, Mapping[str, Any]], None]

OLD = (
    "initialize", "interrupt", "set_permission_mode", "set_model", "set_max_thinking_tokens",
    "mcp_status", "mcp_message", "mcp_set_servers", "mcp_reconnect", "mcp_toggle",
    "rewind_files",
)  # fmt: skip
"""The requests that 2.1.38 answers."""


class RunningTurn(Protocol):
    """The port to the running turn."""

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs."""
        ...

    def withdraw(self) -> None:
        """Cancel the open requests of the turn."""

    def stop_turn(self) -> None:
        """Interrupt the turn, if one runs."""

    def end_input(self) -> None:
        """The host sends nothing more."""


class Controls:
    """Answers the host's control requests."""

    def __init__(
        self,
        parts: TurnParts,
        running: RunningTurn,
        *,
        output: Output,
        effects: EffectQueue,
        host: HostLine,
    ) -> None:
        self._parts = parts
        self._running = running
        self._output = output
        self._effects = effects
        self._host = host
        self._introduction = Introduction(parts.session)
        reports = ControlReports(parts, output, self._introduction)
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
        profile = self._parts.session.profile
        handler = self._handlers.get(str(subtype))
        if not profile.answers_added_requests and subtype not in OLD:
            handler = None
        if handler is not None:
            handler(request_id, request)
        elif profile.answers_unknown_requests:
            word = "undefined" if subtype is None else subtype
            self._output.refuse(
                request_id, f"Unsupported control request subtype: {word}", "unsupported_request"
            )

    def _done(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        self._output.answer(request_id)

    def _empty(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        self._output.answer(request_id, {})

    # The session

    def _initialize(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        parts = self._parts
        session = parts.session
        profile = session.profile
        pending = {"pending_permission_requests": self._host.pending("can_use_tool")}
        # A prompt that came first counts as the initialization (CLI-1640).
        is_repeated = session.is_initialized or session.turns_begun > 0
        if is_repeated and not session.profile.can_initialize_again:
            self._output.refuse(request_id, "Already initialized", extra_fields=pending)
            return
        if not is_repeated and isinstance(request.get("promptSuggestions"), bool):
            session.suggests_prompts = request["promptSuggestions"]
        session.is_initialized = True
        parts.hooks.register(request.get("hooks"))
        agents = request.get("agents")
        if isinstance(agents, dict):
            session.agents |= {
                name: item for name, item in agents.items() if isinstance(item, dict)
            }
        if request.get("jsonSchema") is not None:
            parts.session.want_structure(request["jsonSchema"])
        parts.mcp.host_is_ready(request.get("sdkMcpServers"))
        self._effects.run()  # the first message to a server comes before the answer (CLI-801)
        extra_fields = (
            {**pending, "pending_user_dialog_requests": []} if profile.details_initialize else {}
        )
        extra = {"hooks_applied": True} if profile.confirms_hooks and "hooks" in request else {}
        self._output.answer_with(
            request_id, {**self._introduction.whole(self._output.state), **extra}, extra_fields
        )
        if is_repeated:
            parts.tasks.list_all()

    def _interrupt(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        parts = self._parts
        profile = parts.session.profile
        cancels = profile.can_cancel_queued and request.get("cancel_queued") is True
        cancelled = parts.inbox.clear() if cancels else []
        receipt: dict[str, Any] = {"still_queued": parts.inbox.uuids()}
        if cancels:
            receipt["cancelled"] = cancelled
        self._running.withdraw()
        for uuid in cancelled:
            self._output.lifecycle(uuid, "cancelled")
        self._output.answer(request_id, receipt if profile.interrupt_has_receipt else None)
        self._running.stop_turn()

    def _set_mode(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        parts = self._parts
        session, requested = parts.session, request.get("mode")
        allowed = session.profile.settable_modes
        if allowed is None:
            session.mode = str(requested) if requested is not None else ""
            self._output.answer(request_id, {"mode": requested} if requested is not None else {})
            self._output.answer(request_id)
            return
        mode = "default" if requested == "manual" else requested
        if mode not in allowed:
            text = f"Cannot set permission mode: must be one of {', '.join(allowed)}"
            self._output.refuse(request_id, text, "invalid_mode")
            return
        if mode == "bypassPermissions" and not session.allows_bypass:
            text = "Cannot set permission mode to bypassPermissions: the session did not allow it"
            self._output.refuse(request_id, text, "bypass_not_launched")
            return
        if mode == "plan":
            session.mode_before_plan = session.mode
        changed = session.mode != mode or not session.profile.skips_unchanged_mode
        session.mode = str(mode)
        session.plan_asks = False
        self._output.answer(request_id, {"mode": session.mode})
        if changed:
            self._output.mode_changed()

    def _set_model(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        parts = self._parts
        session, requested = parts.session, request.get("model")
        before, has_begun = session.model, bool(session.conversation.messages)
        session.model = resolve_model(session.profile, str(requested) if requested else None)
        if not session.profile.answers_with_model:
            self._output.answer(request_id)
            return
        if has_begun and session.model != before:
            self._note_model()
        self._output.answer(request_id, {"model": session.model})

    def _note_model(self) -> None:
        """The line that reports a changed model once the conversation has begun."""
        session = self._parts.session
        text = f"<local-command-stdout>Set model to `{session.model}`</local-command-stdout>"
        self._output.user(text, isReplay=True)
        session.pending_note = text

    def _rename(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        title = str(request.get("title", ""))
        self._parts.session.title = title
        self._output.system("session_title_changed", title=title)
        self._output.answer(request_id)

    def _apply_settings(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        parts = self._parts
        settings = request.get("settings")
        settings = settings if isinstance(settings, dict) else {}
        if settings.get("model"):
            has_begun = bool(parts.session.conversation.messages)
            parts.session.model = resolve_model(parts.session.profile, str(settings["model"]))
            if has_begun:
                self._note_model()
        parts.session.settings = merged(parts.session.settings, settings)
        self._output.answer(request_id)

    def _update_settings(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        source = request.get("source")
        if source not in ("localSettings", "userSettings"):
            word = "undefined" if source is None else source
            text = f"update_settings: unsupported source {word}"
            self._output.refuse(request_id, text)
            return
        session, settings = self._parts.session, request.get("settings")
        session.settings = merged(session.settings, settings if isinstance(settings, dict) else {})
        self._output.answer(request_id)

    def _set_cwd(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        if not isinstance(request.get("path"), str) or not request["path"]:
            text = "set_cwd: invalid request — path must be a non-empty string"
            self._output.refuse(request_id, text)
            return
        if self._running.is_busy:
            text = "A turn is in progress: the working directory can only change between turns."
            answer = {"status": "rejected", "reason": "busy", "message": text}
            self._output.answer(request_id, answer)
            return
        if request.get("trust_accepted") is True and not request.get("trusted_directory"):
            text = "set_cwd: invalid request — trust_accepted requires trusted_directory"
            self._output.refuse(request_id, text)
            return
        self._effects.spawn(self._move(request_id, request))

    async def _move(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        """The answer about a new working directory, which needs trust first (CLI-1632)."""
        cwd = self._parts.session.workspace.cwd
        path = posixpath.normpath(posixpath.join(cwd, request["path"]))
        kind: str | None = await self._effects.perform(lambda number: FindPath(number, path))
        answer: dict[str, Any] = {"status": "needs_trust", "directory": path}
        if kind is None:
            text = f"Couldn't find a directory at {path}."
            answer = {"status": "rejected", "reason": "not_found", "message": text}
        elif kind == "file":
            text = f"{path} is not a directory."
            answer = {"status": "rejected", "reason": "not_a_directory", "message": text}
        elif path == cwd:
            answer = {"status": "ok", "cwd": cwd, "changed": False, "transcript_relocated": True}
        elif request.get("trust_accepted") is True and request["trusted_directory"] == path:
            self._output.refuse(request_id, "set_cwd: the emulator stays in its folder")
            return
        self._output.answer(request_id, answer)

    def _add_directory(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        if not isinstance(request.get("directory"), str):
            self._output.refuse(request_id, "add_directory: directory must be a string")
            return
        self._parts.permissions.apply_updates(
            [
                {
                    "type": "addDirectories",
                    "directories": [request["directory"]],
                    "destination": "session",
                }
            ]
        )
        self._output.answer(request_id, {})

    def _end_session(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        self._output.answer(request_id)
        self._running.end_input()

    def _side_question(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        self._output.system("control_request_progress", request_id=request_id, status="started")
        self._output.answer(request_id, {"response": "Done.", "synthetic": False})

    def _cancel_message(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        uuid = request.get("message_uuid")
        removed = self._parts.inbox.remove(str(uuid) if uuid else None)
        if removed:
            self._output.lifecycle(str(uuid), "cancelled")
        self._output.answer(request_id, {"cancelled": removed})

    def _stop_task(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        self._parts.tasks.stop(str(request.get("task_id", "")))
        self._output.answer(request_id, {})

    def _rewind(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        environment = self._parts.session.workspace.environment
        if environment.get("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING") != "1":
            self._output.refuse(request_id, "File rewinding is not enabled.")
            return
        self._effects.spawn(self._rewound(request_id, request))

    async def _rewound(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        known, prompt = self._parts.session.checkpoints, request.get("user_message_id")
        later = tuple(known[known.index(prompt) :]) if prompt in known else ()
        outcome: dict[str, Any] = await self._effects.perform(
            lambda number: Rewind(
                number=number,
                later=later,
                dry_run=request.get("dry_run") is True,
            )
        )
        if outcome["canRewind"] and self._parts.session.profile.rewind_counts_links:
            outcome |= {} if "filesChanged" in outcome else {"skippedLinks": 0}
        if not outcome["canRewind"] and request.get("dry_run") is not True:
            self._output.refuse(request_id, str(outcome["error"]))
            return
        self._output.answer(request_id, outcome)

    # MCP

    def _mcp_status(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        self._output.answer(request_id, {"mcpServers": self._parts.mcp.status()})

    def _mcp_message(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        message = request.get("message")
        message = message if isinstance(message, dict) else {}
        server = str(request.get("server_name", ""))
        self._effects.spawn(self._pass_on(request_id, server, message))

    async def _pass_on(
        self, request_id: str | None, server: str, message: Mapping[str, Any]
    ) -> None:
        tools_changed = await self._parts.mcp.receive(server, message)
        self._output.answer(request_id)
        if tools_changed:
            await self._parts.mcp.list_again(server)

    def _mcp_call(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        arguments = request.get("arguments")
        use = (
            self._parts.session.new_id(),
            str(request.get("tool", "")),
            arguments if isinstance(arguments, dict) else {},
        )
        self._effects.spawn(self._called(request_id, use))

    async def _called(
        self, request_id: str | None, use: tuple[str, str, Mapping[str, Any]]
    ) -> None:
        outcome = await self._parts.mcp.call(*use)
        if outcome.is_error:
            self._output.refuse(request_id, str(outcome.content))
        else:
            self._output.answer(request_id, {"content": outcome.content})

    def _mcp_read(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        name, uri = str(request.get("serverName", "")), str(request.get("uri", ""))
        self._effects.spawn(self._resource(request_id, name, uri))

    async def _resource(self, request_id: str | None, name: str, uri: str) -> None:
        response = await self._parts.mcp.request(name, "resources/read", {"uri": uri})
        result = response.get("result")
        if isinstance(result, dict):
            self._output.answer(request_id, {"contents": result.get("contents") or []})
        else:
            self._output.refuse(request_id, f"Cannot read {uri} of {name}")

    def _mcp_set_servers(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        servers = request.get("servers")
        self._effects.spawn(
            self._set_servers(request_id, servers if isinstance(servers, dict) else {})
        )

    async def _set_servers(self, request_id: str | None, servers: Mapping[str, Any]) -> None:
        self._output.answer(request_id, await self._parts.mcp.set_servers(servers))

    def _mcp_reconnect(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        self._effects.spawn(self._reconnect(request_id, str(request.get("serverName"))))

    async def _reconnect(self, request_id: str | None, name: str) -> None:
        server = self._parts.mcp.servers.get(name)
        profile = self._parts.session.profile
        if server is not None and not server.is_enabled and profile.reconnects_enabled_only:
            text = f"MCP server {name} is disabled: enable it (mcp_toggle) before reconnecting"
            self._output.refuse(request_id, text)
            return
        if server is not None and server.is_sdk and profile.reconnects_enabled_only:
            # The new version reconnects only programs and addresses (CLI-1633).
            self._output.refuse(request_id, f"A server of the host cannot be reconnected: {name}")
            return
        if await self._parts.mcp.reconnect(name):
            server = self._parts.mcp.servers.get(name)
            if server is not None and server.status == "failed":
                problem = server.error(with_code=not profile.hides_mcp_error_codes)
                self._output.refuse(request_id, problem)
            else:
                self._output.answer(request_id)
        else:
            self._output.refuse(request_id, f"Server not found: {name}")

    def _mcp_toggle(self, request_id: str | None, request: Mapping[str, Any]) -> None:
        name = str(request.get("serverName"))
        self._effects.spawn(self._toggled(request_id, name, request.get("enabled") is True))

    async def _toggled(self, request_id: str | None, name: str, is_enabled: bool) -> None:
        if await self._parts.mcp.toggle(name, is_enabled):
            self._output.answer(request_id)
        else:
            self._output.refuse(request_id, f"Server not found: {name}")
