"""The changes of a session over HTTP, on real repositories (docs/git.md)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fairlead.server.working_files import id_of
from tests.git.hostile import ATTACKS
from tests.git.repositories import commit_all, git, new_repository
from tests.server.conftest import PATIENT, Served, serving


class Reviewer:
    """Asks for the changes of one session."""

    def __init__(self, served: Served, session: str, token: str) -> None:
        self.served = served
        self.session = session
        self.token = token

    async def get(self, what: str, **query: str) -> tuple[int, Any]:
        path = f"/api/sessions/{self.session}/{what}?{urlencode(query)}"
        status, body, _ = await self.served.http(path, Authorization=f"Bearer {self.token}")
        return status, json.loads(body)

    async def changes(self, **query: str) -> Any:
        status, answer = await self.get("changes", **query)
        assert status == 200, answer
        return answer


async def reviewer_of(served: Served, role: str = "operator") -> Reviewer:
    client = await served.client()
    session = await client.new_session("hi")
    return Reviewer(served, session, await served.token(role))


def paths(answer: Any) -> list[str]:
    return [file["path"] for file in answer["files"]]


async def test_G7_changes_are_compared_with_the_start_a_commit_or_a_branch(served: Served) -> None:
    folder = new_repository(served.project, {"a": "1\n"})
    reviewer = await reviewer_of(served)
    start = git(folder, "rev-parse", "HEAD").strip()
    git(folder, "switch", "--quiet", "--create", "work")
    (folder / "b").write_text("2\n")
    commit_all(folder)
    (folder / "c").write_text("3\n")
    answer = await reviewer.changes()
    assert (answer["start"], answer["base"], answer["branch"]) == (start, start, "work")
    assert paths(answer) == ["b", "c"]
    assert set(answer["branches"]) == {"main", "work"}
    assert paths(await reviewer.changes(since="commit")) == ["c"]
    git(folder, "switch", "--quiet", "main")
    (folder / "c").unlink()
    (folder / "d").write_text("4\n")
    commit_all(folder)
    git(folder, "switch", "--quiet", "work")
    assert paths(await reviewer.changes(since="branch", branch="main")) == ["b"]
    assert (await reviewer.get("changes", since="branch", branch="--all"))[0] == 404
    assert (await reviewer.get("changes", since="never"))[0] == 400


async def test_G7_without_a_repository_it_says_so_and_a_viewer_may_not_look(
    served: Served,
) -> None:
    reviewer = await reviewer_of(served)
    assert not (await reviewer.changes())["repository"]
    assert (await reviewer.get("patch", file="YQ", base="0" * 40))[0] == 404
    viewer = Reviewer(served, reviewer.session, await served.token("viewer"))
    for what in ("changes", "patch"):
        assert (await viewer.get(what))[0] == 403
    stranger = Reviewer(served, "no-such-session", reviewer.token)
    assert (await stranger.get("changes"))[0] == 404


async def test_G7_the_start_survives_the_server_and_a_lost_commit_is_not_compared_with(
    served: Served,
) -> None:
    folder = new_repository(served.project, {"a": "1\n"})
    reviewer = await reviewer_of(served)
    row = served.service.registry.sessions.rows[reviewer.session]
    assert row.base_commit == git(folder, "rev-parse", "HEAD").strip()
    stored = [row for row in await served.service.store.sessions() if row.id == reviewer.session]
    assert [row.base_commit for row in stored] == [row.base_commit]
    # The history was rewritten: there is nothing to compare with but the last commit.
    for entry in (folder / ".git").iterdir():
        if entry.name in ("HEAD", "index", "ORIG_HEAD"):
            entry.unlink()
    git(folder, "init", "--quiet", "--initial-branch=other")
    (folder / ".git" / "objects" / row.base_commit[:2] / row.base_commit[2:]).unlink()
    answer = await reviewer.changes()
    assert answer["start"] is None
    assert paths(answer) == ["a"]


async def test_G8_a_repository_above_the_allowed_folders_shows_the_sessions_folder_only(
    tmp_path: Path,
) -> None:
    new_repository(tmp_path, {"outside.txt": "1\n", "served/project/inside.txt": "1\n"})
    async with serving(tmp_path / "served", PATIENT) as served:
        reviewer = await reviewer_of(served)
        (tmp_path / "outside.txt").write_text("secret\n")
        (tmp_path / "new-outside.txt").write_text("secret\n")
        (served.project / "inside.txt").write_text("2\n")
        (served.project / "new.txt").write_text("3\n")
        answer = await reviewer.changes()
        inside = "served/project"
        assert paths(answer) == [f"{inside}/inside.txt", f"{inside}/new.txt"]
        assert answer["below"] == inside
        for path, untracked in (("outside.txt", "0"), ("new-outside.txt", "1")):
            status, refusal = await reviewer.get(
                "patch", file=id_of(path), base=answer["base"], untracked=untracked
            )
            assert (status, refusal["code"]) == (404, "not_found")


async def test_G8_what_the_server_stores_is_never_shown_as_a_change(served: Served) -> None:
    top = served.project.parent  # It contains the server's data, and is an allowed folder.
    new_repository(top, {"project/a.txt": "1\n"})
    reviewer = await reviewer_of(served)
    (served.project / "a.txt").write_text("2\n")
    answer = await reviewer.changes()
    assert "project/a.txt" in paths(answer)
    assert [path for path in paths(answer) if path.startswith("data/")] == []
    for untracked in "01":
        status, _ = await reviewer.get(
            "patch", file=id_of("data/device-secret"), base=answer["base"], untracked=untracked
        )
        assert status == 404


async def test_G9_the_patch_of_each_listed_file_is_returned(served: Served) -> None:
    long = "".join(f"{number}\n" for number in range(40))
    folder = new_repository(served.project, {"a": "1\n2\n3\n", "old": long})
    reviewer = await reviewer_of(served)
    (folder / "a").write_text("1\ntwo\n3")
    git(folder, "mv", "old", "moved")
    (folder / "moved").write_text(long.replace("20\n", "twenty\n"))
    (folder / os.fsdecode(b"odd\n\xff")).write_text("new\n")
    answer = await reviewer.changes()
    patches = {}
    for file in answer["files"]:
        query = {"file": file["id"], "base": answer["base"], "old": file.get("old_id", "")}
        untracked = "1" if file["kind"] == "untracked" else "0"
        status, patch = await reviewer.get("patch", **query, untracked=untracked)
        assert status == 200, patch
        patches[file["path"]] = [line for hunk in patch["hunks"] for line in hunk["lines"]]
    assert patches["a"] == [" 1", "-2", "-3", "+two", "+3", "\\ No newline at end of file"]
    assert [line for line in patches["moved"] if line[0] != " "] == ["-20", "+twenty"]
    assert patches["odd\n\\xff"] == ["+new"]
    assert [file.get("old_path") for file in answer["files"]] == [None, "old", None]


async def test_G9_a_forged_base_or_file_is_refused(served: Served) -> None:
    new_repository(served.project, {"a": "1\n"})
    reviewer = await reviewer_of(served)
    (served.project / "link").symlink_to("/etc/passwd")
    answer = await reviewer.changes()
    for base in ("", "HEAD", "--output=/tmp/x", "HEAD:a", "0" * 41):
        assert (await reviewer.get("patch", file=id_of("a"), base=base))[0] == 400
    for path in ("/etc/passwd", "../x", "link", ".git/config", "a/../../x", "x\0y"):
        status, patch = await reviewer.get(
            "patch", file=id_of(path), base=answer["base"], untracked="1"
        )
        assert status != 200 or not patch["hunks"] or path == ".git/config"
        assert "root:" not in json.dumps(patch)
    assert (await reviewer.get("patch", file="!!", base=answer["base"]))[0] == 404


async def test_G1_a_hostile_repository_runs_nothing_of_it_through_the_server(
    served: Served, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    folder = new_repository(served.project)
    reviewer = await reviewer_of(served)
    for attack in ATTACKS:
        if attack.name != "promisor remote":  # It damages the repository.
            attack.prepare(folder, f"touch {mark}")
    mark.unlink(missing_ok=True)
    answer = await reviewer.changes()
    assert "README.md" in paths(answer)
    for file in answer["files"]:
        await reviewer.get("patch", file=file["id"], base=answer["base"])
    assert not mark.exists()
