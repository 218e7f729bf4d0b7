"""The schema of scripts: every key, what it takes and what it means, in one set of tables.

`check` validates parsed data against the tables and raises `Mistake` for the first problem. The
tables of docs/emulator.md are compared with the ones here by a test. Pure; `source` finds the
position of a mistake in a file.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from fairlead.emulator.state.catalog import NEW, OLD

__all__ = [
    "ACTIONS", "OPTIONS", "OUTCOMES", "QUESTION", "REFERENCE", "REPLY", "SCENE", "SCRIPT", "SPAWN",
    "WAIT", "Action", "Field", "Mistake", "check",
]  # fmt: skip

Path = tuple[str | int, ...]

REFERENCE = re.compile(r"(\\?)\{\{\s*([\w.]+)\s*\}\}")
"""A reference in a text; with a backslash before it, it is literal text."""

OUTCOMES = ("ok", "failed", "denied")
"""How a step can end, for `if` and `unless`."""

PARTS = ("text", *OUTCOMES)
"""What a reference can name of a result."""

TOOLS = frozenset(
    [
        *OLD.tools, *NEW.tools, *NEW.hidden_tools, "Agent", "StructuredOutput", "TaskOutput",
        "ListMcpResourcesTool", "ReadMcpResourceTool", "KillShell", "BashOutput", "MultiEdit", "LS",
    ]
)  # fmt: skip
"""Names of tools that some version of the CLI has."""


class Mistake(Exception):
    """A script does not fit the schema."""

    def __init__(self, at: Path, problem: str, remedy: str = "", *, on_key: bool = False) -> None:
        super().__init__(at, problem, remedy)
        self.at = at
        self.problem = problem
        self.remedy = remedy
        self.on_key = on_key
        """Whether the key is wrong and not its value."""

    def __str__(self) -> str:
        return " ".join(f"{self.problem} {self.remedy}".split())


class Scope(Struct):
    """What a step may refer to."""

    names: list[str] = field(default_factory=list)


Check = Callable[[Any, Path, Scope], None]


class Field(Struct, frozen=True):
    """A key: what it takes, what it means, and how its value is checked."""

    takes: str
    about: str
    check: Check
    required: bool = False


class Action(Struct, frozen=True):
    """A kind of step, and the other keys that it may have."""

    value: Field
    options: tuple[str, ...]


def check(data: Any) -> None:
    """Raise `Mistake` unless the data is a script."""
    if isinstance(data, list):
        _list_of(_scene, "a scene")(data, (), Scope())
        return
    if not isinstance(data, dict):
        raise Mistake((), "a script is a list of scenes, or a mapping with `scenes` or `queue`.")
    _mapping("a script", SCRIPT)(data, (), Scope())


# Checks of single values


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _text(value: Any, at: Path, scope: Scope) -> None:
    if isinstance(value, str):
        _references(value, at, scope)
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise Mistake(at, f"{_key(at)} takes text, not {_shown(value)}.", "Put it in quotes.")


def _word(value: Any, at: Path, scope: Scope) -> None:
    if not isinstance(value, str) or not value:
        raise Mistake(at, f"{_key(at)} takes text, not {_shown(value)}.", "Put it in quotes.")


def _references(text: str, at: Path, scope: Scope) -> None:
    for escaped, path in REFERENCE.findall(text):
        if escaped or path in ("prompt", "cwd"):
            continue
        name, _, part = path.partition(".")
        literally = f"For these characters themselves write \\{{{{{path}}}}}."
        if name not in scope.names:
            raise Mistake(at, f"`{{{{{path}}}}}`: {_no_step(name, scope)}", literally)
        if part and part not in PARTS:
            known = ", ".join(f"{name}.{word}" for word in PARTS)
            raise Mistake(at, f"`{{{{{path}}}}}`: a result has no `{part}`.", f"Use {known}.")


def _no_step(name: str, scope: Scope) -> str:
    known = ", ".join(dict.fromkeys(scope.names)) or "none"
    return f"no earlier step is named `{name}` with `as` (named so far: {known})."


def _condition(value: Any, at: Path, scope: Scope) -> None:
    match = re.fullmatch(r"\s*(\w+)\.(\w+)\s*", value) if isinstance(value, str) else None
    remedy = f"Write the name of a step and one of {', '.join(OUTCOMES)}, such as `tests.failed`."
    if match is None or match[2] not in OUTCOMES:
        raise Mistake(at, f"{_key(at)} does not understand {_shown(value)}.", remedy)
    if match[1] not in scope.names:
        raise Mistake(
            at, f"{_key(at)}: {_no_step(match[1], scope)}", "Name the step, or correct it."
        )


def _name(value: Any, at: Path, scope: Scope) -> None:
    if not isinstance(value, str) or not re.fullmatch(r"\w+", value) or value in ("prompt", "cwd"):
        remedy = "Use letters, digits and `_`; `prompt` and `cwd` are taken."
        raise Mistake(at, f"{_key(at)} takes a name, not {_shown(value)}.", remedy)


def _pattern(value: Any, at: Path, scope: Scope) -> None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return
    if not isinstance(value, str) or not value:
        remedy = "Put it in quotes, or leave `when` out to match every prompt."
        raise Mistake(at, f"{_key(at)} takes words or /a regular expression/.", remedy)
    if len(value) > 1 and value.startswith("/") and value.endswith("/"):
        try:
            re.compile(value[1:-1])
        except re.error as problem:
            remedy = "Correct it, or leave out the slashes to match the words themselves."
            raise Mistake(at, f"{value} is not a regular expression: {problem}.", remedy) from None


def _number(least: float, *, whole: bool = False, most: float = math.inf) -> Check:
    def check(value: Any, at: Path, scope: Scope) -> None:
        kind = int if whole else int | float
        fits = isinstance(value, kind) and not isinstance(value, bool) and math.isfinite(value)
        if not fits or not least <= value <= most:
            what = "a whole number" if whole else "a number"
            span = f"{least:g} to {most:g}" if most < math.inf else f"{least:g} or more"
            raise Mistake(at, f"{_key(at)} takes {what}, not {_shown(value)}.", f"Give {span}.")

    return check


def _status(value: Any, at: Path, scope: Scope) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 400 <= value <= 599:
        remedy = "Give a number from 400 to 599, such as 529; `message` and `retry_after` are separate keys."
        raise Mistake(at, f"{_key(at)} takes an HTTP status, not {_shown(value)}.", remedy)


def _truth(value: Any, at: Path, scope: Scope) -> None:
    if not isinstance(value, bool):
        raise Mistake(at, f"{_key(at)} takes true or false, not {_shown(value)}.")


def _one_of(*words: str) -> Check:
    def check(value: Any, at: Path, scope: Scope) -> None:
        if value not in words:
            raise Mistake(at, f"{_key(at)} takes {' or '.join(words)}, not {_shown(value)}.")

    return check


def _tool(value: Any, at: Path, scope: Scope) -> None:
    _word(value, at, scope)
    if value in TOOLS or value.startswith("mcp__") or REFERENCE.search(value):
        _references(value, at, scope)
        return
    near = difflib.get_close_matches(value, TOOLS, 1) or [
        name for name in TOOLS if name.casefold() == value.casefold()
    ]
    meant = f"Did you mean {near[0]}? " if near else ""
    remedy = f"{meant}A reply in `queue` may use a tool that does not exist."
    raise Mistake(at, f"the CLI has no tool `{value}`.", remedy)


def _input(value: Any, at: Path, scope: Scope) -> None:
    if value is not None and not isinstance(value, dict):
        raise Mistake(at, f"{_key(at)} takes a mapping, not {_shown(value)}.")
    _json(value, at, scope)


def _json(value: Any, at: Path, scope: Scope) -> None:
    """Any value that JSON has."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise Mistake((*at, key), f"the key {key!r} is not text.", "Put it in quotes.")
            _json(inner, (*at, key), scope)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _json(inner, (*at, number), scope)
    elif isinstance(value, str):
        _references(value, at, scope)
    elif value is not None and not isinstance(value, bool | int | float):
        raise Mistake(
            at, f"{_key(at)} is {value}, which JSON does not support.", "Put it in quotes."
        )


