"""A server with the real CLI, for browser tests."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest_asyncio

from fairlead.model_api.api import ModelApi
from fairlead.model_api.replies import Reply, use
from fairlead.model_api.request import ModelRequest
from fairlead.testing.plugin import ScriptedCli
from tests.e2e.browser.app_server import AppServer, open_app_server

__all__ = ["VERSION", "Real", "RealCliServer", "real", "write_the_plan"]


VERSION = "2.1.325"


@dataclass(frozen=True, slots=True)
class RealCliServer:
    """A server whose sessions run the real CLI, and the model behind it."""

    server: AppServer
    model: ModelApi
    project: Path

    def program(self, name: str = "tool.sh") -> str:
        """Put a program into the project that no rule knows; gives the command that runs it."""
        path = self.project / name
        path.write_text('#!/bin/sh\necho "ran $*" | tee -a ran.txt\n')
        path.chmod(0o755)
        return f"./{name}"

    def transcripts(self) -> list[Path]:
        """The session files that the CLI wrote."""
        return list((self.project.parent / "home").rglob("projects/*/*.jsonl"))

    def last_result(self) -> str:
        """What the model received as the result of the last tool."""
        return self.model.requests[-1].tool_results[-1].text

    def heard(self, at: int = -1) -> str:
        """A whole conversation as the model got it."""
        return json.dumps(self.model.requests[at].messages)


Real = Callable[..., Awaitable[RealCliServer]]


@pytest_asyncio.fixture(loop_scope="session")
async def real(tmp_path: Path, scripted_cli: Callable[..., ScriptedCli]) -> AsyncIterator[Real]:
    async with AsyncExitStack() as servers:

        async def make(*steps: Any) -> RealCliServer:
            cli = scripted_cli(*steps, version=VERSION)
            server = await servers.enter_async_context(
                open_app_server(
                    tmp_path,
                    agent=cli.executable,
                    project=cli.project,
                    env=cli.environment,
                    home=Path(cli.environment["HOME"]),
                )
            )
            return RealCliServer(server, cli.model, cli.project)

        yield make


def write_the_plan(request: ModelRequest) -> Reply:
    """Do what the CLI tells the model: write the plan into the file that it names."""
    (path,) = set(re.findall(r"/[\w./-]*/plans/[\w-]+\.md", json.dumps(request.body)))
    return use("Write", file_path=path, content="# Plan\n\n1. Measure twice\n2. Cut once\n")
