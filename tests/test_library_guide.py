"""docs/library.md: every program in it runs, and every list in it is complete."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

import fairlead
from fairlead.host.options import environment as code
from fairlead.testing import EmulatedClaude
from tests.documented import ROOT, Program, programs_of, run_program

GUIDE = ROOT / "docs" / "library.md"

PRINTED = {
    "First program": r"(?s)I am .*\nTrue idle\n",
    "First program 2": r"(?s)I am .*\n\$0\.\d{4}\n",
    "Sessions and turns": r"queued: 1\n(done True \d{2,} 0\.\d+\n){2}total: 0\.\d+\n",
    "Sessions and turns 2": r"False True\nTrue\n",
    "Collect the answer": r"text: \d{2,} characters\nresult: success 1\n",
    "Follow tools": r"(?s)call: Bash \{'command': 'python3 -m unittest.*\nresult: (ok|failed) .+\n",
    "Read the whole session": r"result: True\n",
    "Permissions": r"asked: Bash python3 -m unittest -v\ntests \[\]\nasked: Write \nedit \['Write'\]\n",
    "Answer later": r"open: True\nanswered: True\nagain: False\nTrue\n",
    "Rules of your own, and an audit log": r"Bash denied rule Bash\(python3:\*\)\n",
    "Questions": r"(?s)Format \['JSON', .*\nFlag \['Blue', .*JSON.*Blue, White.*",
    "Plans": r"(?s)# Plan\n.*\nTrue 0\n",
    "Tools": r"(?s)2\.5, then: .*division by zero.*\n",
    "A schema of your own": r'.*"query": ?"login".*\[17, ?42\].*\n',
    "Hooks": r"(?s)prompt: tests\nbefore: Bash python3 -m unittest -v\n.+\n",
    "Structured output": r"True \{'version': '1\.2\.0', 'changes': 3\}\nFalse None\n",
    "Resume, fork, continue": r"resumed True\nforked False\ncontinued True\n",
    "Text from other people": r"True\n",
    "Errors": r"failed: error_max_turns\nnot found: \./no-such-program\nwrong option: max_turns\n",
    "Without asyncio": r"(?s).+\nTrue idle\nTrue\n",
    "The environment of the CLI": r"\[blue\] \[hello\] \[\]\n",
}
"""What each program prints, as a pattern: the text of the demo's model may change."""

PROGRAMS = programs_of(GUIDE)


def test_what_every_program_prints_is_known() -> None:
    assert [program.name for program in PROGRAMS] == list(PRINTED)


@pytest.mark.matrix(target="faults", cases=8)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
async def test_a_program_of_the_guide(program: Program, tmp_path: Path) -> None:
    folder, home = tmp_path / "project", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    for name, script in _scripts().items():
        (folder / name).write_text(script, "utf-8")
    printed = await run_program(program.code, folder, _environment(home))
    assert re.fullmatch(PRINTED[program.name], printed), printed


