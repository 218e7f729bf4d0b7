"""Runs all tests against real CLIs, on each given version, and writes the table of their results.

    python -m tests.e2e.conformance 2.1.29 2.1.38 2.1.120 2.1.220 2.1.325
    python -m tests.e2e.conformance 2.1.29 2.1.38 … --only test_mcp test_hooks

Runs tests/e2e/real_cli without a network, once for each version, and writes the outcome of each
test on each version to docs/compatibility.md. With `--only` it runs just those modules, and the other
sections of the document keep their results and their dates. The CLIs must be fetched before
(`make conformance` does both). The exit code is that of pytest: a failure is in the table and still
fails the run.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as Xml
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fairlead.testing.isolated import isolated_command
from fairlead.wire.versions import Feature, Version

__all__ = ["Outcome", "main", "read_outcomes", "render", "with_generated"]

ROOT = Path(__file__).parents[2]
SUITE = Path("tests/e2e/real_cli")
TABLE = ROOT / "docs" / "compatibility.md"

GENERATED = "Generated "
"""How the titles of sections begin that a differential on generated cases writes."""

PASSED, FAILED, ABSENT = "✓", "✗", "–"

WORKERS = 2
"""Old CLIs are bound by the processor while they start; more workers only make them slower."""

_CASE = re.compile(r"(?P<name>\w+)(?:\[(?P<parameters>.*)\])?")
_SOURCE = re.compile(r" \(CLI-\d+[^)]*\)")
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_MODULE = re.compile(r"^From `(\w+)\.py`", re.MULTILINE)


Rows = dict[str, dict[str, list[bool]]]
"""Test -> version -> whether each of its cases passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One test on one version."""

    module: str
    test: str
    version: str
    passed: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests on the given versions and write the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.conformance")
    parser.add_argument("versions", nargs="+", metavar="VERSION")
    parser.add_argument("--only", nargs="+", metavar="MODULE", default=())
    chosen = parser.parse_args(arguments)
    versions = chosen.versions
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        code = _run(versions, chosen.only, report)
        outcomes = read_outcomes(report.read_text("utf-8"))
    today = datetime.datetime.now(datetime.UTC).date()
    before = TABLE.read_text("utf-8")
    document = render(outcomes, versions, today, before if chosen.only else "")
    TABLE.write_text(with_generated(document, before), "utf-8")
    failed = sum(not outcome.passed for outcome in outcomes)
    sys.stdout.write(f"{TABLE.relative_to(ROOT)}: {len(outcomes)} outcomes, {failed} failed\n")
    return code


def _run(versions: Sequence[str], only: Sequence[str], report: Path) -> int:
    chosen = [str(SUITE / f"{module}.py") for module in only] or [str(SUITE)]
    command = [sys.executable, "-m", "pytest", *chosen, "-q", "-n", str(WORKERS)]
    command += ["--dist", "worksteal", f"--junitxml={report}"]
    selected = {"FAIRLEAD_CLI_VERSIONS": ",".join(versions), "FAIRLEAD_MATRIX": "whole"}
    environment = {**os.environ, **selected}
    return subprocess.run(isolated_command(command), cwd=ROOT, env=environment).returncode


def read_outcomes(report: str) -> list[Outcome]:
    """The outcomes in a JUnit report; tests that are not about a version are left out."""
    outcomes = []
    for case in Xml.fromstring(report).iter("testcase"):
        found = _CASE.fullmatch(case.get("name", ""))
        version = _VERSION.search(found["parameters"] or "") if found else None
        if found and version:
            outcome = Outcome(
                module=case.get("classname", "").rpartition(".")[2],
                test=found["name"],
                version=version[0],
                # A skip is a failure here: a test that does not apply is not collected.
                passed=not any(child.tag in ("failure", "error", "skipped") for child in case),
            )
            outcomes.append(outcome)
    return outcomes


def render(
    outcomes: Iterable[Outcome], versions: Sequence[str], day: datetime.date, before: str = ""
) -> str:
    """The whole document; modules without an outcome keep their section of the one before."""
    rows: dict[str, Rows] = {}
    for outcome in outcomes:
        row = rows.setdefault(outcome.module, {}).setdefault(outcome.test, {})
        row.setdefault(outcome.version, []).append(outcome.passed)
    sections = _sections_of(before, versions)
    sections |= {module: _section(module, rows[module], versions, day) for module in rows}
    parts = [_head(versions), *(sections[module] for module in sorted(sections))]
    parts.append(_differences(versions))
    return "\n".join(parts)


def _sections_of(document: str, versions: Sequence[str]) -> dict[str, str]:
    """Module -> its section of a document with the same versions."""
    found = {}
    for part in document.split("\n## ")[1:]:
        module = _MODULE.search(part)
        if module and _row("scenario", versions) in part.splitlines():
            found[module[1]] = f"## {part.rstrip()}\n"
    return found


def with_generated(document: str, before: str) -> str:
    """The document with the sections that other programs wrote: those on generated cases."""
    parts = document.split("\n## ")
    titles = {part.partition("\n")[0] for part in parts}
    sections = [
        f"{part.rstrip()}\n"
        for part in before.split("\n## ")[1:]
        if part.startswith(GENERATED) and part.partition("\n")[0] not in titles
    ]
    return "\n## ".join([*parts[:-1], *sections, parts[-1]])


def _head(versions: Sequence[str]) -> str:
    return f"""# Tested CLI versions

