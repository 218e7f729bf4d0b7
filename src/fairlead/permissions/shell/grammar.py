"""Reads a command line with the bash grammar of tree-sitter, the one the CLI itself uses.

A node type that is not named here is a doubt: the reader knows what it accepts, not what it
refuses. As a second opinion, the words found must be those that Python's shlex finds.
Pure, but imports a native library: only `commands` imports this, and only when needed.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from fairlead.permissions.shell.commands import CommandLine, Redirect, SimpleCommand, Word
from fairlead.permissions.shell.text import can_be_parsed, is_too_long, loses_text, unreadable
from fairlead.permissions.shell.words import read_word

__all__ = ["read_line"]

_PARSER = Parser(Language(tree_sitter_bash.language()))

_MAX_DEPTH = 60
"""Deeper nesting is a doubt; it also keeps the recursion far from Python's own limit."""

_MAX_COMMANDS, _MAX_WORDS, _MAX_NODES = 100, 300, 5_000
"""A line with more is doubtful: users do not read it completely, and parsing must stay fast."""

_CONTAINERS = frozenset(("program", "list", "pipeline"))
_CONTROL_FLOW = frozenset(
    (
        "negated_command",
        "if_statement",
        "elif_clause",
        "else_clause",
        "while_statement",
        "for_statement",
        "do_group",
    )
)
_COMPOUND = frozenset(("if_statement", "while_statement", "for_statement"))
_HIDING = {
    "subshell": "a subshell in parentheses",
    "compound_statement": "a group in braces",
    "function_definition": "a function definition",
    "case_statement": "a case statement",
    "c_style_for_statement": "an arithmetic loop",
    "command_substitution": "a command substitution",
    "process_substitution": "a process substitution",
    "expansion": "a parameter expansion",
    "simple_expansion": "a variable",
    "arithmetic_expansion": "arithmetic",
    "variable_assignment": "a variable assignment",
    "variable_assignments": "a variable assignment",
    "ansi_c_string": "an ANSI-C string",
    "translated_string": "a translated string",
}
_WORDS = frozenset(("word", "string", "raw_string", "number", "concatenation", "variable_name"))
_SILENT = frozenset(("heredoc_start", "heredoc_end", "file_descriptor", "heredoc_content"))
_TOKEN_FEATURES = {"|&": "pipe-stderr", "!": "control-flow"}

_CODED_CHARACTER = re.compile(r"\$'[^']*\\[xuUc0-7]")
_QUOTED_DELIMITER = re.compile(r"'[^'\n]+'|\"[^\"\n]+\"")
"""The end of a here-document that the shell does not expand; in `<<"E` the quote is open (CLI-1544)."""
_BEFORE_FUNCTION = re.compile(r"(?<!\S)(\S++)[ \t]++(?=[\w-]++[ \t]*+\(\))")
"""The word before `name()`. It starts only at a word, so that it takes linear time."""


_RESERVED = frozenset(
    [
        "case",
        "coproc",
        "do",
        "done",
        "elif",
        "else",
        "esac",
        "fi",
        "for",
        "function",
        "if",
        "in",
        "select",
        "then",
        "until",
        "while",
    ]
)
"""Words that start a command only if the grammar has misread the line."""


class _TooMuch(Exception):
    """The line has more parts than are looked at."""


