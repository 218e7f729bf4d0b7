"""A shell command line, taken apart into the simple commands it runs.

`parse_command` gives a CommandLine for every text. What the grammar does not fully understand
is listed in `doubts`, and a line with a doubt is never let through by a rule; its `hidden`
commands are what was found inside substitutions, groups and the like, for deny rules to see.
Neighbors: `grammar` does the reading, `rules` and `command_paths` the judging.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

__all__ = ["CommandLine", "Redirect", "SimpleCommand", "Word", "parse_command"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word of a command, as written and as the shell would pass it on."""

    source: str
    value: str | None
    """What the program receives; None if that is known only when it runs."""
    start: int = 0
    """Where it begins in the line, in bytes."""
    glob: bool = False
    """Whether an unquoted `*`, `?` or `[` may turn it into file names."""
    guess: str | None = None
    """The likely value of a variable assigned on the same line: good enough to deny by."""

    @property
    def plain(self) -> str:
        """The value where nothing in it needs quoting, else the source."""
        value = self.value
        if value and not any(char.isspace() or char in "'\"\\;&|<>()$`#*?[]{}" for char in value):
            return value
        return self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """One redirection of a simple command."""

    operator: str
    target: Word | None = None
    """The file; None for here-documents and here-strings."""
    stream: str = ""
    """The number of the stream, as in `2>&1`; empty if it is not written."""

    @property
    def writes(self) -> bool:
        """Whether it may create or change a file."""
        return ">" in self.operator

    @property
    def duplicates(self) -> bool:
        """Whether it only joins two open streams, as `2>&1` does."""
        value = self.target.value if self.target else None
        return self.operator in (">&", "<&") and bool(value) and str(value).strip("-").isdigit()


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleCommand:
    """One program and its arguments, with the assignments before and the redirections after them."""

    source: str
    """The text as written, without redirections."""
    words: tuple[Word, ...]
    assignments: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[Redirect, ...] = ()

    def text_from(self, index: int) -> str:
        """The text as written, from one word on."""
        if index == 0 and not self.assignments:
            return self.source
        offset = self.words[index].start - self._start
        return self.source.encode()[offset:].decode()

    def plain_from(self, index: int, *, literal_arguments: bool = False) -> str:
        """The words from one on, one blank between them, without needless quotes.

        With literal arguments only the program's name is unquoted.
        """
        first, *rest = self.words[index:]
        arguments = [word.source if literal_arguments else word.plain for word in rest]
        return " ".join((first.plain, *arguments))

    @property
    def _start(self) -> int:
        first = self.assignments[0][1] if self.assignments else self.words[0]
        return first.start


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """A whole command line, as far as it was understood."""

    text: str
    commands: tuple[SimpleCommand, ...] = ()
    """What runs in the open, in order."""
    hidden: tuple[SimpleCommand, ...] = ()
    """What was found inside substitutions, groups, functions and strings for a shell."""
    doubts: tuple[str, ...] = ()
    """Why the line is not understood, in words; empty if it is."""
    features: frozenset[str] = frozenset()
    """What the line makes use of, for families that do not understand as much."""
    segments: tuple[int, ...] = ()
    """For each command the number of its stage in a pipeline."""
    broken: bool = False
    """Whether the grammar found an error, or a string that only the shell can decode."""
    too_long: bool = False
    """Whether it is so long that it was not looked at as a whole; that is a doubt as well."""

    @property
    def understood(self) -> bool:
        """Whether every program that will run, and every argument, is known."""
        return not self.doubts and bool(self.commands)

    @property
    def everything(self) -> tuple[SimpleCommand, ...]:
        """Each command that may run, in the open or not."""
        return self.commands + self.hidden


@lru_cache(maxsize=256)
def parse_command(text: str) -> CommandLine:
    """Take a command line apart. Never fails."""
    # The grammar is a native library: loaded at the first command, not with the package.
    from fairlead.permissions.shell.grammar import read_line

    return read_line(text)
