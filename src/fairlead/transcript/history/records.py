"""Single records of a transcript file, put back into the clothes of the stream.

Names are in camel case in the file and in snake case on the stream; a few fields moved. What a
record means for its session as a whole is `history`.
"""

from __future__ import annotations

import re
from typing import Any

from fairlead.transcript.reducers.commands import SYNTHETIC, is_output, printed
from fairlead.transcript.state import plain
from fairlead.transcript.state.facts import Described

__all__ = [
    "callers",
    "described",
    "folded_prompt",
    "has_result",
    "is_failed_result",
    "line",
    "notification",
    "system_line",
    "words",
]

_Record = dict[str, Any]

_FIELDS = {
    "type": "type",
    "message": "message",
    "uuid": "uuid",
    "sessionId": "session_id",
    "toolUseResult": "tool_use_result",
    "error": "error",
    "isApiErrorMessage": "is_api_error_message",
    "isAbortedMidStream": "aborted",
    "thinkingDurationMs": "thinking_duration_ms",
    "requestId": "request_id",
    "apiErrorStatus": "api_error_status",
    "isSynthetic": "isSynthetic",
}
_METADATA = {
    "trigger": "trigger",
    "preTokens": "pre_tokens",
    "postTokens": "post_tokens",
    "cumulativeDroppedTokens": "cumulative_dropped_tokens",
    "durationMs": "duration_ms",
    "messagesSummarized": "messages_summarized",
}

_TAG = re.compile(r"<(task-id|tool-use-id|output-file|status|summary|result|usage)>")
_NUMBER = re.compile(r"<(\w+)>(\d+)</\1>")


def line(record: _Record, parent: str | None) -> dict[str, Any]:
    """A `user` or `assistant` record as the line that was on the stream."""
    fields = {ours: record[in_file] for in_file, ours in _FIELDS.items() if in_file in record}
    fields["parent_tool_use_id"] = parent
    decision = plain.mapping(record.get("permissionDecision"))
    denial = record.get("toolDenialKind")
    calls = _results(record)
    if calls and (decision or denial):
        meta: dict[str, Any] = {"id": calls[0]}
        if denial:
            meta["non_execution_kind"] = denial
        if decision:
            meta["permission_decision"] = {
                "decision": decision.get("decision"),
                "source": decision.get("source"),
                "reason_type": decision.get("reasonType"),
            }
        fields["tool_result_meta"] = [meta]
    return fields


def system_line(record: _Record) -> dict[str, Any] | None:
    """The stream line of a `system` record; None if the stream has no such line."""
    subtype = plain.text(record.get("subtype"))
    content = plain.text(record.get("content"))
    if record.get("isMeta"):
        return None
    if subtype == "local_command" and is_output(content):
        return _command_output(record, content)
    if subtype == "compact_boundary":
        metadata = plain.mapping(record.get("compactMetadata"))
        return {
            "type": "system",
            "subtype": subtype,
            "uuid": record.get("uuid"),
            "compact_metadata": {
                ours: metadata[in_file]
                for in_file, ours in _METADATA.items()
                if in_file in metadata
            },
        }
    if subtype == "informational":
        return {
            "type": "system",
            "subtype": subtype,
            "uuid": record.get("uuid"),
            "content": content,
            "level": record.get("level"),
        }
    return None


def _tags(text: str) -> dict[str, str]:
    """The contents of the known tags, the last of each; a tag that is not closed is none."""
    tags: dict[str, str] = {}
    unclosed: set[str] = set()
    at = 0
    while (opening := _TAG.search(text, at)) is not None:
        name, at = opening[1], opening.end()
        # If no end follows this record, none follows a later one, so search only once.
        end = -1 if name in unclosed else text.find(f"</{name}>", at)
        if end < 0:
            unclosed.add(name)
        else:
            tags[name] = text[at:end]
            at = end + len(name) + 3
    return tags


