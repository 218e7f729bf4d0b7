"""The parameters of a tool function: a JSON Schema for the model, keyword arguments for the call.

Reads a signature once, when the function is decorated, and refuses there whatever could not
be described or converted later. Arguments are then converted one by one, so that one error text
for the model lists all problems of a call. Knows nothing about MCP or results. Used by `tools`,
`resources` and `prompts`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, Any, Optional, get_args, get_origin, get_type_hints

import msgspec

from fairlead.errors import OptionError
from fairlead.host.mcp.tool_context import ToolContext, is_context_hint

__all__ = ["ArgumentsError", "Parameter", "Parameters", "read_parameters"]


class ArgumentsError(ValueError):
    """The arguments of one call are not valid; the text is written for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One named argument: its hint, its JSON Schema, whether it must be given."""

    name: str
    hint: Any
    schema: Mapping[str, Any]
    required: bool
    choices: tuple[str, ...] = ()
    """What may be given, as text, where the hint is a Literal, an Enum or a bool."""

    @property
    def description(self) -> str:
        """What the hint's metadata says about it, or nothing."""
        return str(self.schema.get("description", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """All parameters of one function, and the name of the one that takes the context."""

    items: tuple[Parameter, ...]
    definitions: Mapping[str, Any]
    context_name: str | None

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments as one object."""
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {item.name: dict(item.schema) for item in self.items},
            "required": [item.name for item in self.items if item.required],
            "additionalProperties": False,
        }
        if self.definitions:
            schema["$defs"] = dict(self.definitions)
        return schema

    def convert(
        self, what: str, arguments: Mapping[str, Any], context: ToolContext
    ) -> dict[str, Any]:
        """Keyword arguments for the function; absent ones are left to its own defaults."""
        problems: list[str] = []
        keywords: dict[str, Any] = {}
        for item in self.items:
            if item.name not in arguments:
                if item.required:
                    problems.append(f"{item.name}: missing, but required")
                continue
            try:
                keywords[item.name] = _convert(arguments[item.name], item.hint)
            except msgspec.ValidationError as error:
                problems.append(_explain(item, str(error)))
        known = [item.name for item in self.items]
        for name in arguments:
            if name not in known:
                takes = f"takes only {', '.join(known)}" if known else "takes no arguments"
                problems.append(f"{_shown(name)}: unknown argument, {what} {takes}")
        if problems:
            raise ArgumentsError(f"Wrong arguments for {what}:\n- " + "\n- ".join(problems))
        if self.context_name is not None:
            keywords[self.context_name] = context
        return keywords


def read_parameters(
    function: Callable[..., Any], what: str, names_in_scope: Mapping[str, Any]
) -> Parameters:
    """The parameters of `function`; OptionError says which one cannot work and what to do.

    `names_in_scope` resolves hints written as text that name a class of the enclosing function.
    """
    hints = _hints_of(function, what, names_in_scope)
    context_name: str | None = None
    parameters: list[tuple[inspect.Parameter, Any]] = []
    for parameter in _signature_of(function, what).parameters.values():
        hint = hints.get(parameter.name, inspect.Parameter.empty)
        _check_kind(parameter, hint, what)
        if is_context_hint(hint):
            if context_name is not None:
                raise OptionError(what, "two parameters ask for a ToolContext.", "Keep one.")
            context_name = parameter.name
            continue
        _check_hint(parameter.name, hint, what)
        parameters.append((parameter, hint))
    schemas, definitions = msgspec.json.schema_components(
        [_accepted(parameter, hint) for parameter, hint in parameters],
        schema_hook=_schema_of_custom_type,
    )
    items = tuple(
        _parameter(parameter, hint, schema, definitions)
        for (parameter, hint), schema in zip(parameters, schemas, strict=True)
    )
    return Parameters(items=items, definitions=definitions, context_name=context_name)


def _signature_of(function: Callable[..., Any], what: str) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise OptionError(
            what, f"its signature cannot be read: {error}.", "Wrap it in a function of your own."
        ) from error


def _accepted(parameter: inspect.Parameter, hint: Any) -> Any:
    # `a: str = None` is common; None then means the same as no argument.
    return Optional[hint] if parameter.default is None else hint  # noqa: UP045


def _hints_of(
    function: Callable[..., Any], what: str, names_in_scope: Mapping[str, Any]
) -> dict[str, Any]:
    target: Any = function
    while isinstance(target, functools.partial):
        target = target.func
    if not inspect.isroutine(target):
        target = type(target).__call__
    try:
        return get_type_hints(target, localns=dict(names_in_scope), include_extras=True)
    except (NameError, AttributeError, TypeError, SyntaxError) as error:
        raise OptionError(
            what,
            f"its type hints cannot be read: {error}.",
            "Define or import the type before the function is decorated.",
        ) from error


def _check_kind(parameter: inspect.Parameter, hint: Any, what: str) -> None:
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        raise OptionError(
            what,
            f"the accepted values of `{parameter}` cannot be described to the model.",
            "Give every argument a name and a type hint of its own.",
        )
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        raise OptionError(
            what,
            f"parameter `{parameter.name}` is positional-only, but arguments come by name.",
            "Remove the `/` from the signature.",
        )
    if hint is inspect.Parameter.empty:
        if parameter.name in ("self", "cls"):
            advice = "Decorate the bound method: tool(...)(thing.method)."
        else:
            advice = f"Write for example `{parameter.name}: str`."
        raise OptionError(what, f"parameter `{parameter.name}` has no type hint.", advice)


def _check_hint(name: str, hint: Any, what: str) -> None:
    try:
        msgspec.json.schema_components([hint], schema_hook=_schema_of_custom_type)
        # The schema alone accepts unions that cannot be distinguished during conversion.
        msgspec.json.Decoder(hint, dec_hook=_read_custom_type)
    except (TypeError, NotImplementedError, RecursionError) as error:
        raise OptionError(
            what,
            f"parameter `{name}` has the hint {hint!r}, which JSON cannot represent: "
            f"{_first_line(error)}.",
            "Use str, int, float, bool, list, dict, Literal, an Enum, a dataclass, a TypedDict "
            "or a msgspec.Struct.",
        ) from error


def _parameter(
    parameter: inspect.Parameter, hint: Any, schema: dict[str, Any], definitions: Mapping[str, Any]
) -> Parameter:
    schema = dict(schema)
    description = _description(hint)
    if description:
        schema["description"] = description
    required = parameter.default is inspect.Parameter.empty
    if not required and parameter.default is not None:
        try:
            schema["default"] = msgspec.to_builtins(
                parameter.default, str_keys=True, enc_hook=_write_custom_type
            )
        except (TypeError, NotImplementedError):
            schema.pop("default", None)
    return Parameter(
        name=parameter.name,
        hint=_accepted(parameter, hint),
        schema=schema,
        required=required,
        choices=_choices(schema, definitions),
    )


def _description(hint: Any) -> str:
    # Besides msgspec.Meta, plain text in Annotated is taken as the description.
    if get_origin(hint) is not Annotated:
        return ""
    for extra in get_args(hint)[1:]:
        if isinstance(extra, str):
            return extra
        if isinstance(extra, msgspec.Meta) and extra.description:
            return extra.description
    return ""


def _choices(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[str, ...]:
    reference = schema.get("$ref")
    if isinstance(reference, str):
        schema = definitions.get(reference.rpartition("/")[2], {})
    if schema.get("type") == "boolean":
        return ("true", "false")
    values = [str(value) for value in schema.get("enum", ()) if value is not None]
    for branch in schema.get("anyOf", ()):
        values.extend(_choices(branch, definitions))
    return tuple(values)


def _convert(value: Any, hint: Any) -> Any:
    try:
        return msgspec.convert(value, hint, str_keys=True, dec_hook=_read_custom_type)
    except UnicodeEncodeError:
        raise msgspec.ValidationError("The text contains half a character") from None
    except msgspec.ValidationError as error:
        strict_error = error
    # Models sometimes write a number, or a whole object, as text.
    try:
        return msgspec.convert(value, hint, strict=False, str_keys=True, dec_hook=_read_custom_type)
    except msgspec.ValidationError:
        if not isinstance(value, str):
            raise strict_error from None
    try:
        return msgspec.json.decode(value, type=hint, dec_hook=_read_custom_type)
    except (msgspec.MsgspecError, UnicodeEncodeError):
        raise strict_error from None


def _explain(item: Parameter, error: str) -> str:
    problem, _, path = error.partition(" - at `$")
    text = f"{item.name}{path.rstrip('`')}: {_shown(problem)}"
    if item.choices and not path:
        text += f"; allowed: {', '.join(item.choices)}"
    return text


def _schema_of_custom_type(kind: type) -> dict[str, Any]:
    if isinstance(kind, type) and issubclass(kind, PurePath):
        return {"type": "string"}
    raise NotImplementedError(f"{kind!r} is not a type that can be described")


def _read_custom_type(kind: type, value: Any) -> Any:
    if isinstance(kind, type) and issubclass(kind, PurePath) and isinstance(value, str):
        return kind(value)
    raise TypeError(f"Expected `str`, got `{type(value).__name__}`")


def _write_custom_type(value: Any) -> Any:
    if isinstance(value, PurePath):
        return str(value)
    raise NotImplementedError(f"{type(value)!r} cannot be written as JSON")


def _shown(text: str) -> str:
    # A lone surrogate cannot be written to the CLI.
    return text.encode("utf-8", "backslashreplace").decode()


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
