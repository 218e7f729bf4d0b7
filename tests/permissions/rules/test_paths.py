"""Rules for files, by tools and by commands."""

from __future__ import annotations

import pytest

from fairlead.permissions import (
    CLASSIC,
    CURRENT,
    Behavior,
    Family,
    Mode,
    Reason,
    RuleBook,
    Scope,
    ToolCall,
)
from tests.permissions.checking import CWD, HOME, behavior_of, context, decide, tool

ALLOW, ASK, DENY = Behavior.ALLOW, Behavior.ASK, Behavior.DENY
OUTSIDE = "/ship/outside"


def denies(pattern: str, path: str, scope: Scope = Scope.PROJECT, file: str | None = None) -> bool:
    book = RuleBook.of(deny=[f"Read({pattern})"], scope=scope, file=file)
    return behavior_of(tool("Read", file_path=path), book) is DENY


@pytest.mark.parametrize("operator", [">", ">>", ">|", "2>", "&>", ">&"])
def test_P13_a_redirection_that_writes_asks(operator: str) -> None:
    assert behavior_of(f"echo x {operator} out.txt") is ASK


@pytest.mark.parametrize("command", ["ls 2>&1", "ls > /dev/null", "ls >/dev/null 2>&1", "ls 1>&2"])
def test_P13_a_redirection_that_writes_nothing_needs_no_right(command: str) -> None:
    assert behavior_of(command) is ALLOW


def test_P13_the_right_to_edit_a_file_is_the_right_to_redirect_to_it() -> None:
    book = RuleBook.of(allow=["Edit(src/**)"])
    assert behavior_of("echo x > src/o", book) is ALLOW
    assert behavior_of("echo x > o", book) is ASK
    assert behavior_of("echo x > o", RuleBook.of(mode=Mode.ACCEPT_EDITS)) is ALLOW
    assert behavior_of("echo x > ../o", RuleBook.of(mode=Mode.ACCEPT_EDITS)) is ASK
    assert behavior_of("npm x > o", RuleBook.of(mode=Mode.ACCEPT_EDITS)) is ASK


@pytest.mark.parametrize(
    "command",
    [
        f"cat {OUTSIDE}/x.txt",
        f"ls {OUTSIDE}",
        "ls ..",
        "cat ../x",
        "cat ~/.netrc",
        "cat /etc/passwd",
        f"cat '{OUTSIDE}/x.txt'",
        f"timeout 5 cat {OUTSIDE}/x.txt",
        f"cat a.txt {OUTSIDE}/x.txt",
        "cat < /etc/passwd",
        "cat --file=/etc/passwd",
        "cat -f/etc/passwd",
        "cat ~root/x",
        "cat */../../x",
    ],
)
def test_P14_a_rule_for_a_command_opens_no_file_outside(command: str) -> None:
    assert behavior_of(command, RuleBook.of(allow=["Bash(cat:*)", "Bash(ls:*)"])) is ASK


def test_P14_a_rule_for_reading_opens_files_to_commands() -> None:
    book = RuleBook.of(allow=[f"Read(/{OUTSIDE}/**)"])
    assert behavior_of(f"cat {OUTSIDE}/x.txt", book) is ALLOW
    assert behavior_of(f"ls {OUTSIDE}", book) is ALLOW
    assert behavior_of(f"ls {OUTSIDE}/..", book) is ASK


@pytest.mark.parametrize(
    "command",
    [
        "cat secret.txt",
        "cat ./secret.txt",
        "cat src/../secret.txt",
        'cat sec"ret.txt"',
        "grep x secret.txt",
        "head -n1 secret.txt",
        "cat < secret.txt",
        "cp secret.txt b",
        "cd src && cat ../secret.txt",
        "echo $(cat secret.txt)",
        "cat SECRET.TXT",
        "timeout 5 cat secret.txt",
        "ls; cat secret.txt",
    ],
)
def test_P14_a_file_that_may_not_be_read_may_not_be_read_by_a_command(command: str) -> None:
    assert behavior_of(command, RuleBook.of(allow=["Bash"], deny=["Read(./secret.txt)"])) is DENY


def test_P14_a_star_that_may_reach_a_denied_file_asks() -> None:
    book = RuleBook.of(deny=["Read(./secret.txt)"])
    assert behavior_of("cat *.txt", book) is ASK
    assert behavior_of("cat *.txt") is ALLOW


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("//etc/**", "/etc/hostname", True),
        ("/etc/**", "/etc/hostname", False),
        ("~/h.txt", f"{HOME}/h.txt", True),
        ("~/h.txt", f"{CWD}/h.txt", False),
        ("./secret.txt", f"{CWD}/secret.txt", True),
        ("secret.txt", f"{CWD}/secret.txt", True),
        ("secret.txt", "/elsewhere/secret.txt", False),
        (f"{CWD}/a.txt", f"{CWD}/a.txt", False),
        ("../x", "/ship/x", False),
        ("!secret.txt", f"{CWD}/a.txt", False),
    ],
)
def test_P16_a_pattern_starts_where_it_says(pattern: str, path: str, expected: bool) -> None:
    assert denies(pattern, path) is expected


