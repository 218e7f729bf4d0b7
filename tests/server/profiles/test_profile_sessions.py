"""Sessions in profiles: started, resumed, forked, found, and counted in their own."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from fairlead.host.options.options import Options
from fairlead.server.http.search.cli_index import CliIndex
from fairlead.server.http.usage import Usage
from fairlead.server.intents.limit_holds import CONTINUE_TEXT
from fairlead.server.limits import Limits
from fairlead.server.profiles.profile import LOGIN_VARIABLES, Profile, profile_environment
from fairlead.server.protocol.intents import (
    ContinueAtResetByDefault,
    Fork,
    NewSession,
    Restart,
    Resume,
    SetEffort,
    Stop,
)
from fairlead.store.tables.search import Filters
from tests.server.dumping_agent import dumped, dumper
from tests.server.limits.reports import RESET, Clock, stopped_at_limit
from tests.server.profiles.accounts import account, session_file
from tests.server.server_harness import ServerHarness

LIMITS = Limits(tick_every_s=1e6, reset_jitter_s=(7.0, 7.0), restart_delays_s=(0.0,))


def files(profile: Profile) -> set[str]:
    return {path.stem for path in Path(profile.config_dir).glob("projects/*/*.jsonl")}


async def turns(harness: ServerHarness, session: str, count: int = 1) -> None:
    """Wait until this many turns of a session are over."""
    live = await harness.registry.sessions.load(session)
    await harness.until(
        lambda: sum(turn.outcome is not None for turn in live.transcript.turns) >= count
    )


async def test_B118_a_session_gets_the_folder_and_the_variables_of_its_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "the key of the server")
    monkeypatch.setenv("TEAM_TOKEN", "passed")
    work = Profile(
        name="work", config_dir=str(tmp_path / "w"), env={"MINE": "1"}, pass_env=("TEAM_*",)
    )
    async with ServerHarness(tmp_path, agent=dumper(tmp_path), profiles=[work]) as harness:
        session = await harness.new(profile="work")
        await harness.until(lambda: dumped(tmp_path))
        plain = await harness.new()
        await harness.until(lambda: len([e for e in dumped(tmp_path) if "env" in e]) == 2)
        first, second = (each["env"] for each in dumped(tmp_path) if "env" in each)
        assert first["CLAUDE_CONFIG_DIR"] == str(tmp_path / "w")
        assert (first["MINE"], first["TEAM_TOKEN"]) == ("1", "passed")
        assert "ANTHROPIC_API_KEY" not in first, "the login of another account"
        assert second["ANTHROPIC_API_KEY"] == "the key of the server"
        assert "MINE" not in second
        assert "TEAM_TOKEN" not in second
        rows = harness.lobby("sessions")
        assert (rows[session]["profile"], rows[plain]["profile"]) == ("work", "")
    assert stat.S_IMODE((tmp_path / "w").stat().st_mode) == 0o700


def test_B118_a_profile_inherits_no_login_unless_it_is_named() -> None:
    parent = {"PATH": "/bin", "HTTPS_PROXY": "p", **dict.fromkeys(LOGIN_VARIABLES, "server")}
    profile = Profile(name="a", config_dir="/a", pass_env=("ANTHROPIC_AUTH_TOKEN",))
    child = profile_environment(profile, Options(), parent)
    assert {name for name in LOGIN_VARIABLES if name in child} == {"ANTHROPIC_AUTH_TOKEN"}
    assert (child["PATH"], child["HTTPS_PROXY"]) == ("/bin", "p")
    explicit = Options(env={"ANTHROPIC_API_KEY": "for all"}, pass_env=["CLAUDE_CODE_OAUTH_TOKEN"])
    child = profile_environment(profile, explicit, parent)
    assert child["ANTHROPIC_API_KEY"] == "for all"
    assert child["CLAUDE_CODE_OAUTH_TOKEN"] == "server"


async def test_B118_resume_restart_effort_and_fork_stay_in_the_profile(tmp_path: Path) -> None:
    work, side = account(tmp_path, "work"), account(tmp_path, "side")
    async with ServerHarness(tmp_path, cli=True, profiles=[work, side]) as harness:
        sessions = {
            name: await harness.new(prompt="hello", profile=name) for name in ("work", "side")
        }
        for session in sessions.values():
            await turns(harness, session)
        assert files(work).isdisjoint(files(side))
        assert len(files(work)) == len(files(side)) == 1
        for session in sessions.values():
            assert (await harness.act(Stop(session=session))).ok
            assert (await harness.act(Resume(session=session))).ok
            assert (await harness.act(SetEffort(session=session, effort="low"))).ok
            assert (await harness.act(Restart(session=session))).ok
            await harness.say(session, text="again")
            await turns(harness, session, 2)
        fork = await harness.act(Fork(session=sessions["side"]))
        assert fork.ok, fork
        forked = str(fork.result["session"])
        await harness.say(forked, text="forked")
        await harness.until(lambda: len(files(side)) == 2)
        assert harness.lobby("sessions")[forked]["profile"] == "side"
        assert len(files(work)) == 1
        assert not harness.projects.exists(), "nothing in the default folder"


async def test_B118_a_session_continues_the_latest_of_its_own_profile(tmp_path: Path) -> None:
    work = account(tmp_path, "work")
    async with ServerHarness(tmp_path, cli=True, profiles=[work]) as harness:
        session_file(harness.projects, "of the default", harness.project)
        mine = session_file(Path(work.config_dir, "projects"), "of work", harness.project)
        session = await harness.new(continue_latest=True, profile="work")
        row = harness.registry.sessions.row(session)
        assert (row.cli_session_id, row.profile) == (mine, "work")


async def test_B119_an_unknown_profile_and_a_folder_that_cannot_be_used_are_refused_in_words(
    tmp_path: Path,
) -> None:
    (tmp_path / "a-file").write_text("")
    blocked = Profile(name="blocked", config_dir=str(tmp_path / "a-file"))
    below = Profile(name="below", config_dir=str(tmp_path / "a-file-2" / "x"))
    (tmp_path / "a-file-2").write_text("")
    async with ServerHarness(tmp_path, profiles=[blocked, below]) as harness:
        for name, words in (("nobody", "does not exist"), ("blocked", "is not a folder"),
                            ("below", "cannot be made")):  # fmt: skip
            refused = await harness.act(NewSession(cwd=str(harness.project), profile=name))
            assert not refused.ok
            assert words in str(refused.message)
        assert not harness.lobby("sessions")


async def test_B120_terminal_sessions_of_every_profile_are_listed_searched_and_resumed_there(
    tmp_path: Path,
) -> None:
    work = account(tmp_path, "work")
    async with ServerHarness(tmp_path, cli=True, profiles=[work]) as harness:
        theirs = session_file(Path(work.config_dir, "projects"), "peculiar words", harness.project)
        plain = session_file(harness.projects, "usual words", harness.project)
        rows: Any = lambda: harness.lobby("sessions")  # noqa: E731
        await harness.until(lambda: theirs in rows() and plain in rows())
        assert (rows()[theirs]["profile"], rows()[plain]["profile"]) == ("work", "")
        cli = harness.registry.sessions.cli
        assert cli is not None
        await CliIndex(cli, harness.store, tmp_path, own=set).catch_up()
        hits = await harness.store.search("peculiar", Filters(profile="work"))
        assert [hit.session for hit in hits] == [theirs]
        assert await harness.store.search("peculiar", Filters(profile="")) == []
        assert await harness.registry.open(theirs)
        resumed = await harness.act(Resume(session=theirs))
        assert resumed.ok, resumed
        session = str(resumed.result["session"])
        await harness.say(session, text="go on")
        await turns(harness, session, 2)
        assert harness.registry.sessions.account_of(session) == "work"
        fork = await harness.act(Fork(session=session))
        assert harness.registry.sessions.account_of(str(fork.result["session"])) == "work"


async def test_B121_a_limit_of_one_profile_never_holds_the_queue_of_another(tmp_path: Path) -> None:
    work, clock = account(tmp_path, "work"), Clock()
    async with ServerHarness(tmp_path, limits=LIMITS, clock=clock, profiles=[work]) as harness:
        assert (await harness.act(ContinueAtResetByDefault(on=True))).ok
        free = await harness.new(prompt="hello")
        stopped = await harness.new(prompt=stopped_at_limit(), profile="work")
        row: Any = lambda name: harness.lobby("sessions")[name]  # noqa: E731
        await harness.until(lambda: (row(stopped)["limit"] or {}).get("continues_at"))
        await turns(harness, free)
        await harness.say(free, text="goes on")
        await turns(harness, free, 2)
        assert "goes on" in harness.prompts()
        assert row(free)["limit"] is None
        book = harness.registry.limit_book
        assert {each.account for each in book.rows(clock.now)} == {"work"}
        assert CONTINUE_TEXT not in harness.prompts()
        clock.now = RESET + 8
        await harness.registry.limit_holds.tick(clock.now)
        await harness.until(lambda: CONTINUE_TEXT in harness.prompts())


async def test_B121_usage_is_summed_by_profile_for_sessions_and_for_files(tmp_path: Path) -> None:
    work = account(tmp_path, "work")
    async with ServerHarness(tmp_path, cli=True, profiles=[work]) as harness:
        session_file(Path(work.config_dir, "projects"), "in a terminal", harness.project)
        cli = harness.registry.sessions.cli
        assert cli is not None
        await cli.refresh()
        await CliIndex(cli, harness.store, tmp_path, own=set).catch_up()
        for profile in (None, "work"):
            session = await harness.new(prompt="hello", profile=profile)
            await turns(harness, session)
        usage = Usage(tmp_path / "data", lambda: harness.store.epoch)
        report = await usage.report([0.0, 4e9])
        spent = {(row.source, row.profile) for row in report.rows}
        assert spent == {("log", ""), ("log", "work"), ("files", "work")}
        (of_file,) = [row for row in report.rows if row.source == "files"]
        assert (of_file.input_tokens, of_file.output_tokens) == (7, 3)


async def test_S52_the_profile_of_a_session_survives_a_restart_of_the_server(
    tmp_path: Path,
) -> None:
    work = account(tmp_path, "work")
    async with ServerHarness(tmp_path, cli=True, profiles=[work]) as harness:
        session = await harness.new(prompt="hello", profile="work")
        await turns(harness, session)
    async with ServerHarness(tmp_path, cli=True, profiles=[work]) as harness:
        assert harness.lobby("sessions")[session]["profile"] == "work"
        assert (await harness.act(Resume(session=session))).ok
        await harness.say(session, text="again")
        await turns(harness, session, 2)
        assert len(files(work)) == 1
