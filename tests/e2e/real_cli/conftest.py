"""Fixtures for tests against real CLIs, hermetic and under a scripted model.

    async def test_the_model_sees_the_file(cli, cli_env, model, project):
        model.push(use("Read", file_path=str(project / "a.txt")), reply("Seen."))
        options = Options(agent=str(cli.executable), env=cli_env, cwd=project)
        …
        assert model.requests[1].tool_results[0].text == "…"

`cli`       a `RealCli` (`.executable`, `.version`, `.key` for comparing). `make conformance` runs
            each test that takes it on every version. `make test` runs one case of each numbered rule
            that a module names, or one case of the module, on one of 2.1.38 and 2.1.325.
            FAIRLEAD_CLI_VERSIONS selects the versions instead, each for all tests
            (`FAIRLEAD_CLI_VERSIONS=2.1.29,2.1.120 pytest tests/e2e/real_cli`).
            For one version only: `@pytest.mark.parametrize("cli", ["2.1.325"], indirect=True)`.
            For those that have a feature: `@pytest.mark.only(since="2.1.120")`, or `before=`.
            Tests that do not apply to a version are deselected; no test is skipped.
`model`     a running `ModelApi` with an empty script: `model.push(…)` its replies, read
            `model.requests`, hold a reply with a `Gate` instead of sleeping. Used up, it says
            "Done.". See `fairlead.model_api.replies` and `model_script` for all it can do.
`home`      the CLI's own HOME: empty, with a short path, gone afterwards.
`project`   an empty working directory.
`cli_env`   the whole environment of the CLI (`hermetic_env`): give it as it is, or
            `{**cli_env, "IS_SANDBOX": "1"}`.
`harness`   all of these in one, for Fairlead's own client: `async with harness.session(…)`.
`raw`       starts the CLI on bare pipes, `process = await raw("--max-turns", "1")`: a `RawCli`,
            for tests of the CLI itself. Ended with the test.

A CLI that cannot be had fails the test. Fetch them before a run without network:
`python -m fairlead.testing.real_cli 2.1.38 2.1.325`, then
`python -m fairlead.testing.isolated -- pytest tests/e2e/real_cli`.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from fairlead.model_api.api import ModelApi
from fairlead.testing.hermetic import hermetic_env
from fairlead.testing.real_cli import RealCli, ensure
from fairlead.wire.versions import Span, Version
from tests.e2e.real_cli.cli_harness import CliHarness
from tests.e2e.real_cli.compiled import compiled
from tests.e2e.real_cli.raw_cli import FLAGS, RawCli
from tests.matrix import WHOLE, leave

HERE = Path(__file__).parent

DEFAULT_VERSIONS = ("2.1.38", "2.1.325")

SELECTED = tuple(filter(None, os.environ.get("FAIRLEAD_CLI_VERSIONS", "").split(",")))

VERSIONS = tuple(dict.fromkeys((*DEFAULT_VERSIONS, *SELECTED)))

RULE = re.compile(r"test_([A-Z]\d+)_")
EVERY_OLD = 3
"""In `make test` one case of each numbered rule runs that a module names, and one case of a module that
names none. Every third of the modules that have a choice runs on the oldest of the default versions,
and all others on the newest: users have the newest, and it starts in half the CPU time. A start of a
real CLI takes a second of CPU time, and the emulator is compared with recordings of all these
scenarios (E1), so the remaining cases run in `make conformance`, with all cases on all versions."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "only(since, before): the CLI versions a test applies to")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unfit = [item for item in items if not _applies(item)]
    config.hook.pytest_deselected(items=unfit)
    items[:] = [item for item in items if item not in set(unfit)]
    if not (SELECTED or WHOLE):
        chosen = set(_some_of_each_module(items))
        leave(config, items, {item: "conformance" for item in items if item not in chosen})


def _some_of_each_module(items: list[pytest.Item]) -> list[pytest.Item]:
    """The items without the cases of real CLIs that only `make conformance` runs."""
    modules: dict[Path, dict[str, list[pytest.Item]]] = {}
    for item in items:
        if _version(item) is not None:
            modules.setdefault(item.path, {}).setdefault(_case(item), []).append(item)
    removed = {item for cases in modules.values() for same in cases.values() for item in same}
    with_choice = 0
    for cases in modules.values():
        chosen = one_of_each_rule(cases)
        with_choice += len(chosen[0]) > 1
        oldest = len(chosen[0]) > 1 and with_choice % EVERY_OLD == 0
        removed.difference_update(same[0 if oldest else -1] for same in chosen)
    return [item for item in items if item not in removed]


def one_of_each_rule(cases: dict[str, list[pytest.Item]]) -> list[list[pytest.Item]]:
    """The last case of each rule that a test of a module names; the first case if none names any.

    A module begins with its longest stories, and the cases of a rule often end with the shortest.
    """
    of_rules = {
        rule[1]: same for same in cases.values() if (rule := RULE.match(same[0].name)) is not None
    }
    return list(of_rules.values()) or [next(iter(cases.values()))]


def _case(item: pytest.Item) -> str:
    """The id of a test without the version in it, relative to this folder."""
    version = _version(item)
    return item.nodeid if version is None else item.nodeid.replace(version, "", 1)


def _version(item: pytest.Item) -> str | None:
    # pytest calls this hook with the tests of all folders.
    spec = getattr(item, "callspec", None) if HERE in item.path.parents else None
    return None if spec is None or "cli" not in spec.params else str(spec.params["cli"])


def _applies(item: pytest.Item) -> bool:
    """Whether this run has the version of a test, and the test is about this version."""
    name = _version(item)
    if name is None:
        return True
    mark = item.get_closest_marker("only")
    if mark is None or name not in VERSIONS:
        return name in VERSIONS
    limits = {name: Version.parse(text) for name, text in mark.kwargs.items()}
    span = Span(since=limits.get("since"), until=limits.get("before"))
    version = Version.parse(name)
    return version is not None and version in span


@pytest.fixture(params=VERSIONS)
def cli(request: pytest.FixtureRequest) -> RealCli:
    return compiled(ensure(request.param))


@pytest.fixture
async def model() -> AsyncIterator[ModelApi]:
    async with ModelApi() as api:
        yield api


@pytest.fixture
def home() -> Iterator[Path]:
    # Not below tmp_path: the CLI opens a socket in here, whose path may have 107 bytes.
    with tempfile.TemporaryDirectory(prefix="fl-", ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def cli_env(home: Path, model: ModelApi) -> dict[str, str]:
    return hermetic_env(home, model.base_url)


@pytest.fixture
def harness(
    cli: RealCli, model: ModelApi, home: Path, project: Path, cli_env: dict[str, str]
) -> CliHarness:
    return CliHarness(cli=cli, model=model, home=home, project=project, env=cli_env)


@pytest.fixture
async def raw(
    cli: RealCli, cli_env: dict[str, str], project: Path
) -> AsyncIterator[Callable[..., Awaitable[RawCli]]]:
    async with AsyncExitStack() as processes:

        async def start(*more_flags: str, **more_env: str) -> RawCli:
            process = RawCli(
                cli, env={**cli_env, **more_env}, cwd=project, flags=(*FLAGS, *more_flags)
            )
            return await processes.enter_async_context(process)

        yield start
