"""Plays a scenario: for each request of a conversation the next reply of the scripted model.

Pure. A conversation is the main one or a subagent's; each has its own place in its scene. What
a step refers to (`{{name.text}}`) is filled in from the results that came back. The reply is a
value of `replies`, which the engine turns into the events of the API, with the waits beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fairlead.emulator.replies import (
    Answer,
    Block,
    Failure,
    Text,
    Thinking,
    ToolUse,
    Usage,
    fail,
    reply,
)
from fairlead.emulator.scenario import Scenario, Scene, Step

__all__ = ["Ask", "Played", "Player", "Wait"]

MAIN = ""
_REFERENCE = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A request to the model."""

    conversation: str
    prompt: str
    results: Sequence[Mapping[str, Any]] = ()
    """Tool results since the last reply: tool_use_id, text, failed, denied."""
    is_new_prompt: bool = False
    cwd: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A pause in a reply: before the piece with this number (counted over all its blocks)."""

    before: int
    seconds: float = 0.0
    inputs: int = 0
    """Go on when so many more lines came from the host."""
    forever: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A reply with its id, if the script chose one, and its waits."""

    answer: Answer
    message_id: str | None = None
    waits: tuple[Wait, ...] = ()
    pace: float = 0.0


@dataclass(slots=True)
class _Cursor:
    steps: list[Step]
    prompt: str
    results: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """Tool use id -> the name its result gets."""


