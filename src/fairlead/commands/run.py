"""`fairlead run "prompt"`: one prompt, streamed.

With `--json` every message is printed as the CLI wrote it, one line each, and nothing else;
permissions are then denied unless `--permission-mode` says otherwise, because no user can answer.
The exit code is 0 for a successful result, 1 for any other and if a usage limit stopped the turn.
"""

from __future__ import annotations

import argparse
import asyncio
import sys

from fairlead.commands.agents import add_agent_arguments, choose
from fairlead.commands.console.approval import Approval
from fairlead.commands.console.keyboard import Keyboard
from fairlead.commands.console.screen import Screen
from fairlead.commands.console.terminal import Style
from fairlead.commands.limits import LimitNotes
from fairlead.commands.trust import ProjectTrust, add_trust_arguments
from fairlead.host.client import Client
from fairlead.host.options.options import Options

__all__ = ["add_arguments", "run"]

AFTER_RESET = (
    "Run the command again after that time. `fairlead limits` shows what the sessions of the "
    "server have used."
)
"""What to do when a usage limit stopped the turn."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `fairlead run`."""
    parser.add_argument("prompt", help="what to ask; - reads it from standard input")
    parser.add_argument("--json", action="store_true", help="print the messages as JSON lines")
    add_agent_arguments(parser)
    add_trust_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the prompt; returns the exit code."""
    prompt = _from_standard_input() if arguments.prompt == "-" else arguments.prompt
    if arguments.json:
        return asyncio.run(_as_json(prompt, arguments))
    keyboard = Keyboard()
    return keyboard.run(lambda: _as_text(prompt, arguments, keyboard))


def _from_standard_input() -> str:
    return sys.stdin.buffer.read().decode(errors="replace")


async def _as_json(prompt: str, arguments: argparse.Namespace) -> int:
    async with choose(arguments) as agent:
        # Standard output is only for messages, so the user cannot be asked.
        trusted = await ProjectTrust(arguments, Style(color=False)).decide(agent)
        async with Client(Options(**agent.options, **trusted)) as client:
            reader = client.messages()
            turn = await client.send(prompt)
            async for message in reader:
                sys.stdout.write(message.raw.decode(errors="replace") + "\n")
                sys.stdout.flush()
                if message is turn.result:
                    break
            return 0 if turn.ok else 1


async def _as_text(prompt: str, arguments: argparse.Namespace, keyboard: Keyboard) -> int:
    style = Style()
    screen = Screen(style=style)
    async with choose(arguments) as agent:
        approval = Approval(screen, style, keyboard, agent.options["cwd"])
        # Without handlers, requests are denied with a message that says so.
        handlers = approval.handlers() if keyboard.interactive else {}
        trusted = await ProjectTrust(arguments, style, keyboard).decide(agent)
        async with Client(Options(**agent.options, **trusted, **handlers)) as client:
            limits = LimitNotes(screen)
            turn = await client.send(prompt)
            async for message in turn:
                screen.show(message)
                limits.take(message)
            screen.end_text()
            limits.end()
            if limits.is_stopped:
                screen.warn(f"{limits.stop_text()} {AFTER_RESET}")
            return 0 if turn.ok and not limits.is_stopped else 1