def notification(record: _Record) -> dict[str, Any] | None:
    """The end of a background task, which the file stores as a prompt that no user wrote."""
    text = words(record)
    origin = plain.mapping(record.get("origin")).get("kind")
    if origin != "task-notification" and not text.startswith("<task-notification>"):
        return None
    tags = _tags(text)
    usage = dict(_NUMBER.findall(tags.get("usage", "")))
    return {
        "type": "system",
        "subtype": "task_notification",
        "task_id": tags.get("task-id", ""),
        "tool_use_id": tags.get("tool-use-id"),
        "status": tags.get("status"),
        "output_file": tags.get("output-file"),
        "summary": tags.get("result") or tags.get("summary"),
        "usage": {
            "total_tokens": int(usage.get("subagent_tokens") or usage.get("total_tokens", 0)),
            "tool_uses": int(usage.get("tool_uses", 0)),
            "duration_ms": int(usage.get("duration_ms", 0)),
        }
        if usage
        else None,
    }


def is_failed_result(record: _Record) -> bool:
    """Whether a `user` record says that a tool failed."""
    blocks = plain.rows(plain.mapping(record.get("message")).get("content"))
    return any(
        block.get("type") == "tool_result" and block.get("is_error") is True for block in blocks
    )


def folded_prompt(record: _Record) -> dict[str, Any] | None:
    """From 2.1.120 on, the CLI stores a prompt that joined the running turn as an attachment."""
    attachment = plain.mapping(record.get("attachment"))
    prompt = attachment.get("prompt")
    if attachment.get("type") != "queued_command" or not isinstance(prompt, str | list):
        return None
    if attachment.get("commandMode") not in (None, "prompt"):
        return None
    return {
        "type": "user",
        "isReplay": True,
        "uuid": attachment.get("source_uuid") or record.get("uuid"),
        "message": {"role": "user", "content": prompt},
    }


def described(record: _Record, before: Described) -> Described:
    """What is known of the session after this record."""
    model = plain.text(plain.mapping(record.get("message")).get("model"))
    return Described(
        session_id=plain.text(record.get("sessionId")) or before.session_id,
        cwd=plain.text(record.get("cwd")) or before.cwd,
        version=plain.text(record.get("version")) or before.version,
        permission_mode=plain.text(record.get("permissionMode")) or before.permission_mode,
        model=model if model and model != SYNTHETIC else before.model,
        effort=plain.text(record.get("effort")) or before.effort,
    )


def callers(records: list[_Record]) -> dict[str, str]:
    """Agent id -> the tool call that started it, as its result says."""
    fields = {}
    for record in records:
        agent = plain.text(plain.mapping(record.get("toolUseResult")).get("agentId"))
        for call in _results(record) if agent else ():
            fields[agent] = call
    return fields


def has_result(record: _Record) -> bool:
    """Whether a `user` record is a tool's result."""
    return bool(_results(record))


def words(record: _Record) -> str:
    """The first words of a record."""
    content = plain.mapping(record.get("message")).get("content")
    if isinstance(content, str):
        return content
    texts = [plain.text(row.get("text")) for row in plain.rows(content)]
    return texts[0] if texts else ""


def _results(record: _Record) -> list[str]:
    blocks = plain.rows(plain.mapping(record.get("message")).get("content"))
    return [
        plain.text(block.get("tool_use_id"))
        for block in blocks
        if block.get("type") == "tool_result"
    ]


def _command_output(record: _Record, content: str) -> dict[str, Any]:
    """2.1.325 keeps a command's output as a record of its own; live it is an assistant line."""
    text, _ = printed(content)
    return {
        "type": "assistant",
        "uuid": record.get("uuid"),
        "message": {
            "role": "assistant",
            "model": SYNTHETIC,
            "content": [{"type": "text", "text": text}],
        },
        "local_command_source": content,
        "local_command_run": record.get("commandRun"),
        "context_usage": record.get("contextUsage"),
    }
