"""Rules for commands: exact, prefix, star, and what they look past."""

from __future__ import annotations

import pytest

from fairlead.permissions import CLASSIC, CURRENT, Behavior, Family, Reason, RuleBook
from tests.permissions.checking import behavior_of, context, decide

ALLOW, ASK, DENY = Behavior.ALLOW, Behavior.ASK, Behavior.DENY
NPM = RuleBook.of(allow=["Bash(npm:*)"])


@pytest.mark.parametrize("command", ["make all", " make all", "make all ", "timeout 5 make all"])
def test_P3_an_exact_rule_matches_its_command(command: str) -> None:
    assert behavior_of(command, RuleBook.of(allow=["Bash(make all)"])) is ALLOW


@pytest.mark.parametrize(
    "command", ["make", "make all x", "make  all", 'make "all"', "Make all", "make al", "xmake all"]
)
def test_P3_an_exact_rule_matches_nothing_else(command: str) -> None:
    assert behavior_of(command, RuleBook.of(allow=["Bash(make all)"])) is ASK


def test_P3_an_exact_rule_may_be_a_whole_compound_command() -> None:
    book = RuleBook.of(allow=["Bash(foo && bar)"])
    assert behavior_of("foo && bar", book) is ALLOW
    assert behavior_of("foo", book) is ASK
    assert behavior_of("foo && bar && foo", book) is ASK


@pytest.mark.parametrize("command", ["npm", "npm test", "npm  test", "npm\ttest", '"npm" test'])
def test_P4_a_prefix_matches_the_word_and_what_follows(command: str) -> None:
    assert behavior_of(command, NPM) is ALLOW


@pytest.mark.parametrize(
    "command", ["npmx", "npmx test", "NPM test", "./npm", "/usr/bin/npm x", "np m"]
)
def test_P4_a_prefix_ends_at_a_word_boundary(command: str) -> None:
    assert behavior_of(command, NPM) is ASK


def test_P4_a_prefix_of_two_words_is_not_fooled_by_quotes() -> None:
    book = RuleBook.of(allow=["Bash(npm run:*)"])
    assert behavior_of("npm run build", book) is ALLOW
    assert behavior_of('npm "run build"', book) is ASK
    assert behavior_of("npm running", book) is ASK


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        ("npm run *", "npm run build", ALLOW),
        ("npm run *", "npm run a b", ALLOW),
        ("npm run *", "npm running", ASK),
        ("npm run *", "npm", ASK),
        ("git * main", "git push origin main", ALLOW),
        ("git * main", "git main", ASK),
        ("git * main", "git push main x", ASK),
        ("* --version", "foo --version", ALLOW),
        ("* --version", "--version", ASK),
        ("docker*", "docker-compose up", ALLOW),
        ("cargo b*d", "cargo build", ALLOW),
        ("cargo b*d", "cargo build --release", ASK),
        (r"kubectl get \*", "kubectl get pods", ASK),
    ],
)
def test_P5_a_star_matches_any_words(rule: str, command: str, expected: Behavior) -> None:
    assert behavior_of(command, RuleBook.of(allow=[f"Bash({rule})"])) is expected


@pytest.mark.parametrize(("family", "expected"), [(CURRENT, ALLOW), (CLASSIC, ASK)])
def test_P5_a_last_star_matches_no_words_only_in_newer_versions(
    family: Family, expected: Behavior
) -> None:
    assert (
        behavior_of("npm run", RuleBook.of(allow=["Bash(npm run *)"]), context(family)) is expected
    )


@pytest.mark.parametrize(
    "command",
    [
        "npm test && foo",
        "npm test; foo",
        "npm test | foo",
        "npm test || foo",
        "npm test\nfoo",
        "npm test & foo",
        "npm test |& foo",
        "npm test\\\n&& foo",
        "npm $(foo)",
        "npm `foo`",
        "npm <(foo)",
        "npm test # x\nfoo",
    ],
)
@pytest.mark.parametrize("rule", ["Bash(npm:*)", "Bash(npm *)", "Bash(npm*)"])
def test_P6_no_star_reaches_over_an_operator(command: str, rule: str) -> None:
    assert behavior_of(command, RuleBook.of(allow=[rule])) is ASK


@pytest.mark.parametrize("command", ['npm "a;b"', "npm 'a && b'", r"npm a\;b", "npm 'a\nb'"])
def test_P6_an_operator_in_quotes_is_no_operator(command: str) -> None:
    expected = Behavior.MAY_ASK if "\\" in command else ALLOW
    assert behavior_of(command, NPM) is expected


