"""One live session with one CLI, for asyncio programs: the interface for callers.

Starts the CLI from `Options`, queues prompts, sends control requests, returns readers. The
I/O is in `link`, the protocol in `engine`, the calls of handlers in `dispatch`.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from msgspec import structs

from fairlead.errors import (
    NOT_STARTED,
    ControlError,
    ControlTimeout,
    OptionError,
    SessionClosed,
    UsageError,
)
from fairlead.host import sdk_servers
from fairlead.host.controls import Controls
from fairlead.host.engine.backpressure import Backpressure
from fairlead.host.engine.engine import Engine
from fairlead.host.engine.prompts import PromptQueue, PromptState, is_command
from fairlead.host.literals import Priority
from fairlead.host.mcp.endpoint import McpEndpoint
from fairlead.host.options import agent, argv
from fairlead.host.options.environment import child_environment
from fairlead.host.options.options import Options
from fairlead.host.process.link import Link, Observer
from fairlead.host.process.readers import Reader
from fairlead.host.process.turn import Turn
from fairlead.host.requests.dispatch import RequestDispatcher
from fairlead.wire.blocks import Block, TextBlock
from fairlead.wire.control import CliRequest
from fairlead.wire.decode import AnyMessage
from fairlead.wire.inputs import Prompt
from fairlead.wire.versions import Feature, Version

if TYPE_CHECKING:
    from fairlead.host.options.private_files import PrivateFiles
    from fairlead.host.requests.hooks import Hook
    from fairlead.host.requests.replies import Reply

__all__ = ["Client", "PromptContent"]

PromptContent: TypeAlias = str | Sequence[str | Block]


class Client(Controls):
    """A running CLI and all operations on it."""

    def __init__(
        self, options: Options | None = None, *, prompts: PromptQueue | None = None
    ) -> None:
        """`prompts` is a queue that outlives this CLI: prompts that it holds stay in it."""
        self.options = options or Options()
        self._prompts = prompts
        self.version: Version | None = None
        """The version of the CLI, once started."""
        self.initialized: dict[str, Any] = {}
        """The CLI's answer to `initialize`: commands, models, account, …"""
        self._link: Link | None = None
        self._dispatcher: RequestDispatcher | None = None
        self._backpressure = Backpressure()
        self._observers: list[Observer] = []
        self._endpoints: dict[str, McpEndpoint] = {}
        self._private: PrivateFiles | None = None

    # Life

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    async def start(self) -> None:
        """Start the CLI and complete the handshake."""
        if self._link is not None:
            raise UsageError("this session was already started; create a new one")
        try:
            await self._start()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End the CLI and all its processes, even during a turn. Safe to call twice."""
        if self._link is not None:
            await self._link.close(self.options.graces)
        for endpoint in self._endpoints.values():
            await endpoint.aclose()
        if self._private is not None:
            self._private.remove()

    async def _start(self) -> None:
        options = self.options
        env = child_environment(os.environ, options)
        if str(options.agent) == agent.DEMO:
            env = agent.demo_environment(env)
        program = agent.command(str(options.agent), env.get("PATH"))
        if options.project_programs == "refuse":
            await self._refuse_project_programs(env)
        version = self.version = await self._ask_version(program, env)
        private = await self._write_private_files(version)
        folder = str(private.path) if private is not None else argv.PRIVATE
        command = (*program, *argv.build(options, version, folder))
        hooks = {f"hook-{number}": hook for number, hook in enumerate(options.hooks)}
        own_servers = sdk_servers.in_process(options)
        self._endpoints = sdk_servers.open_all(own_servers, self._send_to_mcp_client)
        dispatcher = self._dispatcher = RequestDispatcher(
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
        engine = Engine(
            id_prefix=prefix,
            line_limit=options.line_limit,
            prompts=self._prompts,
            version=version,
        )
        link = Link(
            engine, dispatcher.answer, on_stderr=options.on_stderr, backpressure=self._backpressure
        )
        link.observers += self._observers
        if private is not None:
            link.observers.append(private)
        if options.record is not None:
            from fairlead.host.process.recording import Recorder

            link.observers.append(Recorder(options.record))
        await link.start(command, cwd=str(options.cwd), env=env, mark=uuid.uuid4().hex)
        self._link = link
        fields = argv.initialize_fields(
            options, version, hooks=_registration(hooks), sdk_mcp_servers=tuple(own_servers)
        )
        self.initialized = await link.ask("initialize", fields, options.start_timeout)
        link.open_prompts()

    async def _refuse_project_programs(self, env: Mapping[str, str]) -> None:
        settings = self.options.settings
        if settings.sources is not None and not {"project", "local"} & set(settings.sources):
            return  # The CLI reads nothing of the project.
        folders = [str(self.options.cwd)]
        if settings.project_config_root is not None:
            folders.append(str(settings.project_config_root))
        home, config = env.get("HOME", ""), env.get("CLAUDE_CONFIG_DIR", "")
        from fairlead.host.options.project_commands import refuse_project_commands

        await asyncio.to_thread(refuse_project_commands, folders, home, config)

    async def _write_private_files(self, version: Version) -> PrivateFiles | None:
        texts = argv.contents(self.options, version)
        if texts:
            from fairlead.host.options.private_files import PrivateFiles

            self._private = await asyncio.to_thread(PrivateFiles.write, texts)
        return self._private

    async def _ask_version(self, program: tuple[str, ...], env: dict[str, str]) -> Version:
        if self.options.version is None:
            return await agent.version_of(program, env)
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
        priority: Priority | None = None,
        verbatim: bool = False,
    ) -> Turn:
        """Queue a prompt and return its turn.

        It is written when the CLI is idle. With `at_once` it is written now: a CLI that is
        working folds it into its turn. A slash command waits in either case, because it cannot
        run within a turn.

        With `verbatim` the model gets the text as it is written. Use it for every text that
        was not typed by the user: otherwise the CLI attaches any file that
        an `@path` in it names, from inside or outside the project and without a permission
        request, and runs a leading `/` as a command. CLIs before 2.1.325 cannot be asked for
        that; they get the text with a space after each `@` that could begin a mention, and an
        invisible U+2060 before a leading `/`. A CLI that can be asked also leaves out what it
        usually attaches to a prompt, such as reminders and the list of skills.
        """
        link = self._open_link("send a prompt")
        link.check_room("send a prompt")
        message = Prompt(
            uuid=uuid or _new_uuid(),
            content=_blocks(prompt),
            priority=priority,
            verbatim=verbatim,
        )
        if link.engine.prompts.state(message.uuid) is not None:
            raise UsageError(f"the prompt {message.uuid} was given to this session before")
        turn = Turn(
            message,
            Reader(self.options.reader_limit),
            wants_output=self.options.json_schema is not None and not is_command(message),
        )
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
        """The queued prompts, the next one first."""
        return self._link.engine.prompts.held if self._link is not None else ()

    @property
    def busy(self) -> bool:
        """Whether the CLI works on a turn."""
        return self._link is not None and self._link.engine.prompts.busy

    @property
    def accepts_input(self) -> bool:
        """False while the CLI does not read: what is sent then raises `InputBlocked`."""
        return self._link is None or self._link.process.accepts_input

    async def cancel(self, prompt_uuid: str) -> bool:
        """Cancel a prompt that the CLI has not started; False if it is too late."""
        link = self._open_link("cancel a prompt")
        held = link.engine.prompts.state(prompt_uuid) is PromptState.HELD
        if not held and not await self._cancel_inside(prompt_uuid):
            return False
        link.engine.cancel(prompt_uuid, "cancelled by the host")
        link.settle()
        return True

    def send_now(self, prompt_uuid: str) -> bool:
        """Write a queued prompt without waiting for the CLI to be idle."""
        link = self._open_link("send a prompt")
        link.check_room("send a prompt")
        written = link.engine.send_now(prompt_uuid)
        link.settle()
        return written

    def edit(self, prompt_uuid: str, prompt: PromptContent) -> bool:
        """Replace the content of a queued prompt; False if it is too late."""
        link = self._open_link("edit a prompt")
        old = link.engine.prompts.get(prompt_uuid)
        if old is None:
            return False
        return link.engine.prompts.replace(structs.replace(old, content=_blocks(prompt)))

    def reorder(self, prompt_uuids: Sequence[str]) -> bool:
        """Put the queued prompts into another order; False unless it names exactly these."""
        return self._open_link("reorder prompts").engine.prompts.reorder(tuple(prompt_uuids))

    async def interrupt(self, *, cancel_queued: bool = False) -> dict[str, Any]:
        """Stop the running turn; it still ends with a result. Nothing happens when idle.

        Queued prompts are sent afterwards, unless `cancel_queued`. A CLI that does not
        answer within `graces.after_interrupt` seconds gets SIGINT, which ends the process; this
        call then raises what the session ended with, an `AgentExited` that says so.
        """
        link = self._open_link("interrupt")
        fields: dict[str, Any] = {}
        if cancel_queued:
            fields["cancel_queued"] = True
            for prompt in link.engine.prompts.held:
                link.engine.cancel(prompt.uuid, "interrupted")
        answer: dict[str, Any] = await link.interrupt(
            fields, self.options.graces, self.options.control_timeout
        )
        for dropped in answer.get("cancelled") or ():
            link.engine.cancel(str(dropped), "interrupted")
        link.settle()
        return answer

    async def answer(self, request_id: str, reply: Reply) -> bool:
        """Answer a request that its handler has left open with `fairlead.answer_later`.

        The reply is what a handler would return: `Allow`, `Deny`, `Answers`, `Approve`, `Reject`,
        `Accept`, `Decline`, `Cancel`. False if the request was answered or withdrawn before, or
        if another handler answers it.
        """
        link = self._open_link("answer a request")
        request, handling = self.pending.get(request_id), link.handling(request_id)
        if request is None or handling is None or self._dispatcher is None:
            return False
        self._dispatcher.check_reply(request_id, request, reply)
        return await self._dispatcher.deferred.answer(request_id, reply, handling)

    # Reading

    def messages(self) -> Reader[AnyMessage]:
        """A new reader of every message from now on; there may be any number of readers."""
        link = self._link
        if link is None:
            raise SessionClosed("read", NOT_STARTED)
        reader = link.readers.open(self.options.reader_limit)
        if link.ended:
            reader.close(link.exit_error)
        return reader

    def observe(self, observer: Observer) -> None:
        """Notify an observer of everything: both directions, control lines, the queue, the end."""
        self._observers.append(observer)
        if self._link is not None:
            self._link.observers.append(observer)

    def pause_reading(self) -> None:
        """Leave what the CLI writes in its pipe: it waits there, and nothing is lost.

        For an observer that cannot keep up. Answers to requests of the host still come, as long
        as not too much output precedes them.
        """
        self._backpressure.close()
        if self._link is not None:
            self._link.apply_backpressure()

    def resume_reading(self) -> None:
        """Resume reading what the CLI writes."""
        self._backpressure.open()
        if self._link is not None:
            self._link.apply_backpressure()

    def hold_output(self) -> None:
        """Collect text, tool calls and results of tools undecoded, until `release_output`.

        For an observer that wants them later and together, which costs less. The output is read
        every 20 ms meanwhile, and at once while an answer of the CLI is awaited. Requests of the
        CLI, answers and ends of turns are delivered when they are read, with what came before them.
        """
        if self._link is not None:
            self._link.hold_output()

    def take_output(self) -> None:
        """Deliver what was collected, and go on collecting."""
        if self._link is not None:
            self._link.take_output()

    def release_output(self) -> None:
        """Deliver what was collected, and what comes from now on at once."""
        if self._link is not None:
            self._link.release_output()

    @property
    def session_id(self) -> str | None:
        """The session's id; known from the first turn on, and it may change."""
        init = self._link.engine.init if self._link is not None else None
        return init.session_id if init is not None else None

    @property
    def pending(self) -> dict[str, CliRequest]:
        """The open requests of the CLI, by request id."""
        return self._link.engine.pending_from_cli if self._link is not None else {}

    @property
    def closing(self) -> bool:
        """Whether the host is closing the session or has closed it."""
        return self._link is not None and self._link.closing

    @property
    def ended(self) -> bool:
        """Whether the process has ended and all observers and readers were notified."""
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
        # Otherwise the CLI would replace them too and disconnect them.
        own = {name: {"type": "sdk", "name": name} for name in self._endpoints}
        return await super().mcp_set_servers({**own, **servers})

    async def recover_pending(self) -> None:
        """Ask the CLI to repeat its open requests; those that were lost are handled as new."""
        try:
            await self.control("initialize")
        except ControlError:
            pass  # 2.1.38 says "Already initialized", but still lists them (CLI-225).

    # Other constructors

    @classmethod
    def resume(cls, session_id: str, options: Options | None = None) -> Self:
        """A session that continues an earlier one; mode and model are not restored."""
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
            raise SessionClosed(action, NOT_STARTED)
        self._link.check_open(action)
        return self._link

    async def _cancel_inside(self, prompt_uuid: str) -> bool:
        if self.version is None or self.version.has(Feature.UNKNOWN_CONTROL_IS_SILENT):
            return False  # Such a CLI would never answer.
        return await self.cancel_queued(prompt_uuid)

    async def _fetch_plan(self) -> str | None:
        try:
            return await self.plan()
        except (ControlError, ControlTimeout):
            return None

    def _send_to_mcp_client(self, server: str, message: dict[str, Any]) -> None:
        link = self._link
        if link is None or link.closing:
            return
        if "id" not in message and not link.process.accepts_input:
            return  # Notifications are not buffered for a CLI that does not read.
        link.tell("mcp_message", {"server_name": server, "message": message})


def _registration(hooks: dict[str, Hook]) -> dict[str, list[dict[str, Any]]]:
    if not hooks:
        return {}
    from fairlead.host.requests.hooks import registration

    return registration(hooks)


def _blocks(prompt: PromptContent) -> tuple[Block, ...]:
    if isinstance(prompt, str):
        return (TextBlock(text=prompt),)
    if isinstance(prompt, bytes | bytearray | memoryview):
        raise UsageError(
            "a prompt is text, not bytes. Decode it, or use fairlead.image(…) or "
            "fairlead.document(…) for the content of a file"
        )
    if not isinstance(prompt, Sequence):
        raise UsageError(
            f"a prompt is a text or a list of texts and blocks, not {type(prompt).__name__}"
        )
    return tuple(TextBlock(text=part) if isinstance(part, str) else part for part in prompt)


def _new_uuid() -> str:
    return str(uuid.uuid4())
