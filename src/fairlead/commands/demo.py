"""What the scripted model of the demo says: a short tour of what an agent can do.

The words are canned, the tools are real: the CLI reads, asks and writes in a scratch project.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fairlead.emulator.model_request import ModelRequest
from fairlead.emulator.replies import Answer, Reply, reply, thinking, use

__all__ = ["Demo"]

HELP = """I am a scripted model, so I know only a few tricks, but the CLI around me is real:

- `read` reads a file of the scratch project
- `write` writes a file, and the CLI asks you first
- `run` runs a shell command, and the CLI asks you first
- `ask` asks you a question
- `think` thinks aloud

Anything else I just repeat."""


class Demo:
    """Answers by the first word of the prompt."""

    def __init__(self, project: Path) -> None:
        self._project = project
        self._tricks: dict[str, Callable[[], Reply]] = {
            "help": lambda: reply(HELP),
            "read": lambda: use("Read", file_path=str(self._project / "README.md")),
            "write": lambda: use(
                "Write",
                file_path=str(self._project / "notes.md"),
                content="# Notes\n\nWritten by the demo.\n",
            ),
            "run": lambda: use(
                "Bash", command="date > now.txt && cat now.txt", description="Tell the time"
            ),
            "ask": lambda: use("AskUserQuestion", questions=[_question()]),
            "think": lambda: reply(
                thinking("Somebody wants to see me think."), "I thought about it. All is well."
            ),
        }

    def answer(self, request: ModelRequest) -> Answer:
        """What to say to this request."""
        if request.tool_results:
            return _after_tool(request)
        words = request.text.strip().split()
        trick = self._tricks.get(words[0].lower().strip("`.,!?")) if words else None
        if trick is not None:
            return trick()
        return reply(f"You said: {request.text.strip()}\n\nSay `help` to see what I can do.")


def _after_tool(request: ModelRequest) -> Answer:
    result = request.tool_results[-1]
    if result.is_error:
        return reply(f"That did not work out: {result.text.splitlines()[0][:200]}")
    return reply("Done. The result is above; it came from a real tool.")


def _question() -> dict[str, object]:
    return {
        "question": "Which line should run free?",
        "header": "Line",
        "multiSelect": False,
        "options": [
            {"label": "The mooring line", "description": "It holds the ship"},
            {"label": "The NDJSON line", "description": "It holds the conversation"},
        ],
    }
