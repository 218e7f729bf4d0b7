"""Every way in which the server reads a repository, on repositories that are made to do harm."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from fairlead.server.working_files import id_of
from tests.git.hostile import ATTACKS
from tests.git.repositories import commit_all, git, new_repository
from tests.server.conftest import PATIENT, Client, Served, serving

SECRET = "words-of-another-place"
ODD = ("new\nline.txt", "esc\x1b[31mape.txt", "-rf", ":(glob)*", '"quoted"', "tab\there", " ")
ALL_S = 60.0
"""All reads of one repository together; each of them has limits of its own."""


def furnish(folder: Path, outside: Path) -> None:
    """What else a repository may have: links out of it, odd names, pipes, huge files, another's submodule."""
    outside.mkdir()
    (outside / "secret.txt").write_text(f"{SECRET}\n")
    new_repository(outside / "other", {"secret.txt": f"{SECRET}\n"})
    for name in ODD:
        (folder / name).write_text("needle\n")
    commit_all(folder)
    for name in ODD:
        (folder / name).write_text("needle, changed\n")
    (folder / "link.txt").symlink_to(outside / "secret.txt")
    (folder / "folder").symlink_to(outside)
    (folder / "picture.png").symlink_to(outside / "secret.txt")
    os.mkfifo(folder / "pipe")
    with (folder / "huge.bin").open("wb") as file:
        file.truncate(500 * 1024 * 1024)
    module = folder / "module"
    module.mkdir()
    (module / ".git").write_text(f"gitdir: {outside / 'other' / '.git'}\n")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")


class Reading:
    """Reads all that can be read, and remembers what was answered."""

    def __init__(self, served: Served, client: Client, session: str) -> None:
        self.served, self.client, self.session = served, client, session
        self.answers: list[str] = []

    async def get(self, what: str, **query: str) -> Any:
        status, body, _ = await self.served.http(
            f"/api/sessions/{self.session}/{what}?{urlencode(query)}",
            Authorization=f"Bearer {self.client.token}",
        )
        self.answers.append(body.decode("utf-8", "replace"))
        return json.loads(body) if status == 200 and body[:1] == b"{" else None

    async def ask(self, kind: str, **fields: Any) -> Any:
        result = await self.client.intend(kind, **fields)
        self.answers.append(json.dumps(result))
        return result["result"]

    async def everything(self, tree: Path) -> None:
        """Each route and each intent that reads."""
        for since in ("start", "commit", "branch"):
            changes = await self.get("changes", since=since, branch="main")
            for file in (changes or {"files": []})["files"]:
                known = {"untracked": "1"} if file["kind"] == "untracked" else {}
                for large in ("", "1"):
                    await self.get(
                        "patch", file=file["id"], base=changes["base"], large=large, **known
                    )
                await self.get("image", file=file["id"], base=changes["base"])
                await self.get("git/hunks", file=file["id"])
        names = [*ODD, "link.txt", "folder/secret.txt", "picture.png", "pipe", "huge.bin"]
        for name in (*names, "module/secret.txt", "module/.git", "README.md"):
            for where in ("repository", "folder"):
                await self.get("content", file=id_of(name), tree=where)
                await self.get("image", file=id_of(name), tree=where)
            await self.get("git/losses", file=id_of(name))
        await self.get("git")
        await self.get("files")
        await self.get("names", q="secret")
        await self.get("grep", q="needle")
        await self.get("grep", q=SECRET)
        await self.get("comments")
        project = str(self.served.project)
        await self.ask("worktrees", cwd=project)
        await self.ask("worktree_losses", cwd=str(tree), repository=project)


def contents(folder: Path) -> dict[str, bytes]:
    """Every small regular file below a folder."""
    return {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 1_000_000
    }


DAMAGING = "promisor remote"
"""The attack that leaves a repository without an object, so that some reads end with an error."""


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("damaged", [False, True], ids=["intact", "damaged"])
async def test_G27_no_read_path_runs_something_hangs_or_leads_outside(
    tmp_path: Path, damaged: bool
) -> None:
    async with serving(tmp_path, PATIENT) as served:
        folder = new_repository(served.project)
        tree = folder / "linked"
        git(folder, "worktree", "add", "--quiet", "-b", "linked", str(tree))
        client = await served.client()
        session = await client.new_session("hi")
        await client.ending(session)
        furnish(folder, tmp_path / "outside")
        marks = tmp_path / "marks"
        marks.mkdir()
        for attack in ATTACKS:
            if (attack.name == DAMAGING) is damaged:
                attack.prepare(folder, f"touch {marks}/ran")
        (tree / "README.md").write_text("changed in the worktree\n")
        for left in marks.iterdir():
            left.unlink()
        before = contents(folder)
        reading = Reading(served, client, session)
        async with asyncio.timeout(ALL_S):
            await reading.everything(tree)
            # A comparison of variants reads the changes of their worktrees.
            made = await client.intend("new_session", cwd=str(tree), worktree_base="main")
            inside = Reading(served, client, made["result"].get("session") or session)
            await inside.get("changes", since="start")
        assert list(marks.iterdir()) == [], "a program of the repository ran"
        said = "\n".join((*reading.answers, *inside.answers)).replace(f'"q": "{SECRET}"', "")
        assert SECRET not in said
        assert contents(folder) == before, "reading changed a file"