def test_a_type_checker_accepts_every_program(tmp_path: Path) -> None:
    for number, program in enumerate(PROGRAMS):
        (tmp_path / f"program_{number}.py").write_text(program.code, "utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *map(str, sorted(tmp_path.glob("*.py")))],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=110,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
async def test_the_program_of_the_readme(
    version: str, tmp_path: Path, emulated_claude: Callable[..., EmulatedClaude]
) -> None:
    (example,) = programs_of(ROOT / "README.md")
    add = {"use": "mcp__fairlead__add", "input": {"a": 2, "b": 2}, "as": "sum"}
    claude = emulated_claude([{"steps": [add, "It is {{sum.text}}."]}], version=version)
    environment = _environment(claude.home)
    environment["PATH"] = f"{claude.executable.parent}{os.pathsep}{environment['PATH']}"
    lines = (await run_program(example.code, tmp_path, environment)).splitlines()
    assert re.fullmatch(r"It is 4\.0\. 0\.\d+ idle", lines[-1]), lines
    assert lines[-2] == "Result"


def test_every_option_is_in_the_table_of_its_group_with_its_default() -> None:
    documented: dict[str, dict[str, str]] = {}
    for heading, table in _tables(_after("Reference: options")):
        group = re.match(r"`(\w+)`: (\w+)", heading)
        rows = documented.setdefault(f"{group[1]}: {group[2]}" if group else "Options", {})
        for option, default, meaning in table:
            assert option not in rows, option
            assert meaning, option
            rows[option.strip("`")] = default.strip("`")
    expected: dict[str, dict[str, str]] = {"Options": {}}
    for name, value in _fields(fairlead.Options()):
        kind = type(value)
        if kind.__name__ in fairlead.__all__:
            expected[f"{name}: {kind.__name__}"] = {n: repr(v) for n, v in _fields(value)}
        else:
            expected["Options"][name] = repr(value)
    assert documented == expected


def test_every_member_of_sessions_and_turns_is_in_the_reference() -> None:
    text = _after("Reference: Session and Turn").partition("\n## ")[0]
    known = set(re.findall(r"`(\w+)", text))
    for kind in (fairlead.Session, fairlead.Turn):
        members = {name for name in dir(kind) if not name.startswith("_")}
        assert members <= known, sorted(members - known)


def test_the_tree_of_errors_is_complete() -> None:
    text = _after("Errors")
    tree = text[text.index("FairleadError") : text.index("```", text.index("FairleadError"))]
    found: dict[str, str | None] = {}
    parents: list[str] = []
    for line in tree.splitlines():
        branch = re.match(r"((?:[│ ]   )*)(├── |└── )?(\w+)", line)
        assert branch is not None, line
        depth = len(branch[1]) // 4 + bool(branch[2])
        found[branch[3]] = parents[depth - 1] if depth else None
        parents[depth:] = [branch[3]]
    errors = [getattr(fairlead, name) for name in fairlead.__all__]
    assert found == {
        error.__name__: None if error is fairlead.FairleadError else error.__mro__[1].__name__
        for error in errors
        if isinstance(error, type) and issubclass(error, fairlead.FairleadError)
    }


def test_every_hook_event_and_helper_is_listed() -> None:
    text = _after("Hooks").partition("\n## ")[0]
    listed = re.findall(r"`(\w+)`", text[text.index("Events:") :].partition(" An older")[0])
    assert listed == list(get_args(fairlead.HookEvent))
    helpers = {row[0].partition("(")[0].strip("`") for _, table in _tables(text) for row in table}
    assert helpers == {"allow_tool", "deny_tool", "ask_user", "block", "stop", "add_context"}


def test_the_list_of_variables_is_that_of_the_code() -> None:
    *_, (_, table) = _tables(_after("The environment of the CLI").partition("\n## ")[0])
    documented = {group: re.findall(r"`(\w+)`", names) for group, names in table}
    clouds = {
        f"if `{switch}` is on, all that begin with": prefixes
        for switch, prefixes in code.CLOUD_PREFIXES.items()
    }
    expected = {
        "system": code.SYSTEM,
        "proxies, in lower or upper case": code.PROXIES,
        "all that begin with": code.PREFIXES,
        "settings of the CLI with other names": code.CLI_SETTINGS,
        **clouds,
        "only for `demo` and `fairlead-claude`": code.EMULATOR,
        "never passed, because they belong to a Claude Code around your program": (
            code.NESTED_MARKERS
        ),
    }
    fixed = set(documented.pop("set by Fairlead")) - {"file_checkpoints"}
    assert {group: sorted(names) for group, names in documented.items()} == {
        group: sorted(names) for group, names in expected.items()
    }
    options = fairlead.Options(agent="demo", inherit_env=False, file_checkpoints=True)
    assert fixed == set(code.child_environment({"PATH": "/bin"}, options))


def test_every_link_of_the_guide_leads_somewhere() -> None:
    text = GUIDE.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (GUIDE.parent / target).is_file(), target
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors


def _after(heading: str) -> str:
    """The guide from a heading on."""
    _, found, rest = GUIDE.read_text("utf-8").partition(f"\n## {heading}\n")
    assert found, heading
    return rest


def _tables(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Every table with the heading above it, as rows of cells, without its head."""
    heading = ""
    for part in re.finditer(r"^#+ (?P<heading>.+)$|(?P<table>(?:^\|.*\n)+)", text, re.MULTILINE):
        if part["heading"]:
            heading = part["heading"]
            continue
        rows = [line.strip("| ").split(" | ") for line in part["table"].splitlines()]
        yield heading, rows[2:]


def _fields(options: Any) -> Iterator[tuple[str, Any]]:
    """The public fields of options or of one of their groups, and their values."""
    names = (
        [field.name for field in dataclasses.fields(options)]
        if dataclasses.is_dataclass(options)
        else options.__struct_fields__
    )
    return ((name, getattr(options, name)) for name in names if not name.startswith("_"))


def _environment(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


def _scripts() -> dict[str, str]:
    """The emulator's scripts in the guide; each names its file in the first line."""
    text = GUIDE.read_text("utf-8")
    return dict(re.findall(r"^```yaml\n# (\S+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