class Player:
    """Keeps the place in the scenario for every conversation."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._queue = list(scenario.queue)
        self._cursors: dict[str, _Cursor] = {}
        self._subagents: dict[str, tuple[Step, ...]] = {}
        self._uses = 0

    def reply(self, ask: Ask) -> Played:
        """The next reply for a conversation."""
        queued = self._from_queue(ask)
        if queued is not None:
            return queued
        cursor = self._cursor(ask)
        for result in ask.results:
            name = cursor.names.get(str(result.get("tool_use_id")))
            if name:
                cursor.results[name] = result
        return self._compose(cursor, ask)

    def _from_queue(self, ask: Ask) -> Played | None:
        for number, entry in enumerate(self._queue):
            if _is_for(entry, ask):
                del self._queue[number]
                return _whole(entry)
        return None

    def _cursor(self, ask: Ask) -> _Cursor:
        known = self._cursors.get(ask.conversation)
        if known is not None and not ask.is_new_prompt:
            return known
        if known is not None and known.steps and ask.results:
            return known  # a prompt that joined a running turn does not change the scene
        cursor = _Cursor(list(self._steps_for(ask)), ask.prompt)
        self._cursors[ask.conversation] = cursor
        return cursor

    def _steps_for(self, ask: Ask) -> tuple[Step, ...]:
        if ask.conversation != MAIN and ask.prompt in self._subagents:
            return self._subagents[ask.prompt]
        scene = next((s for s in self._scenario.scenes if s.matches(ask.prompt)), None)
        return (scene or Scene(when=None, steps=())).steps

    def _compose(self, cursor: _Cursor, ask: Ask) -> Played:
        blocks: list[Block] = []
        waits: list[Wait] = []
        pieces = 0
        while cursor.steps:
            step = cursor.steps[0]
            if step.action == "fail" and blocks:
                break
            cursor.steps.pop(0)
            if not _applies(step, cursor):
                continue
            if step.action == "wait":
                waits.append(Wait(before=pieces, seconds=float(step.value)))
            elif step.action == "fail":
                return Played(answer=self._failure(step, cursor, ask), waits=tuple(waits))
            else:
                new = list(self._blocks(step, cursor, ask))
                blocks += new
                pieces += sum(_pieces(block, self._scenario.piece) for block in new)
                if any(isinstance(block, ToolUse) for block in new):
                    break
        answer = reply(*(blocks or [Text("Done.")]))
        return Played(
            answer=replace(answer, delta_chars=self._scenario.piece),
            waits=tuple(waits),
            pace=self._scenario.pace,
        )

    def _blocks(self, step: Step, cursor: _Cursor, ask: Ask) -> Iterator[Block]:
        if step.action == "together":
            for inner in step.steps:
                yield from self._blocks(inner, cursor, ask)
            return
        value = _filled(step.value, cursor, ask)
        if step.action == "say":
            yield Text(str(value))
        elif step.action == "think":
            yield Thinking(str(value))
        else:
            name, given = self._use(step, value, cursor, ask)
            self._uses += 1
            tool_use_id = str(step.options.get("id") or f"toolu_{self._uses:04d}")
            if "as" in step.options:
                cursor.names[tool_use_id] = str(step.options["as"])
            yield ToolUse(name=name, input=given, id=tool_use_id)

    def _use(
        self, step: Step, value: Any, cursor: _Cursor, ask: Ask
    ) -> tuple[str, Mapping[str, Any]]:
        if step.action == "ask":
            questions = value if isinstance(value, list) else [value]
            return "AskUserQuestion", {"questions": [_question(q) for q in questions]}
        if step.action == "spawn":
            given = {"subagent_type": "general-purpose", **value}
            self._subagents[str(given.get("prompt", ""))] = step.steps
            return "Task", given
        return str(value), _filled(step.options.get("input") or {}, cursor, ask)

    def _failure(self, step: Step, cursor: _Cursor, ask: Ask) -> Failure:
        message = _filled(step.options.get("message", ""), cursor, ask)
        retry_after = step.options.get("retry_after")
        return fail(int(step.value), message, retry_after=retry_after)


def _applies(step: Step, cursor: _Cursor) -> bool:
    wanted, unwanted = step.options.get("if"), step.options.get("unless")
    if wanted is not None and not _holds(str(wanted), cursor):
        return False
    return unwanted is None or not _holds(str(unwanted), cursor)


def _holds(condition: str, cursor: _Cursor) -> bool:
    name, _, state = condition.partition(".")
    result = cursor.results.get(name)
    if result is None:
        return False
    failed, denied = bool(result.get("failed")), bool(result.get("denied"))
    return {"failed": failed and not denied, "denied": denied}.get(state, not failed)


def _filled(value: Any, cursor: _Cursor, ask: Ask) -> Any:
    if isinstance(value, str):
        return _REFERENCE.sub(lambda found: _referred(found[1], cursor, ask), value)
    if isinstance(value, list):
        return [_filled(item, cursor, ask) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, cursor, ask) for key, item in value.items()}
    return value


def _referred(path: str, cursor: _Cursor, ask: Ask) -> str:
    if path in ("prompt", "cwd"):
        return cursor.prompt if path == "prompt" else ask.cwd
    name, _, part = path.partition(".")
    result = cursor.results.get(name, {})
    found: Any = result.get(part or "text", "")
    return str(found)


def _question(data: Mapping[str, Any]) -> dict[str, Any]:
    options = [
        {"label": o, "description": ""} if isinstance(o, str) else dict(o)
        for o in data.get("options", ())
    ]
    question = str(data["question"])
    return {
        "question": question,
        "header": str(data.get("header", question.split()[-1].strip("?")))[:12],
        "multiSelect": bool(data.get("multiSelect", False)),
        "options": options,
    }


def _pieces(block: Block, size: int) -> int:
    text = {Text: "text", Thinking: "thinking"}.get(type(block))
    length = len(getattr(block, text)) if text else 1
    return max(1, -(-length // size))


def _is_for(entry: Mapping[str, Any], ask: Ask) -> bool:
    wanted = entry.get("for")
    if wanted is None:
        return ask.conversation == MAIN
    return ask.conversation != MAIN and str(wanted) in ask.prompt


def _whole(entry: Mapping[str, Any]) -> Played:
    waits = tuple(Wait(**wait) for wait in entry.get("waits") or ())
    if "error" in entry:
        failure = fail(
            int(entry["error"]),
            str(entry.get("message", "")),
            retry_after=entry.get("retry_after"),
            retry=entry.get("retry"),
        )
        return Played(answer=failure, waits=waits)
    answer = reply(*(_block(block) for block in entry.get("blocks") or ()))
    changes: dict[str, Any] = {"delta_chars": int(entry.get("piece") or 16)}
    if "stop_reason" in entry:
        changes["stop_reason"] = entry["stop_reason"]
    if "usage" in entry:
        changes["usage"] = Usage(**entry["usage"])
    return Played(
        answer=answer.but(**changes),
        message_id=entry.get("id"),
        waits=waits,
    )


def _block(block: Mapping[str, Any]) -> Block:
    kind = block.get("type")
    if kind == "text":
        return Text(str(block["text"]))
    if kind == "thinking":
        return Thinking(str(block["thinking"]), str(block.get("signature", "c2ln")))
    return ToolUse(name=str(block["name"]), input=block["input"], id=block.get("id"))
