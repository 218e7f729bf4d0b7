"""Diagrams and formulas in answers (docs/web.md)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.conftest import BeginTurn, Emulated, Visit

SLOW_MS = 3 * PATIENCE_MS
"""The page for diagrams has 3 MB of script to read."""

DIAGRAM = "```mermaid\nflowchart LR\n  A[Start] --> B{Ready?}\n  B -->|yes| C[Done]\n```"

FORMULAS = (
    "The area is $\\pi r^2$, the sum is\n\n$$\n\\sum_{i=1}^n i\n= \\frac{n(n+1)}{2}\n$$\n\n"
    "and \\(x_1\\) too.\n\n\\[ a^2 + b^2 = c^2 \\]\n\nIt costs $5 to $10, in $HOME/$USER, not $20-$30."
)

HOSTILE_DIAGRAMS = (
    'flowchart LR\n  A["<img src=x onerror=alert(1)>"] --> B\n  click A "javascript:alert(1)"\n  click B call alert(1)',
    'flowchart LR\n  A["<script>alert(1)</script>"] --> B\n  click A href "https://evil.test/x" _self',
    'flowchart TD\n  A@{ img: "https://evil.test/a.png", label: "x", w: 60, h: 60 }\n  A --> B',
    '%%{init: {"securityLevel": "loose", "themeCSS": "@import url(https://evil.test/c.css); * { background: url(https://evil.test/d.png) }", "fontFamily": "x; } * { background: url(https://evil.test/e.png)"}}%%\nflowchart LR\n  A["<iframe src=https://evil.test>"] --> B',
    "sequenceDiagram\n  participant A as <a href='javascript:alert(1)'>x</a>\n  link A: evil @ javascript:alert(1)\n  A->>A: <svg onload=alert(1)>",
    "flowchart LR\n  A --> B\n  style A fill:url(https://evil.test/f.svg#a)\n  classDef x fill:#fff,background:url(https://evil.test/g.png)\n  class B x",
)

HOSTILE_FORMULAS = (
    r"$\href{javascript:alert(1)}{x}$ $\href{https://evil.test/h}{y}$ $\url{https://evil.test/u}$",
    r"$$\includegraphics[width=9em]{https://evil.test/i.png}$$",
    r"$\htmlStyle{background: url(https://evil.test/s.png)}{x}$ $\htmlId{app}{x}$ $\htmlData{a=b}{x}$",
    r"$\text{<img src=x onerror=alert(1)>}$",
    r"$$\def\a{\a\a}\a$$",
    r"$$\rule{9999em}{9999em}$$",
)


def _says(*texts: str) -> list[dict[str, Any]]:
    """A script whose n-th prompt `say n` gets the n-th text."""
    scenes = [{"when": f"say {at}", "steps": [{"say": text}]} for at, text in enumerate(texts)]
    return [*scenes, {"steps": [{"say": "Anything."}]}]


def _pictures(app: AppPage) -> Locator:
    return app.transcript.get_by_role("img", name=re.compile("^Diagram"))


async def test_U134_a_finished_diagram_is_drawn_and_its_source_is_shown_on_request(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(
        _says(f"Here:\n\n{DIAGRAM}\n\nAfter.", "```mermaid\nno such thing\n```")
    )
    app = await visit(server)
    await app.start("say 0")
    picture = _pictures(app)
    await expect(picture).to_be_visible(timeout=SLOW_MS)
    # An image of some size, which shows that the browser could read it.
    await expect(picture).to_have_js_property("complete", True)
    assert await picture.evaluate("image => image.naturalWidth") > 50
    source = app.transcript.get_by_role("group", name="Code")
    await expect(source).to_have_count(0)
    await app.transcript.get_by_role("button", name="Show source").click()
    await expect(source).to_contain_text("A[Start] --> B{Ready?}")
    await app.transcript.get_by_role("button", name="Hide source").click()
    await expect(source).to_have_count(0)

    await app.say("say 1")
    await app.expect_words("Couldn't draw this diagram")
    await expect(source).to_contain_text("no such thing")


@pytest.mark.matrix(target="browser", cases=0)
async def test_U134_a_diagram_is_drawn_again_for_the_other_theme(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await emulated(_says(DIAGRAM)))
    await app.start("say 0")
    picture = _pictures(app)
    await expect(picture).to_be_visible(timeout=SLOW_MS)
    light = await picture.get_attribute("src")
    assert light is not None
    await app.page.emulate_media(color_scheme="dark")
    await expect(picture).not_to_have_attribute("src", light, timeout=SLOW_MS)


@pytest.mark.matrix(target="browser", cases=0)
async def test_U134_a_diagram_that_still_grows_is_code(begin_turn: BeginTurn) -> None:
    app, cli = await begin_turn()
    await cli.begin_words()
    await cli.words("```mermaid\nflowchart LR\n  A --> B\n")
    await expect(app.transcript.get_by_role("group", name="Code")).to_contain_text("A --> B")
    assert await app.page.locator("iframe").count() == 0
    whole = "```mermaid\nflowchart LR\n  A --> B\n```\n"
    await cli.words("```\n")
    await cli.end_words(whole)
    await expect(_pictures(app)).to_be_visible(timeout=SLOW_MS)


async def test_U135_formulas_are_drawn_and_prices_are_not(emulated: Emulated, visit: Visit) -> None:
    app = await visit(await emulated(_says(FORMULAS)))
    await app.start("say 0")
    await expect(app.transcript.locator(".math.drawn")).to_have_count(4, timeout=SLOW_MS)
    await expect(app.transcript.locator("div.math.drawn")).to_have_count(2)
    await expect(app.transcript.locator(".math.drawn math")).to_have_count(4)
    await app.expect_words("It costs $5 to $10, in $HOME/$USER, not $20-$30.")
    family = await app.transcript.locator(".katex").first.evaluate(
        "node => document.fonts.check('16px KaTeX_Math') && getComputedStyle(node).fontFamily"
    )
    assert "KaTeX_Main" in str(family)


@pytest.mark.service_worker
async def test_U136_drawing_is_loaded_only_when_it_is_needed(
    emulated: Emulated, visit: Visit
) -> None:
    app = await visit(await emulated(_says("Plain words.", "Is it $x^2$?", DIAGRAM)))
    asked: list[str] = []
    app.context.on("request", lambda request: asked.append(request.url))

    def loaded(name: str) -> bool:
        return any(name in address.rsplit("/", 1)[1] for address in asked)

    await app.start("say 0")
    await app.expect_words("Plain words.")
    await app.page.evaluate("() => navigator.serviceWorker.ready.then(() => 0)")
    assert not loaded("katex")
    assert not loaded("diagram.html")
    await app.say("say 1")
    await expect(app.transcript.locator(".math.drawn")).to_have_count(1, timeout=SLOW_MS)
    assert loaded("katex")
    assert not loaded("diagram.html")
    await app.say("say 2")
    await expect(_pictures(app)).to_be_visible(timeout=SLOW_MS)
    assert loaded("diagram.html")


async def test_U137_an_exported_page_shows_the_source(
    emulated: Emulated, visit: Visit, tmp_path: Path
) -> None:
    app = await visit(await emulated(_says(f"{FORMULAS}\n\n{DIAGRAM}")))
    await app.start("say 0")
    await app.expect_rest()
    await app.more("Export…")
    dialog = app.page.get_by_role("dialog", name="Export session")
    async with app.page.expect_download() as download:
        await dialog.get_by_role("button", name=re.compile("^Web page")).click()
    path = tmp_path / "session.html"
    await (await download.value).save_as(path)
    page = await app.context.new_page()
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    await page.goto(path.as_uri())
    await expect(page.get_by_role("group", name="Code")).to_contain_text("A[Start] --> B{Ready?}")
    await expect(page.get_by_text("$\\pi r^2$")).to_be_visible()
    await expect(page.get_by_text("Couldn't draw")).to_have_count(0)
    assert [url for url in requested if not url.startswith(("file:", "data:", "blob:"))] == []


async def _play(app: AppPage, count: int) -> list[str]:
    """Play every text, until each is drawn or left as its source; returns what was refused.

    Nothing may run or navigate, and every request to another place must be refused by the page's
    own policy: then it has not left the browser.
    """
    ran: list[str] = []
    app.page.on("dialog", lambda dialog: ran.append(dialog.message))
    app.page.on("popup", lambda page: ran.append(page.url))
    refused: list[str] = []
    app.page.on("requestfailed", lambda failed: refused.append(f"{failed.failure} {failed.url}"))
    here = app.page.url
    for at in range(count):
        await app.say(f"say {at}")
        await app.expect_rest()
        await expect(app.transcript.get_by_text(f"End of {at}.")).to_be_visible(timeout=PATIENCE_MS)
        # Only the newest: those above are drawn again when they come into view.
        newest = app.transcript.locator(".prose").last.locator(".diagram")
        waiting = newest.and_(app.page.locator(":not(:has(img), :has(> p))"))
        await expect(waiting).to_have_count(0, timeout=SLOW_MS)
    assert ran == []
    assert app.page.url == here
    assert [one for one in refused if "evil.test" in one and not one.startswith("csp ")] == []
    return [one.removeprefix("csp ") for one in refused if "evil.test" in one]


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_hostile_diagram_runs_nothing_and_requests_nothing(
    emulated: Emulated, visit: Visit
) -> None:
    texts = [
        f"```mermaid\n{source}\n```\n\nEnd of {at}." for at, source in enumerate(HOSTILE_DIAGRAMS)
    ]
    app = await visit(await emulated(_says(*texts)))
    await app.start("hello")
    await app.expect_words("Anything.")
    refused = await _play(app, len(texts))
    here = app.page.url
    pictures = _pictures(app)
    assert await pictures.count() > 0
    await pictures.last.click()
    assert app.page.url == here
    frame = app.page.locator("iframe")
    await expect(frame).to_have_count(1)
    assert await frame.get_attribute("sandbox") == "allow-scripts"
    # What Chromium says of the requests that the frame's policy refused is not an error of the page.
    app.strangers = [address for address in app.strangers if address not in refused]
    app.errors = [error for error in app.errors if "Content Security Policy" not in error]


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_hostile_formula_runs_nothing_and_requests_nothing(
    emulated: Emulated, visit: Visit
) -> None:
    texts = [f"{text}\n\nEnd of {at}." for at, text in enumerate(HOSTILE_FORMULAS)]
    app = await visit(await emulated(_says(*texts, "Good: $x$")))
    await app.start("hello")
    await app.expect_words("Anything.")
    assert await _play(app, len(texts)) == []
    await app.say(f"say {len(texts)}")
    # Formulas are drawn in order, so all that came before are drawn as well.
    last = app.transcript.locator(".prose").last.locator(".math.drawn")
    await expect(last).to_have_count(1, timeout=SLOW_MS)
    prose = app.transcript.locator(".prose")
    assert await prose.locator("a, img, [id=app], [data-a]").count() == 0
    sizes = await prose.locator(".math").evaluate_all(
        "nodes => nodes.map((node) => node.getBoundingClientRect().height)"
    )
    assert max(sizes) < 1_000, json.dumps(sizes)
