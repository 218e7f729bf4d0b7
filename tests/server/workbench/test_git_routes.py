"""Staging, discarding and committing over the socket, and the related routes (docs/git.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from fairlead.server.limits import Limits
from fairlead.server.working_files import id_of
from tests.git.hostile import ATTACKS
from tests.git.repositories import conflicting, git, new_repository
from tests.server.conftest import Client, Served, serving

TEXT = "".join(f"line {number}\n" for number in range(1, 61))


class Committer:
    """One device in one session of a repository."""

    def __init__(self, served: Served, client: Client, session: str) -> None:
        self.served, self.client, self.session = served, client, session

    async def get(self, what: str = "", query: str = "") -> tuple[int, Any]:
        status, body, _ = await self.served.http(
            f"/api/sessions/{self.session}/git{what}?{query}",
            Authorization=f"Bearer {self.client.token}",
        )
        return status, json.loads(body)

    async def state(self) -> Any:
        status, answer = await self.get()
        assert status == 200, answer
        return answer

    async def act(self, kind: str, **fields: Any) -> dict[str, Any]:
        return await self.client.intend(kind, session=self.session, **fields)


async def committer(served: Served, role: str = "owner", session: str | None = None) -> Committer:
    client = await served.client(role)
    return Committer(served, client, session or await client.new_session("hi"))


def listed(rows: list[Any]) -> list[tuple[str, str]]:
    return [(row["path"], row["kind"]) for row in rows]


def changed(served: Served) -> Path:
    folder = new_repository(served.project, {"a": TEXT, "b": TEXT})
    for name in ("a", "b"):
        text = TEXT.replace("line 5\n", "five\n").replace("line 50\n", "fifty\n")
        (folder / name).write_text(text)
    (folder / "new").write_text("new\n")
    return folder


async def test_G18_the_status_is_listed_and_files_and_hunks_are_staged(served: Served) -> None:
    folder = changed(served)
    committer_client = await committer(served)
    state = await committer_client.state()
    assert (state["branch"], state["staged"]) == ("main", [])
    assert listed(state["unstaged"]) == [("a", "M"), ("b", "M"), ("new", "?")]
    assert (await committer_client.act("git_stage", files=[id_of("a"), id_of("new")]))["ok"]
    assert listed((await committer_client.state())["staged"]) == [("a", "M"), ("new", "A")]
    assert (await committer_client.act("git_stage", files=[id_of("a")], unstage=True))["ok"]
    _, hunks = await committer_client.get("/hunks", urlencode({"file": id_of("b")}))
    assert len(hunks["hunks"]) == 2
    result = await committer_client.act(
        "git_stage", files=[id_of("b")], hunk=hunks["hunks"][1]["digest"]
    )
    assert result["ok"], result
    assert "fifty" in git(folder, "show", ":b")
    assert "five" not in git(folder, "show", ":b")
    again = await committer_client.act(
        "git_stage", files=[id_of("b")], hunk=hunks["hunks"][1]["digest"]
    )
    assert again["code"] == "stale"
    for wrong in ("../x", ".git/config", "", "/etc/passwd"):
        assert not (await committer_client.act("git_stage", files=[id_of(wrong)]))["ok"]
    assert not (await committer_client.act("git_stage", files=[]))["ok"]


async def test_G18_an_operator_stages_and_commits_and_only_an_owner_discards(
    served: Served,
) -> None:
    folder = changed(served)
    owner = await committer(served)
    operator = await committer(served, "operator", owner.session)
    assert (await operator.act("git_stage", files=[id_of("a")]))["ok"]
    losses = urlencode({"file": id_of("b")})
    assert (await operator.get("/losses", losses))[0] == 403
    refused = await operator.act("git_discard", files=[{"file": id_of("b"), "digest": "0" * 64}])
    assert refused["code"] == "forbidden"
    for role in ("viewer", "approver"):
        low = await committer(served, role, owner.session)
        assert (await low.get())[0] == 403
        assert (await low.act("git_stage", files=[id_of("a")]))["code"] == "forbidden"
        assert (await low.act("git_commit", message="x", hooks="", staged=""))[
            "code"
        ] == "forbidden"
    assert "five" in (folder / "b").read_text()


async def test_G19_a_discard_lists_what_is_lost_and_loses_exactly_that(served: Served) -> None:
    folder = changed(served)
    committer_client = await committer(served)
    status, answer = await committer_client.get(
        "/losses", urlencode({"file": [id_of("a"), id_of("new")]}, doseq=True)
    )
    assert status == 200
    assert [(one["path"], one["about"]) for one in answer["losses"]] == [
        ("a", "2 added and 2 removed lines"),
        ("new", "the whole file (4 bytes); git has no copy of it"),
    ]
    files = [{"file": one["file"], "digest": one["digest"]} for one in answer["losses"]]
    (folder / "new").write_text("changed since\n")
    stale = await committer_client.act("git_discard", files=files[1:])
    assert stale["code"] == "stale"
    assert (folder / "new").read_text() == "changed since\n"
    done = await committer_client.act("git_discard", files=files[:1])
    assert done["ok"], done
    assert (folder / "a").read_text() == TEXT
    assert "fifty" in (folder / "b").read_text()
    # A file without changes cannot be discarded again.
    assert (await committer_client.act("git_discard", files=files[:1]))["code"] == "stale"
    (record,) = [one for one in await served.service.store.audit() if one.action == "git_discard"]
    assert record.details == {"discarded": ["a"]}


async def test_G20_a_commit_is_made_of_what_the_user_saw_and_errors_are_shown(
    served: Served,
) -> None:
    folder = changed(served)
    git(folder, "config", "user.name", "Test")
    git(folder, "config", "user.email", "test@example.org")
    committer_client = await committer(served)
    await committer_client.act("git_stage", files=[id_of("a")])
    state = await committer_client.state()
    seen = {"hooks": state["hooks_digest"], "staged": state["staged_digest"]}
    await committer_client.act("git_stage", files=[id_of("b")])
    assert (await committer_client.act("git_commit", message="x", **seen))["code"] == "stale"
    await committer_client.act("git_stage", files=[id_of("b")], unstage=True)
    done = await committer_client.act("git_commit", message="The first half.", **seen)
    assert done["ok"], done
    assert git(folder, "log", "-1", "--format=%s", "--name-only") == "The first half.\n\na\n"
    state = await committer_client.state()
    assert listed(state["unstaged"]) == [("b", "M"), ("new", "?")]
    hook = folder / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'tests fail' >&2\nexit 1\n")
    hook.chmod(0o755)
    await committer_client.act("git_stage", files=[id_of("b")])
    state = await committer_client.state()
    assert state["hooks"] == ["pre-commit"]
    failed = await committer_client.act(
        "git_commit", message="No.", hooks=state["hooks_digest"], staged=state["staged_digest"]
    )
    assert not failed["ok"]
    assert "tests fail" in failed["message"]


@pytest.mark.matrix(target="faults", cases=0)
async def test_G18_reading_the_status_of_hostile_repositories_runs_nothing(
    tmp_path: Path,
) -> None:
    for number, attack in enumerate(ATTACKS):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with serving(folder, Limits()) as served:
            new_repository(served.project)
            marks = folder / "marks"
            marks.mkdir()
            attack.prepare(served.project, f"touch {marks}/ran")
            for left in marks.iterdir():
                left.unlink()
            committer_client = await committer(served)
            await committer_client.get()
            await committer_client.get("/hunks", urlencode({"file": id_of("README.md")}))
            await committer_client.get("/losses", urlencode({"file": id_of("README.md")}))
            assert list(marks.iterdir()) == [], attack.name


async def test_G18_a_file_with_conflicts_is_listed_once_as_not_staged(served: Served) -> None:
    conflicting(served.project)
    user = await committer(served)
    state = await user.state()
    assert listed(state["staged"]) == [("clean", "A")]
    assert listed(state["unstaged"]) == [("both", "U")]
    assert state["unstaged"][0]["conflicted"]
    assert (await user.act("git_stage", files=[state["unstaged"][0]["id"]]))["ok"]
    state = await user.state()
    assert [row["path"] for row in state["staged"]] == ["both", "clean"]
    assert state["unstaged"] == []


async def test_G18_without_a_repository_it_says_so(served: Served) -> None:
    committer_client = await committer(served)
    assert (await committer_client.state())["repository"] is False
    result = await committer_client.act("git_stage", files=[id_of("a")])
    assert result["code"] == "not_found"
    assert "not in a git repository" in result["message"]
