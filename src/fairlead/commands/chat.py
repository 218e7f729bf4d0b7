"""`fairlead chat`: a conversation in the terminal.

Prompts go to the agent, its words stream back, permissions and questions are asked where they
come up. Ctrl-C stops the running turn (a second one leaves), Ctrl-D leaves.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator

from fairlead.commands.agents import add_agent_arguments, choose
from fairlead.commands.approval import Approval
from fairlead.commands.line_input import LineInput
from fairlead.commands.screen import Screen
from fairlead.commands.terminal import Style
from fairlead.errors import ControlTimeout, FairleadError
from fairlead.host.client import Client
from fairlead.host.options import Options
from fairlead.host.turn import Turn

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `fairlead chat`."""
    add_agent_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Hold the conversation; returns the exit code."""
    return asyncio.run(_chat(arguments))


async def _chat(arguments: argparse.Namespace) -> int:
    style = Style()
    screen = Screen(style=style)
    lines = LineInput()
    person = Approval(screen, style, lines)
    async with choose(arguments) as agent:
        options = Options(
            **agent.options,
            on_permission=person.permission,
            on_question=person.question,
            on_plan=person.plan,
        )
        async with Client(options) as client:
            print(style.dim(f"{agent.introduction} CLI {client.version}. Ctrl-D leaves."))
            while (prompt := await lines.read(style.accent("\n› "))) is not None:
                if prompt.strip():
                    await _turn(client, prompt, screen, style)
    print()
    return 0


async def _turn(client: Client, prompt: str, screen: Screen, style: Style) -> None:
    turn = await client.send(prompt)
    reading = asyncio.ensure_future(_show(turn, screen))
    with _on_interrupt(lambda: _stop(client, reading, screen)):
        try:
            await reading
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
    if turn.cost_usd:
        print(style.dim(f"  ${turn.cost_usd:.4f}"))


async def _show(turn: Turn, screen: Screen) -> None:
    async for message in turn:
        screen.show(message)
    screen.end_text()


@contextlib.contextmanager
def _on_interrupt(act: Callable[[], None]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, act)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


_stopping: set[asyncio.Task[None]] = set()


def _stop(client: Client, reading: asyncio.Future[None], screen: Screen) -> None:
    """The first Ctrl-C interrupts the turn, the second one leaves."""
    if _stopping:
        reading.cancel()
        return
    screen.note("stopping; Ctrl-C again leaves")
    task = asyncio.ensure_future(_interrupt(client, screen))
    _stopping.add(task)
    task.add_done_callback(_stopping.discard)


async def _interrupt(client: Client, screen: Screen) -> None:
    try:
        await client.interrupt()
    except (ControlTimeout, FairleadError) as problem:
        screen.note(str(problem))
