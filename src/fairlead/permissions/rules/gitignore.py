"""Gitignore patterns, matched in linear time. Pure.

Patterns come from repositories and settings files, so their cost must be bounded: no pattern is
turned into a backtracking regular expression. Each one is a small automaton whose set of states
is one integer, advanced once per character. A pattern of m and a path of n characters take n
steps on an integer of m bits, whatever the pattern says.

The meaning of a pattern is that of `git check-ignore`, and the tests compare the two.
Neighbors: `paths` uses it for permission rules, `server/http/search/file_search` for `.gitignore` files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

__all__ = ["IgnoreList", "PathPattern", "compiled"]

LONGEST = 4_096
"""Characters of a pattern or a path; the kernel allows no longer path, so no longer one matches."""

_MASKS = 1_000
"""Characters whose masks one pattern keeps."""

_POSIX_CLASSES: dict[str, Callable[[str], bool]] = {
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "blank": lambda char: char in " \t",
    "cntrl": lambda char: ord(char) < 32 or ord(char) == 127,
    "digit": str.isdigit,
    "graph": lambda char: 32 < ord(char) < 127,
    "lower": str.islower,
    "print": lambda char: 32 <= ord(char) < 127,
    "punct": lambda char: 32 < ord(char) < 127 and not char.isalnum(),
    "space": lambda char: char in " \t\n\v\f\r",
    "upper": str.isupper,
    "xdigit": lambda char: char in "0123456789abcdefABCDEF",
}


class PathPattern:
    """One pattern. Paths are relative, have single slashes and do not end with one."""

    __slots__ = ("_automaton", "_body", "_literal", "anchored", "dir_only", "negated", "valid")

    def __init__(self, line: str, *, unclosed_is_literal: bool = False) -> None:
        """`unclosed_is_literal` reads a `[` without a `]` as a character; git matches nothing."""
        self.negated = line.startswith("!")
        body = line[1:] if self.negated else line
        self.dir_only = body.endswith("/")
        body = body[:-1] if self.dir_only else body
        self.anchored = "/" in body
        self._body = body.removeprefix("/")
        self.valid = bool(self._body) and len(line) <= LONGEST and not line.startswith("#")
        self._literal = self.valid and not any(char in self._body for char in "*?[\\")
        self._automaton: _Automaton | None = None
        if self.valid and not self._literal:
            tokens = _tokens(self._body, self.anchored, unclosed_is_literal)
            self._automaton = None if tokens is None else _Automaton(tokens)
            self.valid = tokens is not None

    @property
    def literal_name(self) -> str | None:
        """The one file name that the pattern stands for, if it is that simple."""
        return self._body if self._literal and not self.anchored else None

    def matches(self, path: str, *, is_dir: bool) -> bool:
        """Whether the pattern matches this very path; a path below a match is no match."""
        if not self.valid or (self.dir_only and not is_dir):
            return False
        text = path if self.anchored else path[path.rfind("/") + 1 :]
        if self._automaton is None:
            return text == self._body
        return self._automaton.accepts(text)

    def covers(self, path: str) -> bool:
        """Whether the pattern matches the path or a directory above it."""
        if not self.valid or len(path) > LONGEST:
            return False
        if self._automaton is None:
            if self.anchored:
                return path == self._body or path.startswith(self._body + "/")
            return f"/{self._body}/" in f"/{path}/"
        if self.anchored:
            return self._automaton.accepts(path, below=True)
        return any(self._automaton.accepts(name) for name in set(path.split("/")))


class IgnoreList:
    """The patterns of one `.gitignore`, the last match wins."""

    def __init__(self, text: str, most: int = 10_000) -> None:
        """Read the text of the file; patterns beyond `most` are not read."""
        names: dict[str, list[tuple[int, PathPattern]]] = {}
        others: list[tuple[int, PathPattern]] = []
        for number, line in enumerate(_lines(text)):
            if number >= most:
                break
            pattern = PathPattern(line)
            if not pattern.valid:
                continue
            if pattern.literal_name is None:
                others.append((number, pattern))
            else:
                names.setdefault(pattern.literal_name, []).append((number, pattern))
        # Most lines of a real file are plain names: one look-up answers for all of them.
        self._names = names
        self._others = others[::-1]

    def verdict(self, path: str, *, is_dir: bool) -> bool | None:
        """True: ignored. False: explicitly not. None: the file says nothing about this path."""
        name = path[path.rfind("/") + 1 :]
        best, ignored = -1, None
        for number, pattern in reversed(self._names.get(name, ())):
            if is_dir or not pattern.dir_only:
                best, ignored = number, not pattern.negated
                break
        for number, pattern in self._others:
            if number < best:
                break
            if pattern.matches(path, is_dir=is_dir):
                return not pattern.negated
        return ignored


@lru_cache(maxsize=512)
def compiled(pattern: str) -> PathPattern:
    """A pattern of a permission rule, kept for the next call."""
    return PathPattern(pattern, unclosed_is_literal=True)


def _lines(text: str) -> Iterable[str]:
    for raw in text.removeprefix("\ufeff").split("\n"):
        if raw.startswith("#"):
            continue
        line = _without_trailing_blanks(raw.removesuffix("\r"))
        if line:
            yield line


def _without_trailing_blanks(line: str) -> str:
    stripped = line.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    # A backslash keeps the one blank behind it.
    return line[: len(stripped) + 1] if backslashes % 2 and stripped != line else stripped


_Token = tuple[str, object]


def _tokens(body: str, anchored: bool, unclosed_is_literal: bool) -> list[_Token] | None:
    """The pattern as tokens; None if it can match nothing."""
    tokens: list[_Token] = []
    at, end, unclosed = 0, len(body), False
    while at < end:
        char = body[at]
        if char == "*":
            after = at
            while after < end and body[after] == "*":
                after += 1
            tokens += _star(body, at, after, anchored)
            if tokens[-1][0] == "folders":
                after += 1  # The slash belongs to it.
            at = after
        elif char == "[":
            # Behind one that is not closed none is: looking again would take square time.
            parsed = None if unclosed else _bracket(body, at)
            unclosed = parsed is None
            if parsed is None and not unclosed_is_literal:
                return None
            tokens.append(("char", "[") if parsed is None else ("class", parsed[0]))
            at = at + 1 if parsed is None else parsed[1]
        elif char == "\\":
            if at + 1 == end:
                return None
            tokens.append(("char", body[at + 1]))
            at += 2
        else:
            tokens.append(("any", None) if char == "?" else ("char", char))
            at += 1
    return _merged(tokens)


def _star(body: str, at: int, after: int, anchored: bool) -> list[_Token]:
    alone = anchored and after - at > 1 and (at == 0 or body[at - 1] == "/")
    if alone and after == len(body):
        return [("any", None), ("rest", None)]
    if alone and body[after] == "/":
        return [("folders", None)]
    return [("star", None)]


def _merged(tokens: list[_Token]) -> list[_Token]:
    """Without repeated stars, so that few tokens in a row can match nothing at all."""
    merged: list[_Token] = []
    for token in tokens:
        if not (merged and token == merged[-1] and token[0] in ("star", "folders", "rest")):
            merged.append(token)
    return merged


def _bracket(body: str, start: int) -> tuple[_Class, int] | None:
    """A bracket expression and where it ends; None if it is not closed."""
    at = start + 1
    negated = at < len(body) and body[at] in "!^"
    at += negated
    first = at
    singles: set[str] = set()
    ranges: list[tuple[str, str]] = []
    kinds: list[str] = []
    while at < len(body) and (body[at] != "]" or at == first):
        if body.startswith("[:", at):
            close = body.find(":]", at + 2, at + 12)
            if close >= 0:
                kind = body[at + 2 : close]
                if kind not in _POSIX_CLASSES:
                    return None
                kinds.append(kind)
                at = close + 2
                continue
        at += body[at] == "\\"
        low, at = body[at : at + 1], at + 1
        if body[at : at + 1] == "-" and body[at + 1 : at + 2] not in ("", "]"):
            at += 1
            at += body[at] == "\\"
            high, at = body[at : at + 1], at + 1
            ranges.append((low, high))
        singles.add(low)  # Also of a range that runs backwards, as in git.
    if at >= len(body) or "" in singles:
        return None
    return _Class(
        negated, frozenset(singles), tuple(dict.fromkeys(ranges)), tuple(set(kinds))
    ), at + 1


class _Class:
    __slots__ = ("_kinds", "_negated", "_ranges", "_singles")

    def __init__(
        self,
        negated: bool,
        singles: frozenset[str],
        ranges: tuple[tuple[str, str], ...],
        kinds: tuple[str, ...],
    ) -> None:
        self._negated, self._singles, self._ranges, self._kinds = negated, singles, ranges, kinds

    def has(self, char: str) -> bool:
        if char == "/":
            return False
        matches = (
            char in self._singles
            or any(low <= char <= high for low, high in self._ranges)
            or any(_POSIX_CLASSES[kind](char) for kind in self._kinds)
        )
        return matches != self._negated


class _Automaton:
    """Bit i of a state: the tokens before i have matched what was read so far."""

    __slots__ = (
        "_accepting", "_classes", "_everything", "_folders", "_head", "_literals", "_loops", "_masks",
        "_name", "_only_star", "_skipped", "_tail",
    )  # fmt: skip

    def __init__(self, tokens: list[_Token]) -> None:
        self._accepting = 1 << len(tokens)
        self._literals: dict[str, int] = {}
        self._masks: dict[str, int] = {}
        """Character -> the tokens that consume it and step on; filled as characters come."""
        self._name = self._everything = self._loops = self._folders = self._skipped = 0
        self._classes: list[tuple[int, _Class]] = []
        for number, (kind, value) in enumerate(tokens):
            bit = 1 << number
            if kind == "char":
                self._literals[str(value)] = self._literals.get(str(value), 0) | bit
            elif kind == "any":
                self._name |= bit
            elif isinstance(value, _Class):
                self._classes.append((bit, value))
            elif kind == "star":
                self._loops |= bit  # Stays on every character of a name.
                self._skipped |= bit
            else:
                self._everything |= bit  # Stays on every character.
                if kind == "folders":
                    self._folders |= bit  # Left only where a name begins.
                else:
                    self._skipped |= bit
        kinds = [kind for kind, _ in tokens]
        star = next((at for at, kind in enumerate(kinds) if kind != "char"), len(kinds))
        self._head = "".join(str(value) for _, value in tokens[:star])
        last = next((at for at, kind in enumerate(kinds[::-1]) if kind != "char"), len(kinds))
        self._tail = "".join(str(value) for _, value in tokens[len(kinds) - last :])
        self._only_star = kinds[star : len(kinds) - last] == ["star"]

    def accepts(self, text: str, *, below: bool = False) -> bool:
        """Whether the tokens match the text, or with `below` a directory above it."""
        if len(text) > LONGEST or not text.startswith(self._head):
            return False
        if not below:
            # Most patterns are told from most names by their ends.
            if not text.endswith(self._tail):
                return False
            if self._only_star:
                between = len(text) - len(self._head) - len(self._tail)
                return (
                    between >= 0 and "/" not in text[len(self._head) : len(text) - len(self._tail)]
                )
        return self._run(text, below)

    def _run(self, text: str, below: bool) -> bool:
        state = self._closed(1, True)
        for char in text:
            if below and char == "/" and state & self._accepting:
                return True
            mask = self._masks.get(char)
            if mask is None:
                if len(self._masks) >= _MASKS:
                    self._masks.clear()
                mask = self._masks[char] = self._mask(char)
            stay = self._everything if char == "/" else self._everything | self._loops
            state = ((state & mask) << 1) | (state & stay)
            if not state:
                return False
            state = self._closed(state, char == "/")
        return bool(state & self._accepting)

    def _closed(self, state: int, boundary: bool) -> int:
        """With the states that are reached without a character."""
        skipped = self._skipped | self._folders if boundary else self._skipped
        while True:
            more = state | ((state & skipped) << 1)
            if more == state:
                return state
            state = more

    def _mask(self, char: str) -> int:
        mask = self._literals.get(char, 0) | (0 if char == "/" else self._name)
        for bit, one in self._classes:
            if one.has(char):
                mask |= bit
        return mask
