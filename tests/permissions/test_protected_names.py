"""Names that the CLI protects, names that it may protect, and quotes around a program's name."""

from __future__ import annotations

import pytest

from fairlead.permissions import CLASSIC, Behavior, Mode, RuleBook, family_of
from tests.permissions.checking import CWD, behavior_of, context, tool

ALLOW, MAY_ASK, ASK = Behavior.ALLOW, Behavior.MAY_ASK, Behavior.ASK
EDITS = RuleBook.of(mode=Mode.ACCEPT_EDITS)


@pytest.mark.parametrize("command", ["'touch' n.txt", '"mkdir" n', "'rm' n.txt"])
def test_P126_a_file_command_with_a_quoted_name_asks(command: str) -> None:
    assert behavior_of(command, EDITS) is ASK


@pytest.mark.parametrize("command", ["'hostname'", '"hostname" -f', "hostname '-f'"])
def test_P126_hostname_is_read_only_without_quotes(command: str) -> None:
    assert behavior_of(command) is ASK
    assert behavior_of(command.replace("'", "").replace('"', "")) is ALLOW


@pytest.mark.parametrize(
    "name",
    [".mvn/jvm.config", ".zlogout", ".devcontainer.json", "lefthook.yaml", ".bunfig.toml",
     ".bazelversion", "gradle/wrapper/gradle-wrapper.properties", "src/maven-wrapper.properties"],
)  # fmt: skip
def test_P127_more_names_are_protected_since_2_1_220(name: str) -> None:
    for command in (f"touch {name}", f"echo x > {name}"):
        assert behavior_of(command, EDITS) is ASK
    write = tool("Write", file_path=f"{CWD}/{name}", content="x")
    assert behavior_of(write, EDITS) is ASK
    assert behavior_of(write, EDITS, context(family_of("2.1.220"))) is ASK
    assert behavior_of(write, EDITS, context(family_of("2.1.120"))) is ALLOW
    assert behavior_of(write, EDITS, context(CLASSIC)) is ALLOW


@pytest.mark.parametrize(
    "name", [".g\u0131t/x", ".ba\u017fhrc", ".git\ufeff/x", ".g\u200cit/x", ".husky\u3000/x"]
)
def test_P128_a_protected_name_is_recognized_in_other_letters(name: str) -> None:
    assert behavior_of(tool("Write", file_path=f"{CWD}/{name}", content="x"), EDITS).asks


@pytest.mark.parametrize("name", [".newtoolrc", "src/.newtool/x"])
def test_P129_a_write_to_an_unknown_name_with_a_dot_may_ask(name: str) -> None:
    write = tool("Write", file_path=f"{CWD}/{name}", content="x")
    assert behavior_of(write, EDITS) is MAY_ASK
    assert behavior_of(f"touch {name}", EDITS) is MAY_ASK
    assert behavior_of(f"cat {name}", EDITS) is ALLOW
    assert behavior_of(write, RuleBook.of(mode=Mode.BYPASS)) is ALLOW
    assert behavior_of(write, EDITS, context(CLASSIC)) is ALLOW


@pytest.mark.parametrize(
    "name", [".gitignore", ".github/workflows/x.yml", ".env.local", ".eslintrc"]
)
def test_P129_usual_names_with_a_dot_are_certain(name: str) -> None:
    assert behavior_of(tool("Write", file_path=f"{CWD}/{name}", content="x"), EDITS) is ALLOW
