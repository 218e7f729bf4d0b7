"""Intents that query a running CLI: its context and servers, a task's output, a sign-in.

Each handler names its control requests; a client cannot send any other one (T-28). `refresh` makes
several requests, and one that a CLI version does not support is not an error there.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from fairlead.errors import FairleadError
from fairlead.server.intents.context import IntentContext
from fairlead.server.intents.handlers import Handlers, Result
from fairlead.server.intents.switch import check_server
from fairlead.server.protocol.intents import McpSignIn, Refresh, TaskOutput
from fairlead.server.refusal import Refusal
from fairlead.server.sessions.sessions import Sessions

__all__ = ["HANDLERS"]

ANSWER_S = 10.0
"""A CLI that supports these requests answers much faster; an old one may not answer at all."""


async def refresh(sessions: Sessions, context: IntentContext, intent: Refresh) -> Result:
    """Query the CLI again; its answers become part of the transcript, like each of its lines."""
    client = (await sessions.load(intent.session)).running()
    subtypes = {"context": "get_context_usage", "servers": "mcp_status"}
    answered = {}
    for name, subtype in subtypes.items():
        try:
            await client.control(subtype, timeout=ANSWER_S)
            answered[name] = True
        except FairleadError:
            answered[name] = False
    return dict(answered)


async def task_output(sessions: Sessions, context: IntentContext, intent: TaskOutput) -> Result:
    """The end of a background task's output."""
    live = await sessions.load(intent.session)
    if all(task.id != intent.task for task in live.transcript.background):
        raise Refusal("not_found", f"Task {intent.task!r} not found.")
    answer = await live.running().control("get_task_output", timeout=ANSWER_S, task_id=intent.task)
    return {
        "output": str(answer.get("output") or ""),
        "total_bytes": _count(answer.get("total_bytes")),
        "truncated": answer.get("truncated") is True,
    }


async def mcp_sign_in(sessions: Sessions, context: IntentContext, intent: McpSignIn) -> Result:
    """Begin to sign in, or complete it with the address to which the browser was redirected."""
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
    """Refuse an address that is not a web page, because clients show it as a link."""
    try:
        parts = urlsplit(address if isinstance(address, str) else "")
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("https", "http") or not parts.netloc:
        raise Refusal("bad_message", "The address must start with http:// or https://.")


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0


HANDLERS: Handlers = {
    Refresh: refresh,
    TaskOutput: task_output,
    McpSignIn: mcp_sign_in,
}