def _key(at: Path) -> str:
    """The nearest key, to name in a message."""
    return next((f"`{part}`" for part in reversed(at) if isinstance(part, str)), "this")


# Checks of mappings and lists


def _list_of(inner: Check, what: str, *, empty: bool = True) -> Check:
    def check(value: Any, at: Path, scope: Scope) -> None:
        if not isinstance(value, list):
            remedy = f"Write {what} after each `-`."
            raise Mistake(at, f"{_key(at)} takes a list, not {_shown(value)}.", remedy)
        if not value and not empty:
            raise Mistake(at, f"{_key(at)} is empty.", f"Give at least one: {what}.")
        for number, item in enumerate(value):
            inner(item, (*at, number), scope)

    return check


def _mapping(what: str, fields: Mapping[str, Field], *, more: bool = False) -> Check:
    def check(value: Any, at: Path, scope: Scope) -> None:
        if not isinstance(value, dict):
            remedy = f"It has the keys {', '.join(fields)}."
            raise Mistake(at, f"{what} is a mapping, not {_shown(value)}.", remedy)
        for key, inner in value.items():
            if key in fields:
                fields[key].check(inner, (*at, key), scope)
            elif not more:
                raise _unknown(what, key, fields, at)
        for name, wanted in fields.items():
            if wanted.required and name not in value:
                raise Mistake(at, f"{what} needs `{name}`: {wanted.takes}.")

    return check