@pytest.mark.parametrize(
    "command",
    ["npm test && foo", "foo; npm test", "ls | npm test", "npm test\nls", "ls & npm test"],
)
def test_P7_one_denied_part_denies_the_whole_command(command: str) -> None:
    book = RuleBook.of(allow=["Bash"], deny=["Bash(npm:*)"])
    decision = decide(command, book)
    assert decision.behavior is DENY
    assert str(decision.rule.rule if decision.rule else "") == "Bash(npm:*)"


def test_P8_every_part_must_be_allowed() -> None:
    book = RuleBook.of(allow=["Bash(npm:*)", "Bash(make)"])
    assert behavior_of("npm test && make", book) is ALLOW
    assert behavior_of("npm test && ls | make", book) is ALLOW
    assert behavior_of("npm test && make && foo", book) is ASK
    assert "`foo`: ask: no rule covers it" in decide("npm x && foo", book).trail


@pytest.mark.parametrize(
    "command",
    [
        "npm $X",
        'npm "$X"',
        "npm ${X}",
        "npm $(ls)",
        "npm `ls`",
        "npm $((1+1))",
        "npm $'a'",
        'npm $"a"',
        "npm {a,b}",
        "npm {1..3}",
        "(npm x)",
        "{ npm x; }",
        "npm x &",
        'npm "unclosed',
        "npm 'unclosed",
        "npm x \\",
        "npm a\\ b",
        "npm\\\n x",
        "npm\u00a0x",
        "npm x\u200b",
        "npm \u202ex",
        "npm x\x07",
        "npm x\rfoo",
        "npm x\0",
        "npm x <<EOF\nhi\nEOF",
        "cat <<'EOF' | npm x\nhi\nEOF",
        "f() { npm x; }; f",
        "case a in a) npm x;; esac",
        "npm ?(a)",
        "npm x > o y",
        "A=1; npm x",
        "[[ -f $x ]] && npm x",
        'npm x "a\n# b"',
        "npm =ls",
        "npm " + "x" * 30_000,
        "",
        "   ",
        "# only a comment",
    ],
)
def test_P9_what_is_not_understood_asks(command: str) -> None:
    decision = decide(command, RuleBook.of(allow=["Bash(npm:*)", "Bash(cat:*)"]))
    assert decision.behavior is ASK
    assert decision.reason is Reason.NOT_UNDERSTOOD


def test_P9_deep_nesting_is_a_doubt_and_not_a_crash() -> None:
    assert behavior_of("npm " + "$(" * 300 + "ls" + ")" * 300, NPM) is ASK
    assert behavior_of("(" * 2000 + "npm" + ")" * 2000, NPM) is ASK


@pytest.mark.parametrize(
    "command",
    [
        "FOO=1 npm x",
        "PATH=/x npm x",
        "env npm x",
        "env FOO=1 npm x",
        "env -i npm x",
        "env -u X npm x",
        "timeout 5 npm x",
        "timeout -s KILL 5 npm x",
        "nice npm x",
        "nohup npm x",
        "command npm x",
        "exec npm x",
        "sudo npm x",
        "sudo -u root npm x",
        "doas npm x",
        "xargs npm x",
        "echo a | xargs -n1 npm",
        "watch npm x",
        "setsid npm x",
        "bash -c 'npm x'",
        'sh -c "ls; npm x"',
        "bash -lc 'npm x'",
        "eval npm x",
        "eval 'ls && npm x'",
        "trap 'npm x' EXIT",
        "find . -exec npm x ;",
        "echo $(npm x)",
        'echo "$(npm x)"',
        "echo `npm x`",
        "cat <(npm x)",
        "(npm x)",
        "{ npm x; }",
        "! npm x",
        "if true; then npm x; fi",
        "for i in 1; do npm x; done",
        "while npm x; do ls; done",
        "case a in a) npm x;; esac",
        "f() { npm x; }; f",
        "[[ $(npm x) ]]",
        "a=$(npm x)",
        "X=npm; $X x",
        '"npm" x',
        'n"p"m x',
        "n\\pm x",
        "\\npm x",
        "/usr/bin/npm x",
        "./npm x",
        "npm\\\n x",
        'npm "unclosed',
        "npm $(foo)",
        "npm x <<EOF\nh\nEOF",
        "coproc npm x",
        "npm\u00a0x",
        "sudo bash -c 'timeout 5 npm x'",
    ],
)
@pytest.mark.parametrize("family", [CLASSIC, CURRENT], ids=lambda family: family.name)
def test_P10_a_deny_rule_sees_through_disguises(command: str, family: Family) -> None:
    book = RuleBook.of(allow=["Bash"], deny=["Bash(npm:*)"])
    assert behavior_of(command, book, context(family)) is DENY


