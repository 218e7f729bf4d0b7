"""Gives a test access to the connection of a page, so that it can break it.

await app.context.add_init_script(KEEP_SOCKETS)
await app.sign_in()
await app.page.evaluate("sockets.at(-1).close()")
"""

from __future__ import annotations

__all__ = ["KEEP_SOCKETS"]

KEEP_SOCKETS = """
    globalThis.sockets = [];
    const Real = WebSocket;
    globalThis.WebSocket = class extends Real {
        constructor(...given) { super(...given); sockets.push(this); }
    };
"""
"""Lets a test close the page's own connection, as a network does."""