def _unknown(what: str, key: Any, known: Iterable[str], at: Path) -> Mistake:
    known = list(known)
    near = difflib.get_close_matches(str(key), known, 1)
    meant = f"Did you mean `{near[0]}`?" if near else f"It takes {', '.join(known)}."
    return Mistake((*at, key), f"{what} has no {key}.", meant, on_key=True)


def _either(entry: Check, several: Check) -> Check:
    def check(value: Any, at: Path, scope: Scope) -> None:
        (several if isinstance(value, list) else entry)(value, at, scope)

    return check


def _scene(value: Any, at: Path, scope: Scope) -> None:
    if isinstance(value, dict) and "steps" not in value:
        # The message lists the keys: wrong indentation looks like this.
        has = ", ".join(f"`{key}`" for key in value) or "nothing"
        raise Mistake(at, f"a scene needs `steps`, a list; this one has {has}.")
    _mapping("a scene", SCENE)(value, at, scope)


def _steps(value: Any, at: Path, scope: Scope) -> None:
    """Steps that share their names: those of a scene or of a subagent."""
    _list_of(_step, "a step")(value, at, Scope())


def _step(value: Any, at: Path, scope: Scope) -> None:
    if isinstance(value, str):
        _text(value, at, scope)
        return
    action = _action(value, at, ACTIONS)
    kind = ACTIONS[action]
    for key, inner in value.items():
        if key != action and key not in kind.options:
            raise _unknown(f"a step `{action}`", key, (action, *kind.options), at)
        (kind.value if key == action else OPTIONS[key]).check(inner, (*at, key), scope)
    if "as" in value:
        scope.names.append(value["as"])


def _action(value: Any, at: Path, actions: Iterable[str]) -> str:
    names = ", ".join(actions)
    if not isinstance(value, dict):
        raise Mistake(at, f"a step is one of {names}, not {_shown(value)}.")
    chosen = [name for name in ACTIONS if name in value]
    if len(chosen) > 1:
        both = " and ".join(chosen)
        raise Mistake(at, f"a step is one of {names}; this one has {both}.", "Make them two steps.")
    if not chosen:
        has = ", ".join(map(str, value)) or "nothing"
        near = difflib.get_close_matches(has, list(ACTIONS), 1)
        meant = f"Did you mean `{near[0]}`?" if near else ""
        raise Mistake(at, f"a step is one of {names}; this one has {has}.", meant)
    return chosen[0]