@dataclass(slots=True)
class _Reader:
    source: bytes
    commands: list[SimpleCommand] = field(default_factory=list)
    segments: list[int] = field(default_factory=list)
    hidden: list[SimpleCommand] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    features: set[str] = field(default_factory=set)
    variables: dict[str, str] = field(default_factory=dict)
    recovered: set[int] = field(default_factory=set)
    broken: bool = False
    depth: int = 0
    segment: int = 0
    nodes: int = 0
    words: int = 0

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode()

    def doubt(self, words: str) -> None:
        if words not in self.doubts:
            self.doubts.append(words)

    def visit(self, node: Node, hidden: bool) -> None:
        self.depth += 1
        self.nodes += 1
        if self.nodes > _MAX_NODES:
            raise _TooMuch
        if self.depth > _MAX_DEPTH:
            self.doubt("it is nested too deeply")
        elif node.is_error or node.is_missing:
            self.broken = True
            self.doubt("it is not complete, or not bash")
            self.children(node, hidden)
        else:
            self.visit_known(node, hidden)
        self.depth -= 1

    def visit_known(self, node: Node, hidden: bool) -> None:
        kind = node.type
        if kind in ("command", "declaration_command", "unset_command"):
            self.command(node, hidden)
        elif kind == "redirected_statement":
            self.redirected(node, hidden)
        elif kind == "test_command":
            self.test(node, hidden)
        elif kind in _CONTAINERS or kind in _CONTROL_FLOW:
            self.note_control_flow(node)
            self.children(node, hidden)
        elif kind in _HIDING:
            self.doubt(f"it contains {_HIDING[kind]}")
            self.remember(node)
            self.children(node, hidden=True)
        elif kind == "comment":
            self.features.add("comment")
            self.note_comment(node)
        elif kind in _WORDS:
            self.word(node, hidden)
        elif not node.is_named:
            self.token(kind)
        elif kind not in _SILENT:
            self.doubt(f"it contains something unknown ({kind})")
            self.children(node, hidden=True)

    def note_comment(self, node: Node) -> None:
        """2.1.325 asks about a comment behind a redirection or inside a list (CLI-1725, CLI-1730)."""
        line_start = self.source.rfind(b"\n", 0, node.start_byte) + 1
        before = self.source[line_start : node.start_byte]
        if b"<" in before or b">" in before:
            self.features.add("unusual-comment")
        if self.source[: node.start_byte].rstrip().endswith((b"&", b"|")):
            self.features.add("unusual-comment")

    def note_control_flow(self, node: Node) -> None:
        if node.type in _COMPOUND:
            self.features.add("compound")
        if node.type in _CONTROL_FLOW:
            self.features.add("control-flow")
        if node.type == "for_statement":
            self.features.add("for-loop")
            if node.children[0].type == "select":
                self.doubt("it contains a select statement")

    def children(self, node: Node, hidden: bool) -> None:
        for child in node.children:
            self.visit(child, hidden)

    def token(self, kind: str) -> None:
        if kind == "&":
            self.doubt("it starts a background job")
        if kind in ("|", "|&"):
            self.segment += 1
        if kind in _TOKEN_FEATURES:
            self.features.add(_TOKEN_FEATURES[kind])

    def remember(self, node: Node) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if node.type == "variable_assignment" and name and value:
            word = read_word(value, self.source)
            if word.value is not None:
                self.variables[self.text(name)] = word.value

    def word(self, node: Node, hidden: bool) -> Word:
        self.words += 1
        if self.words > _MAX_WORDS:
            raise _TooMuch
        word = read_word(node, self.source, self.variables)
        for problem in word.problems:
            self.doubt(problem)
            self.broken = self.broken or "unknown" in problem or "not bash" in problem
        for nested in word.nested:
            self.visit(nested, hidden=True)
        if word.glob:
            self.features.add("glob")
        return Word(
            source=word.source,
            value=word.value,
            start=node.start_byte,
            glob=word.glob,
            guess=word.guess,
        )

    def command(self, node: Node, hidden: bool) -> None:
        assignments: list[tuple[str, Word]] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        for child in node.children:
            if child.type == "variable_assignment" and node.type == "command":
                assignments.append(self.assignment(child))
            elif child.type.endswith("_redirect"):
                redirects.extend(self.redirect(child, hidden))
            elif child.type == "command_name":
                words.extend(self.word(part, hidden) for part in child.children)
            elif node.type != "command":
                # `export A=1` and `unset A`: their words are spelled by special nodes.
                words.extend(self.declared(child, hidden))
            else:
                words.append(self.word(child, hidden))
        if hidden and words and words[0].source == "}":
            self.broken = True  # A line of its own may begin so, a substitution may not (CLI-1731).
        self.keep(self.build(node, words, assignments, redirects), hidden)

    def test(self, node: Node, hidden: bool) -> None:
        """`[ … ]` and `[[ … ]]`, as a command of that name."""
        self.features.add("control-flow")
        words: list[Word] = []
        waiting = list(reversed(node.children))
        while waiting:
            child = waiting.pop()
            if child.type in _WORDS or child.type in _HIDING:
                words.append(self.word(child, hidden))
            elif child.child_count and not child.is_error:
                waiting.extend(reversed(child.children))
            elif child.type.startswith("((") or child.is_error or child.is_missing:
                self.broken = True
                self.doubt("it is not complete, or not bash")
            else:
                text = self.text(child)
                words.append(Word(source=text, value=text, start=child.start_byte))
        source = self.text(node)
        self.keep(SimpleCommand(source=source, words=tuple(words)), hidden)

    def declared(self, node: Node, hidden: bool) -> list[Word]:
        if node.type == "variable_assignment":
            self.assignment(node)
            source = self.text(node)
            literal = re.fullmatch(r"[A-Za-z_]\w*=[\w./:@%+,-]*", source)
            if not literal:
                self.doubt("it contains a variable assignment")
            return [Word(source=source, value=source if literal else None, start=node.start_byte)]
        if node.is_named:
            return [self.word(node, hidden)]
        return [Word(source=node.type, value=node.type, start=node.start_byte)]

    def assignment(self, node: Node) -> tuple[str, Word]:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        operator = self.text(node)[len(self.text(name)) :] if name else ""
        if name is None or not operator.startswith("=") or name.type != "variable_name":
            self.doubt("it contains an unusual assignment")
        word = Word(source="", value="") if value is None else self.word(value, hidden=True)
        start = Word(source=word.source, value=word.value, start=node.start_byte, glob=word.glob)
        return self.text(name) if name else "", start

    def build(
        self,
        node: Node,
        words: list[Word],
        assignments: list[tuple[str, Word]],
        redirects: list[Redirect],
    ) -> SimpleCommand:
        if words and words[0].source in _RESERVED:
            self.broken = True
            self.doubt(f"it begins with the reserved word {words[0].source!r}")
        if not words:
            self.doubt("it contains a redirection without a command")
            return SimpleCommand(source="", words=(), redirects=tuple(redirects))
        start = assignments[0][1].start if assignments else words[0].start
        end = words[-1].start + len(words[-1].source.encode())
        source = self.source[start:end].decode()
        if any(redirect.start_byte < end for redirect in _redirect_nodes(node)):
            self.doubt("it has a redirection between its words")
        command = SimpleCommand(
            source=source.strip(),
            words=tuple(words),
            assignments=tuple(assignments),
            redirects=tuple(redirects),
        )
        self.second_opinion(command)
        return command

    def second_opinion(self, command: SimpleCommand) -> None:
        values = [word.value for word in command.words]
        if None in values:
            return
        try:
            # shlex keeps an escaped newline between words; the shell drops it.
            text = re.sub(r"(?<=[ \t])\\\n", " ", command.text_from(0))
            split_words = shlex.split(text, posix=True)
        except ValueError:
            self.doubt("its quotes do not match")
            return
        if split_words != values:
            self.doubt("its words can be read in two ways")

    def keep(self, command: SimpleCommand, hidden: bool) -> None:
        if hidden:
            self.hidden.append(command)
        else:
            self.commands.append(command)
            self.segments.append(self.segment)
        if len(self.commands) + len(self.hidden) > _MAX_COMMANDS:
            raise _TooMuch

    def redirected(self, node: Node, hidden: bool) -> None:
        before = len(self.hidden if hidden else self.commands)
        redirects: list[Redirect] = []
        for child in node.children:
            if child.type.endswith("_redirect"):
                redirects.extend(self.redirect(child, hidden))
            else:
                if child.type in _CONTROL_FLOW:
                    self.features.add("redirected-control-flow")
                self.visit(child, hidden)
                self.lost_dash(child, hidden)
                before = max(before, len(self.hidden if hidden else self.commands))
        target = self.hidden if hidden else self.commands
        if before == 0 or not target:
            self.doubt("it contains a redirection without a command")
            self.keep(SimpleCommand(source="", words=(), redirects=tuple(redirects)), hidden)
            return
        last = target[before - 1]
        target[before - 1] = SimpleCommand(
            source=last.source,
            words=last.words,
            assignments=last.assignments,
            redirects=last.redirects + tuple(redirects),
        )

    def lost_dash(self, node: Node, hidden: bool) -> None:
        """The grammar loses the dash of `python3 - <<'E'`: put it back (rec perm_suggestions)."""
        target = self.hidden if hidden else self.commands
        following = node.next_sibling
        if node.type != "command" or following is None or not target:
            return
        between = self.source[node.end_byte : following.start_byte]
        if between.strip() != b"-":
            return
        start = node.end_byte + between.index(b"-")
        self.recovered.add(start)
        last = target[-1]
        target[-1] = SimpleCommand(
            source=last.source + " -",
            words=(*last.words, Word(source="-", value="-", start=start)),
            assignments=last.assignments,
            redirects=last.redirects,
        )

    def redirect(self, node: Node, hidden: bool) -> list[Redirect]:
        operator = next((child.type for child in node.children if not child.is_named), "")
        if node.type == "heredoc_redirect":
            return self.heredoc(node, hidden)
        if node.type == "herestring_redirect":
            self.features.add("here-string")
            for child in node.children:
                if child.is_named:
                    self.word(child, hidden)
            return [Redirect(operator=operator)]
        if operator.startswith("&"):
            self.features.add("and-redirect")
        if operator == "<":
            self.features.add("input-redirect")
        targets = [
            child for child in node.children if child.is_named and child.type != "file_descriptor"
        ]
        if len(targets) != 1 or operator not in (">", ">>", "<", ">&", "<&", "&>", "&>>", ">|"):
            self.doubt("it has an unusual redirection")
        words = [self.word(child, hidden) for child in targets]
        if any(word.glob for word in words):
            self.doubt("a redirection names its file with a pattern")
        if any(char in (word.value or "") for word in words for char in "$`"):
            self.doubt("a redirection names a file with a dollar sign or backtick")
        streams = (self.text(child) for child in node.children if child.type == "file_descriptor")
        stream = next(streams, "")
        return [Redirect(operator=operator, target=word, stream=stream) for word in words]

    def heredoc(self, node: Node, hidden: bool) -> list[Redirect]:
        redirects: list[Redirect] = [Redirect(operator="<<")]
        for child in node.children:
            if child.type == "heredoc_start":
                if not _QUOTED_DELIMITER.fullmatch(self.text(child)):
                    self.doubt("it has a here-document that the shell expands")
            elif child.type == "heredoc_end":
                if self.source[child.end_byte : child.end_byte + 1] not in (b"", b"\n"):
                    # `E || ls` does not end the document, whatever the grammar says (CLI-1725).
                    self.doubt("the end of a here-document is unclear")
            elif child.type == "file_redirect":
                redirects.extend(self.redirect(child, hidden))
            elif child.type == "heredoc_body":
                for part in child.children:
                    if part.is_named:
                        self.visit(part, hidden=True)
            elif child.is_named and child.type not in _SILENT:
                # What follows the here-document on its line, as in `cat <<'A' | sh`.
                self.doubt("a command follows its here-document")
                self.visit(child, hidden)
        return redirects


