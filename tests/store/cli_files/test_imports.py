"""The CLI's own sessions."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from fairlead.store.cli_files.imports import CliSessions, Progress
from fairlead.store.sqlite import SqliteStore
from fairlead.transcript.history.reader import history
from tests.transcript.recordings import fold, plain, session_files

BOUND_S = 60.0
SESSIONS = Path(__file__).parents[2] / "transcript" / "sessions"
ID = "11111111-2222-4333-8444-555555555555"
RECORDED = sorted(f"{path.parent.name}/{path.stem}" for path in SESSIONS.glob("*/*.json"))


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    folder = tmp_path / "projects"
    folder.mkdir()
    return folder


def user(text: str, second: int = 0, **fields: Any) -> dict[str, Any]:
    return {
        "type": "user",
        "uuid": f"u{second}",
        "timestamp": f"2026-11-15T20:00:{second:02}.500Z",
        "cwd": "/home/me/my-ship",
        "sessionId": ID,
        "version": "2.1.325",
        "gitBranch": "main",
        "message": {"role": "user", "content": text},
        **fields,
    }


def answer(text: str, second: int, message: str = "m1") -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    output = {"role": "assistant", "id": message, "content": content}
    return user("", second, type="assistant", uuid=f"a{second}", message=output)


def write(
    projects: Path, records: Iterable[dict[str, Any] | str], session: str = ID, folder: str = "-x-y"
) -> Path:
    path = projects / folder / f"{session}.jsonl"
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        for record in records:
            file.write(record if isinstance(record, str) else json.dumps(record) + "\n")
    return path


def lay_out(projects: Path, name: str) -> str:
    """Write the files of a recorded session; its id."""
    (session,) = (Path(path).stem for path in recorded(name) if path.count("/") == 1)
    for path, content in recorded(name).items():
        target = projects / path
        target.parent.mkdir(parents=True, exist_ok=True)
        lines = content if path.endswith(".jsonl") else [content]
        target.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return session


def recorded(name: str) -> dict[str, Any]:
    files: dict[str, Any] = json.loads((SESSIONS / f"{name}.json").read_text())["files"]
    return files


async def test_S33_what_is_shown_comes_from_the_records(projects: Path) -> None:
    hello = [
        user("<local-command-stdout>x</local-command-stdout>", 1),
        user("meta", 2, isMeta=True),
    ]
    conversation = [
        user("Fix   the\nrope", 3),
        answer("a", 4),
        answer("b", 5),
        answer("c", 9, "m2"),
        user("sub", 8, isSidechain=True),
        user("", 7, message={"content": [{"type": "tool_result", "tool_use_id": "t"}]}),
        user("", 6, message={"content": [{"type": "text", "text": "and the keel"}]}),
    ]
    path = write(projects, [*hello, *conversation], folder="-nothing-to-learn")
    sessions = CliSessions(projects)
    await sessions.refresh()
    (item,) = sessions.sessions()
    assert (item.id, item.path, item.cwd) == (ID, str(path), "/home/me/my-ship")
    assert (item.title, item.first_prompt) == ("Fix the rope", "Fix the rope")
    assert item.messages == 4
    assert (item.version, item.git_branch, item.size) == ("2.1.325", "main", os.stat(path).st_size)
    assert (item.last_activity - item.created) == 8.0
    assert sessions.find(ID) == item


@pytest.mark.parametrize(
    ("records", "title"),
    [
        ([{"type": "summary", "summary": "A summary", "leafUuid": "u1"}], "A summary"),
        ([{"type": "ai-title", "aiTitle": "By the model"}], "By the model"),
        (
            [
                {"type": "custom-title", "customTitle": "Mine"},
                {"type": "ai-title", "aiTitle": "No"},
            ],
            "Mine",
        ),
        (
            [user("<command-name>/compact</command-name><command-args>now</command-args>")],
            "/compact now",
        ),
        ([{"type": "ai-title", "aiTitle": 5}, user("x" * 500)], "x" * 200),
        ([], ""),
    ],
)
async def test_S33_a_title_is_the_users_or_the_models_or_the_first_prompt(
    projects: Path, records: list[dict[str, Any]], title: str
) -> None:
    write(projects, records)
    sessions = CliSessions(projects)
    await sessions.refresh()
    assert [session.title for session in sessions.sessions()] == [title]


async def test_S33_the_last_active_comes_first(projects: Path) -> None:
    for second, name in ((5, "a"), (9, "b"), (1, "c")):
        write(projects, [user("x", second)], session=name, folder=f"f{second}")
    sessions = CliSessions(projects)
    await sessions.refresh()
    assert [session.id for session in sessions.sessions()] == ["b", "a", "c"]


@pytest.mark.parametrize("folder", ["-a", "-z"])
async def test_S33_of_a_session_and_its_copy_for_another_folder_the_copy_is_found(
    projects: Path, folder: str
) -> None:
    write(projects, [user("hi", 1)], folder="-m")
    copy = write(projects, [user("hi", 1, cwd="/home/me/moved")], folder=folder)
    later = (projects / "-m" / copy.name).stat().st_mtime_ns + 1_000_000
    os.utime(copy, ns=(later, later))
    sessions = CliSessions(projects)
    await sessions.refresh()
    found = sessions.find(ID)
    assert found is not None
    assert found.cwd == "/home/me/moved"


async def test_S34_only_what_was_added_is_read(projects: Path) -> None:
    path = write(projects, [user("first", 1), answer("a", 2)])
    sessions = CliSessions(projects)
    await sessions.refresh()
    assert not await sessions.refresh()
    # Same length, other words, before the place that is compared: an append must not notice.
    os.chmod(path, 0o600)
    replace_in_place(path, b"first", b"other")
    write(projects, [user("x" * 400, 3), answer("b", 4, "m2")])
    (changed,) = (await sessions.refresh()).sessions
    assert (changed.first_prompt, changed.messages) == ("first", 4)


def replace_in_place(path: Path, old: bytes, new: bytes) -> None:
    with path.open("r+b") as file:
        matches = file.read().index(old)
        file.seek(matches)
        file.write(new)


async def test_S34_a_restart_reads_only_what_changed(projects: Path, folder: Path) -> None:
    path = write(projects, [user("first", 1), answer("a", 2)])
    write(projects, [user("other", 3)], session="other")
    async with SqliteStore(folder) as store:
        await CliSessions(projects, store).refresh()
    replace_in_place(path, b"first", b"other")
    write(projects, [answer("b", 4, "m2")])
    async with SqliteStore(folder) as store:
        sessions = CliSessions(projects, store)
        (changed,) = (await sessions.refresh()).sessions
        assert (changed.first_prompt, changed.messages) == ("first", 3)
        assert len(sessions.sessions()) == 2


@pytest.mark.parametrize("how", ["replaced", "cut", "rewritten"])
async def test_S34_a_file_that_is_another_is_read_from_its_start(projects: Path, how: str) -> None:
    path = write(projects, [user("first", 1), answer("a", 2), answer("b", 3, "m2")])
    sessions = CliSessions(projects)
    await sessions.refresh()
    remake(path, how, json.dumps(user("second", 4)) + "\n")
    (changed,) = (await sessions.refresh()).sessions
    assert (changed.first_prompt, changed.messages) == ("second", 1)


def remake(path: Path, how: str, text: str) -> None:
    if how == "replaced":
        new = path.with_suffix(".new")
        new.write_text(text)
        new.rename(path)
    elif how == "cut":
        path.write_text(text)
    else:
        path.write_text(text + "\n" * (path.stat().st_size - len(text) + 10))


async def test_S34_a_file_that_is_gone_is_no_longer_listed(projects: Path, folder: Path) -> None:
    path = write(projects, [user("x", 1)])
    async with SqliteStore(folder) as store:
        sessions = CliSessions(projects, store)
        await sessions.refresh()
        os.unlink(path)
        assert (await sessions.refresh()).gone == (ID,)
        assert sessions.sessions() == []
        assert sessions.find(ID) is None
        assert await store.indexed_files(str(projects)) == []


async def test_S34_no_folder_is_no_session(tmp_path: Path) -> None:
    sessions = CliSessions(tmp_path / "nowhere")
    assert not await sessions.refresh()
    assert sessions.sessions() == []


async def test_S35_broken_lines_are_passed_by(projects: Path) -> None:
    broken = ["not json\n", "[1]\n", "\n", '{"type":\n', "\x00\x00\n", '"text"\n', "5\n"]
    odd = [
        '{"type":"user","timestamp":7,"cwd":[],"message":"text"}\n',
        '{"type":"user","message":{"content":"cut \\ud83d"},"timestamp":"2026-11-15T20:00:02Z"}\n',
    ]
    write(
        projects, [*broken, user("good", 1), *odd, *broken, answer("a", 5) | {"parentUuid": "u1"}]
    )
    sessions = CliSessions(projects)
    await sessions.refresh()
    (entry,) = sessions.sessions()
    assert (entry.first_prompt, entry.messages) == ("good", 3)
    transcript = await sessions.transcript(ID)
    assert any(getattr(item, "text", "") == "good" for item in transcript.items)


async def test_S35_a_line_that_is_being_written_waits_for_its_end(projects: Path) -> None:
    half, rest = json.dumps(user("second", 2))[:40], json.dumps(user("second", 2))[40:] + "\n"
    write(projects, [user("first", 1), half])
    sessions = CliSessions(projects)
    await sessions.refresh()
    assert sessions.sessions()[0].messages == 1
    write(projects, [rest])
    await sessions.refresh()
    assert sessions.sessions()[0].messages == 2


@pytest.mark.parametrize("name", RECORDED)
async def test_S36_a_transcript_is_what_the_reducer_makes_of_the_files(
    projects: Path, name: str
) -> None:
    session = lay_out(projects, name)
    sessions = CliSessions(projects)
    await sessions.refresh()
    main, subagents = session_files(name)
    expected = fold(history(main, subagents))
    assert len(expected.items) > 1
    assert plain(await sessions.transcript(session)) == plain(expected)
    (item,) = sessions.sessions()
    assert item.cwd == expected.session.cwd
    assert item.messages > 0
    assert item.first_prompt


async def test_S37_a_session_that_is_being_written_is_followed(projects: Path) -> None:
    path = write(projects, [user("first", 1)])
    sessions = CliSessions(projects)
    await sessions.refresh()
    assert sessions.sessions()[0].is_live(time.time())
    assert not sessions.sessions()[0].is_live(time.time() + 1000)
    following = sessions.follow(ID, interval=0.01)
    texts = []
    for second in range(2, 6):
        shown = await asyncio.wait_for(anext(following), BOUND_S)
        texts.append([getattr(item, "text", "") for item in shown.items])
        output = answer(f"answer {second}", second, f"m{second}")
        output["parentUuid"] = f"a{second - 1}" if second > 2 else "u1"
        write(projects, [output])
    assert texts[0] == ["first"]
    assert texts[-1] == ["first", "answer 2", "answer 3", "answer 4"]
    os.unlink(path)
    rest = [shown async for shown in following]
    assert len(rest) <= 1


async def test_S37_reading_and_following_change_no_file(projects: Path) -> None:
    session = lay_out(projects, "2.1.325/subagent")
    before = looks(projects)
    sessions = CliSessions(projects)
    await sessions.refresh()
    await sessions.transcript(session)
    following = sessions.follow(session, interval=0.01)
    await asyncio.wait_for(anext(following), BOUND_S)
    await following.aclose()
    assert looks(projects) == before


def looks(folder: Path) -> dict[str, tuple[int, int, int, int]]:
    """Everything under a folder but when it was last read."""
    matches = ((str(path), path.lstat()) for path in folder.rglob("*"))
    return {
        path: (item.st_ino, item.st_size, item.st_mtime_ns, item.st_mode) for path, item in matches
    }


async def test_S37_a_followed_subagent_appears_too(projects: Path) -> None:
    session = lay_out(projects, "2.1.325/subagent")
    (side,) = projects_files(projects, "agent-*.jsonl")
    lines = side_lines(side)
    os.truncate(side, 0)
    sessions = CliSessions(projects)
    await sessions.refresh()
    following = sessions.follow(session, interval=0.01)
    first = await asyncio.wait_for(anext(following), BOUND_S)
    append_text(side, lines)
    second = await asyncio.wait_for(anext(following), BOUND_S)
    await following.aclose()
    under = [item for item in second.items if item.parent is not None]
    assert under
    assert len(second.items) > len(first.items)


def projects_files(projects: Path, pattern: str) -> list[Path]:
    return list(projects.rglob(pattern))


def side_lines(path: Path) -> str:
    return path.read_text()


def append_text(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


async def test_S37_a_watch_tells_what_is_new_what_grew_and_what_is_gone(projects: Path) -> None:
    sessions = CliSessions(projects)
    watching = sessions.watch(interval=0.005)
    path = write(projects, [user("first", 1)])
    reported = await asyncio.wait_for(anext(watching), BOUND_S)
    assert [session.messages for session in reported.sessions] == [1]
    write(projects, [user("second", 2)])
    reported = await asyncio.wait_for(anext(watching), BOUND_S)
    assert [session.messages for session in reported.sessions] == [2]
    write(projects, [user("new", 3)], session="new")
    reported = await asyncio.wait_for(anext(watching), BOUND_S)
    assert [session.id for session in reported.sessions] == ["new"]
    os.unlink(path)
    reported = await asyncio.wait_for(anext(watching), BOUND_S)
    assert reported.gone == (ID,)
    await watching.aclose()


async def test_S38_links_and_pipes_are_not_read(projects: Path, tmp_path: Path) -> None:
    secret = write(tmp_path, [user("secret", 1)], folder="elsewhere")
    lay_traps(projects, secret)
    sessions = CliSessions(projects)
    await asyncio.wait_for(sessions.refresh(), BOUND_S)
    assert sessions.sessions() == []


def lay_traps(projects: Path, secret: Path) -> None:
    folder = projects / "-a"
    folder.mkdir()
    (folder / "link.jsonl").symlink_to(secret)
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "folder.jsonl").mkdir()
    (folder / "agent-1.jsonl").write_text("{}\n")
    (folder / "notes.txt").write_text("x")
    (projects / "linked").symlink_to(secret.parent)
    (projects / "file.jsonl").write_text("{}\n")


@pytest.mark.parametrize("name", ["../../elsewhere/x", f"-x-y/{ID}", "", "nobody", "/etc/passwd"])
async def test_S38_an_id_is_looked_up_and_never_made_into_a_path(projects: Path, name: str) -> None:
    write(projects, [user("x", 1)])
    sessions = CliSessions(projects)
    await sessions.refresh()
    assert sessions.find(name) is None
    with pytest.raises(KeyError):
        await sessions.transcript(name)


def write_many(projects: Path, count: int) -> None:
    lines = "".join(json.dumps(item) + "\n" for item in (user("a prompt", 1), answer("x", 2)))
    for folder in range(100):
        (projects / f"-p{folder}").mkdir()
        for number in range(count // 100):
            (projects / f"-p{folder}" / f"{folder}-{number}.jsonl").write_text(lines)


async def test_S39_ten_thousand_sessions_are_listed_within_a_second(
    projects: Path, folder: Path
) -> None:
    await asyncio.to_thread(write_many, projects, 10_000)
    reported: list[Progress] = []
    async with SqliteStore(folder) as store:
        await CliSessions(projects, store).refresh(reported.append)
    assert len(reported) > 1
    assert [item.done for item in reported] == sorted(item.done for item in reported)
    assert (reported[-1].done, reported[-1].total) == (10_000, 10_000)
    assert reported[-1].bytes_done == reported[-1].bytes_total > 10_000
    async with SqliteStore(folder) as store:
        sessions = CliSessions(projects, store)
        # Processor time: what others do on the machine is not the store's.
        began = time.process_time()
        await sessions.refresh()
        listed = sessions.sessions()
        taken = time.process_time() - began
    assert len(listed) == 10_000
    assert taken < 1.0


async def test_S47_a_file_that_is_not_listed_yet_is_removed_too(tmp_path: Path) -> None:
    sessions = CliSessions(tmp_path)
    await sessions.refresh()
    for name in ("gone", "stays"):
        (tmp_path / "project").mkdir(exist_ok=True)
        (tmp_path / "project" / f"{name}.jsonl").write_text("{}\n")
    assert await sessions.remove("gone") == ["project/gone.jsonl"]
    assert [path.name for path in (tmp_path / "project").iterdir()] == ["stays.jsonl"]
    assert await sessions.remove("../project/stays") == []
    assert [path.name for path in (tmp_path / "project").iterdir()] == ["stays.jsonl"]


async def test_a_session_whose_file_is_just_being_removed_is_not_listed(
    tmp_path: Path, projects: Path
) -> None:
    path = write(projects, [user("hello")])
    async with SqliteStore(tmp_path / "data") as store:
        sessions = CliSessions(projects, store)
        await sessions.refresh()
        assert sessions.find(ID) is not None
        path.unlink()
        refreshing = asyncio.create_task(sessions.refresh())
        async with asyncio.timeout(BOUND_S):
            while not refreshing.done():
                sessions.find(ID)  # At every moment of the removal.
                await asyncio.sleep(0)
        await refreshing
        assert sessions.find(ID) is None
