"""Every function that reads text of a model, a repository, a file, a CLI or a client.

`bound` is the longest text that reaches it inside the event loop, where it has 50 ms. A function
that runs only in a thread or in another process has no bound, but must take linear time too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairlead.errors import FairleadError
from fairlead.git.formats.changed import parse_changed
from fairlead.git.formats.patch import added_file, parse_patch
from fairlead.git.formats.status import parse_status
from fairlead.host.process.exits import hint
from fairlead.permissions import RuleBook, ToolCall, check, suggestions
from fairlead.permissions.choices import always_choices
from fairlead.permissions.rules.domains import domain_matches, is_documentation
from fairlead.permissions.rules.gitignore import IgnoreList, PathPattern
from fairlead.permissions.rules.mcp_names import allows_mcp, catches_mcp
from fairlead.permissions.rules.paths import PathContext
from fairlead.permissions.rules.rule import Rule
from fairlead.permissions.rules.settings import read_settings
from fairlead.permissions.shell.grammar import read_line
from fairlead.permissions.shell.rules import matches_text
from fairlead.server.access.names import plain_name
from fairlead.server.access.requests.proxies import TrustedProxies
from fairlead.server.http.mentions import mentioned
from fairlead.server.http.raw_log import kind_of
from fairlead.server.http.search.file_search import fit
from fairlead.server.redaction import redacted
from fairlead.server.view.export import markdown_parts
from fairlead.server.view.previews import shortened
from fairlead.store.cli_files.transcript_file import read_records, scan
from fairlead.store.log import Event
from fairlead.store.tables.search import entries, expression
from fairlead.transcript.history.branch import seconds
from fairlead.transcript.history.reader import history
from fairlead.transcript.history.records import notification
from fairlead.transcript.reducers.commands import is_output, printed, typed
from fairlead.transcript.transcript import Transcript
from fairlead.wire.decode import decode
from fairlead.wire.framing import LineSplitter
from fairlead.wire.json_text import NotJson, parse, write
from fairlead.wire.updates import read
from fairlead.wire.versions import Version

__all__ = ["PARSERS", "Parser"]

KIB = 1024
PLACE = PathContext(cwd="/ship/project", home="/home/me")
BOOK = RuleBook.of(
    allow=[
        "Bash(npm run *)",
        "Bash(a*b*c*d)",
        "Read(src/**/*.py)",
        "WebFetch(domain:*.example.com)",
    ],
    deny=["Bash(rm *)", "Bash(*x*y*z)", "Read(**/*.pem)", "Edit(/etc/**)"],
    ask=["Bash(git push:*)"],
)


@dataclass(frozen=True, slots=True)
class Parser:
    """One function, as the tests call it."""

    name: str
    run: Callable[[str], Any]
    bound: int | None = None
    """Characters; None if it never runs in the event loop."""
    declines_above: int | None = None
    """Characters above which it does not read the text to its end; None if it reads any text."""


def _tool(tool: str, field: str) -> Callable[[str], Any]:
    return lambda text: check(ToolCall(tool=tool, input={field: text}), BOOK, PLACE)


def _choices(text: str) -> None:
    call = ToolCall(tool="Bash", input={"command": text})
    rule = {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": text}],
            "behavior": "allow", "destination": "session"}  # fmt: skip
    always_choices(call, [rule], [call] * 100, RuleBook(), PLACE)


def _file(text: str, name: str = "x.jsonl") -> tuple[Path, str]:
    folder = Path(tempfile.gettempdir()) / "fairlead-timing"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8", errors="replace")
    return folder, name


def _settings(text: str) -> None:
    folder, name = _file(text, "settings.json")
    try:
        read_settings(str(folder / name))
    except FairleadError:
        pass


def _record(text: str) -> dict[str, Any]:
    return {
        "type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s", "timestamp": text[:40],
        "message": {"role": "user", "content": text},
    }  # fmt: skip


def _session_line(text: str) -> None:
    folder, name = _file(write(_record(text)).decode() + "\n" + text + "\n")
    scan(folder, name, None)
    transcript = Transcript()
    for fed, at in history(read_records(folder / name), []):
        transcript.feed(fed, at)


def _fed(subtype: str) -> Callable[[str], Any]:
    def feed(text: str) -> None:
        content = [{"type": "text", "text": text}]
        message = {"id": "m", "role": "assistant", "model": subtype, "content": content}
        transcript = Transcript()
        transcript.feed(decode(write({"type": "assistant", "message": message})), 0.0)
        user = {"type": "user", "message": {"role": "user", "content": text}, "isReplay": True}
        transcript.feed(decode(write(user)), 1.0)

    return feed


def _json(text: str) -> None:
    for candidate in (text, f'{{"type":{text}', f'{{"type":"user","a":"{text}"}}'):
        raw = candidate.encode("utf-8", "surrogatepass")
        try:
            parse(raw)
        except NotJson:
            pass
        decode(raw)


def _framed(text: str) -> None:
    splitter = LineSplitter()
    raw = text.encode("utf-8", "surrogatepass")
    for start in range(0, len(raw), 4096):
        splitter.feed(raw[start : start + 4096])
    splitter.finish()


def _logged(text: str) -> None:
    kind_of(Event(seq=1, at=0.0, direction="out", line=text.encode("utf-8", "surrogatepass")))


def _searched(text: str) -> None:
    expression(text)
    entries([{"id": "i", "kind": "text", "complete": True, "at": 0.0, "text": text}])


def _forwarded(text: str) -> None:
    """Headers have at most 64 KiB in all."""
    value = text.encode("latin-1", "replace")
    TrustedProxies(["127.0.0.1"]).read("127.0.0.1", [(b"x-forwarded-for", value)])


def _exported(text: str) -> None:
    transcript = Transcript()
    message = {"type": "user", "message": {"role": "user", "content": text}, "isReplay": True}
    transcript.feed(decode(write(message)), 0.0)
    content = [
        {"type": "text", "text": text},
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": text}},
    ]
    answer = {"id": "m", "role": "assistant", "model": "m", "content": content}
    transcript.feed(decode(write({"type": "assistant", "message": answer})), 1.0)
    for _ in markdown_parts(transcript.snapshot()):
        pass


def _ignored(text: str) -> None:
    IgnoreList(text[: 64 * KIB]).verdict("src/aaaaaaaaaaaaaaaaaaaab/main.py", is_dir=False)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


PARSERS = (
    Parser("a command line", read_line, 32 * KIB),
    Parser("a decision about a command", _tool("Bash", "command")),
    Parser("a decision about a file", _tool("Read", "file_path"), 32 * KIB),
    Parser("a decision about an edit", _tool("Edit", "file_path"), 32 * KIB),
    Parser("a decision about a page", _tool("WebFetch", "url"), 1024 * KIB, 8_000),
    Parser("the choices for always", _choices, None, 10_000),
    Parser("what a CLI suggests", lambda text: suggestions(ToolCall(tool="Bash", input={"command": text}), BOOK, PLACE)),
    Parser("a rule", lambda text: (Rule.parse(text).problem, str(Rule.parse(f"Bash({text})"))), 64 * KIB),
    Parser("a rule with stars", lambda text: matches_text(text, "a" * 300, "a b " * 100), 64 * KIB),
    Parser("a command under a rule with stars", lambda text: matches_text("*a*b*c *d*", text, text), 64 * KIB),
    Parser("a rule for MCP tools", lambda text: (catches_mcp("mcp__" + text, "mcp__a__b"), allows_mcp("mcp__a__" + text, "mcp__a__" + "a" * 99, None, globs=True)), 64 * KIB),
    Parser("a rule for pages", lambda text: (domain_matches("domain:" + text, "https://a.example.com/", generous=True), is_documentation(text)), 64 * KIB),
    Parser("a pattern for paths", lambda text: (PathPattern(text).matches("a" * 200, is_dir=False), PathPattern(text, unclosed_is_literal=True).covers("a/" * 100)), 1024 * KIB, 4_096),
    Parser("a path under a pattern", lambda text: PathPattern("**/*a*[!b]?/**/c*d").covers(text), 1024 * KIB, 4_096),
    Parser("a .gitignore file", _ignored, None, 64 * KIB),
    Parser("a status of git", lambda text: parse_status(_bytes(text.replace("a", "\0"))), 64 * KIB),
    Parser("a list of changed files", lambda text: parse_changed(_bytes(text.replace("a", "\0"))), 64 * KIB),
    Parser("a patch", lambda text: parse_patch(_bytes("@@ -1 +1 @@\n" + text), 3_000), 256 * KIB),
    Parser("a new file in a repository", lambda text: added_file(_bytes(text), 3_000), 256 * KIB),
    Parser("a settings file", _settings, 64 * KIB),
    Parser("a slash command in a session file", lambda text: (typed(text), typed("<command-name>" + text), printed("<local-command-stdout>" + text), is_output(text)), 256 * KIB),
    Parser("a notification in a session file", lambda text: notification(_record("<task-notification>" + text)), 256 * KIB),
    Parser("a time in a session file", lambda text: seconds({"timestamp": text}), 1024 * KIB),
    Parser("a session file", _session_line),
    Parser("the output of /context", _fed("<synthetic>"), 256 * KIB),
    Parser("words of a model", lambda text: _fed("m")("## Context Usage **Tokens:** 1k / 2k (3%)\n" + text), 256 * KIB),
    Parser("a line of a CLI", _json, 64 * KIB),
    Parser("bytes of a CLI", _framed, 256 * KIB),
    Parser("a version", lambda text: Version.parse(text), 64 * KIB),
    Parser("the last words of a CLI", lambda text: hint(1, text), 64 * KIB),
    Parser("a line of the log", redacted, 1024 * KIB, 16 * KIB),
    Parser("a stored line", _logged, 64 * KIB),
    Parser("a search", _searched),
    Parser("a long row", lambda text: shortened({"text": text, "list": [text[:100]] * 50}, 64 * KIB), 256 * KIB),
    Parser("characters of a file name", lambda text: fit(text[:200], "src/" + "a" * 250), None, 200),
    Parser("the mentions of a prompt", lambda text: list(mentioned(text))),
    Parser("a mention of a prompt", lambda text: list(mentioned("@" + text))),
    Parser("the name of a device", plain_name, 1024 * KIB, 4_096),
    Parser("the address of a client behind a proxy", _forwarded, 64 * KIB),
    Parser("a conversation as Markdown", _exported),
    Parser("a suggestion of a CLI", lambda text: read({"type": "addRules", "rules": [{"toolName": text, "ruleContent": text}], "behavior": text, "destination": text}), 1024 * KIB),
)  # fmt: skip
