"""`fairlead fleet invite`: a link for one machine, and the question whether the numbers agree."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from fairlead.commands.console.terminal import Style
from fairlead.fleet.enrollment.control_channel import ask_gateway

__all__ = ["invite"]

POLL_S = 0.5
PATIENCE_S = 600.0


def invite(data: Path, *, wait: bool, gateway: bool = False) -> int:
    """Print a link; wait for the machine and ask the user to compare the numbers."""
    before = {each["id"] for each in ask_gateway(data, "waiting")}
    link = ask_gateway(data, "invite", gateway=gateway)
    style = Style()
    print("On the machine that should join, run within ten minutes:")
    command = "fairlead gateway join" if gateway else "fairlead node join"
    print(f"\n  {style.accent(f'{command} {link!r}')}\n", flush=True)
    if not wait:
        print("Then confirm its number in the web app, as an owner.")
        return 0
    machine = _next(data, before)
    if machine is None:
        print("No machine joined in time. Run this again for a new link.", file=sys.stderr)
        return 1
    print(f"{style.bold(machine['name'])} ({machine['address']}) asks to join.")
    print(f"Its screen must show the number {style.accent(machine['number'])}.", flush=True)
    allow = _confirmed()
    ask_gateway(data, "answer", node=machine["id"], allow=allow)
    print(f"{machine['name']} {'joined the fleet' if allow else 'was refused'}.")
    return 0 if allow else 1


def _next(data: Path, before: set[str]) -> dict[str, Any] | None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        for each in ask_gateway(data, "waiting"):
            if each["id"] not in before:
                return dict(each)
        time.sleep(POLL_S)
    return None


def _confirmed() -> bool:
    try:
        return input("Does it? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
