"""The value of one word of a shell command, as far as it can be known before it runs.

Knows quoting and escapes; does not know commands. Neighbor: `grammar`, the only caller.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

__all__ = ["WordReading", "read_word"]

_DYNAMIC = {
    "simple_expansion": "it contains a variable",
    "expansion": "it contains a parameter expansion",
    "command_substitution": "it contains a command substitution",
    "process_substitution": "it contains a process substitution",
    "arithmetic_expansion": "it contains arithmetic",
    "ansi_c_string": "it contains an ANSI-C string",
    "translated_string": "it contains a translated string",
}


_BRACES = re.compile(r"\{[^{}]*\}")


@dataclass(slots=True)
class WordReading:
    """What was found in one word."""

    source: str
    value: str | None
    guess: str | None = None
    glob: bool = False
    problems: list[str] = field(default_factory=list)
    nested: list[Node] = field(default_factory=list)
    """Substitutions inside the word, to be looked into for deny rules."""


def read_word(node: Node, source: bytes, variables: Mapping[str, str] | None = None) -> WordReading:
    """Read a word node; a value of None comes with at least one problem."""
    reading = WordReading(source[node.start_byte : node.end_byte].decode(), value=None)
    reading.value = _value(node, source, reading)
    if reading.value is None and not reading.problems:
        reading.problems.append(f"it contains something unknown ({node.type})")
    if node.type == "concatenation" and reading.source.startswith("~"):
        reading.problems.append("it has a tilde next to quotes")
    if node.type != "raw_string" and _expands_braces(reading.source):
        reading.problems.append("it contains a brace expansion")
    if reading.value is None:
        reading.guess = _guess(node, source, variables or {})
    return reading


def _expands_braces(text: str) -> bool:
    # First the groups, then what is in them: in one pattern each comma would scan the rest again.
    return any("," in group or ".." in group for group in _BRACES.findall(text))


def _value(node: Node, source: bytes, reading: WordReading) -> str | None:
    text = source[node.start_byte : node.end_byte].decode()
    kind = node.type
    if node.is_missing or node.is_error or node.has_error:
        reading.problems.append("it is not complete, or not bash")
        return None
    if kind in ("word", "number", "variable_name"):
        return _unquoted(text, node, reading)
    if kind == "raw_string":
        return text[1:-1]
    if kind == "string":
        return _double_quoted(node, text, reading)
    if kind == "concatenation":
        return _joined(node, source, reading)
    if kind in _DYNAMIC:
        reading.problems.append(_DYNAMIC[kind])
        reading.nested.extend(_substitutions(node))
        return None
    if not node.is_named and kind in ("{", "}", "[", "]", ",", "=", ":", "..", "+", "-", "%", "@"):
        if kind == "[":
            reading.glob = True
        return kind
    reading.problems.append(f"it contains something unknown ({kind})")
    reading.nested.extend(_substitutions(node))
    return None


def _unquoted(text: str, node: Node, reading: WordReading) -> str | None:
    if node.named_child_count:
        reading.problems.append("it contains something unknown (in a word)")
        reading.nested.extend(_substitutions(node))
        return None
    if re.search(r"\\\s", text):
        reading.problems.append("it has an escaped blank or a broken word")
    if re.search(r"\\\w", text):
        reading.problems.append("it has an escaped letter, which may hide a word")
    if text.startswith("="):
        # zsh, which may be the user's shell, reads `=ls` as the path of ls.
        reading.problems.append("a word begins with '='")
    if re.search(r"(?<!\\)[*?\[]", text):
        reading.glob = True
    return re.sub(r"\\(.)", r"\1", re.sub(r"\\\n", "", text), flags=re.DOTALL)


def _double_quoted(node: Node, text: str, reading: WordReading) -> str | None:
    # The grammar keeps no node for a blank at the edge of a string: take the text between
    # the quotes, which is right as long as nothing in it expands.
    for child in node.children:
        if child.is_named and child.type != "string_content":
            reading.problems.append(_DYNAMIC.get(child.type, "it contains an expansion"))
            reading.nested.extend(_substitutions(child))
    if not (text.startswith('"') and text.endswith('"') and len(text) > 1):
        reading.problems.append("it contains a translated string")
        return None
    if reading.problems:
        return None
    inner = text[1:-1]
    if re.search(r"(?<!\\)(?:\\\\)*[$`]", inner):
        reading.problems.append("it contains a dollar sign or backtick in a string")
        return None
    return re.sub(r"\\([\\\"$`])", r"\1", inner.replace("\\\n", ""))


def _joined(node: Node, source: bytes, reading: WordReading) -> str | None:
    parts: list[str | None] = []
    position = node.start_byte
    for child in node.children:
        if child.start_byte != position:
            reading.problems.append("its words can be read in two ways")
        position = child.end_byte
        parts.append(_value(child, source, reading))
    if any(part is None for part in parts):
        return None
    return "".join(part for part in parts if part is not None)


def _substitutions(node: Node) -> list[Node]:
    substitutions: list[Node] = []
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type in ("command_substitution", "process_substitution"):
            substitutions.append(current)
        else:
            waiting.extend(reversed(current.children))
    return substitutions


_ANSI_C = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_ANSI_C_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b"}


def _decoded(text: str) -> str:
    """The value of a string such as $'npm\\x20test', without the quotes."""

    def character(match: re.Match[str]) -> str:
        hexadecimal = match[1] or match[2]
        if hexadecimal or match[3]:
            return chr(int(hexadecimal or match[3], 16 if hexadecimal else 8))
        return _ANSI_C_LETTERS.get(match[4], match[4])

    return _ANSI_C.sub(character, text)


def _guess(node: Node, source: bytes, variables: Mapping[str, str]) -> str | None:
    if node.type == "ansi_c_string":
        return _decoded(source[node.start_byte + 2 : node.end_byte - 1].decode())
    if node.type != "simple_expansion":
        return None
    return variables.get(source[node.start_byte + 1 : node.end_byte].decode())