@pytest.mark.parametrize(
    "command", ["npmx", "echo npm", "ls npm", "git commit -m 'npm x'", "cat npm.txt"]
)
def test_P10_a_deny_rule_does_not_see_ghosts(command: str) -> None:
    assert behavior_of(command, RuleBook.of(allow=["Bash"], deny=["Bash(npm:*)"])) is ALLOW


def test_P10_an_ask_rule_asks_even_for_what_needs_no_rule() -> None:
    book = RuleBook.of(allow=["Bash"], ask=["Bash(ls:*)"])
    assert behavior_of("ls", book) is ASK
    assert behavior_of("cat a && timeout 5 ls -l", book) is ASK
    assert behavior_of("pwd", book) is ALLOW


@pytest.mark.parametrize(
    ("command", "classic", "current"),
    [
        ("timeout 5 npm x", ALLOW, ALLOW),
        ("timeout 5m npm x", ALLOW, ALLOW),
        ("timeout 0.5 npm x", ASK, ALLOW),
        ("timeout -k 1 5 npm x", ASK, ALLOW),
        ("timeout $X npm x", ASK, ASK),
        ("timeout 5 FOO=1 npm x", ASK, ASK),
        ("timeout 5 timeout 6 npm x", ALLOW, ALLOW),
        ("time npm x", ALLOW, ALLOW),
        ("time -p npm x", ASK, ASK),
        ("nice npm x", ASK, ALLOW),
        ("nice -n 5 npm x", ALLOW, ALLOW),
        ("nohup npm x", ALLOW, ALLOW),
        ("stdbuf -oL npm x", ASK, ALLOW),
        ("stdbuf -o L npm x", ASK, ASK),
        ("command npm x", ASK, ALLOW),
        ("command -v npm", ASK, ASK),
        ("xargs npm x", ASK, ALLOW),
        ("xargs -I{} npm {}", ASK, ASK),
        ("env npm x", ASK, ASK),
        ("sudo npm x", ASK, ASK),
        ("NODE_ENV=test npm x", ALLOW, ALLOW),
        ("NODE_ENV=test LANG=C npm x", ALLOW, ALLOW),
        ("NODE_ENV='a b' npm x", ASK, ASK),
        ("NODE_ENV=$X npm x", ASK, ASK),
        ("NODE_ENV= npm x", ASK, ASK),
        ("NODE_ENV+=x npm x", ASK, ASK),
        ("CI=1 npm x", ASK, ALLOW),
        ("COLUMNS=80 npm x", ASK, ALLOW),
        ("COLUMNS=x npm x", ASK, ASK),
        ("FOO=1 npm x", ASK, ASK),
        ("PATH=/x npm x", ASK, ASK),
        ("LD_PRELOAD=x npm x", ASK, ASK),
        ("NODE_OPTIONS=x npm x", ASK, ASK),
        ("NODE_ENV=1 timeout 5 npm x", ALLOW, ALLOW),
        ("FOO=1 timeout 5 npm x", ASK, ASK),
        ("npm x &>/dev/null", ASK, ALLOW),
        ("npm x <<< hi", ASK, ALLOW),
        ("! npm x", ASK, ALLOW),
        ("if true; then npm x; fi", ASK, ALLOW),
    ],
)
def test_P11_an_allow_rule_looks_past_only_what_was_measured(
    command: str, classic: Behavior, current: Behavior
) -> None:
    assert (behavior_of(command, NPM, context(CLASSIC)), behavior_of(command, NPM)) == (
        classic,
        current,
    )


def test_P11_an_exact_rule_does_not_reach_behind_xargs() -> None:
    assert behavior_of("xargs npm test", RuleBook.of(allow=["Bash(npm test)"])) is ASK
    assert behavior_of("xargs npm test", RuleBook.of(allow=["Bash(npm test:*)"])) is ALLOW


@pytest.mark.parametrize(
    "command", ["eval foo", "exec foo", "source x", ". x", "trap foo EXIT", "alias a=b", "let x=1"]
)
def test_P15_no_rule_allows_a_command_that_runs_its_arguments(command: str) -> None:
    assert behavior_of(command, RuleBook.of(allow=[f"Bash({command.split()[0]}:*)"])) is ASK


def test_P15_no_rule_allows_a_find_that_acts() -> None:
    book = RuleBook.of(allow=["Bash(find:*)"])
    assert behavior_of("find . -name x", book) is ALLOW
    assert behavior_of("find . -delete", book) is ASK
    assert behavior_of("find . -exec foo {} ;", book) is ASK
    assert behavior_of("timeout 5 find . -execdir foo ;", book) is ASK
