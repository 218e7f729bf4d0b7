"""When the page paints what it received or what was typed, by the browser's own clock.

A loop of animation frames posts a message in every frame. The message is handled after that frame
was painted, so its time is the end of the paint. A delay begins when a WebSocket frame with new
text arrives, before the app sees it, or at the time that the browser gave to a key. It ends with
the first paint after the conversation, or the field, has changed. Of several frames between two
paints the first counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from playwright.async_api import Page

__all__ = ["Delays", "install", "read", "watch"]

INSTALL = """() => {
  const clock = (window.__paints = { deltas: [], keys: [], frames: 0, running: false });
  let received = null, changed = false, pressed = null, typed = false;
  const Plain = window.WebSocket;
  window.WebSocket = class extends Plain {
    constructor(...given) {
      super(...given);
      this.addEventListener('message', ({ data }) => {
        if (clock.running && received === null && typeof data === 'string' && data.includes('"op":"append"')) {
          received = performance.now();
          changed = false;
        }
      });
    }
  };
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    const now = performance.now();
    clock.frames += 1;
    if (received !== null && changed) { clock.deltas.push(now - received); received = null; }
    if (pressed !== null && typed) { clock.keys.push(now - pressed); pressed = null; }
    changed = typed = false;
  };
  const frame = () => { channel.port2.postMessage(null); requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
  document.addEventListener('keydown', (event) => { pressed = event.timeStamp; typed = false; }, true);
  document.addEventListener('input', () => { typed = true; }, true);
  clock.watch = () => {
    const log = document.querySelector('[role=log]');
    const see = new MutationObserver(() => { changed = true; });
    see.observe(log, { subtree: true, childList: true, characterData: true });
    clock.running = true;
  };
}"""


@dataclass(frozen=True, slots=True)
class Delays:
    """Delays of one kind, in milliseconds."""

    name: str
    values: tuple[float, ...]

    def percentile(self, share: float) -> float:
        """The delay that this share of them does not exceed."""
        ordered = sorted(self.values)
        return ordered[max(0, ceil(share * len(ordered)) - 1)]

    def __str__(self) -> str:
        return (
            f"{self.name}: p50 {self.percentile(0.5):.1f} ms, p99 {self.percentile(0.99):.1f} ms, "
            f"least {min(self.values):.1f} ms, of {len(self.values)}"
        )


async def install(page: Page) -> None:
    """Watch the sockets and keys of the page from its next load on."""
    await page.add_init_script(f"({INSTALL})()")


async def watch(page: Page) -> None:
    """Begin to note delays; the page shows a conversation."""
    await page.evaluate("() => window.__paints.watch()")


async def read(page: Page) -> tuple[Delays, Delays]:
    """The delays so far: from a frame to its paint, and from a key to its echo."""
    seen = await page.evaluate("() => window.__paints")
    return (
        Delays("WebSocket frame to paint", tuple(seen["deltas"])),
        Delays("key to echo", tuple(seen["keys"])),
    )
