"""The hostile texts of tests/payloads, and a guard that detects any effect they have on a page.

    await watched(app)                  # from now on, also after a reload
    …
    await expect_harmless(app, "live")

The guard looks at every node and attribute at the moment it is put in, so that nothing slips by by
being short-lived or far from the screen. It knows what the app itself never draws where a text of
somebody else may stand: elements that load, run or send, handlers, addresses that do not lead to
the web. Requests to other places fail the test when the app is left (abuse cases T-22, T-23).
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.browser.app_page import PATIENCE_MS, AppPage

__all__ = ["ALL", "CORPUS", "expect_harmless", "open_all", "watched"]

CORPUS: dict[str, list[str]] = json.loads(
    Path(__file__).parents[2].joinpath("payloads", "hostile.json").read_text(encoding="utf-8")
)
"""Texts by what they try."""

ALL = tuple(one for group in CORPUS.values() for one in group)

GUARD = """
window.found = [];
// What waits until it is near the screen (colours, numbers, long texts) is drawn wherever it is.
window.IntersectionObserver = class {
  constructor(act) { this.act = act; }
  observe(target) { queueMicrotask(() => this.act([{ isIntersecting: true, target }])); }
  unobserve() {}
  disconnect() {}
};
const BAD = new Set(['SCRIPT', 'STYLE', 'IFRAME', 'FRAME', 'OBJECT', 'EMBED', 'LINK', 'META', 'BASE', 'TEMPLATE',
  'MATH', 'VIDEO', 'AUDIO', 'SOURCE', 'TRACK', 'PORTAL', 'SLOT', 'MARQUEE', 'NOSCRIPT', 'TITLE', 'FOREIGNOBJECT', 'USE', 'ANIMATE', 'SET']);
const OURS = new Set(['FORM', 'DIALOG']);  // The app has some, and none of them in the conversation.
const PLACES = 'main, nav, [role=dialog], [role=listbox], [role=alert], [role=status]';
const note = (what) => window.found.push(what);
const check = (node) => {
  if (!(node instanceof Element)) return;
  const name = node.tagName.toUpperCase();
  const formula = name === 'MATH' && node.closest('.katex') !== null;  // What KaTeX makes for screen readers.
  if ((BAD.has(name) && !formula) || (OURS.has(name) && node.closest('[role=log]'))) note(`<${name}>`);
  for (const { name: key, value } of node.attributes) {
    if (/^on/i.test(key)) note(`${name} ${key}`);
    if (/^(src|srcset|href|xlink:href|poster|data|action|formaction|background|ping|srcdoc)$/i.test(key)) {
      // In the conversation, only links of the app itself to files of the session.
      const file = node.dataset.file !== undefined && /^\\/s\\/[\\w-]+\\/files\\?path=[\\w%.~!'()*-]*(&line=\\d+)?$/.test(value);
      const own = file || (/^\\/(?!\\/)/.test(value) && !node.closest('[role=log]'));
      const good = key === 'href' ? own || /^(https?:|mailto:)/.test(value) || node.closest('nav, header') : /^(data:image|blob:)/.test(value);
      if (!good) note(`${name} ${key}=${value.slice(0, 60)}`);
    }
    if (key === 'style' && /url\\(|position: *fixed/i.test(value)) note(`${name} style=${value}`);
    if (key === 'id' && !/^c\\d+/.test(value) && node.closest('[role=log]')) note(`${name} id=${value}`);
  }
  if (name === 'A' && node.target === '_blank' && !/noopener/.test(node.rel)) note('A without noopener');
};
const checkAll = (node) => { check(node); if (node instanceof Element) node.querySelectorAll('*').forEach(check); };
addEventListener('securitypolicyviolation', (event) => note(`policy ${event.violatedDirective}`));
new MutationObserver((records) => {
  for (const { target, addedNodes, type } of records) {
    const inside = target instanceof Element ? target : target.parentElement;
    if (!inside?.closest(PLACES)) continue;
    if (type === 'attributes') check(target);
    else addedNodes.forEach(checkAll);
  }
}).observe(document, { subtree: true, childList: true, attributes: true });
"""

HARM = """() => [
  ...window.found,
  ...(window.harmed === undefined ? [] : ['a script ran']),
  ...(({}).harmed === undefined ? [] : ['every object is changed']),
]"""

OPEN = """async () => {
  // The conversation is made as high as all of it, and clipped by what is around it: every row is drawn, none has
  // to be scrolled to.
  const log = document.querySelector('[role=log]');
  log.style.height = '2000000px';
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const opened = new WeakSet();
  const rows = new Set();
  const look = () => {
    const before = rows.size;
    for (const row of log.querySelectorAll('[data-row]')) rows.add(row.dataset.row);
    for (const call of log.querySelectorAll('[data-item]')) rows.add(call.dataset.item);  // In an opened group.
    const closed = [...log.querySelectorAll('[aria-expanded=false]:not([aria-haspopup])')].filter((one) => !opened.has(one));
    for (const button of closed) opened.add(button), button.click();
    for (const details of log.querySelectorAll('details:not([open])')) details.open = true;
    return rows.size > before || closed.length > 0 || log.querySelector('p.older') !== null;
  };
  const until = performance.now() + 60_000;
  for (let still = 0; still < 3 && performance.now() < until; ) {
    still = look() ? 0 : still + 1;
    log.dispatchEvent(new Event('scroll'));  // Near its beginning it asks for what is older.
    await frame();
  }
  return [...rows];
}"""


async def watched(app: AppPage) -> None:
    """Load the page again, with the guard in it."""
    await app.page.add_init_script(GUARD)
    await app.page.reload()
    await app.transcript.wait_for(timeout=PATIENCE_MS)


async def open_all(app: AppPage) -> None:
    """Have every row of the conversation drawn, and everything in it opened."""
    live = await app.server.service.registry.sessions.load(app.session)
    rows = {item.id for item in live.transcript.items if item.parent is None}
    drawn = await app.page.evaluate(OPEN)
    assert rows <= set(drawn), f"{len(rows - set(drawn))} of {len(rows)} rows were not drawn"


async def expect_harmless(app: AppPage, where: str) -> None:
    """Nothing ran, nothing was put in that can, and nothing leads anywhere but to the web."""
    harm = await app.page.evaluate(HARM)
    assert harm == [], f"{where}: {harm[:10]}"
