"""Commands that only look need no rule."""

from __future__ import annotations

import pytest

from fairlead.permissions import CLASSIC, CURRENT, Behavior, Family, Reason
from tests.permissions.checking import behavior_of, context, decide

LOOKING = [
    "ls", "ls -la src", "pwd", "whoami", "cat a.txt", "head -n 3 a.txt", "tail -5 a.txt",
    "wc -l a.txt", "grep -rn x .", "rg -n x src", "find . -name '*.py'", "sort -r a.txt",
    "cut -d, -f1 a.txt", "sed -n 1,5p a.txt", "diff a.txt b.txt", "stat a.txt", "du -sh .",
    "ps aux", "date +%s", "git status", "git log --oneline -5", "git diff --stat", "git show HEAD",
    "git branch -a", "git tag -l", "git stash list", "git config --get user.name", "echo hi",
    "echo 'a $(b)'", "jq .a a.txt", "docker ps -a", "python3 --version", "node -v", "true",
    "ls | head", "cat a.txt | grep x | wc -l", "ls && pwd", "ls 2>/dev/null", "sleep 1",
]  # fmt: skip

ACTING = [
    "sort -o b a.txt", "sort --compress-program=x a", "find . -delete", "find . -exec ls {} ;",
    "find . -fprint x", "sed -i s/a/b/ a.txt", "sed -n '1w x' a.txt", "sed -n 1e a.txt",
    "git branch foo", "git branch -d x", "git tag v1", "git config user.name x", "git stash",
    "git log --output=x", "git diff --ext-diff", "git -c core.pager=x log", "git -C . status",
    "git --git-dir=x log", "git push", "date -s now", "hostname foo", "tree -o x", "file -C",
    "man -P foo ls", "history -c", "rg --pre foo x", "jq -f a.txt", "jq env a.txt", "base64 -o x a",
    "uniq a.txt b.txt", "python3", "python3 x.py", "node", "node --eval 1", "env", "xargs ls",
    "awk 1 a.txt", "ifconfig eth0 down", "ip link set lo up", "tee x", "npm --version", "printenv",
    "python", "git config", "bash", "sh", "ssh h", "less a.txt", "vi a", "cd", "cd -",
]  # fmt: skip


@pytest.mark.parametrize("command", LOOKING)
@pytest.mark.parametrize("family", [CLASSIC, CURRENT], ids=lambda family: family.name)
def test_P12_a_command_that_only_looks_needs_no_rule(command: str, family: Family) -> None:
    decision = decide(command, at=context(family))
    assert decision.behavior is Behavior.ALLOW
    assert decision.reason is Reason.READ_ONLY


@pytest.mark.parametrize("command", ACTING)
@pytest.mark.parametrize("family", [CLASSIC, CURRENT], ids=lambda family: family.name)
def test_P12_what_may_act_asks(command: str, family: Family) -> None:
    assert behavior_of(command, at=context(family)) is Behavior.ASK


@pytest.mark.parametrize(
    "command", ["printf '%s' x", "seq 3", "timeout 5 ls", "cat < a.txt", "ls *.txt", "ls # x"]
)
def test_P12_newer_versions_know_more_that_only_looks(command: str) -> None:
    assert behavior_of(command, at=context(CURRENT)) is Behavior.ALLOW
    assert behavior_of(command, at=context(CLASSIC)) is Behavior.ASK
