"""Behavior of the CLIs that generated calls have revealed, as small fixed cases (CLI-324 to CLI-351)."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlead.permissions import (
    CLASSIC,
    CURRENT,
    Behavior,
    Family,
    Mode,
    RuleBook,
    Scope,
    place_of,
)
from fairlead.permissions.guard import Guard
from tests.permissions.checking import CWD, HOME, bash, behavior_of, context, decide, tool

ALLOW, MAY_ASK, ASK, DENY = Behavior.ALLOW, Behavior.MAY_ASK, Behavior.ASK, Behavior.DENY
BYPASS = RuleBook.of(mode=Mode.BYPASS)
ALL_OF_BASH = RuleBook.of(allow=["Bash"])
BOTH = (CLASSIC, CURRENT)


@pytest.mark.parametrize("family", BOTH, ids=lambda family: family.name)
@pytest.mark.parametrize("book", [BYPASS, ALL_OF_BASH], ids=["bypass", "allow Bash"])
@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "rm -rf ~",
        "rm -rf ~/",
        "rm -rf .",
        "rm -rf ..",
        "rm -rf *",
        "rm -rf $HOME",
        "rm -rf /usr",
        "rm -rf /*",
        f"rm -rf {CWD}",
        "rm -r -f -- /ship",
        f"rmdir {HOME}",
        "(pkexec rm -rf ~)",
        "sudo -u root rm -rf /",
        "bash -c 'rm -rf /'",
        "true && rm -fr --no-preserve-root /",
    ],
)
def test_P59_a_dangerous_removal_asks_in_every_mode(
    command: str, book: RuleBook, family: Family
) -> None:
    assert behavior_of(command, book, context(family)) is ASK


@pytest.mark.parametrize(
    "command",
    ["rm -rf $X/", "rm -rf ${X}", 'rm -rf "$X"/lib', "rm -rf `pwd`", "xargs rm", "cd x; rm -rf y"],
)
def test_P59_a_removal_that_is_known_only_when_it_runs_may_ask(command: str) -> None:
    assert behavior_of(command, BYPASS) is MAY_ASK
    assert behavior_of(command, ALL_OF_BASH) is MAY_ASK


@pytest.mark.parametrize("command", ["rm a.txt", "rm -rf build/out", "rm -f /tmp/x/y"])
def test_P59_a_plain_removal_needs_no_question(command: str) -> None:
    assert behavior_of(command, BYPASS) is ALLOW


@pytest.mark.parametrize("family", BOTH, ids=lambda family: family.name)
@pytest.mark.parametrize("name", ["HEAD", "objects", "refs"])
def test_P60_git_asks_in_a_directory_that_looks_like_a_bare_repository(
    name: str, family: Family
) -> None:
    bare = context(family, exists=(f"{CWD}/{name}").__eq__)
    both = context(family, exists=(f"{CWD}/{name}", f"{CWD}/.git/HEAD").__contains__)
    assert behavior_of("git status", at=bare) is ASK
    assert behavior_of("git status", at=both) is ALLOW
    assert behavior_of("ls", at=bare) is ALLOW


@pytest.mark.parametrize(
    ("rule", "call"),
    [
        ("Bash(run_in_background:true)", tool("Bash", command="ls", run_in_background=True)),
        ("Task(model:opus)", tool("Task", model="opus", subagent_type="Plan")),
        ("Agent(model:o*)", tool("Task", model="opus", subagent_type="Plan")),
        ("Write(content:x)", tool("Write", file_path="a", content="x")),
        ("Bash(timeout: 5000)", tool("Bash", command="ls", timeout=5000)),
    ],
)
def test_P61_a_deny_rule_may_name_a_field_of_the_input(rule: str, call: object) -> None:
    assert behavior_of(call, RuleBook.of(deny=[rule])) is DENY  # type: ignore[arg-type]
    assert behavior_of(call, RuleBook.of(ask=[rule])) is ASK  # type: ignore[arg-type]


def test_P61_an_allow_rule_that_names_a_field_allows_nothing() -> None:
    call = tool("Bash", command="npm test", run_in_background=True)
    assert behavior_of(call, RuleBook.of(allow=["Bash(run_in_background:true)"])) is ASK


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("description: d", ALLOW),
        ("description: d\ncontext: fork", ALLOW),
        ("description: d\nallowed-tools: Bash(ls:*)", ASK),
        ("description: d\nhooks:\n  Stop: []", ASK),
    ],
)
def test_P62_a_skill_that_grants_something_asks(
    tmp_path: Path, head: str, expected: Behavior
) -> None:
    path = tmp_path / ".claude" / "skills" / "own" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nname: own\n{head}\n---\nSay hi.\n")
    at = place_of(str(tmp_path), str(tmp_path / "home"))
    for spelling in ("own", "/own"):
        assert behavior_of(tool("Skill", skill=spelling), at=at) is expected
    assert behavior_of(tool("Skill", skill="other"), at=at) is MAY_ASK
    allowed = RuleBook.of(allow=["Skill(own)"])
    assert behavior_of(tool("Skill", skill="own"), allowed, at) is ALLOW


def test_P62_rules_for_bash_apply_to_monitor() -> None:
    call = tool("Monitor", command="npm test", description="d")
    assert behavior_of(call, RuleBook.of(deny=["Bash(npm:*)"])) is DENY
    assert behavior_of(call, RuleBook.of(deny=["Bash"])) is DENY
    assert behavior_of(call, RuleBook.of(allow=["Bash(npm:*)"])) is ALLOW
    assert behavior_of(call) is ASK


def test_P63_plan_mode_denies_agents_and_asks_about_mcp_tools() -> None:
    agent = tool("Task", subagent_type="Explore", prompt="p", description="d")
    plan = RuleBook.of(mode=Mode.PLAN, allow=["mcp__srv"])
    assert behavior_of(agent, plan) is DENY
    assert behavior_of(agent, plan, context(CLASSIC)) is ALLOW
    assert behavior_of(tool("mcp__srv__echo"), plan) is not ALLOW
    assert behavior_of(tool("mcp__srv__echo"), plan, context(CLASSIC)) is ALLOW


@pytest.mark.parametrize("scope", [Scope.PROJECT, Scope.LOCAL])
def test_P64_a_project_cannot_disable_permissions(scope: Scope) -> None:
    own = RuleBook.of(mode=Mode.BYPASS, scope=scope, file=f"{CWD}/.claude/x.json")
    users = RuleBook.of(mode=Mode.BYPASS, scope=Scope.USER, file=f"{HOME}/.claude/settings.json")
    assert behavior_of("npm test", own) is ASK
    assert behavior_of("npm test", users) is ALLOW
    assert behavior_of("npm test", own, context(CLASSIC)) is ALLOW


def test_P64_directories_of_an_untrusted_project_are_ignored() -> None:
    book = RuleBook.of(directories=["/other"], scope=Scope.LOCAL)
    assert behavior_of("cat /other/x", book) is ALLOW
    assert behavior_of("cat /other/x", book, context(trusted=False)) is ASK


def test_P65_one_malformed_rule_makes_an_old_cli_ignore_its_file() -> None:
    file = f"{HOME}/.claude/settings.json"
    book = RuleBook.of(
        allow=["Bash(npm:*)", "Bash(go:*x)"],
        deny=["Bash(make:*)"],
        mode=Mode.BYPASS,
        scope=Scope.USER,
        file=file,
    )
    old = decide("npm test", book, context(CLASSIC))
    assert old.behavior is ASK
    assert any(file in step and "go:*x" in step for step in old.trail)
    assert behavior_of("npm test", book) is ALLOW
    assert behavior_of("make", book, context(CLASSIC)) is DENY, "an error must not lift a denial"


@pytest.mark.parametrize("name", ["x~1", "x.", "x.CON", "dir~2/x", "com1.com1/x.lpt1", "..."])
def test_P66_names_that_windows_reads_differently_ask(name: str) -> None:
    assert behavior_of(tool("Read", file_path=f"{CWD}/{name}")) is ASK
    edits = RuleBook.of(mode=Mode.ACCEPT_EDITS)
    assert behavior_of(tool("Write", file_path=f"{CWD}/{name}", content="x"), edits) is ASK


def test_P66_a_colon_asks_in_an_old_cli_only() -> None:
    assert behavior_of(tool("Read", file_path=f"{CWD}/a:b"), at=context(CLASSIC)) is ASK
    assert behavior_of(tool("Read", file_path=f"{CWD}/a:b")) is ALLOW


def test_P66_a_link_that_leads_to_itself_is_denied(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    at = place_of(str(tmp_path), str(tmp_path))
    assert behavior_of(tool("Read", file_path=str(tmp_path / "loop")), BYPASS, at) is DENY
    assert behavior_of("cat loop", at=at) is ASK


@pytest.mark.parametrize(
    "command",
    [
        "unshare -r npm test",
        "nsenter -t 1 npm test",
        "flock /tmp/l npm test",
        "noglob npm test",
        "nocorrect npm test",
        "pkexec npm test",
        "runuser -u x -- npm test",
        "script -c 'npm test'",
        "prlimit npm test",
        "bash -c $'npm test'",
        "X=1; npm $X test",
    ],
)
def test_P10_a_deny_rule_reaches_through_every_wrapper(command: str) -> None:
    assert behavior_of(command, RuleBook.of(deny=["Bash(npm:*)"])) is DENY


@pytest.mark.parametrize(
    "command",
    ["sed -n 1p secret.txt", "env cat secret.txt", "F=secret.txt; cat $F", "sudo cat secret.txt"],
)
def test_P10_a_deny_rule_for_a_file_reaches_through_wrappers(command: str) -> None:
    assert behavior_of(command, RuleBook.of(deny=["Read(./secret.txt)"])) is DENY


@pytest.mark.parametrize("rule", ["Read", "Read(*)"])
def test_P20_a_denial_of_all_reading_also_stops_edits_in_newer_clis(rule: str) -> None:
    edit = tool("Edit", file_path=f"{CWD}/a", old_string="", new_string="x")
    book = RuleBook.of(deny=[rule], mode=Mode.ACCEPT_EDITS)
    assert behavior_of(edit, book) is DENY
    assert behavior_of(edit, book, context(CLASSIC)) is ALLOW


@pytest.mark.parametrize("rule", ["*", "Ba*"])
def test_P1_a_deny_rule_may_name_tools_with_a_star(rule: str) -> None:
    assert behavior_of("ls", RuleBook.of(deny=[rule])) is DENY
    assert behavior_of("npm test", RuleBook.of(allow=[rule])) is ASK


def test_P67_an_uncertain_answer_is_never_permission() -> None:
    decision = decide("for f in a; do rm $f; done", BYPASS)
    assert decision.behavior is MAY_ASK
    assert decision.behavior.asks
    assert str(decision).startswith("may ask: ")
    assert ALLOW.strictness < MAY_ASK.strictness < ASK.strictness < DENY.strictness
    assert (
        behavior_of("for f in a; do rm $f; done", RuleBook.of(mode=Mode.DONT_ASK, allow=["Bash"]))
        is DENY
    )


@pytest.mark.parametrize(
    "command", ["systemd-run ((x=1)) && ls", "echo 'unclosed", "then ls", "bash -c $'\\x72m x'"]
)
def test_P67_a_command_that_cannot_be_read_may_ask_in_every_mode(command: str) -> None:
    assert behavior_of(command, BYPASS) is MAY_ASK


def test_P67_a_command_that_cannot_be_analyzed_may_ask_if_there_are_rules_against_commands() -> (
    None
):
    book = RuleBook.of(mode=Mode.BYPASS, deny=["Bash(npm:*)"])
    assert behavior_of("echo $(date)", book) is MAY_ASK
    assert behavior_of("echo $(date)", BYPASS) is ALLOW


@pytest.mark.parametrize("command", ["ls > /dev/stdout", "ls 2> /dev/stderr"])
def test_P13_the_devices_of_the_standard_streams_are_files(command: str) -> None:
    assert behavior_of(command) is ASK
    assert behavior_of("ls > /dev/null 2>&1") is ALLOW


@pytest.mark.parametrize("family", BOTH, ids=lambda family: family.name)
@pytest.mark.parametrize(
    "command",
    [
        "grep -A 3 x a.txt",
        "grep -A3 -rn x src",
        "grep --include='*.py' -rn x src",
        "git status -sb",
        "git log --author=x --oneline -5",
        "git diff HEAD~1",
        "git diff --name-only HEAD~3",
        "sort -k 2 a.txt",
        "tree -L 2 -I node_modules",
        "rg -t py foo src",
        "sort a.txt | uniq -c",
        "ls | xargs echo",
    ],
)
def test_P12_everyday_options_are_read_only(command: str, family: Family) -> None:
    assert behavior_of(command, at=context(family)) is ALLOW


@pytest.mark.parametrize("command", ["[ -f a.txt ]", "[[ -d src ]]", "[ 1 -eq 1 ]", "test 1 -gt 0"])
def test_P12_a_test_is_read_only_in_newer_clis(command: str) -> None:
    assert behavior_of(command) is ALLOW
    assert behavior_of(command, at=context(CLASSIC)) is ASK


@pytest.mark.parametrize(
    "command",
    [
        "git diff *.txt",
        "find src/* -type f",
        "jq .name *.json",
        "grep '$x' a.txt",
        "sort -o x a.txt",
        "timeout -k 1 5 ls",
        "for f in a; do ls; done",
        "[ -f a -o -f b ]",
        "uniq a.txt b.txt",
        "xargs rm",
        "git log --output=x",
    ],
)
def test_P12_other_forms_of_read_only_programs_ask(command: str) -> None:
    assert behavior_of(command) is ASK


def test_P17_dot_slash_covers_everything_below_the_working_directory() -> None:
    book = RuleBook.of(allow=["Edit(./**)"])
    assert behavior_of(tool("Write", file_path=f"{CWD}/src/a", content="x"), book) is ALLOW
    assert behavior_of(tool("Write", file_path="/ship/a", content="x"), book) is ASK


def test_P20_a_star_in_an_edit_rule_means_the_tool_and_not_every_file() -> None:
    book = RuleBook.of(allow=["Edit(*)"])
    assert behavior_of(tool("Write", file_path=f"{CWD}/a", content="x"), book) is ASK


def test_P18_the_target_of_a_linked_additional_directory_is_not_included() -> None:
    book = RuleBook.of(directories=[f"{CWD}/link"])
    at = context(links={f"{CWD}/link": "/outside"})
    assert behavior_of(tool("Read", file_path="/outside/x"), book, at) is ASK


@pytest.mark.parametrize("rule", ["Bash(**)", "Bash(* x)", "Bash(python3:*)"])
def test_P29_plan_mode_ignores_rules_that_allow_any_program(rule: str) -> None:
    command = "python3 x"
    assert behavior_of(command, RuleBook.of(allow=[rule], mode=Mode.PLAN)) is DENY
    npm = RuleBook.of(allow=["Bash(npm:*)"], mode=Mode.PLAN)
    assert behavior_of("npm test", npm) is ALLOW


def test_P14_the_environment_of_a_process_asks() -> None:
    assert behavior_of("npm /proc/self/environ", RuleBook.of(allow=["Bash(npm *)"])) is ASK


def test_P13_a_here_document_that_is_written_to_a_file_asks() -> None:
    assert behavior_of("cat <<'E' > out.txt\nhi\nE", RuleBook.of(mode=Mode.ACCEPT_EDITS)) is ASK


def test_P47_the_host_is_as_strict_as_the_cli_of_each_version() -> None:
    guard = Guard(rules=RuleBook.of(allow=["Bash(lint *)"]))
    assert guard.answer(bash("lint"), context(CLASSIC)).behavior is ASK
    assert guard.answer(bash("lint"), context(CURRENT)).behavior is ALLOW
    denied = Guard(rules=RuleBook.of(deny=["AskUserQuestion"]))
    assert denied.answer(tool("AskUserQuestion"), context()).behavior is DENY


@pytest.mark.parametrize("command", ["rm -rf $X/", "rm -rf /"])
def test_P67_a_rule_of_the_host_does_not_answer_if_the_cli_may_ask(command: str) -> None:
    verdict = Guard(rules=RuleBook.of(allow=["Bash"])).answer(bash(command), context())
    assert verdict.behavior is ASK
    assert not verdict.final


@pytest.mark.parametrize(
    "command", ["timeout x", "timeout -x 5 npm test", "env -x a", "export A=1"]
)
def test_P15_no_rule_covers_these_forms(command: str) -> None:
    name = command.split()[0]
    assert behavior_of(command, RuleBook.of(allow=[f"Bash({name}:*)"])) is ASK


@pytest.mark.parametrize(
    ("command", "old", "new"),
    [
        ("npm run x", ALLOW, ALLOW),
        ('"npm" run x', ALLOW, ALLOW),
        ('npm run "x"', ALLOW, ALLOW),
        ('npm "run" x', ALLOW, ASK),
        ("npm r''un x", MAY_ASK, ASK),
        ('timeout "5" npm run x', ALLOW, ASK),
    ],
)
def test_P70_an_allow_rule_is_compared_with_the_arguments_as_written(
    command: str, old: Behavior, new: Behavior
) -> None:
    book = RuleBook.of(allow=["Bash(npm run:*)"])
    assert [behavior_of(command, book, context(family)) for family in BOTH] == [old, new]


@pytest.mark.parametrize(
    ("command", "old", "new"),
    [
        ("git status -s", ALLOW, ALLOW),
        ('cat "a.txt"', ALLOW, ALLOW),
        ('"cat" a.txt', ASK, ALLOW),
        ('git status "-s"', ASK, ALLOW),
        ("find . -''name x", ASK, MAY_ASK),
        ('"uniq" -c', ASK, ASK),
        ("jq . 'a'.txt", ASK, ASK),
        ("jq '.' \"a.txt\"", ALLOW, ALLOW),
    ],
)
def test_P70_a_read_only_command_with_a_quoted_option_asks(
    command: str, old: Behavior, new: Behavior
) -> None:
    assert [behavior_of(command, RuleBook(), context(family)) for family in BOTH] == [old, new]


@pytest.mark.parametrize("family", BOTH, ids=lambda family: family.name)
def test_P71_paths_after_cd_are_checked_from_both_directories(family: Family) -> None:
    here = context(family)
    assert behavior_of("cd src && cat a.py", RuleBook(), here) is ALLOW
    assert behavior_of("cd src && cat ../a.txt", RuleBook(), here) is ASK
    denied = RuleBook.of(deny=["Read(./secret.txt)"])
    assert behavior_of("cd src && cat secret.txt", denied, here) is DENY
    assert behavior_of("cd src && cat ../secret.txt", denied, here) is DENY


@pytest.mark.parametrize(
    "command",
    ["sed 1d f", "sed -i -es/a/b/ f", "sed -f script f", "sed -ne 1d f", "sed --expression=1d f"],
)
@pytest.mark.parametrize("rule", ["Read(f)", "Edit(f)"])
def test_P72_sed_reads_and_edits_its_files(command: str, rule: str) -> None:
    assert behavior_of(command, RuleBook.of(deny=[rule])) is DENY


def test_P72_sed_that_prints_lines_by_number_only_reads() -> None:
    assert behavior_of("sed -n '1,5p' f", RuleBook()) is ALLOW
    assert behavior_of("sed -n 1,5p f", RuleBook.of(deny=["Read(f)"])) is DENY
    accepting = RuleBook.of(mode=Mode.ACCEPT_EDITS)
    assert behavior_of("sed s/a/b/g f", accepting) is ALLOW
    assert behavior_of("sed 's|a|b|' f", accepting) is ASK


@pytest.mark.parametrize("slashes", ["//", "///", "////"])
def test_P72_a_deny_rule_with_many_slashes_starts_at_the_root(slashes: str) -> None:
    book = RuleBook.of(deny=[f"Edit({slashes}etc/**)"], mode=Mode.BYPASS)
    assert behavior_of("touch /etc/hosts", book) is DENY


@pytest.mark.parametrize(
    "command",
    [
        "awk 'BEGIN{system(\"ls\")}' f",
        "awk '{print | \"sh\"}' f",
        "awk -f f g",
        "gawk -i inplace 1 f",
        "jq -f x",
        "jq --rawfile a b .",
        "jq 'import \"x\" as x; .' f",
        "[ -e f -a -x f ]",
        "[ x -eq 1 ]",
        "printf -v x y",
        "read x",
        "shopt -s extglob",
        "cd a b",
        "find -files0-from f",
        "cp src/* f",
        "cat < *.txt",
    ],
)
def test_P73_a_rule_with_a_pattern_does_not_cover_dangerous_arguments(command: str) -> None:
    assert behavior_of(command, RuleBook.of(allow=["Bash(* *)"])) is ASK


@pytest.mark.parametrize("command", ["grep //*.txt f", "test -f -- f", "cat < *.txt"])
def test_P73_a_read_only_command_with_an_unclear_file_asks(command: str) -> None:
    assert behavior_of(command, RuleBook()) is ASK


@pytest.mark.parametrize("command", ["awk '{print $1}' f", "[ 2 -eq 1 ]", "jq .a f", "npm x"])
def test_P73_a_rule_with_a_pattern_covers_other_arguments(command: str) -> None:
    assert behavior_of(command, RuleBook.of(allow=["Bash(* *)"])) is ALLOW


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        ("npm run:*", "npm run x", DENY),
        ("yarn run *", "yarn run x", DENY),
        ("npx:*", "npx x", DENY),
        ("ssh *", "ssh x", DENY),
        ("python*", "python x", DENY),
        ("npm run build:*", "npm run build x", ALLOW),
        ("npm run build", "npm run build", ALLOW),
        ("make:*", "make x", ALLOW),
    ],
)
def test_P74_plan_mode_ignores_rules_for_any_program(
    rule: str, command: str, expected: Behavior
) -> None:
    assert behavior_of(command, RuleBook.of(allow=[f"Bash({rule})"], mode=Mode.PLAN)) is expected


def test_P10_a_negation_after_an_assignment_hides_nothing() -> None:
    book = RuleBook.of(deny=["Bash(cat:*)"], mode=Mode.BYPASS)
    assert behavior_of("A='b c' ! cat", book) is DENY


def test_P70_a_quoted_option_asks_in_2_1_38_in_spite_of_a_rule() -> None:
    book = RuleBook.of(allow=["Bash(npm test:*)"])
    assert behavior_of("npm test -''x", book, context(CLASSIC)) is ASK
    assert behavior_of("npm test -x", book, context(CLASSIC)) is ALLOW


@pytest.mark.parametrize("family", BOTH, ids=lambda family: family.name)
@pytest.mark.parametrize("command", ["npm x >'$X/link'", "echo ~''+"])
def test_P9_a_quoted_dollar_and_a_tilde_next_to_quotes_are_not_understood(
    command: str, family: Family
) -> None:
    book = RuleBook.of(allow=["Bash(npm:*)", "Bash(echo:*)", "Edit(./**)"])
    assert behavior_of(command, book, context(family)) is ASK


@pytest.mark.parametrize("path", [" /etc/passwd", "/ship/a.txt\n", " a.txt", "a.txt "])
def test_P76_a_path_with_blanks_around_it_asks(path: str) -> None:
    for name in ("Read", "Write"):
        call = tool(name, file_path=path, content="x")
        assert decide(call, RuleBook.of(allow=["Edit(//**)", "Read(//**)"])).behavior is ASK


def test_P76_a_deny_rule_applies_without_the_blanks() -> None:
    book = RuleBook.of(deny=["Read(//etc/**)"], mode=Mode.BYPASS)
    assert decide(tool("Read", file_path=" /etc/passwd"), book).behavior is DENY


@pytest.mark.parametrize("rule", ["~/", "//", "/", "./"])
def test_P17_an_allow_rule_for_a_folder_alone_covers_no_file_in_it(rule: str) -> None:
    call = tool("Write", file_path=f"{HOME}/x", content="x")
    assert decide(call, RuleBook.of(allow=[f"Edit({rule})"])).behavior is ASK
    assert decide(call, RuleBook.of(allow=["Edit(~/**)"])).behavior is ALLOW


def test_P66_a_path_in_the_home_of_another_user_asks_in_spite_of_a_rule_for_the_tool() -> None:
    book = RuleBook.of(allow=["Write"])
    assert decide(tool("Write", file_path="~22", content="x"), book).behavior is ASK
    assert decide(tool("Write", file_path="~/x", content="x"), book).behavior is ALLOW
