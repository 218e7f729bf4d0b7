"""Values of flags that the real CLI refuses at the start, before it reads anything."""

from __future__ import annotations

import json
import os
import uuid
from typing import Any

from fairlead.emulator.state.flags import Arguments
from fairlead.emulator.state.profile import Profile

__all__ = ["Refusal", "agents_of", "refused_value", "schema_of"]

Refusal = tuple[int, str]
"""The exit code and the text for stderr."""


def refused_value(arguments: Arguments, cwd: str, profile: Profile) -> Refusal | None:
    """Why the process ends at once (CLI-1646); None if all values can be used."""
    budget = arguments.one("--max-budget-usd")
    if budget is not None and not _is_positive(budget):
        text = "--max-budget-usd must be a positive number greater than 0"
        return 1, f"error: option '--max-budget-usd <amount>' is invalid. {text}\n"
    session_id = arguments.one("--session-id")
    if session_id is not None and not _is_uuid(session_id):
        return 1, "Error: Invalid session ID. Must be a valid UUID.\n"
    settings = arguments.one("--settings")
    if settings is not None and not _is_settings(settings, cwd):
        return 1, f"Error: Settings file not found: {os.path.join(cwd, settings)}\n"
    return _refused_json(arguments, profile)


def _refused_json(arguments: Arguments, profile: Profile) -> Refusal | None:
    schema, agents = arguments.one("--json-schema"), arguments.one("--agents")
    if schema is not None and _parsed(schema) is None:
        # The old version ends without a word.
        return (1, "Error: --json-schema is not valid JSON\n") if profile.checks_json else (0, "")
    if not profile.checks_json:
        return None
    if schema is not None and not isinstance(_parsed(schema), dict):
        return 1, "Error: --json-schema must be a JSON object\n"
    if agents is not None and not isinstance(_parsed(agents), dict):
        return 1, "Error: Invalid --agents configuration:\ninvalid JSON\n"
    return None


def schema_of(arguments: Arguments) -> dict[str, Any] | None:
    """The schema of the output; one that is no object is ignored."""
    parsed = _parsed(arguments.one("--json-schema") or "")
    return parsed if isinstance(parsed, dict) else None


def agents_of(arguments: Arguments) -> dict[str, Any]:
    """The agents of the command line; a text that is no object has none."""
    parsed = _parsed(arguments.one("--agents") or "")
    return parsed if isinstance(parsed, dict) else {}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _is_positive(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


def _is_settings(text: str, cwd: str) -> bool:
    """Whether a value is the settings themselves, or names a file."""
    is_json = text.strip().startswith("{") and text.strip().endswith("}")
    return is_json or os.path.isfile(os.path.join(cwd, text))