@pytest.mark.parametrize(
    ("scope", "file", "root"),
    [
        (Scope.PROJECT, f"{CWD}/.claude/settings.json", CWD),
        (Scope.LOCAL, f"{CWD}/.claude/settings.local.json", CWD),
        (Scope.USER, f"{HOME}/.claude/settings.json", f"{HOME}/.claude"),
        (Scope.USER, None, f"{HOME}/.claude"),
        (Scope.FLAG, "/given/flags.json", "/given"),
        (Scope.SESSION, None, CWD),
        (Scope.CLI_ARG, None, CWD),
    ],
)
def test_P16_one_slash_starts_at_the_place_of_the_settings(
    scope: Scope, file: str | None, root: str
) -> None:
    assert denies("/d/**", f"{root}/d/q.txt", scope, file)
    elsewhere = HOME if root != HOME else CWD
    assert not denies("/d/**", f"{elsewhere}/d/q.txt", scope, file)


def test_P16_one_slash_in_settings_given_as_text_starts_nowhere() -> None:
    assert not denies("/d/**", f"{CWD}/d/q.txt", Scope.FLAG, None)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("secret.txt", "src/secret.txt", True),
        ("/secret.txt", "src/secret.txt", False),
        ("src/**", "src/a.py", True),
        ("src/**", "lib/src/a.py", True),
        ("src/**", "src", True),
        ("/src/**", "lib/src/a.py", False),
        ("src", "src/deep/b.py", True),
        ("src/", "src/a.py", True),
        ("foo/bar", "foo/bar/a.py", True),
        ("foo/bar/**", "lib/foo/bar/a.py", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("*.py", "src/deep/a.py", True),
        ("**/.env", "src/.env", True),
        ("a.?y", "a.py", True),
        ("[s]rc/a.py", "src/a.py", True),
        ("{src,sub}/a.py", "src/a.py", False),
        ("SRC/**", "src/a.py", True),
        ("**", "src/a.py", True),
        ("/**", "src/a.py", True),
        ("#x", "#x", False),
    ],
)
def test_P17_patterns_are_those_of_gitignore(pattern: str, path: str, expected: bool) -> None:
    assert denies(pattern, f"{CWD}/{path}") is expected


def test_P17_what_allows_minds_upper_and_lower_case() -> None:
    book = RuleBook.of(allow=["Read(//data/Open/**)"])
    assert behavior_of(tool("Read", file_path="/data/Open/x"), book) is ALLOW
    assert behavior_of(tool("Read", file_path="/data/open/x"), book) is ASK


def test_P18_to_deny_one_spelling_is_enough() -> None:
    at = context(links={f"{CWD}/link": OUTSIDE})
    book = RuleBook.of(allow=["Read"], deny=[f"Read(/{OUTSIDE}/**)"])
    assert behavior_of(tool("Read", file_path=f"{CWD}/link/x.txt"), book, at) is DENY
    assert behavior_of("cat link/x.txt", book, at) is DENY


def test_P18_to_allow_every_spelling_must_be_covered() -> None:
    at = context(links={f"{CWD}/link": OUTSIDE})
    link = tool("Read", file_path=f"{CWD}/link/x.txt")
    assert behavior_of(link, at=at) is ASK
    assert behavior_of(link, RuleBook.of(allow=["Read(link/**)"]), at) is ASK
    assert (
        behavior_of(link, RuleBook.of(allow=["Read(link/**)", f"Read(/{OUTSIDE}/**)"]), at) is ALLOW
    )
    assert behavior_of("ls link/", at=at) is ASK
    edit = tool("Write", file_path=f"{CWD}/link/x.txt")
    assert behavior_of(edit, RuleBook.of(mode=Mode.ACCEPT_EDITS), at) is ASK
    assert behavior_of(edit, RuleBook.of(allow=["Write"]), at) is ASK


@pytest.mark.parametrize("path", ["/ship/project-evil/z.txt", "/ship/projec", "/ship"])
def test_P19_a_path_is_not_inside_because_it_begins_alike(path: str) -> None:
    assert behavior_of(tool("Read", file_path=path)) is ASK
    assert behavior_of(f"cat {path}") is ASK
    assert behavior_of(tool("Read", file_path=f"{CWD}/../project-evil/z.txt")) is ASK


def test_P19_added_directories_are_inside() -> None:
    book = RuleBook.of(directories=[OUTSIDE])
    assert behavior_of(tool("Read", file_path=f"{OUTSIDE}/x"), book) is ALLOW
    assert behavior_of(tool("Read", file_path=f"{OUTSIDE}-evil/x"), book) is ASK
    assert behavior_of(tool("Write", file_path=f"{OUTSIDE}/x"), book) is ASK
    assert behavior_of(f"rm {OUTSIDE}/x", book) is ASK


