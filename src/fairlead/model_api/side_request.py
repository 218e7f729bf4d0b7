"""The requests that the CLI makes outside its turns: how they are recognized and answered.

A side request is not part of a turn, so it must not consume the script. It is recognized by its
content, never by the model's name: a session may itself use the small model. Measured (2.1.29 and
2.1.38 behave the same here):

    kind        asked for                                   recognized by               seen on
    probe       set_model with an unknown id, key checks    max_tokens is 1             325
    title       names of sessions and terminals             a JSON schema with a title  325
    verdict     prompt hooks                                any other JSON schema       38, 325
    prefix      before a Bash command that would ask        <policy_spec>, no tools     38
    paths       after every Bash command                    Command/Output, no tools    38
    history     at the start in a git repository            Files modified …, no tools  38
    monitor     calls in the modes auto and plan            <transcript>, no tools      220
    compact     /compact and automatic compaction           its prompt                  38, 325
    aside       side_question                               its reminder                325
    suggestion  --prompt-suggestions                        [SUGGESTION MODE …          325
    progress    agentProgressSummaries, after 30 s          … in 3-5 words …            325
    web_search  the WebSearch tool                          the server's own tool       38, 325
    web_page    the WebFetch tool (needs a network)         its prompt, no tools        -

The turns of `--json-schema` carry no schema of this sort: they are offered a tool instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fairlead.model_api.replies import Reply, Usage, reply

__all__ = ["SIDE_KINDS", "kind_of", "side_answer"]

SIDE_KINDS = (
    "probe",
    "title",
    "verdict",
    "prefix",
    "paths",
    "history",
    "monitor",
    "compact",
    "aside",
    "suggestion",
    "progress",
    "web_search",
    "web_page",
)

PROMPT_MARKS = (
    ("Your task is to create a detailed summary of", "compact"),
    ("<system-reminder>This is a side question from the user.", "aside"),
    ("[SUGGESTION MODE:", "suggestion"),
    ("most recent action in 3-5 words using present tense", "progress"),
)
"""Texts in a prompt that the CLI writes itself and sends together with all tools of a turn."""

TOOLLESS_OPENINGS = (
    ("<policy_spec>", "prefix"),
    ("Command: ", "paths"),
    ("Files modified by user:", "history"),
    ("<transcript>", "monitor"),
    ("<session>", "title"),
    ("Web page content:", "web_page"),
)
"""Beginnings of prompts without tools; with tools, such a text was written by the user."""

SUMMARY = "<analysis>Nothing to add.</analysis>\n<summary>\nA scripted conversation.\n</summary>"
"""2.1.325 asks a second time for a summary that lacks these tags."""

NO_PATHS = "<is_displaying_contents>\nfalse\n</is_displaying_contents>\n\n<filepaths>\n</filepaths>"


def kind_of(body: Mapping[str, Any], prompt: str) -> str:
    """The kind of side request, or `turn`; `prompt` is all text of the last user message."""
    if body.get("max_tokens") == 1:
        return "probe"
    schema = _schema_of(body)
    if schema is not None:
        names = schema.get("properties") or {}
        return "title" if "title" in names or "name" in names else "verdict"
    tools = body.get("tools") or ()
    if any(str(tool.get("type", "")).startswith("web_search") for tool in tools):
        return "web_search"
    for mark, kind in PROMPT_MARKS:
        if mark in prompt:
            return kind
    for opening, kind in TOOLLESS_OPENINGS if not tools else ():
        if prompt.lstrip().startswith(opening):
            return kind
    return "turn"


def side_answer(kind: str, body: Mapping[str, Any]) -> Reply:
    """The answer to a side request unless the script has a rule for its kind."""
    match kind:
        case "probe":
            return reply("ok").but(stop_reason="max_tokens", usage=Usage(output_tokens=1))
        case "title" | "verdict":
            return reply(json.dumps(_example(_schema_of(body) or {})))
        case "compact":
            return reply(SUMMARY)
        case "prefix":
            return reply("none")
        case "paths":
            return reply(NO_PATHS)
        case _:
            # A monitor does not accept this as a verdict, so it allows nothing.
            return reply(f"A scripted answer ({kind}).")


def _schema_of(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    config = body.get("output_config")
    output_format = config.get("format") if isinstance(config, dict) else None
    output_format = output_format or body.get("output_format")
    schema = output_format.get("schema") if isinstance(output_format, dict) else None
    return schema if isinstance(schema, dict) else None


def _example(schema: Mapping[str, Any]) -> Any:
    """A value that matches a simple JSON schema; booleans are true, so that hooks allow."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _example(schema["anyOf"][0])
    match schema.get("type"):
        case "object":
            return {name: _example(part) for name, part in schema.get("properties", {}).items()}
        case "array":
            return []
        case "boolean":
            return True
        case "integer" | "number":
            return 0
        case "null":
            return None
        case _:
            return "Scripted"
