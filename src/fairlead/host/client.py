"""One live session with one CLI, for asyncio programs: what a caller sees and says.

Starts the CLI from `Options`, queues prompts, asks control requests, hands out readers. The
pumping is `link`'s, the protocol `engine`'s, the caller's handlers `reception`'s.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from fairlead.errors import ControlError, ControlTimeout, OptionError, SessionClosed, UsageError
from fairlead.host import agent, argv, servers
from fairlead.host.controls import Controls
from fairlead.host.engine import Engine
from fairlead.host.environment import child_environment
from fairlead.host.hooks import registration
from fairlead.host.link import Link, Observer
from fairlead.host.mcp_endpoint import McpEndpoint
from fairlead.host.options import Options
from fairlead.host.prompts import PromptState
from fairlead.host.readers import Reader
from fairlead.host.reception import Reception
from fairlead.host.recording import Recorder
from fairlead.host.tap import Tap
from fairlead.host.turn import Turn
from fairlead.wire.blocks import Block, TextBlock
from fairlead.wire.control import CliRequest
from fairlead.wire.decode import AnyMessage
from fairlead.wire.inputs import Prompt
from fairlead.wire.versions import Feature, Version

__all__ = ["Client", "PromptContent"]

PromptContent = str | Sequence[str | Block]


class Client(Controls):
    """A running CLI and everything one can do with it."""

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self.version: Version | None = None
        """The version of the CLI, once started."""
        self.initialized: dict[str, Any] = {}
        """The CLI's answer to `initialize`: commands, models, account, …"""
        self._link: Link | None = None
        self._tap = Tap()
        self._observers: list[Observer] = []
        self._endpoints: dict[str, McpEndpoint] = {}

    # Life

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    async def start(self) -> None:
        """Start the CLI and shake hands with it."""
        if self._link is not None:
            raise UsageError("this session was started before; make a new one")
        try:
            await self._start()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End the CLI, whatever it is doing, and leave nothing behind. Safe to call twice."""
        if self._link is not None:
            await self._link.close(self.options.graces)
        for endpoint in self._endpoints.values():
            await endpoint.aclose()

    async def _start(self) -> None:
        options = self.options
        env = child_environment(os.environ, options)
        executable = agent.find(str(options.agent), env.get("PATH"))
        version = self.version = await self._ask_version(executable, env)
        command = (executable, *argv.build(options, version))
        hooks = {f"hook-{number}": hook for number, hook in enumerate(options.hooks)}
        here = servers.in_process(options)
        self._endpoints = servers.open_all(here, self._send_to_mcp_client)
        reception = Reception(
            on_permission=options.on_permission,
            on_question=options.on_question,
            on_plan=options.on_plan,
            on_elicitation=options.on_elicitation,
            on_dialog=options.on_dialog,
            hooks=hooks,
            servers=self._endpoints,
            fetch_plan=self._fetch_plan,
        )
        prefix = f"fairlead-{uuid.uuid4().hex[:8]}"
        engine = Engine(id_prefix=prefix, line_limit=options.line_limit)
        link = Link(engine, reception.answer, on_stderr=options.on_stderr, tap=self._tap)
        link.observers += self._observers
        if options.record is not None:
            link.observers.append(Recorder(options.record))
        await link.start(command, cwd=str(options.cwd), env=env, mark=uuid.uuid4().hex)
        self._link = link
        fields = argv.initialize_fields(
            options, version, hooks=registration(hooks), sdk_mcp_servers=tuple(here)
        )
        self.initialized = await link.ask("initialize", fields, options.start_timeout)

    async def _ask_version(self, executable: str, env: dict[str, str]) -> Version:
        if self.options.version is None:
            return await agent.version_of(executable, env)
        version = Version.parse(self.options.version)
        if version is None:
            raise OptionError("version", f"{self.options.version!r} is not a version.")
        return version

    # Prompts

    async def send(
        self,
        prompt: PromptContent,
        *,
        at_once: bool = False,
        uuid: str | None = None,
        priority: str | None = None,
    ) -> Turn:
        """Queue a prompt and return its turn.

        It is written when the CLI is idle. With `at_once` it is written now: a CLI that is at
        work folds it into what it does. A slash command waits in either case, for it cannot
        run within a turn.
        """
        link = self._open_link("send a prompt")
        message = Prompt(uuid=uuid or _new_uuid(), content=_blocks(prompt), priority=priority)
        if link.engine.prompts.state(message.uuid) is not None:
            raise UsageError(f"the prompt {message.uuid} was given to this session before")
        turn = Turn(message, Reader(self.options.reader_limit))
        link.turns.add(turn)
        try:
            link.engine.send(message, at_once=at_once)
        except UsageError:
            link.turns.drop(turn)
            raise
        link.settle()
        return turn

    @property
    def queued(self) -> tuple[Prompt, ...]:
        """The prompts that wait for the CLI to be idle, next one first."""
        return self._link.engine.prompts.held if self._link is not None else ()

    @property
    def busy(self) -> bool:
        """Whether the CLI works on a turn."""
        return self._link is not None and self._link.engine.prompts.busy

    async def cancel(self, prompt_uuid: str) -> bool:
        """Take back a prompt that was not taken up yet; False if it is too late."""
        link = self._open_link("cancel a prompt")
        held = link.engine.prompts.state(prompt_uuid) is PromptState.HELD
        if not held and not await self._cancel_inside(prompt_uuid):
            return False
        link.engine.cancel(prompt_uuid, "taken back")
        link.settle()
        return True

    def send_now(self, prompt_uuid: str) -> bool:
        """Write a prompt that waits, without waiting for the CLI to be idle."""
        link = self._open_link("send a prompt")
        written = link.engine.send_now(prompt_uuid)
        link.settle()
        return written

    def edit(self, prompt_uuid: str, prompt: PromptContent) -> bool:
        """Change the words of a prompt that still waits; False if it is too late."""
        link = self._open_link("edit a prompt")
        return link.engine.prompts.replace(Prompt(uuid=prompt_uuid, content=_blocks(prompt)))

    def reorder(self, prompt_uuids: Sequence[str]) -> bool:
        """Put the waiting prompts into another order; False unless it names just these."""
        return self._open_link("reorder prompts").engine.prompts.reorder(tuple(prompt_uuids))

    async def interrupt(self, *, cancel_queued: bool = False) -> dict[str, Any]:
        """Stop the running turn; it still ends with a result. Nothing happens when idle.

        The prompts that wait go on afterwards, unless `cancel_queued`.
        """
        link = self._open_link("interrupt")
        fields: dict[str, Any] = {}
        if cancel_queued:
            fields["cancel_queued"] = True
            for prompt in link.engine.prompts.held:
                link.engine.cancel(prompt.uuid, "interrupted")
        answer = await self.control("interrupt", **fields)
        for dropped in answer.get("cancelled") or ():
            link.engine.cancel(str(dropped), "interrupted")
        link.settle()
        return answer

    # Reading

    def messages(self) -> Reader[AnyMessage]:
        """A new reader of every message from now on; take as many as you like."""
        link = self._link
        if link is None:
            raise SessionClosed("read", "it was never started: use `async with` or start()")
        reader: Reader[AnyMessage] = Reader(self.options.reader_limit, on_close=link.readers.remove)
        link.readers.append(reader)
        if link.ended:
            reader.close(link.exit_error)
        return reader

    def observe(self, observer: Observer) -> None:
        """Let somebody see everything: both directions, control lines, the queue, the end."""
        self._observers.append(observer)
        if self._link is not None:
            self._link.observers.append(observer)

    def pause_reading(self) -> None:
        """Leave what the CLI writes in its pipe: it waits there, and nothing is lost.

        For an observer that cannot keep up. Answers to requests of the host still come, as long
        as what stands before them is not too much.
        """
        self._tap.close()
        if self._link is not None:
            self._link.turn_tap()

    def resume_reading(self) -> None:
        """Read what the CLI writes again."""
        self._tap.open()
        if self._link is not None:
            self._link.turn_tap()

    @property
    def session_id(self) -> str | None:
        """The session's id; known from the first turn on, and it may change."""
        init = self._link.engine.init if self._link is not None else None
        return init.session_id if init is not None else None

    @property
    def pending(self) -> dict[str, CliRequest]:
        """What the CLI has asked and nobody has answered yet, by request id."""
        return self._link.engine.pending_from_cli if self._link is not None else {}

    @property
    def closing(self) -> bool:
        """Whether the host itself ends the session, or has."""
        return self._link is not None and self._link.closing

    @property
    def ended(self) -> bool:
        """Whether the process is gone and everybody was told."""
        return self._link is not None and self._link.ended

    @property
    def pid(self) -> int | None:
        """The process id of the CLI."""
        return self._link.process.pid if self._link is not None else None

    @property
    def stderr(self) -> str:
        """The last part of what the CLI wrote to stderr."""
        return str(self._link.process.stderr) if self._link is not None else ""

    # Control

    async def control(
        self, subtype: str, *, timeout: float | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Send any control request and return the CLI's answer."""
        link = self._open_link(f"request {subtype!r}")
        limit = self.options.control_timeout if timeout is None else timeout
        return await link.ask(subtype, fields, limit)

    async def mcp_set_servers(self, servers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Replace the servers that were added at run time; those of this program stay."""
        # The CLI counts them among the replaced ones and would let them go.
        own = {name: {"type": "sdk", "name": name} for name in self._endpoints}
        return await super().mcp_set_servers({**own, **servers})

    async def recover_pending(self) -> None:
        """Ask the CLI for requests that were lost on the way; they are then handled as new."""
        try:
            await self.control("initialize")
        except ControlError:
            pass  # 2.1.38 says "Already initialized", and lists them all the same (TRUTH 1.8).

    # Other ways to begin

    @classmethod
    def resume(cls, session_id: str, options: Options | None = None) -> Self:
        """A session that goes on where another one stopped; mode and model are not restored."""
        return cls(replace(options or Options(), resume=session_id))

    @classmethod
    def fork(cls, session_id: str, options: Options | None = None) -> Self:
        """A new session with the history of another one."""
        return cls(replace(options or Options(), resume=session_id, fork=True))

    @classmethod
    def continue_latest(cls, options: Options | None = None) -> Self:
        """The most recent session of the folder, continued."""
        return cls(replace(options or Options(), continue_latest=True))

    def _open_link(self, action: str) -> Link:
        if self._link is None:
            raise SessionClosed(action, "it was never started: use `async with` or start()")
        self._link.check_open(action)
        return self._link

    async def _cancel_inside(self, prompt_uuid: str) -> bool:
        if self.version is None or self.version.has(Feature.UNKNOWN_CONTROL_IS_SILENT):
            return False  # Such a CLI would let us wait for nothing.
        return await self.cancel_queued(prompt_uuid)

    async def _fetch_plan(self) -> str | None:
        try:
            return await self.plan()
        except (ControlError, ControlTimeout):
            return None

    def _send_to_mcp_client(self, server: str, message: dict[str, Any]) -> None:
        if self._link is not None and not self._link.closing:
            self._link.tell("mcp_message", {"server_name": server, "message": message})


def _blocks(prompt: PromptContent) -> tuple[Block, ...]:
    if isinstance(prompt, str):
        return (TextBlock(text=prompt),)
    if not isinstance(prompt, Sequence):
        raise UsageError(
            f"a prompt is a text or a list of texts and blocks, not {type(prompt).__name__}"
        )
    return tuple(TextBlock(text=part) if isinstance(part, str) else part for part in prompt)


def _new_uuid() -> str:
    return str(uuid.uuid4())
