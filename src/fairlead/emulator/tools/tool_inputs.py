"""The input schemas of tools, and the CLI's messages about invalid inputs. Pure.

Only what a script is likely to contain: missing parameters, wrong types, and unknown parameters
where the tool refuses them (measured on 2.1.38 and 2.1.325).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, field

from fairlead.emulator.state.profile import Profile
from fairlead.emulator.tools.outcome import Outcome
from fairlead.emulator.tools.question_inputs import check_questions

__all__ = ["check_input"]


class _Schema(Struct, frozen=True, kw_only=True):
    required: Mapping[str, str]
    optional: Mapping[str, str] = field(default_factory=dict)
    is_closed: bool = False
    """Whether unknown parameters are refused."""


_SCHEMAS = {
    "Bash": _Schema(
        required={"command": "string"},
        optional={
            "timeout": "number", "description": "string", "run_in_background": "boolean",
            "dangerouslyDisableSandbox": "boolean",
        },
        is_closed=True,
    ),
    "Read": _Schema(
        required={"file_path": "string"},
        optional={"offset": "number", "limit": "number", "pages": "string"},
        is_closed=True,
    ),
    "Write": _Schema(required={"file_path": "string", "content": "string"}, is_closed=True),
    "Edit": _Schema(
        required={"file_path": "string", "old_string": "string", "new_string": "string"},
        optional={"replace_all": "boolean"},
        is_closed=True,
    ),
    "Glob": _Schema(required={"pattern": "string"}, optional={"path": "string"}, is_closed=True),
    "Grep": _Schema(required={"pattern": "string"}),
    "TodoWrite": _Schema(required={"todos": "array"}),
    "AskUserQuestion": _Schema(required={"questions": "array"}),
    "WebFetch": _Schema(required={"url": "string", "prompt": "string"}),
}  # fmt: skip

_OLD_SCHEMAS = {
    "Task": _Schema(
        required={"description": "string", "prompt": "string", "subagent_type": "string"}
    ),
}

_NEW_SCHEMAS = {"Task": _Schema(required={"description": "string", "prompt": "string"})}

_KINDS = {str: "string", bool: "boolean", int: "number", float: "number", list: "array"}


def check_input(name: str, input: Mapping[str, Any], profile: Profile) -> Outcome | None:
    """The result for an invalid input; None if it is valid."""
    others = _NEW_SCHEMAS if profile.checks_fewer_inputs else _OLD_SCHEMAS
    schema = _SCHEMAS.get(name) or others.get(name)
    if schema is None:
        return None
    expected = {**schema.required, **schema.optional}
    missing = [key for key in schema.required if key not in input]
    wrong = {
        key: _kind(input[key])
        for key, kind in expected.items()
        if key in input and not _fits(input[key], kind)
    }
    unknown = [key for key in input if key not in expected] if schema.is_closed else []
    if not (missing or wrong or unknown):
        return _unfit_value(name, input)
    texts = [f"The required parameter `{key}` is missing" for key in missing]
    texts += [f"An unexpected parameter `{key}` was provided" for key in unknown]
    texts += [
        f"The parameter `{key}` type is expected as `{expected[key]}` but provided as `{kind}`"
        for key, kind in wrong.items()
    ]
    problems = {**dict.fromkeys(missing, "undefined"), **wrong}
    issues = [_issue(key, expected[key], problems[key]) for key in expected if key in problems]
    issues += [_unrecognized(unknown)] if unknown else []
    issue = "issue" if len(texts) == 1 else "issues"
    report = "\n".join(
        [f"InputValidationError: {name} failed due to the following {issue}:", *texts]
    )
    return Outcome(
        content=f"<tool_use_error>{report}</tool_use_error>",
        result=f"InputValidationError: {json.dumps(issues, indent=2)}",
        is_error=True,
    )


def _unfit_value(name: str, given: Mapping[str, Any]) -> Outcome | None:
    """The result for values of the right types that the tool still refuses."""
    if name == "AskUserQuestion":
        return check_questions(given["questions"])
    if name == "WebFetch" and not urlsplit(given["url"]).scheme:
        issue = {
            "code": "invalid_format",
            "format": "url",
            "path": ["url"],
            "message": "Invalid URL",
        }
        report = f"InputValidationError: {json.dumps([issue], indent=2)}"
        return Outcome(
            content=f"<tool_use_error>{report}</tool_use_error>", result=report, is_error=True
        )
    return None


def _kind(value: Any) -> str:
    return "null" if value is None else _KINDS.get(type(value), "object")


def _fits(value: Any, kind: str) -> bool:
    if isinstance(value, str) and kind == "number":
        # The CLI accepts digits in a string as a number.
        return value.strip().isdigit()
    if isinstance(value, str) and kind == "boolean":
        return value in ("true", "false")
    return _kind(value) == kind


def _issue(key: str, expected: str, received: str) -> dict[str, Any]:
    return {
        "expected": expected,
        "code": "invalid_type",
        "path": [key],
        "message": f"Invalid input: expected {expected}, received {received}",
    }


def _unrecognized(keys: list[str]) -> dict[str, Any]:
    noun = "key" if len(keys) == 1 else "keys"
    named = ", ".join(f'"{key}"' for key in keys)
    return {
        "code": "unrecognized_keys",
        "keys": keys,
        "path": [],
        "message": f"Unrecognized {noun}: {named}",
    }
