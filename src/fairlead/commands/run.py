"""`fairlead run "prompt"`: one prompt, streamed.

With `--json` every message is printed as the CLI wrote it, one line each, and nothing else;
permissions are then denied unless `--permission-mode` says otherwise, for nobody can be asked.
The exit code is 0 for a good result, 1 for any other.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any

from fairlead.commands.agents import Agent, add_agent_arguments, choose
from fairlead.commands.approval import Approval
from fairlead.commands.line_input import LineInput
from fairlead.commands.screen import Screen
from fairlead.commands.terminal import Style
from fairlead.host.client import Client
from fairlead.host.options import Options

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `fairlead run`."""
    parser.add_argument("prompt", help="what to ask; - reads it from standard input")
    parser.add_argument("--json", action="store_true", help="print the messages as JSON lines")
    add_agent_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the prompt; returns the exit code."""
    return asyncio.run(_run(arguments))


async def _run(arguments: argparse.Namespace) -> int:
    prompt = sys.stdin.read() if arguments.prompt == "-" else arguments.prompt
    async with choose(arguments) as agent:
        if arguments.json:
            return await _as_json(prompt, agent)
        return await _as_text(prompt, agent)


async def _as_json(prompt: str, agent: Agent) -> int:
    async with Client(Options(**agent.options)) as client:
        reader = client.messages()
        turn = await client.send(prompt)
        async for message in reader:
            sys.stdout.write(message.raw.decode(errors="replace") + "\n")
            sys.stdout.flush()
            if message is turn.result:
                break
        return 0 if turn.ok else 1


async def _as_text(prompt: str, agent: Agent) -> int:
    style = Style()
    screen = Screen(style=style)
    person = Approval(screen, style, LineInput())
    handlers: dict[str, Any] = (
        {
            "on_permission": person.permission,
            "on_question": person.question,
            "on_plan": person.plan,
        }
        if sys.stdin.isatty()
        else {}
    )
    async with Client(Options(**agent.options, **handlers)) as client:
        turn = await client.send(prompt)
        async for message in turn:
            screen.show(message)
        screen.end_text()
        return 0 if turn.ok else 1