@pytest.mark.parametrize("name", ["Edit", "Write", "NotebookEdit"])
def test_P20_only_edit_rules_allow_edits(name: str) -> None:
    path = f"{CWD}/src/a.py"
    call = tool(name, file_path=path) if name != "NotebookEdit" else tool(name, notebook_path=path)
    assert behavior_of(call, RuleBook.of(allow=["Edit(src/**)"])) is ALLOW
    assert behavior_of(call, RuleBook.of(allow=["Write(src/**)", "NotebookEdit(src/**)"])) is ASK
    assert behavior_of(call, RuleBook.of(deny=["Edit(src/**)"], mode=Mode.BYPASS)) is DENY
    assert behavior_of(call, RuleBook.of(deny=["Write(src/**)"], mode=Mode.BYPASS)) is DENY


def test_P20_what_may_be_edited_may_be_read() -> None:
    book = RuleBook.of(allow=[f"Edit(/{OUTSIDE}/**)"])
    assert behavior_of(tool("Read", file_path=f"{OUTSIDE}/x"), book) is ALLOW
    assert behavior_of(tool("Write", file_path=f"{OUTSIDE}/x"), book) is ALLOW
    assert behavior_of(tool("Read", file_path=f"{OUTSIDE}-evil/x"), book) is ASK


def test_P20_a_rule_for_a_whole_editing_tool_covers_that_tool() -> None:
    assert behavior_of(tool("Write", file_path=f"{CWD}/a"), RuleBook.of(allow=["Write"])) is ALLOW
    assert behavior_of(tool("Write", file_path=f"{CWD}/a"), RuleBook.of(allow=["Edit"])) is ASK


@pytest.mark.parametrize(("family", "expected"), [(CURRENT, DENY), (CLASSIC, ASK)])
def test_P20_newer_versions_do_not_write_what_may_not_be_read(
    family: Family, expected: Behavior
) -> None:
    book = RuleBook.of(deny=["Read(src/**)"])
    assert behavior_of(tool("Write", file_path=f"{CWD}/src/a"), book, context(family)) is expected


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/x", ".gitmodules", ".gitconfig", ".vscode/s.json", ".idea/x", ".claude/settings.json",
        ".claude/commands/x.md", ".mcp.json", ".bashrc", "sub/.zshrc", ".Bashrc", ".VSCODE/x", ".git.",
        ".git::x", ".profile",
    ],
)  # fmt: skip
@pytest.mark.parametrize("family", [CLASSIC, CURRENT], ids=lambda family: family.name)
def test_P21_protected_files_ask_even_where_edits_are_accepted(path: str, family: Family) -> None:
    call = tool("Write", file_path=f"{CWD}/{path}")
    accepting = RuleBook.of(allow=["Edit(**)"], mode=Mode.ACCEPT_EDITS)
    assert decide(call, accepting, context(family)).reason is Reason.PROTECTED
    assert behavior_of(f"touch '{path}'", accepting, context(family)) is ASK
    assert behavior_of(f"echo x > '{path}'", accepting, context(family)) is ASK
    assert behavior_of(call, RuleBook.of(mode=Mode.BYPASS), context(family)) is ALLOW


@pytest.mark.parametrize(
    "path", ["CLAUDE.md", ".env", "vscode/x", ".gitignore", ".claude/worktrees/x"]
)
def test_P21_other_files_are_not_protected(path: str) -> None:
    call = tool("Write", file_path=f"{CWD}/{path}")
    assert behavior_of(call, RuleBook.of(mode=Mode.ACCEPT_EDITS)) is ALLOW


@pytest.mark.parametrize(("family", "expected"), [(CURRENT, ASK), (CLASSIC, ALLOW)])
def test_P21_a_rule_for_the_whole_tool_covers_them_only_in_old_versions(
    family: Family, expected: Behavior
) -> None:
    call = tool("Write", file_path=f"{CWD}/.git/x")
    assert behavior_of(call, RuleBook.of(allow=["Write"]), context(family)) is expected
    assert behavior_of("touch .git/x", RuleBook.of(allow=["Bash"]), context(family)) is expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (tool("Glob", pattern="**/*.py"), ALLOW),
        (tool("Glob", pattern="/etc/*"), ASK),
        (tool("Glob", pattern="~/.ssh/*"), ASK),
        (tool("Glob", pattern="../*"), ASK),
        (tool("Glob", pattern=f"{CWD}/src/*"), ALLOW),
        (tool("Grep", pattern="../x"), ALLOW),
        (tool("Grep", pattern="x", path="/etc"), ASK),
        (tool("Read"), ASK),
        (tool("Read", file_path=5), ASK),
        (tool("Write", content="x"), ASK),
    ],
)
def test_P27_a_search_is_judged_by_where_it_looks(call: ToolCall, expected: Behavior) -> None:
    assert behavior_of(call, RuleBook.of(mode=Mode.ACCEPT_EDITS)) is expected