def _together(value: Any, at: Path, scope: Scope) -> None:
    names = [name for name in ACTIONS if name not in ("together", "fail", "wait")]

    def inner(step: Any, where: Path, outer: Scope) -> None:
        own = Scope(list(scope.names))  # results of one message come after all of it
        if not isinstance(step, str):
            action = _action(step, where, names)
            if action not in names:
                raise Mistake(where, f"`together` takes {', '.join(names)}, not {action}.")
        _step(step, where, own)
        added.extend(own.names[len(scope.names) :])

    added: list[str] = []
    _list_of(inner, "a step", empty=False)(value, at, scope)
    scope.names.extend(added)


def _option(value: Any, at: Path, scope: Scope) -> None:
    (_mapping("an option", OPTION) if isinstance(value, dict) else _text)(value, at, scope)


def _reply(value: Any, at: Path, scope: Scope) -> None:
    _mapping("a reply in `queue`", REPLY)(value, at, scope)
    if ("blocks" in value) == ("error" in value):
        raise Mistake(at, "a reply in `queue` has either `blocks` or `error`.")


def _block(value: Any, at: Path, scope: Scope) -> None:
    kind = value.get("type") if isinstance(value, dict) else None
    wanted = BLOCKS.get(kind) if isinstance(kind, str) else None
    if wanted is None:
        raise Mistake(at, f"a block has a `type`: {', '.join(BLOCKS)}; not {_shown(value)}.")
    # Blocks are those of the API, which may hold more than a script needs.
    _mapping(f"a block `{kind}`", wanted, more=True)(value, at, scope)


def _raw_text(value: Any, at: Path, scope: Scope) -> None:
    if not isinstance(value, str):
        raise Mistake(at, f"{_key(at)} takes text, not {_shown(value)}.", "Put it in quotes.")


def _raw_input(value: Any, at: Path, scope: Scope) -> None:
    if not isinstance(value, dict):
        raise Mistake(at, f"{_key(at)} takes a mapping, not {_shown(value)}.")


# The tables

SCRIPT = {
    "scenes": Field(
        "a list of scenes", "what the model does, by prompt", _list_of(_scene, "a scene")
    ),
    "queue": Field(
        "a list of replies",
        "complete replies, used in this order before any scene is tried",
        _list_of(_reply, "a reply"),
    ),
    "unmatched": Field(
        "`error` or `done`",
        "the reply to a prompt that no scene matches: an API error that names it (default), or Done.",
        _one_of("error", "done"),
    ),
    "suggest": Field("text", "the `suggest` of every scene that has none", _word),
    "pace": Field("seconds", "pause between two pieces of a text (default 0)", _number(0)),
    "piece": Field("a whole number", "characters in a piece (default 16)", _number(1, whole=True)),
}

SCENE = {
    "when": Field(
        "words, or `/a regular expression/`",
        "matches prompts that contain it, in upper or lower case; without it, every prompt",
        _pattern,
    ),
    "steps": Field("a list of steps", "what the model does, in this order", _steps, required=True),
    "name": Field("text", "how messages name the scene (default: its `when`)", _word),
    "suggest": Field(
        "text", "what the CLI suggests as the next prompt, with `--prompt-suggestions`", _word
    ),
}

OPTION = {
    "label": Field("text", "what is chosen", _text, required=True),
    "description": Field("text", "what it means", _text),
    "preview": Field("text", "what it would look like", _text),
}

QUESTION = {
    "question": Field("text", "the question itself", _text, required=True),
    "header": Field("text", "a short title (default: the last word)", _text),
    "options": Field(
        "a list of texts, or of `label`, `description` and `preview`",
        "the choices",
        _list_of(_option, "an option"),
        required=True,
    ),
    "multiSelect": Field("true or false", "whether several may be chosen (default false)", _truth),
}

SPAWN = {
    "prompt": Field("text", "the prompt of the subagent", _text, required=True),
    "description": Field("text", "a description of the task in three to five words", _text),
    "subagent_type": Field("text", "which agent (default general-purpose)", _text),
    "run_in_background": Field(
        "true or false", "whether the turn continues without waiting for it", _truth
    ),
    "model": Field("text", "the model of the subagent", _text),
    "name": Field("text", "a name to send messages to", _text),
    "isolation": Field("text", "`worktree`", _text),
}

