"""`fairlead chat`: a conversation in the terminal.

Prompts go to the agent, and its text is streamed to the terminal. Permission requests and
questions are asked when they arrive. Ctrl-C stops the running turn (a second one exits); at the
prompt it clears the line, and a second one exits. Ctrl-D, `/exit` and `/quit` exit.

If a usage limit stops a turn, the chat offers to send the prompt again when the limit resets.
"""

from __future__ import annotations

import argparse
import asyncio
import time

from fairlead.commands.agents import add_agent_arguments, choose
from fairlead.commands.console.approval import Approval
from fairlead.commands.console.keyboard import Interrupted, Keyboard
from fairlead.commands.console.screen import Screen
from fairlead.commands.console.terminal import Style
from fairlead.commands.limits import LimitNotes, moment
from fairlead.commands.trust import ProjectTrust, add_trust_arguments
from fairlead.errors import FairleadError
from fairlead.host.client import Client
from fairlead.host.options.options import Options
from fairlead.host.process.turn import Turn

__all__ = ["add_arguments", "run"]

LEAVE = {"/exit", "/quit"}

AFTER_RESET_S = 2.0
"""How long after the reset a prompt is sent: clocks differ."""

STEP_S = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `fairlead chat`."""
    add_agent_arguments(parser)
    add_trust_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the conversation; returns the exit code."""
    keyboard = Keyboard()
    return keyboard.run(lambda: _chat(arguments, keyboard))


async def _chat(arguments: argparse.Namespace, keyboard: Keyboard) -> int:
    style = Style()
    screen = Screen(style=style)
    async with choose(arguments) as agent:
        approval = Approval(screen, style, keyboard, agent.options["cwd"])
        trusted = await ProjectTrust(arguments, style, keyboard).decide(agent)
        async with Client(Options(**agent.options, **trusted, **approval.handlers())) as client:
            introduction = f"{agent.introduction.rstrip('.')}. CLI {client.version}."
            print(style.dim(f"{introduction} Ctrl-D or /exit leaves."), flush=True)
            await _Conversation(client, keyboard, screen, style).run_turns()
    print()
    return 0


class _Conversation:
    """Prompts and turns, one after the other."""

    def __init__(self, client: Client, keyboard: Keyboard, screen: Screen, style: Style) -> None:
        self._client = client
        self._keyboard = keyboard
        self._screen = screen
        self._style = style
        self._stopping: asyncio.Task[None] | None = None
        self._prompting = True
        self._warned = False
        self._sent = False
        self._stop_when_sent = False
        self._limits = LimitNotes(screen)
        self._cancelled: asyncio.Event | None = None
        """Set by Ctrl-C while the chat waits for a limit to reset."""

    async def run_turns(self) -> None:
        """Read prompts and run turns until the user exits."""
        with self._keyboard.on_interrupt(self._stop):
            while (prompt := await self._prompt()) is not None:
                if prompt.strip() in LEAVE:
                    return
                if prompt.strip():
                    await self._turn(prompt)
                    while await self._waits_for_reset():
                        await self._turn(prompt)

    async def _prompt(self) -> str | None:
        """The next prompt; None to leave."""
        self._prompting, self._warned, self._stop_when_sent = True, False, False
        while True:
            try:
                async with self._keyboard.turn:
                    return await self._keyboard.read(
                        self._style.accent("\n› "),
                        guarded=False,
                        remembered=True,
                        on_line=self._line_typed,
                    )
            except Interrupted as interrupted:
                self._warn_or_leave(typed=interrupted.typed)

    def _line_typed(self) -> None:
        self._prompting = False

    def _warn_or_leave(self, *, typed: bool) -> None:
        """Ctrl-C at the prompt clears the line; only a second one at an empty line leaves."""
        if not self._keyboard.interactive or (self._warned and not typed):
            self._keyboard.leave()
            return
        self._screen.note("Ctrl-C again leaves, and so do Ctrl-D and /exit")
        self._warned = True

    async def _turn(self, prompt: str) -> None:
        self._limits.begin()
        turn = await self._client.send(prompt)
        self._sent = True
        if self._stop_when_sent:
            self._stop()
        await self._show(turn)
        self._sent = False
        if self._stopping is not None:
            # Otherwise it could stop the next turn.
            await self._stopping
            self._stopping = None
        if turn.cost_usd:
            print(self._style.dim(f"  ${turn.cost_usd:.4f}"))
        self._limits.end()

    async def _waits_for_reset(self) -> bool:
        """Whether the prompt is to be sent again, after the limit that stopped it has reset."""
        if not self._limits.is_stopped:
            return False
        self._screen.warn(self._limits.stop_text())
        at = self._limits.resets_at
        if at is None or not self._keyboard.interactive:
            self._screen.note("Send the prompt again after that time.")
            return False
        question = self._style.ask("  Send the prompt again when the limit resets? [y/N] ")
        try:
            async with self._keyboard.turn:
                answer = await self._keyboard.read(question)
        except Interrupted:
            answer = None
        if (answer or "").strip().lower() not in ("y", "yes") or not await self._reset(at):
            self._screen.note("The prompt was not sent. The arrow key ↑ brings it back.")
            return False
        return True

    async def _reset(self, at: float) -> bool:
        """Wait for a time; False if the user cancels."""
        self._screen.note(f"Waiting until {moment(at, time.time())}. Ctrl-C cancels.")
        self._cancelled = asyncio.Event()
        try:
            # In steps, because a timer does not count the time that a computer sleeps.
            while (left := at + AFTER_RESET_S - time.time()) > 0:
                try:
                    async with asyncio.timeout(min(left, STEP_S)):
                        await self._cancelled.wait()
                    return False
                except TimeoutError:
                    continue
            return True
        finally:
            self._cancelled = None

    async def _show(self, turn: Turn) -> None:
        async for message in turn:
            self._screen.show(message)
            self._limits.take(message)
        self._screen.end_text()

    def _stop(self) -> None:
        """The first Ctrl-C interrupts the turn, the second one leaves."""
        if self._cancelled is not None:
            self._cancelled.set()
        elif self._prompting:
            self._warn_or_leave(typed=False)
        elif self._stopping is not None:
            self._keyboard.leave()
        elif not self._sent:
            self._stop_when_sent = True
        else:
            self._screen.note("stopping; Ctrl-C again leaves")
            self._stopping = asyncio.create_task(self._interrupt())

    async def _interrupt(self) -> None:
        try:
            await self._client.interrupt()
        except FairleadError as problem:
            self._screen.note(str(problem))
