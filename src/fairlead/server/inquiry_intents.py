"""Intents that ask a running CLI something: its context and servers, a task's output, a sign-in.

Each names its control requests; there is no way to pass another one through (T-28). What a
version does not answer is no error where something else was asked as well.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from fairlead.errors import FairleadError
from fairlead.server.deed import Deed
from fairlead.server.handlers import Handlers, Result
from fairlead.server.intents import McpSignIn, Refresh, TaskOutput
from fairlead.server.refusal import Refusal
from fairlead.server.sessions import Sessions
from fairlead.server.switch_intents import check_server

__all__ = ["HANDLERS"]

ANSWER_S = 10.0
"""A CLI that knows these requests answers in far less; an old one may not answer at all."""


async def refresh(sessions: Sessions, deed: Deed, intent: Refresh) -> Result:
    """Ask anew; the answers are part of the transcript, like every line of the CLI."""
    client = (await sessions.load(intent.session)).running()
    asked = {"context": "get_context_usage", "servers": "mcp_status"}
    told = {}
    for name, subtype in asked.items():
        try:
            await client.control(subtype, timeout=ANSWER_S)
            told[name] = True
        except FairleadError:
            told[name] = False
    return dict(told)


async def task_output(sessions: Sessions, deed: Deed, intent: TaskOutput) -> Result:
    """The end of what a background task has printed."""
    live = await sessions.load(intent.session)
    if all(task.id != intent.task for task in live.transcript.background):
        raise Refusal("not_found", f"there is no task {intent.task!r}")
    answer = await live.running().control("get_task_output", timeout=ANSWER_S, task_id=intent.task)
    return {
        "output": str(answer.get("output") or ""),
        "total_bytes": _count(answer.get("total_bytes")),
        "truncated": answer.get("truncated") is True,
    }


async def mcp_sign_in(sessions: Sessions, deed: Deed, intent: McpSignIn) -> Result:
    """Begin to sign in, or end it with the address that the browser was sent to."""
    live = await sessions.load(intent.session)
    check_server(live, intent.server)
    client = live.running()
    if intent.callback is not None:
        _check_address(intent.callback)
        await client.control(
            "mcp_oauth_callback_url", serverName=intent.server, callbackUrl=intent.callback
        )
        await client.mcp_status()
        return {"url": None, "callback": False}
    answer = await client.control("mcp_authenticate", serverName=intent.server)
    url = answer.get("authUrl")
    if url is None:
        await client.mcp_status()  # It was signed in already.
        return {"url": None, "callback": False}
    _check_address(url)
    return {"url": url, "callback": answer.get("callbackExpected") is True}


def _check_address(address: Any) -> None:
    """Nothing but a page of the web is shown as something to click."""
    try:
        parts = urlsplit(address if isinstance(address, str) else "")
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("https", "http") or not parts.netloc:
        raise Refusal("bad_message", "this is not an address of the web")


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0


HANDLERS: Handlers = {
    Refresh: refresh,
    TaskOutput: task_output,
    McpSignIn: mcp_sign_in,
}
