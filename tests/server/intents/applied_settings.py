"""Finds the settings that the server sent to an agent."""

from __future__ import annotations

import json
from typing import Any

from tests.server.server_harness import ServerHarness

__all__ = ["settings_applied"]


def settings_applied(harness: ServerHarness) -> list[Any]:
    requests = [
        entry.get("request") or {}
        for entry in map(json.loads, harness.log.read_text().splitlines())
        if isinstance(entry, dict)
    ]
    return [
        request["settings"]
        for request in requests
        if request.get("subtype") == "apply_flag_settings"
    ]
