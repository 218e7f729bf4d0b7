"""Builders for scripts of the emulated agent, so that a test reads like the conversation.

    server = await emulated([scene("count", say("One."), use("Bash", command="wc -l a"))])

Each gives a step of `docs/emulator.md` as a value; `named` steps can be referred to later.
"""

from __future__ import annotations

from typing import Any

__all__ = ["WAIT_FOR_GO", "ask", "named", "question", "say", "scene", "spawn", "think", "use"]

Step = dict[str, Any]

WAIT_FOR_GO = "until [ -e go ]; do sleep 0.05; done; touch gone; echo went"
"""A command that ends when the test makes the file `go`. It writes a file, so it needs approval."""


def scene(when: str | None, *steps: Step) -> dict[str, Any]:
    """What happens after a prompt that contains this text; None for any other prompt."""
    known = {} if when is None else {"when": when}
    return {**known, "steps": list(steps)}


def say(text: str) -> Step:
    return {"say": text}


def think(text: str) -> Step:
    return {"think": text}


def use(tool: str, /, **input: Any) -> Step:
    """Use a tool."""
    return {"use": tool, "input": input}


def named(name: str, step: Step) -> Step:
    """A step whose result can be referred to."""
    return {**step, "as": name}


def spawn(description: str, *steps: Step) -> Step:
    """A subagent with steps of its own."""
    about = {"description": description, "prompt": description, "run_in_background": False}
    return {"spawn": about, "steps": list(steps)}


def question(text: str, *options: str | dict[str, str], several: bool = False) -> dict[str, Any]:
    """One question for `ask`."""
    header = text.split(maxsplit=1)[0]
    return {"question": text, "header": header, "multiSelect": several, "options": list(options)}


def ask(*questions: dict[str, Any]) -> Step:
    """Ask the person."""
    return {"ask": list(questions)}
