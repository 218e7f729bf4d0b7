"""No character of a request can hide, reorder others or look like another (T-15)."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.conftest import BeginTurn
from tests.e2e.browser.fake_cli import FakeCliProcess
from tests.e2e.browser.hidden_characters import BARE, NAMED

HIDDEN = (
    *range(0x01, 0x09), 0x0B, 0x0C, 0x0D, 0x1B, 0x7F, 0x9B,
    0xA0, 0xAD, 0x034F, 0x061C, 0x115F, 0x1160, 0x1680, 0x17B4, 0x180E,
    0x2000, 0x2003, 0x2007, 0x200A, *range(0x200B, 0x2010), 0x2028, 0x2029, *range(0x202A, 0x2030),
    0x205F, *range(0x2060, 0x206A), 0x2800, 0x3000, 0x3164, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0,
    0xFFF9, 0xFFFB, 0xE0001, 0xE0041, 0xE007F, 0xE0100, 0xF0000,
)  # fmt: skip
"""What has no glyph of its own, or turns the order of others round."""

ALIKE = (0x0430, 0x0435, 0x043E, 0x03BF, 0x0440, 0xFF52, 0x1D42B, 0x2215, 0x2044, 0x2011)
"""Characters that look like a Latin letter, a slash or a hyphen."""

MARKED = "".join(f"a{chr(code)}b" for code in (*HIDDEN, *ALIKE))
"""All of them in one text, each between two letters."""


def names_of(text: str) -> set[str]:
    """The tokens that a text must have become, by the names they are read out by."""
    return {f"U+{ord(letter):04X}" for letter in text if ord(letter) in {*HIDDEN, *ALIKE}}


async def shown(app: AppPage) -> Any:
    """The characters that the dialog shows unchanged, and the names of all tokens in it."""
    await expect(app.decision.locator('[title^="U+"]').first).to_be_visible(timeout=PATIENCE_MS)
    bare = await app.decision.evaluate(BARE)
    titles = await app.decision.locator('[title^="U+"]').evaluate_all(
        "(all) => all.map((one) => one.title.split(',')[0])"
    )
    return bare, titles


async def refuse(app: AppPage, cli: FakeCliProcess, request: str, button: str) -> None:
    await app.decide(button)
    await cli.answer(request)
    await expect(app.decision).to_have_count(0, timeout=PATIENCE_MS)


FIELDS: dict[str, tuple[str, dict[str, Any]]] = {
    "command": ("Bash", {"command": f"echo {MARKED}"}),
    "description": ("Bash", {"command": "ls", "description": MARKED}),
    "path": ("Read", {"file_path": f"/tmp/{MARKED}"}),
    "content": ("Write", {"file_path": "/tmp/x", "content": MARKED}),
    "new text": ("Edit", {"file_path": "/tmp/x", "old_string": "a", "new_string": MARKED}),
    "address": ("WebFetch", {"url": f"https://example.org/{MARKED}"}),
    "unknown field": ("mcp__box__open", {MARKED: "yes"}),
    "nested value": ("mcp__box__open", {"deep": [{"er": MARKED}]}),
}


@pytest.mark.matrix(target="browser", cases=0)
async def test_every_hidden_character_in_every_field_is_a_token(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    for field, (tool, given) in FIELDS.items():
        await cli.ask(field, given, tool=tool)
        bare, titles = await shown(app)
        assert bare == [], field
        # Inside JSON a control character is written as its escape, which anybody can see.
        written = {f"U+{code:04X}" for code in range(0x20)} if field == "nested value" else set()
        assert names_of(MARKED) - written <= set(titles), field
        await expect(app.decision.get_by_role("alert")).to_contain_text("Warning: contains")
        await refuse(app, cli, field, "Deny and stop")
    assert {behavior["behavior"] for _, behavior in cli.answers} == {"deny"}


@pytest.mark.matrix(target="browser", cases=0)
async def test_nothing_hides_in_why_it_is_asked_and_what_always_means(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    rule = {"toolName": "Bash", "ruleContent": f"echo {NAMED}:*"}
    offer = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}
    await cli.ask(
        "a",
        {"command": "ls"},
        decision_reason=NAMED,
        blocked_path=f"/tmp/{NAMED}",
        permission_suggestions=[offer],
    )
    bare, titles = await shown(app)
    assert bare == []
    assert names_of(NAMED) <= set(titles)
    await refuse(app, cli, "a", "Deny and stop")


@pytest.mark.matrix(target="browser", cases=0)
async def test_nothing_hides_in_the_name_of_a_tool(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await cli.ask("a", {"x": 1}, tool=f"mcp__box__{NAMED}", display_name=f"Box {NAMED}")
    bare, titles = await shown(app)
    assert bare == []
    assert names_of(NAMED) <= set(titles)
    await refuse(app, cli, "a", "Deny and stop")


@pytest.mark.matrix(target="browser", cases=0)
async def test_nothing_hides_in_a_question(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    option = {"label": f"One {NAMED}", "description": MARKED, "preview": MARKED}
    question = {
        "question": f"Which? {MARKED}",
        "header": NAMED,
        "multiSelect": False,
        "options": [option, {"label": "Two", "description": "plain"}],
    }
    other = {**question, "question": "And?"}
    await cli.ask("a", {"questions": [question, other]}, tool="AskUserQuestion")
    bare, titles = await shown(app)
    assert bare == []
    assert {name: titles.count(name) >= 3 for name in names_of(MARKED)} == dict.fromkeys(
        names_of(MARKED), True
    )
    await refuse(app, cli, "a", "Skip")


@pytest.mark.matrix(target="browser", cases=0)
async def test_nothing_hides_in_a_plan(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await cli.ask("a", {"plan": f"# Plan\n\n1. Do {MARKED}\n"}, tool="ExitPlanMode")
    bare, titles = await shown(app)
    assert bare == []
    assert names_of(MARKED) - {"U+000D"} <= set(titles)  # A plan is shown by its lines.
    await app.decide("Request changes…")
    await refuse(app, cli, "a", "Request changes")


async def test_nothing_hides_in_a_form(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    schema = {
        "type": "object",
        "properties": {
            "word": {"type": "string", "title": f"Word {NAMED}", "description": MARKED},
            "pick": {"type": "string", "title": "Pick", "enum": [f"one{NAMED}", "two"]},
        },
    }
    await cli.request(
        "a",
        subtype="elicitation",
        mcp_server_name=f"box {NAMED}",
        message=f"Please {MARKED}",
        requested_schema=schema,
    )
    bare, titles = await shown(app)
    assert bare == []
    assert names_of(MARKED) <= set(titles)
    await refuse(app, cli, "a", "Decline")
