"""Which answer a request gets: rules first, then the queue, then the default.

A script is a list of answers (used in order, one for each turn request) and of rules made by `when`
(used for all requests that match). Side requests take nothing from the queue: a rule that names
their `kind` may answer them, otherwise they get the default answer of `side_request`. An answer may
be a function of the request.

`load` reads the same from JSON, for a model API in a separate process.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fairlead.model_api.replies import (
    Answer,
    Block,
    Failure,
    Reply,
    Text,
    Thinking,
    ToolUse,
    Usage,
    fail,
    reply,
)
from fairlead.model_api.request import ModelRequest
from fairlead.model_api.side_request import side_answer

__all__ = ["DEFAULT", "Answering", "Rule", "Script", "Step", "load", "when"]

Answering = Answer | Callable[[ModelRequest], Answer]
"""An answer, or a function that makes one from the request."""

DEFAULT = reply("Done.")
"""The answer to a turn after the end of the script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """An answer for the requests that match."""

    matches: Callable[[ModelRequest], bool]
    answer: Answering
    times: int | None = 1
    """How often it may be used; None for no limit."""


Step = Answering | Rule


def when(
    answer: Answering,
    *,
    text: str | None = None,
    tool_result: bool | str | None = None,
    model: str | None = None,
    system: str | None = None,
    kind: str = "turn",
    that: Callable[[ModelRequest], bool] | None = None,
    times: int | None = 1,
) -> Rule:
    """A rule: the answer for requests that meet all the given conditions.

    `text`, `model` and `system` must occur in the last user text, the model's name and the
    system prompt (which distinguishes a subagent from the main conversation). `tool_result` is
    whether there is one in the last user message, or a text that one of them has. `that` is any
    predicate.
    """

    def matches(request: ModelRequest) -> bool:
        return (
            request.kind == kind
            and (text is None or text in request.text)
            and (model is None or model in request.model)
            and (system is None or system in request.system)
            and (tool_result is None or _has_result(request, tool_result))
            and (that is None or that(request))
        )

    return Rule(matches=matches, answer=answer, times=times)


def _has_result(request: ModelRequest, expected: bool | str) -> bool:
    if isinstance(expected, str):
        return any(expected in result.text for result in request.tool_results)
    return bool(request.tool_results) is expected


class Script:
    """The remaining steps; thread-safe."""

    def __init__(self, steps: Iterable[Step] = (), default: Answering = DEFAULT) -> None:
        self._lock = threading.Lock()
        self._queue: deque[Answering] = deque()
        self._rules: list[Rule] = []
        self._uses: list[int] = []
        self._default = default
        self.push(*steps)

    def push(self, *steps: Step) -> None:
        """Append answers to the queue and rules to the rules."""
        with self._lock:
            for step in steps:
                if isinstance(step, Rule):
                    self._rules.append(step)
                    self._uses.append(0)
                else:
                    self._queue.append(step)

    def unused(self) -> tuple[Step, ...]:
        """Answers that no request has used, and rules that never matched."""
        with self._lock:
            never = [rule for rule, uses in zip(self._rules, self._uses, strict=True) if not uses]
            return (*self._queue, *never)

    def answer(self, request: ModelRequest) -> Answer:
        """Take the answer for this request from the script."""
        answering = self._take(request)
        return answering if isinstance(answering, Reply | Failure) else answering(request)

    def _take(self, request: ModelRequest) -> Answering:
        with self._lock:
            for index, rule in enumerate(self._rules):
                is_usable = rule.times is None or self._uses[index] < rule.times
                if is_usable and rule.matches(request):
                    self._uses[index] += 1
                    return rule.answer
            if request.kind != "turn":
                return side_answer(request.kind, request.body)
            return self._queue.popleft() if self._queue else self._default


def load(steps: Iterable[Mapping[str, Any]]) -> list[Step]:
    """Steps from parsed JSON, e.g. `[{"text": "hi"}, {"tool": "Bash", "input": {…}}]`.

    A step has `text`, `tool` (+ `input`), `blocks` (a list of content blocks of the API) or
    `error` (an HTTP status, + `message`, `retry_after`); in addition any field of `Reply` that is
    a number or a text, `usage`, and `when` with the conditions of a rule.
    """
    return [_load_step(dict(step)) for step in steps]


def _load_step(step: dict[str, Any]) -> Step:
    conditions = step.pop("when", None)
    answer = _load_failure(step) if "error" in step else _load_reply(step)
    return answer if conditions is None else when(answer, **conditions)


def _load_failure(step: dict[str, Any]) -> Failure:
    delay = float(step.pop("delay", 0.0))
    return fail(step.pop("error"), step.pop("message", ""), **step).but(delay=delay)


def _load_reply(step: dict[str, Any]) -> Reply:
    blocks: list[Block] = [_load_block(block) for block in step.pop("blocks", ())]
    if "text" in step:
        blocks.append(Text(step.pop("text")))
    if "tool" in step:
        blocks.append(ToolUse(name=step.pop("tool"), input=step.pop("input", {})))
    if "usage" in step:
        step["usage"] = Usage(**step["usage"])
    return reply(*blocks).but(**step)


def _load_block(block: Mapping[str, Any]) -> Block:
    match block["type"]:
        case "text":
            return Text(block["text"])
        case "thinking":
            return Thinking(block["thinking"])
        case "tool_use":
            return ToolUse(name=block["name"], input=block["input"], id=block.get("id"))
        case other:
            raise ValueError(f"a script has text, thinking and tool_use blocks, not {other!r}")
