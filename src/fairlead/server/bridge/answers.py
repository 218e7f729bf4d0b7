"""Turns an answer of a bridge client to an open request into an intent. Pure.

The protocol has four messages for answers (`approve`, `approve_always`, `reject`, `answer`), and
the CLI five kinds of requests. Each kind becomes the intent that every other client would send.
`answer` contains a plain text, an object of answers, or the JSON of the current ccpocket app
(`{"questions": …, "answers": …}`).
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

from fairlead.server.protocol import intents
from fairlead.server.refusal import Refusal

__all__ = ["answered", "approved", "rejected"]

Row = dict[str, Any]


def approved(session: str, row: Row, *, always: bool = False) -> intents.Intent:
    """The intent that allows a request; refuses a request that needs an answer."""
    if row["kind"] == "plan":
        # "Always" grants nothing beyond this plan: edits are still requested.
        return _plan(session, row, approve=True, message="")
    if row["kind"] == "elicitation":
        return _accepted(session, row, None)
    if row["kind"] in ("question", "dialog"):
        raise Refusal("bad_message", "This request needs an answer: send `answer` with a result.")
    narrowest = _narrowest(row) if always else ()
    # Without a narrow choice, "always" means once: never a whole tool. If the CLI forbids a lasting
    # answer, the server refuses it with a message.
    lasting = always and (bool(narrowest) or bool(row.get("suppress_always_allow_rule")))
    return _permission(session, row, "always" if lasting else "allow", narrowest, "")


def rejected(session: str, row: Row, message: str) -> intents.Intent:
    """The intent that denies a request."""
    if row["kind"] == "plan":
        return _plan(session, row, approve=False, message=message)
    if row["kind"] == "elicitation":
        return intents.AnswerElicitation(
            session=session,
            request_id=row["id"],
            input_sha256=row["input_sha256"],
            action="decline",
        )
    if row["kind"] == "dialog":
        return intents.AnswerDialog(
            session=session, request_id=row["id"], input_sha256=row["input_sha256"], answer=None
        )
    return _permission(session, row, "deny", (), message)


def answered(session: str, row: Row, result: Any) -> intents.Intent:
    """The intent that answers questions, a form or a dialog with the user's answer."""
    if row["kind"] == "question":
        return intents.AnswerQuestions(
            session=session,
            request_id=row["id"],
            input_sha256=row["input_sha256"],
            answers=_answers(row, result),
        )
    if row["kind"] == "elicitation":
        return _accepted(session, row, result)
    if row["kind"] == "dialog":
        chosen = _only_value(_parsed(result))
        return intents.AnswerDialog(
            session=session, request_id=row["id"], input_sha256=row["input_sha256"], answer=chosen
        )
    raise Refusal("bad_message", "This request has no questions: send `approve` or `reject`.")


def _permission(
    session: str, row: Row, decision: str, choices: tuple[int, ...], message: str
) -> intents.Decide:
    return intents.Decide(
        session=session,
        request_id=row["id"],
        input_sha256=row["input_sha256"],
        decision=decision,
        choices=choices,
        message=message,
    )


def _plan(session: str, row: Row, *, approve: bool, message: str) -> intents.DecidePlan:
    return intents.DecidePlan(
        session=session,
        request_id=row["id"],
        input_sha256=row["input_sha256"],
        approve=approve,
        message=message,
    )


def _narrowest(row: Row) -> tuple[int, ...]:
    """The first offer that is not a whole tool; the offers are sorted, narrowest first."""
    for choice in row.get("choices", ()):
        if not choice.get("wide"):
            return (int(choice["index"]),)
    return ()


# Questions


def _answers(row: Row, result: Any) -> dict[str, str | tuple[str, ...]]:
    """Answers by the text of the question; a plain text answers a single question."""
    questions = (row["input"] or {}).get("questions") or []
    names = {
        name: str(question.get("question"))
        for question in questions
        if isinstance(question, dict)
        for name in (question.get("id"), question.get("question"))
        if isinstance(name, str)
    }
    texts = list(dict.fromkeys(names.values()))
    parsed = _parsed(result)
    answers = _app_answers(parsed, questions)
    if answers is None and isinstance(parsed, dict) and parsed and set(parsed) <= set(names):
        answers = parsed
    if answers is not None:
        return {names.get(name, name): _answer(name, value) for name, value in answers.items()}
    if len(texts) != 1:
        message = 'Each question needs an answer: send {"answers": {question: answer}}.'
        raise Refusal("bad_message", message, questions=texts)
    return {texts[0]: result if isinstance(result, str) else json.dumps(result)}