Fairlead is tested on real CLIs from {versions[0]} to {versions[-1]}. This page has the results:

- Scenarios, by topic. Each row is a test in `{SUITE}` that drives the real CLI with a scripted
  model and without a network.
- [Generated permission calls](#generated-permission-calls): Fairlead's permission policy compared
  with the decisions of the CLIs.
- [Generated conversations](#generated-conversations): the emulator compared with the CLIs.
- [Differences between versions](#differences-between-versions) that Fairlead handles.

`make conformance` (`python -m tests.e2e.conformance {" ".join(versions)}`) generates this page; do
not edit it by hand. `make test` runs a part of the scenarios, each on 2.1.38 or 2.1.325.

{PASSED} passed · {FAILED} failed · {ABSENT} does not apply to this version
"""


def _section(module: str, rows: Rows, versions: Sequence[str], day: datetime.date) -> str:
    lines = [
        f"## {_title(module)}",
        "",
        f"From `{module}.py`, run on {day}.",
        "",
        *_heading("scenario", versions),
    ]
    for test, row in rows.items():
        cells = [_cell(row.get(version, [])) for version in versions]
        lines.append(_row(test.removeprefix("test_").replace("_", " "), cells))
    return "\n".join([*lines, ""])


def _cell(cases: Sequence[bool]) -> str:
    """All cases of one test on one version: most have one, some have other parameters too."""
    if not cases or all(cases):
        return PASSED if cases else ABSENT
    return FAILED if len(cases) == 1 else f"{FAILED} {cases.count(False)} of {len(cases)}"


def _title(module: str) -> str:
    """What a module's docstring says it is about."""
    source = (ROOT / SUITE / f"{module}.py").read_text("utf-8")
    text = (ast.get_docstring(ast.parse(source)) or module).split("\n\n")[0]
    return _SOURCE.sub("", " ".join(text.split())).rstrip(".")


def _differences(versions: Sequence[str]) -> str:
    lines = ["## Differences between versions", ""]
    lines += ["From the table of versions in `wire/versions.py`.", ""]
    lines += _heading("a marked version …", versions)
    parsed = [Version.parse(version) for version in versions]
    for feature in Feature:
        has = [version is not None and version.has(feature) for version in parsed]
        name = feature.label.replace("_", " ")
        lines.append(_row(name, ["•" if known else "" for known in has]))
    return "\n".join([*lines, ""])


def _heading(first: str, versions: Sequence[str]) -> list[str]:
    return [_row(first, versions), "|---|" + ":-:|" * len(versions)]


def _row(name: str, cells: Sequence[str]) -> str:
    return "| " + " | ".join([name, *cells]) + " |"


if __name__ == "__main__":
    sys.exit(main())