OPTIONS = {
    "input": Field("a mapping", "the input of the tool", _input),
    "as": Field("a name", "names the result for later steps", _name),
    "id": Field("text", "the id of the tool use (default: a number)", _word),
    "steps": Field("a list of steps", "what the subagent does; then it says Done.", _steps),
    "message": Field("text", "what the error says", _text),
    "retry_after": Field("seconds", "how long the CLI should wait before it retries", _number(0)),
    "retry": Field("true or false", "whether the CLI should retry at all", _truth),
    "if": Field(
        "`name.ok`, `name.failed` or `name.denied`", "only if that step ended so", _condition
    ),
    "unless": Field("the same", "only if that step did not end so", _condition),
}

_ANY = ("if", "unless")

ACTIONS = {
    "say": Action(Field("text", "says it", _text), _ANY),
    "think": Action(Field("text", "thinks this before the next step", _text), _ANY),
    "use": Action(
        Field("the name of a tool", "uses the tool and waits for its result", _tool),
        ("input", "as", "id", *_ANY),
    ),
    "ask": Action(
        Field(
            "a question or a list of them",
            "asks the user, by the tool AskUserQuestion",
            _either(
                _mapping("a question", QUESTION),
                _list_of(_mapping("a question", QUESTION), "a question", empty=False),
            ),
        ),
        ("as", "id", *_ANY),
    ),
    "spawn": Action(
        Field("a task", "starts a subagent, by the tool Task", _mapping("a task", SPAWN)),
        ("steps", "as", "id", *_ANY),
    ),
    "together": Action(
        Field("a list of `say`, `think`, `use`, `ask`, `spawn`", "all in one message", _together),
        _ANY,
    ),
    "fail": Action(
        Field("an HTTP status", "one request is answered with this error", _status),
        ("message", "retry_after", "retry", *_ANY),
    ),
    "wait": Action(Field("seconds", "pauses before the next step", _number(0)), _ANY),
}

BLOCKS = {
    "text": {"text": Field("text", "", _raw_text, required=True)},
    "thinking": {"thinking": Field("text", "", _raw_text, required=True)},
    "tool_use": {
        "name": Field("text", "", _raw_text, required=True),
        "input": Field("a mapping", "", _raw_input, required=True),
    },
}

WAIT = {
    "before": Field(
        "a whole number", "before this piece, counted from 0", _number(0, whole=True), required=True
    ),
    "seconds": Field("seconds", "for this time", _number(0)),
    "inputs": Field(
        "a whole number", "until the host has written this many lines", _number(1, whole=True)
    ),
    "forever": Field("true or false", "until the turn is interrupted or stdin ends", _truth),
}

USAGE = {
    name: Field("a whole number", "", _number(0, whole=True))
    for name in (
        "input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
    )
}  # fmt: skip

REPLY = {
    "blocks": Field(
        "a list of `text`, `thinking` and `tool_use` blocks of the API",
        "the message; nothing in it is filled in",
        _list_of(_block, "a block"),
    ),
    "error": Field("an HTTP status", "an error in place of a message", _status),
    "message": Field("text", "what the error says", _raw_text),
    "retry_after": Field("seconds", "as for `fail`", _number(0)),
    "retry": Field("true or false", "as for `fail`", _truth),
    "for": Field("text", "only for the subagent whose prompt contains it", _word),
    "waits": Field(
        "a list of pauses",
        "pauses inside the message",
        _list_of(_mapping("a pause", WAIT), "a pause"),
    ),
    "id": Field("text", "the id of the message", _word),
    "piece": Field("a whole number", "characters in a piece (default 16)", _number(1, whole=True)),
    "stop_reason": Field("text", "why the message ends", _word),
    "cut_after": Field(
        "a whole number",
        "the connection breaks after this many pieces",
        _number(0, whole=True),
    ),
    "usage": Field("a mapping of token counts", "what it cost", _mapping("`usage`", USAGE)),
}