def _app_answers(parsed: Any, questions: list[Any]) -> dict[str, Any] | None:
    """The answers in the form of the app, if they are in it and belong to these questions."""
    if not isinstance(parsed, dict) or not isinstance(parsed.get("answers"), dict):
        return None
    seen = parsed.get("questions")
    if isinstance(seen, list) and _texts(seen) != _texts(questions):
        raise Refusal(
            "stale", "These answers belong to other questions. Read the open ones and answer again."
        )
    return dict(parsed["answers"])


def _texts(questions: list[Any]) -> list[Any]:
    return [each.get("question") if isinstance(each, dict) else each for each in questions]


def _answer(name: str, value: Any) -> str | tuple[str, ...]:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return tuple(value)
    raise Refusal("bad_message", f"The answer to {name!r} must be a text or a list of texts.")


# Forms of MCP servers


def _accepted(session: str, row: Row, result: Any) -> intents.AnswerElicitation:
    """A filled-in form; the client may also name the action itself."""
    fields = _fields(row)
    parsed = _parsed(result)
    if isinstance(parsed, dict) and parsed.get("action") in ("accept", "decline", "cancel"):
        if parsed["action"] != "accept":
            return intents.AnswerElicitation(
                session=session,
                request_id=row["id"],
                input_sha256=row["input_sha256"],
                action=parsed["action"],
            )
        parsed = parsed.get("content")
    elif isinstance(parsed, dict) and isinstance(parsed.get("answers"), dict):
        parsed = parsed["answers"]
    content = _content(fields, parsed)
    missing = [name for name in _required(row) if name not in content]
    if missing:
        message = f"The form requires {', '.join(missing)}: send `answer` with a value for each."
        raise Refusal("bad_message", message)
    return intents.AnswerElicitation(
        session=session,
        request_id=row["id"],
        input_sha256=row["input_sha256"],
        action="accept",
        content=content or None,
    )


def _fields(row: Row) -> dict[str, dict[str, Any]]:
    schema = (row.get("details") or {}).get("schema") or {}
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return {}
    return {name: field if isinstance(field, dict) else {} for name, field in properties.items()}


def _required(row: Row) -> list[str]:
    schema = (row.get("details") or {}).get("schema") or {}
    required = schema.get("required") if isinstance(schema, dict) else None
    return [str(name) for name in required] if isinstance(required, list) else []


def _content(fields: dict[str, dict[str, Any]], values: Any) -> dict[str, Any]:
    """Values by field name, each of the type that the form requires."""
    if values is None:
        return {}
    if not isinstance(values, dict):
        if len(fields) != 1:
            raise Refusal(
                "bad_message", "This form has several fields: send an object with their values."
            )
        values = {next(iter(fields)): values}
    named = {_described(name, field): name for name, field in fields.items()}
    content: dict[str, Any] = {}
    for key, value in values.items():
        name = key if key in fields else named.get(key)
        if name is None:
            raise Refusal("bad_message", f"The form has no field {key!r}.")
        content[name] = _value(name, fields[name], value)
    return content


def _described(name: str, field: dict[str, Any]) -> str:
    return str(field.get("description") or field.get("title") or name)


def _value(name: str, field: dict[str, Any], value: Any) -> Any:
    """A value in the type of the form: a phone's text field sends every number as a text."""
    kind = field.get("type")
    if isinstance(value, list) and kind != "array" and len(value) == 1:
        value = value[0]
    if kind == "array":
        return (
            value if isinstance(value, list) else [part.strip() for part in str(value).split(",")]
        )
    if not isinstance(value, str) or kind in (None, "string"):
        return value
    if kind == "boolean" and value.lower() in ("true", "false", "yes", "no"):
        return value.lower() in ("true", "yes")
    if kind in ("number", "integer"):
        with contextlib.suppress(ValueError):
            return int(value) if kind == "integer" else float(value)
    raise Refusal("bad_message", f"The field {name!r} must be a {kind}, not {value!r:.60}.")


# Texts that may be JSON


def _parsed(result: Any) -> Any:
    """The value of a text that is a JSON object; any other value unchanged."""
    if isinstance(result, str):
        with contextlib.suppress(ValueError, RecursionError):
            loaded = json.loads(result)
            return loaded if isinstance(loaded, dict) else result
    return result


def _only_value(parsed: Any) -> str | None:
    if isinstance(parsed, dict):
        answers = parsed.get("answers") if isinstance(parsed.get("answers"), dict) else parsed
        values = list(answers.values()) if isinstance(answers, dict) else []
        parsed = values[0] if len(values) == 1 else None
    if isinstance(parsed, list) and len(parsed) == 1:
        parsed = parsed[0]
    return None if parsed in (None, "") else str(parsed)
