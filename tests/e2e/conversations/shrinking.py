"""Reduces a host script that shows a difference to a small one that still shows it.

A pass tries to leave out each part of the script once: segments, then prompts with their waits, single
steps, replies, blocks of replies, answers, flags, variables, files, hooks and servers. Passes repeat
until none of them makes the script smaller, so the result has no part that can be left out alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.e2e.conversations.host_script import Data, HostScript

__all__ = ["candidates", "is_playable", "shrink"]


async def shrink(script: HostScript, shows: Callable[[HostScript], Awaitable[bool]]) -> HostScript:
    """Leave out one part after the other for as long as `shows` is true for the rest."""
    tried = {script.key}
    smaller = True
    while smaller:
        smaller = False
        number = 0
        while (candidate := _nth(script, number)) is not None:
            number += 1
            if candidate.key in tried or not is_playable(candidate):
                continue
            tried.add(candidate.key)
            if await shows(candidate):
                # The parts before this one have just been tried; continue with those after it.
                script, smaller = candidate, True
                number -= 1
    return script


def _nth(script: HostScript, number: int) -> HostScript | None:
    for index, candidate in enumerate(candidates(script)):
        if index == number:
            return candidate
    return None


def is_playable(script: HostScript) -> bool:
    """Whether the host writes something before it waits for a line."""
    for step in script.steps:
        if "wait" not in step:
            return True
        if step["wait"] != "quiet":
            return False
    return False


def candidates(script: HostScript) -> Iterator[HostScript]:
    """The scripts that have one part less, those with a large part less first."""
    segments = [number for number in script.segments if number >= 0]
    if len(segments) > 1:
        for number in segments:
            yield script.without_segment(number)
    yield from _fewer_steps(script)
    yield from _fewer_replies(script)
    for name in ("permissions", "servers"):
        for rest in _less_one(getattr(script, name)):
            yield _with(script, name, rest)
    for rest in _fewer_flags(script.flags):
        yield replace(script, flags=rest)
    for rest in _fewer_flags(script.new_flags):
        yield replace(script, new_flags=rest)
    for name in ("env", "files", "hooks"):
        for part in _less_one_key(getattr(script, name)):
            yield _with(script, name, part)


def _with(script: HostScript, name: str, value: Any) -> HostScript:
    changes: Data = {name: value}
    return replace(script, **changes)


def _less_one(items: list[Any]) -> Iterator[list[Any]]:
    for number in range(len(items)):
        yield items[:number] + items[number + 1 :]


def _less_one_key(items: Data) -> Iterator[Data]:
    for name in items:
        yield {key: value for key, value in items.items() if key != name}


def _fewer_steps(script: HostScript) -> Iterator[HostScript]:
    steps = script.steps
    for number, step in enumerate(steps):
        if "wait" not in step:
            end = number + 1
            while end < len(steps) and "wait" in steps[end]:
                end += 1
            yield replace(script, steps=steps[:number] + steps[end:])
    for rest in _less_one(steps):
        yield replace(script, steps=rest)
    for number, step in enumerate(steps):
        request = step.get("request")
        if not isinstance(request, dict):
            continue
        for body in _smaller_requests(request):
            changed = {**step, "request": body}
            yield replace(script, steps=[*steps[:number], changed, *steps[number + 1 :]])


def _smaller_requests(request: Data) -> Iterator[Data]:
    """A request without one of its fields, or `initialize` without the hooks of one event."""
    for body in _less_one_key(request):
        if "subtype" in body:
            yield body
    hooks = request.get("hooks")
    if isinstance(hooks, dict):
        for part in _less_one_key(hooks):
            yield {**request, "hooks": part}


def _fewer_replies(script: HostScript) -> Iterator[HostScript]:
    for rest in _less_one(script.replies):
        yield replace(script, replies=rest)
    for number, reply in enumerate(script.replies):
        blocks = reply.get("blocks", [])
        smaller = [{**reply, "blocks": part} for part in _less_one(blocks) if part]
        smaller += [part for part in _less_one_key(reply) if _is_reply(part)]
        for changed in smaller:
            replies = [*script.replies[:number], changed, *script.replies[number + 1 :]]
            yield replace(script, replies=replies)


def _is_reply(reply: Data) -> bool:
    return "segment" in reply and ("blocks" in reply or "error" in reply)


def _fewer_flags(flags: list[str]) -> Iterator[list[str]]:
    """The flags without one of them and its value."""
    starts = [number for number, flag in enumerate(flags) if flag.startswith("--")]
    for index, start in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else len(flags)
        yield flags[:start] + flags[end:]
