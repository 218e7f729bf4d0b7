"""The fields of an MCP server's form, and the validation of typed values. Pure.

A form is a flat JSON schema: texts, numbers, booleans, single and multiple choices. Other
constraints of a schema are not checked here; the server validates the answer again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

__all__ = ["Field", "Misfit", "fields_of"]

YES = {"y", "yes", "true"}
NO = {"n", "no", "false"}
EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
FORMATS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "email": ("an email address", lambda text: EMAIL.fullmatch(text) is not None),
    "uri": ("a URI such as https://example.org", lambda text: URI.fullmatch(text) is not None),
    "date": ("a date such as 2026-01-31", lambda text: _is_valid(date.fromisoformat, text)),
    "date-time": ("a time such as 2026-01-31T12:00:00Z", lambda text: _is_valid(_date_time, text)),
}


class Misfit(Exception):
    """The typed text is not a valid value of the field; the message says what is valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a form."""

    name: str
    schema: Mapping[str, Any]
    required: bool

    @property
    def title(self) -> str:
        """The title, or the name."""
        title = self.schema.get("title")
        return title if isinstance(title, str) and title else self.name

    @property
    def description(self) -> str:
        """The description, or ""."""
        description = self.schema.get("description")
        return description if isinstance(description, str) else ""

    @property
    def several(self) -> bool:
        """Whether several choices may be selected."""
        return self.schema.get("type") == "array"

    @property
    def choices(self) -> list[tuple[Any, str]]:
        """The values that can be chosen, with their labels; empty if any value can be typed."""
        schema = self.schema.get("items") if self.several else self.schema
        schema = schema if isinstance(schema, Mapping) else {}
        for key in ("oneOf", "anyOf"):
            if isinstance(schema.get(key), list):
                options = [option for option in schema[key] if isinstance(option, Mapping)]
                return [
                    (option["const"], str(option.get("title", option["const"])))
                    for option in options
                    if "const" in option
                ]
        values = schema.get("enum")
        if not isinstance(values, list):
            return []
        labels = schema.get("enumNames")
        labels = labels if isinstance(labels, list) and len(labels) == len(values) else values
        return [(value, str(label)) for value, label in zip(values, labels, strict=True)]

    @property
    def default(self) -> Any:
        """The value that an empty line selects, or None."""
        return self.schema.get("default")

    @property
    def hint(self) -> str:
        """A short description of what may be typed."""
        kind = self.schema.get("type")
        if self.choices:
            kind_hint = "numbers, with commas" if self.several else "a number"
        elif kind == "boolean":
            kind_hint = "yes or no"
        elif kind in ("integer", "number"):
            kind_hint = "a whole number" if kind == "integer" else "a number"
        else:
            known_format = FORMATS.get(str(self.schema.get("format")))
            kind_hint = known_format[0] if known_format is not None else "text"
        if self.default is not None:
            return f"{kind_hint}; Enter: {json.dumps(self.default, ensure_ascii=False)}"
        return kind_hint if self.required else f"{kind_hint}; Enter leaves it out"

    def parse(self, typed: str) -> Any:
        """The value of the typed text; None omits the field. Raises `Misfit`."""
        text = typed.strip()
        if not text:
            if self.default is None and self.required:
                raise Misfit("this field is required")
            return self.default
        if self.several:
            return self._several(text)
        if self.choices:
            return self._choice(text)
        kind = self.schema.get("type")
        if kind == "boolean":
            return _yes_or_no(text)
        if kind in ("integer", "number"):
            return self._number(text, is_integer=kind == "integer")
        return self._text(text)

    def _several(self, text: str) -> list[Any]:
        chosen = [self._choice(part.strip()) for part in text.split(",") if part.strip()]
        values = list(dict.fromkeys(chosen))
        least, most = self.schema.get("minItems"), self.schema.get("maxItems")
        if isinstance(least, int) and len(values) < least:
            raise Misfit(f"choose at least {least}")
        if isinstance(most, int) and len(values) > most:
            raise Misfit(f"choose at most {most}")
        return values

    def _choice(self, text: str) -> Any:
        choices = self.choices
        if not choices:
            return text
        if text.isascii() and text.isdigit() and 1 <= int(text) <= len(choices):
            return choices[int(text) - 1][0]
        for value, label in choices:
            if text in (str(value), label):
                return value
        raise Misfit(f"choose 1 to {len(choices)}")

    def _number(self, text: str, *, is_integer: bool) -> int | float:
        try:
            value = int(text) if is_integer else _finite(text)
        except ValueError:
            raise Misfit("type a whole number" if is_integer else "type a number") from None
        least, most = self.schema.get("minimum"), self.schema.get("maximum")
        if isinstance(least, int | float) and value < least:
            raise Misfit(f"not less than {least}")
        if isinstance(most, int | float) and value > most:
            raise Misfit(f"not more than {most}")
        return value

    def _text(self, text: str) -> str:
        least, most = self.schema.get("minLength"), self.schema.get("maxLength")
        if isinstance(least, int) and len(text) < least:
            raise Misfit(f"at least {least} characters")
        if isinstance(most, int) and len(text) > most:
            raise Misfit(f"at most {most} characters")
        known_format = FORMATS.get(str(self.schema.get("format")))
        if known_format is not None and not known_format[1](text):
            raise Misfit(f"type {known_format[0]}")
        return text


def fields_of(schema: Mapping[str, Any] | None) -> list[Field]:
    """The fields of a form, in the order of its schema."""
    properties = (schema or {}).get("properties")
    required = (schema or {}).get("required")
    required_names = set(map(str, required)) if isinstance(required, list) else set()
    if not isinstance(properties, Mapping):
        return []
    return [
        Field(
            name=name,
            schema=property_ if isinstance(property_, Mapping) else {},
            required=name in required_names,
        )
        for name, property_ in properties.items()
    ]


def _yes_or_no(text: str) -> bool:
    answer = text.lower()
    if answer not in YES | NO:
        raise Misfit("type yes or no")
    return answer in YES


def _finite(text: str) -> float:
    value = float(text)
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(text)
    return value


def _is_valid(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def _date_time(text: str) -> datetime:
    if "T" not in text.upper():
        raise ValueError(text)
    return datetime.fromisoformat(text)
