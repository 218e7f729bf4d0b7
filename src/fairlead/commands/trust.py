"""Asks before the CLI starts in a folder whose own files would run programs.

The user sees every program with its file and decides: start with them, start without them, or
stop. The answer is stored per folder and content in the user's state folder, and the user is asked
again when the content changes. If the user cannot be asked, a flag must give the answer.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
from typing import Any

from fairlead.commands.agents import Agent
from fairlead.commands.console.history import state_folder
from fairlead.commands.console.keyboard import Interrupted, Keyboard
from fairlead.commands.console.terminal import Style, plain
from fairlead.errors import UsageError
from fairlead.host.options.project_commands import ProjectCommands
from fairlead.server.refusal import Refusal
from fairlead.server.trust import TRUST, WITHOUT, TrustBook

__all__ = ["ProjectTrust", "add_trust_arguments"]

CHOICES = {
    "t": TRUST,
    "trust": TRUST,
    "w": WITHOUT,
    "without": WITHOUT,
    "s": "stop",
    "stop": "stop",
}


def add_trust_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags that answer the question in advance."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--trust-project",
        action="store_true",
        help="for this run, let the project's own files run hooks, MCP servers and other programs",
    )
    group.add_argument(
        "--ignore-project-programs",
        action="store_true",
        help="read only the user's settings: run nothing that the project's own files name",
    )


class ProjectTrust:
    """The decision about one folder; without a terminal the user is not asked."""

    def __init__(
        self, arguments: argparse.Namespace, style: Style, keyboard: Keyboard | None = None
    ) -> None:
        self._trusts = bool(arguments.trust_project)
        self._ignores = bool(arguments.ignore_project_programs)
        self._style = style
        self._keyboard = keyboard
        self._book = TrustBook()

    async def decide(self, agent: Agent) -> dict[str, Any]:
        """Fields of `Options` for this start; raises `UsageError` if it must not start."""
        if self._ignores:
            return {"project_programs": "ignore"}
        if self._trusts or agent.demo:
            return {}
        folder = await asyncio.to_thread(os.path.realpath, agent.options["cwd"])
        self._book.load(state_folder() / "trusted-projects.json")
        project, answer = await asyncio.to_thread(self._book.look, folder)
        while project is not None and answer is None:
            answer = await self._ask(project)
            with contextlib.suppress(_Changed):
                await asyncio.to_thread(self._remember, folder, project.digest, answer)
            # Check again: if the files have changed, they are shown again.
            project, answer = await asyncio.to_thread(self._book.look, folder)
        return {"project_programs": "ignore"} if answer == WITHOUT else {}

    async def _ask(self, project: ProjectCommands) -> str:
        if self._keyboard is None or not (self._keyboard.interactive and sys.stdout.isatty()):
            raise UsageError(_no_terminal_message(project))
        async with self._keyboard.turn:
            self._show(project)
            prompt = self._style.ask("  [t]rust and start, start [w]ithout them, [s]top > ")
            while True:
                try:
                    typed = await self._keyboard.read(prompt)
                except Interrupted:
                    self._keyboard.leave()
                    await asyncio.sleep(0)  # Raises the cancellation.
                    raise
                choice = "stop" if typed is None else CHOICES.get(typed.strip().lower())
                if choice == "stop":
                    raise UsageError("stopped: the CLI was not started.")
                if choice is not None:
                    return choice
                print(self._style.dim("  please type t, w or s"), flush=True)

    def _show(self, project: ProjectCommands) -> None:
        style = self._style
        print(style.ask("? this project wants to run its own programs"))
        for line in _program_lines(project):
            print(line)
        print(style.dim("  They run or are allowed without a further question. Trust them only if"))
        print(style.dim("  you know where they come from. Without them, no settings and no"))
        print(style.dim("  instructions of the project are read, only your own."), flush=True)

    def _remember(self, folder: str, digest: str, choice: str) -> None:
        try:
            with contextlib.suppress(OSError):
                state_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
            self._book.answer(folder, digest, choice)
        except Refusal as problem:
            if problem.code == "stale":
                print(self._style.ask("  the files have changed; please review them again"))
                raise _Changed from problem
            print(self._style.dim(f"  {plain(problem.message)}"), flush=True)


class _Changed(Exception):
    """The files are no longer those that were shown."""


def _program_lines(project: ProjectCommands) -> list[str]:
    """Every program with its file; no content can be mistaken for a line of Fairlead."""
    lines = [f"  in {_one_line(project.folder)}"]
    for command in project.commands:
        lines.append(f"  {_one_line(command.file)}: {_one_line(command.what)}")
        lines += [f"  │ {line}" for line in plain(command.command).split("\n")]
    return lines


def _one_line(text: str) -> str:
    return plain(text).replace("\n", "‹0A›")


def _no_terminal_message(project: ProjectCommands) -> str:
    programs = "\n".join(_program_lines(project))
    return (
        "the CLI was not started, because files of the project would make it run or allow this "
        f"without asking:\n{programs}\nThere is no terminal to ask. Read them, then use --trust-project "
        "to start with them or --ignore-project-programs to start without them."
    )
