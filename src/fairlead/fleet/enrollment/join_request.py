"""The machine's side of joining: HTTP requests to the gateway."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from fairlead.errors import UsageError
from fairlead.fleet.enrollment.join_link import join_number
from fairlead.server.access.requests.public_url import PublicUrl

__all__ = ["join_fleet"]

POLL_S = 1.0
TIMEOUT_S = 15.0
LARGEST = 65_536
PATH = "/api/fleet/join"


async def join_fleet(
    gateway: PublicUrl,
    code: str,
    public: str,
    name: str,
    *,
    signer: str = "",
    show_number: Callable[[str], None],
    tls: ssl.SSLContext | None = None,
    patience_s: float = 600.0,
) -> dict[str, Any]:
    """Ask, show the number, and wait for an owner; what the gateway answers.

    `signer` is the public key with which a gateway signs; a machine has none.
    """
    question = {"code": code, "public": public, "name": name}
    if signer:  # An older gateway does not know the field.
        question["signer"] = signer
    answer = await asyncio.to_thread(_post, gateway, question, tls)
    show_number(join_number(code, public + signer))
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        state = await asyncio.to_thread(_post, gateway, {"ticket": answer["ticket"]}, tls)
        if state["state"] == "allowed":
            return state
        if state["state"] == "refused":
            raise UsageError("An owner refused this machine.")
        await asyncio.sleep(POLL_S)
    raise UsageError("No owner confirmed this machine in time. Get a new link and join again.")


def _post(gateway: PublicUrl, body: dict[str, str], tls: ssl.SSLContext | None) -> dict[str, Any]:
    request = urllib.request.Request(
        gateway.base + PATH,
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Origin": gateway.origin},
        method="POST",
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S, context=tls) as answer:
            content = json.loads(answer.read(LARGEST))
    except urllib.error.HTTPError as problem:
        raise UsageError(_refusal(gateway, problem)) from None
    except (urllib.error.URLError, OSError) as problem:
        reason = getattr(problem, "reason", problem)
        raise UsageError(
            f"The gateway at {gateway.base} cannot be reached ({reason}). Check the address, and "
            "that this machine can open connections to it."
        ) from None
    except ValueError:
        raise UsageError(f"{gateway.base} is not a gateway of a fleet.") from None
    if not isinstance(content, dict):
        raise UsageError(f"{gateway.base} is not a gateway of a fleet.")
    return content


def _refusal(gateway: PublicUrl, problem: urllib.error.HTTPError) -> str:
    try:
        content = json.loads(problem.read(LARGEST))
        return str(content["message"])
    except (ValueError, KeyError, TypeError, OSError):
        return f"{gateway.base} answered with status {problem.code}. Is it a gateway of a fleet?"
