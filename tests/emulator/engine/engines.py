"""Engines of the emulator without a process, and lines for them."""

from __future__ import annotations

import itertools
import json
from typing import Any

from fairlead.emulator.engine.engine import Engine
from fairlead.emulator.engine.setup import Setup
from fairlead.emulator.script.scenario import load_text
from fairlead.emulator.state.cost import Spending
from fairlead.emulator.state.effects import Effect, Write
from fairlead.emulator.state.flags import read_flags
from fairlead.emulator.state.profile import profile_of
from fairlead.emulator.state.session import Session, Workspace
from fairlead.permissions.model.families import family_of
from fairlead.permissions.rules.book import RuleBook
from fairlead.permissions.rules.paths import PathContext

__all__ = [
    "BASH",
    "FLAGS",
    "HELLO",
    "VERSIONS",
    "answer_to",
    "engine",
    "kinds",
    "line",
    "prompt",
    "request",
    "written",
]


FLAGS = [
    "--output-format=stream-json",
    "--input-format=stream-json",
    "--verbose",
    "--permission-prompt-tool=stdio",
]


VERSIONS = ("2.1.38", "2.1.325")


def engine(script: str, version: str = "2.1.325", *flags: str, **environment: str) -> Engine:
    profile = profile_of(version)
    workspace = Workspace(cwd="/project", home="/home", tmp="/tmp", environment=environment)
    numbers = itertools.count()
    seconds = itertools.count(1_000_000)
    session = Session(
        profile=profile,
        arguments=read_flags([*FLAGS, *flags], profile),
        workspace=workspace,
        session_id="session",
        mode="default",
        new_id=lambda: f"id-{next(numbers)}",
        now=lambda: float(next(seconds)),
        spending=Spending(profile),
        tools=profile.catalog.tools,
    )
    path_context = PathContext(cwd="/project", home="/home", family=family_of(version))
    return Engine(
        Setup(
            session=session,
            scenario=load_text(script),
            book=RuleBook(),
            path_context=path_context,
        )
    )


def line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode()


def prompt(text: str, **fields: Any) -> bytes:
    return line({"type": "user", "message": {"role": "user", "content": text}, **fields})


def request(subtype: str | None, **fields: Any) -> bytes:
    body = fields if subtype is None else {"subtype": subtype, **fields}
    return line({"type": "control_request", "request_id": "r", "request": body})


def written(effects: list[Effect]) -> list[dict[str, Any]]:
    return [dict(effect.message) for effect in effects if isinstance(effect, Write)]


def kinds(lines: list[dict[str, Any]]) -> list[str]:
    return [str(entry.get("subtype") or entry["type"]) for entry in lines]


HELLO = "- steps: [{say: Hello.}]"


BASH = "- steps: [{use: Bash, input: {command: 'touch x', description: d}, id: t1}, {say: Done.}]"


def answer_to(asked: dict[str, Any], behavior: str, **more: Any) -> bytes:
    body = {"behavior": behavior, "message": "no", "updatedInput": asked["request"]["input"]}
    response = {
        "subtype": "success",
        "request_id": asked["request_id"],
        "response": {**body, **more},
    }
    return line({"type": "control_response", "response": response})
