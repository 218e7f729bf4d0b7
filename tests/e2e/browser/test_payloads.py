"""Whatever a model, a tool or a hook writes, nothing of it runs, loads or leads anywhere unseen.

The payloads of tests/payloads come in as words that stream, as thinking, input and results of
tools, outputs of commands and hooks, and lines that nobody knows; once live and once more as
history after a reload. A guard in the page sees every node at the moment it is put in, so that
nothing slips by by being short-lived or far from the screen (abuse cases T-22 and T-23).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.browser.conftest import Perform
from tests.e2e.browser.desk import PATIENCE_MS, Desk
from tests.e2e.browser.puppet import Puppet

pytestmark = pytest.mark.timeout(300)

CORPUS: dict[str, list[str]] = json.loads(
    Path(__file__).parents[2].joinpath("payloads", "hostile.json").read_text(encoding="utf-8")
)

GUARD = """
window.found = [];
const BAD = new Set(['SCRIPT', 'STYLE', 'IFRAME', 'FRAME', 'OBJECT', 'EMBED', 'LINK', 'META', 'BASE', 'FORM',
  'TEMPLATE', 'MATH', 'VIDEO', 'AUDIO', 'SOURCE', 'TRACK', 'PORTAL', 'SLOT', 'MARQUEE', 'DIALOG']);
