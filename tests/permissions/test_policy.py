"""The check flow: order, modes, names, and the trail in words."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.permissions import (
    CLASSIC,
    CURRENT,
    Behavior,
    Family,
    Mode,
    PathContext,
    Reason,
    Rule,
    RuleBook,
    Scope,
    SourcedRule,
    ToolCall,
    explain,
)
from tests.matrix import examples
from tests.permissions.checking import CWD, bash, behavior_of, context, decide, tool

ALLOW, ASK, DENY = Behavior.ALLOW, Behavior.ASK, Behavior.DENY

RULES = st.sampled_from(
    [
        "Bash", "Bash(npm:*)", "Bash(npm run *)", "Bash(npm test)", "Bash(ls:*)", "Bash(*)",
        "Bash(rm:*)", "Bash(git push:*)", "Read", "Read(./secret.txt)", "Read(src/**)", "Read(//etc/**)",
        "Read(*)", "Edit(src/**)", "Edit", "Write", "Write(src/**)", "WebFetch", "mcp__s", "mcp__s__t",
        "WebFetch(domain:example.com)", "Bash(npm", "nonsense", "mcp__*", "Task(Explore)",
    ]
)  # fmt: skip
CALLS = st.sampled_from(
    [
        *map(
            bash,
            ["npm test", "npm run build && ls", "ls", "cat secret.txt", "rm src/a", "npm $(x)"],
        ),
        *map(
            bash, ["git push", "sudo npm x", "echo x > src/o", "cat /etc/passwd", "mkdir d", "(ls)"]
        ),
        tool("Read", file_path=f"{CWD}/src/a.py"),
        tool("Read", file_path="/etc/passwd"),
        tool("Write", file_path=f"{CWD}/src/a.py"),
        tool("Write", file_path=f"{CWD}/.git/x"),
        tool("WebFetch", url="https://example.com/"),
        tool("mcp__s__t"),
        tool("AskUserQuestion"),
        tool("Task", subagent_type="Explore"),
        tool("SomethingNew"),
    ]
)
ENTRIES = st.builds(
    SourcedRule,
    rule=RULES.map(Rule.parse),
    behavior=st.sampled_from(list(Behavior)),
    scope=st.sampled_from(list(Scope)),
    file=st.none(),
)
BOOKS = st.lists(ENTRIES, max_size=6).map(lambda rules: RuleBook(rules=tuple(rules)))
MODES = st.sampled_from([mode for mode in Mode if mode is not Mode.AUTO])
PLACES = st.sampled_from([context(CLASSIC), context(CURRENT)])


def test_P24_deny_beats_ask_beats_allow_whatever_the_scope() -> None:
    rules = [
        SourcedRule(rule=Rule("Bash", "npm:*"), behavior=behavior, scope=scope)
        for behavior, scope in ((DENY, Scope.USER), (ASK, Scope.SESSION), (ALLOW, Scope.POLICY))
    ]
    for order in permutations(rules):
        assert behavior_of("npm test", RuleBook(rules=order)) is DENY
        without = tuple(entry for entry in order if entry.behavior is not DENY)
        assert behavior_of("npm test", RuleBook(rules=without)) is ASK


def test_P24_a_narrow_ask_rule_outranks_a_wide_allow_rule() -> None:
    assert behavior_of("npm test", RuleBook.of(allow=["Bash"], ask=["Bash(npm:*)"])) is ASK
    assert behavior_of("npm test", RuleBook.of(ask=["Bash(npm:*)"], mode=Mode.BYPASS)) is ASK


def test_P25_a_decision_names_rule_scope_and_file() -> None:
    file = f"{CWD}/.claude/settings.json"
    book = RuleBook.of(allow=["Bash(npm:*)"], deny=["Bash(rm:*)"], scope=Scope.PROJECT, file=file)
    for command, text in (("npm test && ls", "Bash(npm:*)"), ("ls; rm x", "Bash(rm:*)")):
        entry = decide(command, book).rule
        assert entry is not None
        assert (str(entry.rule), entry.scope, entry.file) == (text, Scope.PROJECT, file)
        assert file in decide(command, book).words


def test_P25_a_decision_says_that_no_rule_matched() -> None:
    for call in (bash("foo"), tool("mcp__s__t"), tool("WebSearch", query="x")):
        decision = decide(call)
        assert (decision.behavior, decision.reason, decision.rule) == (ASK, Reason.NO_RULE, None)
        assert "no rule" in decision.words


def test_P26_explain_gives_the_whole_trail_in_words() -> None:
    book = RuleBook.of(allow=["Bash(npm:*)", "Bash(:*)"])
    text = explain(bash("npm test && foo"), book, context())
    assert text.splitlines() == [
        "Bash, mode default (asks before anything that is not plainly read-only):",
        "  1. the allow rule Bash(:*) (this session) is ignored: there is nothing before ':*': "
        "write `Bash` to mean every command",
        "  2. no deny rule matches",
        "  3. no ask rule matches",
        "  4. it is not a question to the user",
        "  5. it is not a call that always asks",
        "  6. the mode does not allow every call",
        "  7. it writes no protected file",
        "  8. it is not an edit or an MCP tool in plan mode",
        "  9. no allow rule covers the whole tool",
        "  10. `npm test`: allow: the allow rule Bash(npm:*) (this session) covers it",
        "  11. `foo`: ask: no rule covers it",
        "  12. no rule covers it",
        "Result: ask: no rule covers it.",
    ]


@given(call=CALLS, book=BOOKS, mode=MODES, at=PLACES)
@settings(max_examples=examples(200))
def test_P26_every_decision_can_be_explained(
    call: ToolCall, book: RuleBook, mode: Mode, at: PathContext
) -> None:
    decision = decide(call, book.with_mode(mode), at)
    assert decision.words
    assert decision.trail


EDIT = tool("Write", file_path=f"{CWD}/a.txt")
EDIT_OUTSIDE = tool("Write", file_path="/elsewhere/a.txt")
FETCH = tool("WebFetch", url="https://example.com/")
QUESTION = tool("AskUserQuestion", questions=[])


def in_mode(mode: Mode, call: ToolCall | str, family: Family = CURRENT) -> Behavior:
    return behavior_of(call, RuleBook.of(mode=mode), context(family))


def test_P27_the_default_mode_asks_about_all_but_reading() -> None:
    asked: list[ToolCall | str] = [EDIT, EDIT_OUTSIDE, FETCH, "mkdir m", "npm test", "echo x > o"]
    for entry in [*asked, "cat /etc/passwd"]:
        assert in_mode(Mode.DEFAULT, entry) is ASK
    for free in (bash("ls"), tool("Read", file_path=f"{CWD}/a"), tool("TodoWrite"), tool("Task")):
        assert in_mode(Mode.DEFAULT, free) is ALLOW
    assert in_mode(Mode.DEFAULT, tool("Grep", pattern="x")) is ALLOW
    assert in_mode(Mode.DEFAULT, tool("Grep", pattern="x", path="/etc")) is ASK


@pytest.mark.parametrize("family", [CLASSIC, CURRENT], ids=lambda family: family.name)
def test_P28_accept_edits_lets_edits_inside_through(family: Family) -> None:
    inside: list[ToolCall | str] = [
        EDIT,
        "mkdir m",
        "mkdir -p a/b",
        "touch t",
        "rm x",
        "rm -rf d",
        "rmdir d",
        "mv a b",
    ]
    for call in [*inside, "cp a b", "sed -i s/x/y/ f", "echo x > o", "mkdir m && touch m/a", "ls"]:
        assert in_mode(Mode.ACCEPT_EDITS, call, family) is ALLOW
    outside: list[ToolCall | str] = [EDIT_OUTSIDE, FETCH, "npm x", "chmod +x f", "ln -s a b"]
    outside += [
        "rm ../x",
        "mv a /tmp/b",
        "cp /etc/passwd .",
        "rm -rf *",
        "rm -rf .",
        "rm -rf ..",
        "rm $X",
    ]
    outside += ["rm -rf ~", "sed -n 'w x' f", "sed -i.bak s/x/y/ f", "sed 's/x/y/e' f", "cp -r a b"]
    for call in [*outside, "FOO=1 mkdir m", "tee o", "touch .git/x", "echo x > ../o", "npm x > o"]:
        assert in_mode(Mode.ACCEPT_EDITS, call, family) is ASK


def test_P28_old_versions_ask_about_file_commands_in_spite_of_a_rule() -> None:
    book = RuleBook.of(allow=["Bash(rm:*)"])
    assert behavior_of("rm x", book, context(CURRENT)) is ALLOW
    assert behavior_of("rm x", book, context(CLASSIC)) is ASK


def test_P29_plan_mode_is_not_enforced_by_old_versions() -> None:
    for call in (EDIT, "npm x", "mkdir m", FETCH):
        assert in_mode(Mode.PLAN, call, CLASSIC) is ASK
    book = RuleBook.of(allow=["Write", "Bash"], mode=Mode.PLAN)
    assert behavior_of(EDIT, book, context(CLASSIC)) is ALLOW


def test_P29_plan_mode_of_newer_versions_asks_about_edits_and_refuses_commands() -> None:
    book = RuleBook.of(allow=["Write", "Bash", "Bash(npm:*)"], mode=Mode.PLAN)
    assert behavior_of(EDIT, book) is ASK
    assert behavior_of("npm x", book) is ALLOW
    assert decide("mkdir m", book).reason is Reason.CLASSIFIER
    assert behavior_of("mkdir m", book) is DENY
    assert behavior_of(FETCH, book) is DENY
    assert behavior_of(tool("Write", file_path=f"{CWD}/.git/x"), book) is DENY
    assert behavior_of("mkdir m", book, context(classifier=True)) is ASK
    assert behavior_of("ls", book) is ALLOW


def test_P30_dont_ask_denies_what_it_would_ask() -> None:
    for call in (EDIT, FETCH, "npm x", QUESTION, tool("mcp__s__t")):
        assert in_mode(Mode.DONT_ASK, call) is DENY
    assert in_mode(Mode.DONT_ASK, "ls") is ALLOW
    assert behavior_of("npm x", RuleBook.of(allow=["Bash(npm:*)"], mode=Mode.DONT_ASK)) is ALLOW
    assert behavior_of("ls", RuleBook.of(ask=["Bash(ls)"], mode=Mode.DONT_ASK)) is DENY


def test_P31_bypass_lets_through_what_no_rule_forbids() -> None:
    for call in (EDIT, EDIT_OUTSIDE, FETCH, "npm x", "npm $(x)", tool("mcp__s__t"), tool("New")):
        assert in_mode(Mode.BYPASS, call) is ALLOW
    assert behavior_of("npm x", RuleBook.of(deny=["Bash(npm:*)"], mode=Mode.BYPASS)) is DENY
    assert behavior_of(EDIT, RuleBook.of(ask=["Write"], mode=Mode.BYPASS)) is ASK


@pytest.mark.parametrize("name", ["AskUserQuestion", "ExitPlanMode"])
@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.PLAN, Mode.BYPASS])
def test_P32_a_question_to_a_person_is_asked(name: str, mode: Mode) -> None:
    assert behavior_of(tool(name), RuleBook.of(allow=[name], mode=mode)) is ASK
    assert behavior_of(tool(name), RuleBook.of(mode=Mode.DONT_ASK)) is DENY


def test_P33_allow_rules_of_the_project_wait_for_trust() -> None:
    file = f"{CWD}/.claude/settings.json"
    book = RuleBook.of(allow=["Bash(npm:*)"], deny=["Bash(rm:*)"], scope=Scope.PROJECT, file=file)
    waiting = context(CURRENT, trusted=False)
    assert behavior_of("npm x", book, waiting) is ASK
    assert behavior_of("rm x", book, waiting) is DENY
    assert "ignored until the workspace is trusted" in explain(bash("npm x"), book, waiting)
    assert behavior_of("npm x", book, context(CURRENT)) is ALLOW
    assert behavior_of("npm x", book, context(CLASSIC, trusted=False)) is ALLOW
    local = RuleBook.of(allow=["Bash(npm:*)"], scope=Scope.LOCAL)
    assert behavior_of("npm x", local, waiting) is ALLOW


@given(
    call=CALLS, book=BOOKS, extra=RULES, mode=MODES, scope=st.sampled_from(list(Scope)), at=PLACES
)
@settings(max_examples=examples(400))
def test_P35_adding_a_deny_rule_never_widens(
    call: ToolCall, book: RuleBook, extra: str, mode: Mode, scope: Scope, at: PathContext
) -> None:
    moded = book.with_mode(mode)
    wider = moded.joined(
        RuleBook(rules=(SourcedRule(rule=Rule.parse(extra), behavior=DENY, scope=scope),))
    )
    before = decide(call, moded, at).behavior
    after = decide(call, wider, at).behavior
    assert after.strictness >= before.strictness


@given(call=CALLS, book=BOOKS, mode=MODES, at=PLACES, data=st.data())
@settings(max_examples=examples(300))
def test_P36_the_order_of_rules_never_changes_a_decision(
    call: ToolCall, book: RuleBook, mode: Mode, at: PathContext, data: st.DataObject
) -> None:
    shuffled = RuleBook(rules=tuple(data.draw(st.permutations(book.rules))))
    first = decide(call, book.with_mode(mode), at)
    second = decide(call, shuffled.with_mode(mode), at)
    assert first.behavior is second.behavior


def test_P36_the_order_of_modes_never_changes_the_mode() -> None:
    files = [
        RuleBook.of(mode=Mode.PLAN, scope=Scope.USER),
        RuleBook.of(mode=Mode.ACCEPT_EDITS, scope=Scope.LOCAL),
        RuleBook.of(mode=Mode.DONT_ASK, scope=Scope.PROJECT),
    ]
    for one, two, three in permutations(files):
        assert one.joined(two).joined(three).mode is Mode.ACCEPT_EDITS
    assert RuleBook().mode is Mode.DEFAULT
