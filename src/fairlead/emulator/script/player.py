"""Plays a scenario: for each request of a conversation the next reply of the scripted model.

Pure. A conversation is the main one or a subagent's; each has its own position in its scene.
References (`{{name.text}}`) are replaced by the results of earlier steps. The reply is a value of
`replies`, which the engine turns into the events of the API, together with its pauses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from msgspec import Struct, field

from fairlead.emulator.script.scenario import Scenario, Scene, Step
from fairlead.emulator.script.schema import OUTCOMES, REFERENCE
from fairlead.emulator.state.conversation import MAIN, Ask
from fairlead.model_api.replies import (
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

__all__ = ["Ask", "Played", "Player", "Wait"]

MOST_SHOWN = 200
"""Characters of a prompt that a message shows."""
DONE = "Done."
"""The reply of the model when no steps are left."""


class Wait(Struct, frozen=True, kw_only=True):
    """A pause in a reply: before the piece with this number (counted over all its blocks)."""

    before: int
    seconds: float = 0.0
    inputs: int = 0
    """Continue when the host has written this many more lines."""
    forever: bool = False


class Played(Struct, frozen=True, kw_only=True):
    """A reply with its pauses and, if the script defines one, its id."""

    answer: Answer
    message_id: str | None = None
    waits: tuple[Wait, ...] = ()
    pace: float = 0.0


class _Cursor(Struct):
    steps: list[Step]
    prompt: str
    results: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """Tool use id -> the name of its result."""
    suggest: str | None = None


class Player:
    """Selects replies, with a position in the scenario for each conversation."""

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
        if isinstance(cursor, Failure):
            return Played(answer=cursor)
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

    def _cursor(self, ask: Ask) -> _Cursor | Failure:
        """The position in the scene; a new prompt selects a new one."""
        known = self._cursors.get(ask.conversation)
        goes_on = not ask.is_new_prompt and not (ask.has_joined and known and not known.steps)
        if known is not None and goes_on:
            return known
        scene = self._scene_for(ask)
        if scene is None:
            self._cursors.pop(ask.conversation, None)
            return self._unmatched(ask.prompt)
        cursor = _Cursor(list(scene.steps), ask.prompt, suggest=scene.suggest)
        self._cursors[ask.conversation] = cursor
        return cursor

    def suggestion(self) -> str | None:
        """The next prompt that the scene of the main conversation suggests."""
        cursor = self._cursors.get(MAIN)
        scripted = None if cursor is None else cursor.suggest
        return scripted or self._scenario.suggest

    def _scene_for(self, ask: Ask) -> Scene | None:
        if ask.conversation != MAIN and ask.prompt in self._subagents:
            return Scene(when=None, steps=self._subagents[ask.prompt])
        scene = next((s for s in self._scenario.scenes if s.matches(ask.prompt)), None)
        if scene is not None:
            return scene
        silent = self._scenario.allows_unmatched or ask.is_own
        return Scene(when=None, steps=()) if silent else None

    def _unmatched(self, prompt: str) -> Failure:
        """The error for a prompt that the script does not match."""
        source, scenes = self._scenario.source, self._scenario.scenes
        excerpt = prompt if len(prompt) <= MOST_SHOWN else prompt[:MOST_SHOWN] + "..."
        if scenes:
            names = ", ".join(scene.shown for scene in scenes)
            problem = f"no scene of {source} matches the prompt {excerpt!r}; its scenes: {names}"
        else:
            problem = f"{source} has no scene for the prompt {excerpt!r} and its queue is used up"
        remedy = "Add a scene, one without `when` for every other prompt, or `unmatched: done`."
        return fail(400, f"{problem}. {remedy}", retry=False)

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
        answer = reply(*(blocks or [Text(DONE)]))
        return Played(
            answer=replace(answer, delta_chars=self._scenario.piece),
            waits=tuple(waits),
            pace=self._scenario.pace,
        )

    def _blocks(self, step: Step, cursor: _Cursor, ask: Ask) -> Iterator[Block]:
        if step.action == "together":
            for inner in step.steps:
                if not _applies(inner, cursor):
                    continue
                yield from self._blocks(inner, cursor, ask)
            return
        value = _filled(step.value, cursor, ask)
        if step.action == "say":
            yield Text(str(value))
        elif step.action == "think":
            yield Thinking(str(value))
        else:
            name, input = self._use(step, value, cursor, ask)
            self._uses += 1
            tool_use_id = str(step.options.get("id") or f"toolu_{self._uses:04d}")
            if "as" in step.options:
                cursor.names[tool_use_id] = str(step.options["as"])
            yield ToolUse(name=name, input=input, id=tool_use_id)

    def _use(
        self, step: Step, value: Any, cursor: _Cursor, ask: Ask
    ) -> tuple[str, Mapping[str, Any]]:
        if step.action == "ask":
            questions = value if isinstance(value, list) else [value]
            return "AskUserQuestion", {"questions": [_question(q) for q in questions]}
        if step.action == "spawn":
            input = {"subagent_type": "general-purpose", **value}
            self._subagents[str(input.get("prompt", ""))] = step.steps
            return "Task", input
        return str(value), _filled(step.options.get("input") or {}, cursor, ask)

    def _failure(self, step: Step, cursor: _Cursor, ask: Ask) -> Failure:
        message = _filled(step.options.get("message", ""), cursor, ask)
        retry_after, retry = step.options.get("retry_after"), step.options.get("retry")
        return fail(int(step.value), str(message), retry_after=retry_after, retry=retry)


def _applies(step: Step, cursor: _Cursor) -> bool:
    condition, exception = step.options.get("if"), step.options.get("unless")
    if condition is not None and not _holds(str(condition), cursor):
        return False
    return exception is None or not _holds(str(exception), cursor)


def _holds(condition: str, cursor: _Cursor) -> bool:
    name, _, state = condition.strip().partition(".")
    result = cursor.results.get(name)
    return result is not None and _outcome(result) == state


def _outcome(result: Mapping[str, Any]) -> str:
    if result.get("denied"):
        return "denied"
    return "failed" if result.get("failed") else "ok"


def _filled(value: Any, cursor: _Cursor, ask: Ask) -> Any:
    if isinstance(value, str):
        return REFERENCE.sub(
            lambda match: match[0][1:] if match[1] else _referred(match[2], cursor, ask), value
        )
    if isinstance(value, list):
        return [_filled(item, cursor, ask) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, cursor, ask) for key, item in value.items()}
    return value


def _referred(path: str, cursor: _Cursor, ask: Ask) -> str:
    if path in ("prompt", "cwd"):
        return cursor.prompt if path == "prompt" else ask.cwd
    name, _, part = path.partition(".")
    result = cursor.results.get(name)
    if result is None:
        return ""
    if part in OUTCOMES:
        return "true" if _outcome(result) == part else "false"
    return str(result.get("text", ""))


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
    condition = entry.get("for")
    if condition is None:
        return ask.conversation == MAIN
    return ask.conversation != MAIN and str(condition) in ask.prompt


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
    if "cut_after" in entry:
        changes["cut_after"] = int(entry["cut_after"])
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
        return Thinking(str(block["thinking"]), str(block.get("signature", "c2NyaXB0ZWQ=")))
    return ToolUse(name=str(block["name"]), input=block["input"], id=block.get("id"))
