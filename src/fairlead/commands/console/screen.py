"""A conversation on a terminal, written as it happens and never rewritten.

Prints wire messages. Partial text is printed as it arrives; if the CLI sends no partial text (a
fallback, a local command), the finished block is printed instead, so that each text is shown
exactly once.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from typing import Any, TextIO

from fairlead.commands.console.terminal import Style, plain
from fairlead.wire.blocks import TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from fairlead.wire.decode import AnyMessage
from fairlead.wire.events import Assistant, Malformed, Result, StreamEvent, Unknown, User
from fairlead.wire.stream import ContentBlockDelta, MessageStart, TextDelta
from fairlead.wire.system import ApiRetry, CompactBoundary, Informational, PermissionDenied

__all__ = ["Screen", "describe_call"]

RESULT_LINES = 4
"""Lines of a tool's output that are shown; the rest is counted."""

SHOWN_BY_QUESTION = {"AskUserQuestion", "ExitPlanMode"}
"""Tools whose input is shown completely by the question that follows."""


class Screen:
    """Prints the messages of a session."""

    def __init__(self, out: TextIO | None = None, style: Style | None = None) -> None:
        self._out = out or sys.stdout
        self._style = style or Style()
        self._in_text = False
        self._streamed = ""
        self._prefix = ""
        self._shows: dict[type, Callable[[Any], None]] = {
            StreamEvent: self._stream,
            Assistant: self._assistant,
            User: self._user,
            Result: self._result,
            ApiRetry: self._retry,
            Informational: lambda m: self.note(m.content),
            CompactBoundary: lambda m: self.note("the conversation was compacted"),
            PermissionDenied: lambda m: self.note(f"{m.tool_name} was denied: {m.message or ''}"),
            Malformed: lambda m: self.note(f"unexpected output on stdout: {m.problem}"),
            Unknown: lambda m: self.note(f"a message of an unknown kind: {m.type_name}"),
        }

    def show(self, message: AnyMessage) -> None:
        """Print the part of a message that is for the user, if any."""
        show_message = self._shows.get(type(message))
        if show_message is not None:
            show_message(message)

    def note(self, text: str) -> None:
        """Print a note of Fairlead on its own line."""
        self.end_text()
        self._print(self._style.dim(f"  · {plain(text)}") + "\n")

    def warn(self, text: str) -> None:
        """Print a warning of Fairlead on its own line."""
        self.end_text()
        self._print(self._style.ask(f"  ! {plain(text)}") + "\n")

    def end_text(self) -> None:
        """Close an open line of streamed text."""
        if self._in_text:
            self._print("\n")
            self._in_text = False

    def _stream(self, message: StreamEvent) -> None:
        if message.parent_tool_use_id is not None:
            return
        event = message.event
        if isinstance(event, MessageStart):
            self._streamed = ""
        elif isinstance(event, ContentBlockDelta) and isinstance(event.delta, TextDelta):
            self._streamed += event.delta.text
            self._print(plain(event.delta.text))
            self._in_text = True

    def _assistant(self, message: Assistant) -> None:
        for block in message.message.content:
            if isinstance(block, TextBlock):
                self._text(block.text, nested=message.parent_tool_use_id is not None)
            elif isinstance(block, ToolUseBlock):
                self._call(block, nested=message.parent_tool_use_id is not None)
            elif isinstance(block, ThinkingBlock) and block.thinking:
                self.note("thought for a while")

    def _text(self, text: str, *, nested: bool) -> None:
        if self._streamed.endswith(text):
            self._streamed = ""
        elif not nested:
            self.end_text()
            self._print(plain(text))
            self._in_text = True
        self.end_text()

    def _call(self, block: ToolUseBlock, *, nested: bool) -> None:
        self.end_text()
        mark = "  ↳" if nested else "●"
        description = plain(describe_call(block.name, block.input))
        self._print(
            f"{self._style.accent(mark)} {self._style.bold(plain(block.name))} {description}\n"
        )

    def _user(self, message: User) -> None:
        content = message.message.content
        if isinstance(content, str):
            if "<local-command-std" in content:
                self.end_text()
                self._print(plain(_without_tags(content)) + "\n")
            return
        for block in content or ():
            if isinstance(block, ToolResultBlock) and message.parent_tool_use_id is None:
                self._tool_result(block)

    def _tool_result(self, block: ToolResultBlock) -> None:
        self.end_text()
        lines = [line for line in plain(block.text).splitlines() if line.strip()]
        first_lines = lines[:RESULT_LINES]
        style = self._style.bad if block.is_error else self._style.dim
        width = shutil.get_terminal_size().columns - 5
        for number, line in enumerate(first_lines or ["(no output)"]):
            text = line if len(line) <= width else line[: width - 1] + "…"
            self._print(style(f"  {'⎿' if number == 0 else ' '} {text}") + "\n")
        more = len(lines) - RESULT_LINES
        if more > 0:
            self._print(self._style.dim(f"    … {more} more line{'s' * (more > 1)}") + "\n")

    def _retry(self, message: ApiRetry) -> None:
        seconds = (message.retry_delay_ms or 0) / 1000
        self.note(f"the API failed ({message.error}); trying again in {seconds:.0f} s")

    def _result(self, message: Result) -> None:
        self.end_text()
        if (message.terminal_reason or "").startswith("aborted"):
            # The CLI's own text is for developers.
            self._print(self._style.dim("  · stopped") + "\n")
        elif not message.ok:
            reason = message.terminal_reason or message.subtype
            self._print(self._style.bad(f"✗ {plain(reason)}: {plain(message.text)}") + "\n")

    def _print(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def describe_call(name: str, tool_input: Any) -> str:
    """The most informative part of a tool's input, as one line."""
    if not isinstance(tool_input, dict) or name in SHOWN_BY_QUESTION:
        return ""
    for key in ("command", "file_path", "notebook_path", "pattern", "url", "query", "description"):
        if isinstance(tool_input.get(key), str):
            first, *more = str(tool_input[key]).splitlines() or [""]
            return first + (f" … (+{len(more)} lines)" if more else "")
    return json.dumps(tool_input, ensure_ascii=False)[:200] if tool_input else ""


def _without_tags(text: str) -> str:
    for tag in ("<local-command-stdout>", "</local-command-stdout>"):
        text = text.replace(tag, "")
    return text.replace("<local-command-stderr>", "").replace("</local-command-stderr>", "").strip()
