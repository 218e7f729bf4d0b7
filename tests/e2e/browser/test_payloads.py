"""Nothing that a model, a tool or a hook writes can run, load anything, or link anywhere unseen.

The payloads come in as words that stream, as thinking, names, input and results of tools, outputs
of commands and hooks, and lines that nobody knows; once live and once more as history after a
reload (abuse cases T-22 and T-23).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.conftest import BeginTurn
from tests.e2e.browser.fake_cli import FakeCliProcess
from tests.e2e.browser.payloads import ALL, CORPUS, expect_harmless, open_all, watched
from tests.matrix import share

pytestmark = pytest.mark.timeout(300)

ACTS = {
    "markup": ("script", "handlers", "foreign", "vector", "mutation", "mutants"),
    "addresses": ("links", "pictures", "schemes", "forms"),
    "pages": ("page", "styles", "clobber", "templates", "entities"),
    "letters": ("letters", "terminal", "directions", "depth"),
}
"""Which texts come together in one conversation; names and values have one of their own."""

TOOLS = (
    "Agent", "AskUserQuestion", "Bash", "Edit", "ExitPlanMode", "Grep", "NotebookEdit", "Read", "Skill",
    "TaskUpdate", "TodoWrite", "WebSearch", "Write", "mcp__evil__tool",
)  # fmt: skip
"""A tool for each card, and for each way in which one reads what came back."""

OF_EACH_GROUP = 10
"""Payloads of each group in `make test`; `make faults` plays all of them."""

TOGETHER = 40
SHORT = 300
"""Texts that share what is not read as Markdown, and the letters of each: it is only to be seen once whole."""

PLAIN = {"parent_tool_use_id": None}


def _call(
    name: str, given: Any, result: Any, *, failed: bool = False, **more: Any
) -> Iterator[Any]:
    """A tool that was used, and what came back."""
    tool = f"toolu_{uuid.uuid4().hex}"
    use = {"type": "tool_use", "id": tool, "name": name, "input": given}
    message = {"id": f"msg_{tool}", "role": "assistant", "model": "big", "content": [use]}
    yield {"type": "assistant", "message": message, **PLAIN}
    back = {"type": "tool_result", "tool_use_id": tool, "content": result, "is_error": failed}
    yield {"type": "user", "message": {"role": "user", "content": [back]}, **PLAIN, **more}


def _lines(given: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Everything but words that may carry some payloads: thinking, tools, and something else."""
    payloads = [one[:SHORT] for one in given]
    text = "\n".join(payloads)
    thinking = {"type": "thinking", "thinking": "\n\n".join(payloads), "signature": "x"}
    message = {"id": f"msg_{uuid.uuid4().hex}", "role": "assistant", "model": "big"}
    yield {"type": "assistant", "message": {**message, "content": [thinking]}, **PLAIN}
    todos = [{"content": one, "status": "pending", "activeForm": one} for one in payloads]
    yield from _call("Bash", {"command": text, "description": text}, text, failed=True)
    yield from _call("Read", {"file_path": f"/tmp/{text}"}, f"     1\t{text}")
    yield from _call("Grep", {"pattern": text, "path": text}, text)
    yield from _call("WebFetch", {"url": text, "prompt": text}, text)
    yield from _call(
        "mcp__evil__tool", {"given": payloads, **{one[:40]: 1 for one in payloads}}, text
    )
    yield from _call("TodoWrite", {"todos": todos}, "ok")
    yield from _call("Strange", {"anything": payloads}, text)
    said = f"<local-command-stdout>{text}</local-command-stdout>"
    yield {"type": "user", "isReplay": True, "message": {"role": "user", "content": said}, **PLAIN}
    yield {
        "type": "system", "subtype": "hook_response", "hook_id": message["id"], "hook_name": text[:80],
        "hook_event": "PostToolUse", "output": text, "stdout": text, "stderr": text,
        "exit_code": 1, "outcome": "error",
    }  # fmt: skip
    yield {"type": text[:60] or "odd", "data": payloads}


async def _perform(cli: FakeCliProcess, payloads: Sequence[str]) -> None:
    """Each by itself as words that stream, and some at a time as all else."""
    for payload in payloads:
        await cli.begin_words()
        third = max(1, len(payload) // 3)
        for at in range(0, len(payload), third):
            await cli.words(payload[at : at + third])
        await cli.end_words(payload)
    for start in range(0, len(payloads), TOGETHER):
        for line in _lines(payloads[start : start + TOGETHER]):
            await cli.line(**line)


async def _expect_harmless(app: AppPage, cli: FakeCliProcess, *, opened: Sequence[str]) -> None:
    """Live, and as history; with everything opened where that is another way to come there."""
    await cli.say("That was all.")
    await cli.finish()
    for where in ("live", "history"):
        await app.expect_words("That was all.")
        await app.expect_rest()
        if where in opened:
            await open_all(app)
        await expect_harmless(app, where)
        if where == "live":
            await app.page.reload()
    # A guard that has seen nothing sees what it is there for.
    await app.transcript.evaluate("(log) => log.append(document.createElement('form'))")
    assert await app.page.evaluate("() => window.found") == ["<FORM>"]


@pytest.mark.matrix(target="faults", cases=2)
@pytest.mark.parametrize("act", sorted(ACTS))
async def test_T22_T23_nothing_of_a_payload_runs_or_loads_live_or_as_history(
    act: str, begin_turn: BeginTurn
) -> None:
    payloads = [one for group in ACTS[act] for one in share(CORPUS[group], OF_EACH_GROUP)]
    app, cli = await begin_turn()
    await watched(app)
    await _perform(cli, payloads)
    await _expect_harmless(app, cli, opened=("live", "history"))


@pytest.mark.matrix(target="faults")
async def test_T22_no_name_and_no_result_of_any_shape_harms_a_card(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await watched(app)
    for text in share(CORPUS["values"], OF_EACH_GROUP):
        value = json.loads(text)
        given = value if isinstance(value, dict) else {"given": value}
        for tool in TOOLS:
            for line in _call(tool, given, text, tool_use_result=value):
                await cli.line(**line)
    for name in share(CORPUS["names"], OF_EACH_GROUP):
        agent = {"subagent_type": name, "description": name, "prompt": name}
        for tool, given in ((name, {name: name}), ("Read", {"file_path": name}), ("Agent", agent)):
            for line in _call(tool, given, name):
                await cli.line(**line)
        await cli.line(type="system", subtype="hook_started", hook_name=name, hook_event=name)
        await cli.line(type=name, subtype=name)
    await _expect_harmless(app, cli, opened=("history",))


async def test_T22_the_corpus_is_as_large_as_it_is_meant_to_be() -> None:
    assert len(set(ALL)) == len(ALL) >= 700
    played = {group for groups in ACTS.values() for group in groups} | {"values", "names"}
    assert played == set(CORPUS)


async def test_T23_a_link_shows_its_target_and_sends_no_referrer(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.say("See [the docs](https://good.example@evil.test/path?q=1).")
    await cli.finish()
    link = app.transcript.get_by_role("link", name="the docs")
    await link.wait_for(timeout=PATIENCE_MS)
    assert await link.get_attribute("title") == "https://good.example@evil.test/path?q=1"
    assert set((await link.get_attribute("rel") or "").split()) >= {"noopener", "noreferrer"}
    assert await link.get_attribute("target") == "_blank"