const check = (node) => {
  if (!(node instanceof Element)) return;
  const name = node.tagName.toUpperCase();
  if (BAD.has(name)) window.found.push(`<${name}>`);
  for (const { name: key, value } of node.attributes) {
    if (/^on/i.test(key)) window.found.push(`${name} ${key}`);
    if (/^(src|srcset|href|xlink:href|poster|data|action|formaction|background|ping|srcdoc)$/i.test(key)) {
      const good = key === 'href' ? /^(https?:|mailto:)/.test(value) || node.closest('nav, header') : /^(data:image|blob:)/.test(value);
      if (!good) window.found.push(`${name} ${key}=${value.slice(0, 60)}`);
    }
    if (key === 'style' && /url\\(|position: *fixed/i.test(value)) window.found.push(`${name} style=${value}`);
  }
  if (name === 'A' && node.target === '_blank' && !/noopener/.test(node.rel)) window.found.push('A without noopener');
  if (name === 'IMG' && !/^(data:image|blob:)/.test(node.src)) window.found.push(`IMG ${node.src}`);
};
const checkAll = (node) => { check(node); if (node instanceof Element) node.querySelectorAll('*').forEach(check); };
addEventListener('securitypolicyviolation', (event) => window.found.push(`policy ${event.violatedDirective}`));
new MutationObserver((records) => {
  for (const { target, addedNodes, type } of records) {
    const inside = target instanceof Element ? target : target.parentElement;
    if (!inside?.closest('[role=log]')) continue;
    if (type === 'attributes') check(target);
    else addedNodes.forEach(checkAll);
  }
}).observe(document, { subtree: true, childList: true, attributes: true });
"""

WALK = """async () => {
  const log = document.querySelector('[role=log]');
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const opened = new WeakSet();
  const rows = new Set();
  for (let tries = 0; tries < 3000; tries += 1) {
    log.dispatchEvent(new WheelEvent('wheel', { deltaY: -100, bubbles: true }));  // A hand, not the list.
    log.scrollTop = 0;
    await frame();
    if (log.scrollTop === 0 && !/earlier/.test(log.querySelector('p')?.textContent ?? '')) break;
  }
  for (let steps = 0; steps < 3000; steps += 1) {
    for (const row of log.querySelectorAll('[data-row]')) rows.add(row.dataset.row);
    for (const button of log.querySelectorAll('[aria-expanded=false]:not([aria-haspopup])')) {
      if (opened.has(button)) continue;
      opened.add(button);
      button.click();
    }
    for (const details of log.querySelectorAll('details:not([open])')) details.open = true;
    await frame();
    if (log.scrollTop + log.clientHeight >= log.scrollHeight - 2) break;
    log.scrollTop += log.clientHeight * 0.8;
    await frame();
  }
  return { found: window.found, rows: rows.size, harmed: window.harmed ?? null };
}"""


def _lines(payload: str, number: int) -> Iterator[dict[str, Any]]:
    """Everything but words that may carry a payload."""
    plain = {"parent_tool_use_id": None}
    calls = (
        ("Bash", {"command": payload, "description": payload}, payload),
        ("Read", {"file_path": f"/tmp/{payload}"}, f"     1\t{payload}"),
        ("Grep", {"pattern": payload, "path": payload}, f"{payload}\n{payload}"),
        ("WebFetch", {"url": payload, "prompt": payload}, payload),
        ("mcp__evil__tool", {"given": payload, payload[:40]: 1}, payload),
        (
            "TodoWrite",
            {"todos": [{"content": payload, "status": "pending", "activeForm": payload}]},
            "ok",
        ),
        ("Strange", {"anything": [payload]}, payload),
    )
    name, given, result = calls[number % len(calls)]
    tool = f"toolu_{uuid.uuid4().hex}"
    use = {"type": "tool_use", "id": tool, "name": name, "input": given}
    thinking = {"type": "thinking", "thinking": payload, "signature": "x"}
    message = {"id": f"msg_{uuid.uuid4().hex}", "role": "assistant", "model": "big"}
    yield {"type": "assistant", "message": {**message, "content": [thinking, use]}, **plain}
    back = {
        "type": "tool_result",
        "tool_use_id": tool,
        "content": result,
        "is_error": number % 3 == 0,
    }
    yield {"type": "user", "message": {"role": "user", "content": [back]}, **plain}
    others = (
        {"type": "user", "isReplay": True, **plain,
         "message": {"role": "user", "content": f"<local-command-stdout>{payload}</local-command-stdout>"}},
        {"type": "system", "subtype": "hook_response", "hook_id": tool, "hook_name": payload[:80],
         "hook_event": "PostToolUse", "output": payload, "stdout": payload, "stderr": payload,
         "exit_code": 1, "outcome": "error"},
        {"type": payload[:60] or "odd", "data": payload},
    )  # fmt: skip
    yield others[number % len(others)]


async def _perform(puppet: Puppet, payloads: list[str]) -> None:
    for number, payload in enumerate(payloads):
        await puppet.begin_words()
        third = max(1, len(payload) // 3)
        for at in range(0, len(payload), third):
            await puppet.words(payload[at : at + third])
        await puppet.end_words(payload)
        for line in _lines(payload, number):
            await puppet.line(**line)
    await puppet.say("That was all.")
    await puppet.finish()


async def _check(desk: Desk, path: str, rows: int) -> None:
    seen = await desk.page.evaluate(WALK)
    assert seen["harmed"] is None, f"a script ran ({path})"
    assert seen["found"] == [], path
    assert seen["rows"] >= rows, "every row was drawn, and the guard has seen it"


@pytest.mark.parametrize("group", sorted(CORPUS))
async def test_T22_T23_nothing_of_a_payload_runs_or_loads_live_or_as_history(
    group: str, perform: Perform
) -> None:
    desk, puppet = await perform()
    await desk.page.add_init_script(GUARD)
    await desk.page.reload()
    await desk.transcript.wait_for(timeout=PATIENCE_MS)
    await _perform(puppet, CORPUS[group])
    await desk.expect_words("That was all.")
    await desk.expect_rest()
    rows = 4 * len(CORPUS[group])  # Words, thinking, a call, and something else for each.
    await _check(desk, "live", rows)
    await desk.page.reload()
    await desk.expect_words("That was all.")
    await _check(desk, "history", rows)
    # Leaving fails for any request to another place and for any error (`Desk.close`).


async def test_T22_the_guard_notices_what_it_is_there_for(perform: Perform) -> None:
    desk, puppet = await perform()
    await desk.page.add_init_script(GUARD)
    await desk.page.reload()
    await desk.transcript.wait_for(timeout=PATIENCE_MS)
    await desk.transcript.evaluate("(log) => log.append(document.createElement('form'))")
    assert await desk.page.evaluate("() => window.found") == ["<FORM>"]
    await puppet.finish()


async def test_T22_the_corpus_is_as_large_as_it_is_meant_to_be() -> None:
    payloads = [one for group in CORPUS.values() for one in group]
    assert len(set(payloads)) == len(payloads) >= 200


async def test_T23_a_link_says_where_it_leads_and_tells_nobody_where_one_came_from(
    perform: Perform,
) -> None:
    desk, puppet = await perform()
    await puppet.say("See [the docs](https://good.example@evil.test/path?q=1).")
    await puppet.finish()
    link = desk.transcript.get_by_role("link", name="the docs")
    await link.wait_for(timeout=PATIENCE_MS)
    assert await link.get_attribute("title") == "https://good.example@evil.test/path?q=1"
    assert set((await link.get_attribute("rel") or "").split()) >= {"noopener", "noreferrer"}
    assert await link.get_attribute("target") == "_blank"
