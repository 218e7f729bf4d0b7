"""Lets a test control the half second in which a new request cannot be approved.

    await app.page.evaluate(HOLD)
    await app.page.evaluate("pass(499)")

Only the page's timers of exactly that length are stopped, so that every moment of it can be tested
without waiting; everything else continues.
"""

from __future__ import annotations

__all__ = ["HOLD", "STILL_MS"]

STILL_MS = 500

HOLD = """
() => {
  let now = 0;
  let last = 0;
  const held = new Map();
  const [set, clear] = [setTimeout, clearTimeout];
  globalThis.setTimeout = (deed, ms, ...rest) => {
    if (ms !== 500) return set(deed, ms, ...rest);
    held.set(--last, [now + ms, deed]);
    return last;
  };
  globalThis.clearTimeout = (id) => held.delete(id) || clear(id);
  globalThis.passed = () => now;
  globalThis.pass = (ms) => {
    now += ms;
    for (const [id, [due, deed]] of held) {
      if (due > now) continue;
      held.delete(id);
      deed();
    }
  };
}
"""