def _hides_characters(text: str) -> bool:
    """Whether $'\\x72m' spells characters by their codes, or a function follows an assignment."""
    if _CODED_CHARACTER.search(text):
        return True
    return any("=" in match[1] for match in _BEFORE_FUNCTION.finditer(text))


def _redirect_nodes(node: Node) -> list[Node]:
    return [child for child in node.children if child.type.endswith("_redirect")]


def read_line(text: str) -> CommandLine:
    """The command line in `text`; see `commands.parse_command`."""
    reader = _Reader(text.encode("utf-8", "surrogatepass"))
    problem = unreadable(text)
    if problem:
        reader.doubt(problem)
    too_long = is_too_long(text)
    if can_be_parsed(text):
        root = _PARSER.parse(reader.source).root_node
        try:
            reader.visit(root, hidden=False)
        except _TooMuch:
            too_long = True
            reader.doubt("it is too long to analyze")
        else:
            if loses_text(root, reader.source, reader.recovered):
                reader.doubt("the grammar lost a part of it")
    if re.search(r"\n[ \t]*\n|\A\s*\n", text):
        reader.features.add("blank-line")
    return CommandLine(
        text=text,
        commands=tuple(reader.commands),
        hidden=tuple(reader.hidden),
        doubts=tuple(reader.doubts),
        features=frozenset(reader.features),
        segments=tuple(reader.segments),
        broken=reader.broken or _hides_characters(text),
        too_long=too_long,
    )
