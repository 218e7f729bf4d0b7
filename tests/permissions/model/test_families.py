"""What differs between versions of the CLI: each row was measured on all five of them."""

from __future__ import annotations

import pytest

from fairlead.permissions import FAMILIES, Behavior, Mode, RuleBook, ToolCall, family_of
from tests.permissions.checking import CWD, bash, behavior_of, context, tool

ALLOW, ASK, DENY = Behavior.ALLOW, Behavior.ASK, Behavior.DENY
RULES = RuleBook.of(allow=["Bash(npm:*)", "Bash(rm:*)"], deny=["Read(secret.txt)"])
WHOLE = RuleBook.of(allow=["Bash"])
GIT = tool("Write", file_path=f"{CWD}/.git/x")

MEASURED = [
    # rules, mode, call; 2.1.29, 2.1.38, 2.1.120, 2.1.220, 2.1.325
    (RULES, Mode.DEFAULT, bash("sed -n 1p a.txt"), (ASK, ALLOW, ALLOW, ALLOW, ALLOW)),
    (RULES, Mode.DEFAULT, bash("cat a.txt | sed -n 1p"), (ALLOW, ALLOW, ALLOW, ALLOW, ALLOW)),
    (RULES, Mode.DEFAULT, bash("command npm test"), (ASK, ASK, ASK, ALLOW, ALLOW)),
    (RULES, Mode.DEFAULT, bash("command cat a.txt"), (ASK, ASK, ASK, ALLOW, ALLOW)),
    (RULES, Mode.DEFAULT, bash("timeout 5 cat a.txt"), (ASK, ASK, ASK, ASK, ALLOW)),
    (RULES, Mode.DEFAULT, bash("rm old.txt"), (ASK, ASK, ASK, ALLOW, ALLOW)),
    (RULES, Mode.ACCEPT_EDITS, tool("Write", file_path=f"{CWD}/secret.txt"),
     (ALLOW, ALLOW, ALLOW, ALLOW, DENY)),
    (RULES, Mode.ACCEPT_EDITS, tool("Write", file_path=f"{CWD}/.npmrc"),
     (ALLOW, ALLOW, ALLOW, ASK, ASK)),
    (RULES, Mode.BYPASS, GIT, (ALLOW, ALLOW, ASK, ALLOW, ALLOW)),
    (RULES, Mode.BYPASS, bash("touch .git/x"), (ALLOW, ALLOW, ASK, ALLOW, ALLOW)),
    (RULES, Mode.PLAN, bash("make all"), (ASK, ASK, ASK, DENY, DENY)),
    (WHOLE, Mode.PLAN, bash("make all"), (ALLOW, ALLOW, ALLOW, DENY, DENY)),
]  # fmt: skip


@pytest.mark.parametrize(("book", "mode", "call", "expected"), MEASURED)
def test_P55_each_version_decides_as_it_was_seen_to(
    book: RuleBook, mode: Mode, call: ToolCall, expected: tuple[Behavior, ...]
) -> None:
    found = tuple(behavior_of(call, book.with_mode(mode), context(family)) for family in FAMILIES)
    assert found == expected


@pytest.mark.parametrize(
    ("version", "family"),
    [
        ("1.0.0", "2.1.29"), ("2.1.29", "2.1.29"), ("2.1.37", "2.1.29"), ("2.1.38", "2.1.38"),
        ("2.1.119", "2.1.38"), ("2.1.120", "2.1.120"), ("2.1.219", "2.1.120"),
        ("2.1.220", "2.1.220"), ("2.1.324", "2.1.220"), ("2.1.325", "2.1.325"),
        ("2.2.0", "2.1.325"), ("unknown", "2.1.325"), ("", "2.1.325"),
    ],
)  # fmt: skip
def test_a_version_that_was_not_measured_is_taken_for_the_one_before(
    version: str, family: str
) -> None:
    assert family_of(version).name == family
