"""A repository with very many files: no read of it hangs, and the server answers others meanwhile.

A short version runs with all tests; `FAIRLEAD_TIMING=long` uses 100,000 files.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Awaitable, Coroutine
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.git.repositories import ENVIRONMENT, git, new_repository
from tests.server.conftest import PATIENT, Served, serving

LONG = os.environ.get("FAIRLEAD_TIMING") == "long"
FILES = 100_000 if LONG else 22_000
"""More than the 20,000 whose lines are counted and whose names are listed."""
FOLDERS = 100
OTHERS_WAIT_S = 5
"""How long another request may wait meanwhile; on an idle machine it takes milliseconds."""
BETWEEN_S = 0.1
"""From the answer to one request to the next: without it, most of the CPU time is that of requests."""


def names() -> list[str]:
    """Of all files; they sort by folder."""
    return [f"part{number % FOLDERS:02}/file{number:06}.txt" for number in range(FILES)]


def large_repository(folder: Path) -> Path:
    """A repository whose commit has all the files, and whose working tree has only one of its own.

    The index is written at once: `git add` of so many files would take longer than the test.
    """
    new_repository(folder, {"README.md": "hello\n"})
    (folder / "blob").write_text("needle\n")
    blob = git(folder, "hash-object", "-w", "blob").strip()
    (folder / "blob").unlink()
    subprocess.run(
        ["git", "update-index", "--index-info"],
        cwd=folder,
        env=ENVIRONMENT,
        input="".join(f"100644 {blob}\t{name}\n" for name in names()).encode(),
        check=True,
    )
    git(folder, "commit", "--quiet", "--message", "many")
    return folder


class Reader:
    """Reads one session over HTTP while another request is made again and again."""

    def __init__(self, served: Served, session: str, token: str) -> None:
        self._served = served
        self._session = session
        self._token = token

    async def get(self, what: str, **query: str) -> Any:
        path = f"/api/sessions/{self._session}/{what}?{urlencode(query)}"
        return await self.meanwhile(self._request(path))

    async def meanwhile(self, action: Coroutine[Any, Any, Any]) -> Any:
        """The result of something during which others are answered."""
        reading = asyncio.ensure_future(action)
        while not reading.done():
            await asyncio.wait_for(self._request("/api/sessions"), OTHERS_WAIT_S)
            await asyncio.wait([reading], timeout=BETWEEN_S)
        return await reading

    async def _request(self, path: str) -> Any:
        answer: Awaitable[tuple[int, bytes, Any]] = self._served.http(
            path, Authorization=f"Bearer {self._token}"
        )
        status, body, _ = await answer
        assert status == 200, body
        return json.loads(body)


@pytest.mark.timeout(600)
async def test_G26_no_read_of_very_many_files_hangs_or_holds_up_others(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, PATIENT) as served:
        project = large_repository(served.project)
        client = await served.client()
        session = await client.new_session("hi")
        reader = Reader(served, session, await served.token("operator"))

        # Every file was deleted.
        changes = await reader.get("changes")
        assert (changes["total"], changes["files"][0]["kind"]) == (FILES, "deleted")
        assert len(changes["files"]) < FILES
        state = await reader.get("git")
        assert (state["branch"], state["total"]) == ("main", FILES)
        assert (await reader.get("files"))["files"] == ["README.md"]

        # A worktree in which all of them were deleted, too.
        tree = project / ".claude" / "worktrees" / "many"
        git(project, "worktree", "add", "--quiet", "--no-checkout", "-b", "many", str(tree))
        listed = await reader.meanwhile(client.intend("worktrees", cwd=str(project)))
        assert [row["branch"] for row in listed["result"]["worktrees"]] == ["many"]
        losses = await reader.meanwhile(
            client.intend("worktree_losses", cwd=str(tree), repository=str(project))
        )
        assert losses["ok"], losses
        assert losses["result"]["files"]
        git(project, "worktree", "remove", "--force", str(tree))

        # Every file is there, empty; git does not know those of ten folders.
        for number in range(FOLDERS):
            (project / f"part{number:02}").mkdir()
        for name in names():
            os.mknod(project / name)
        (project / names()[-1]).write_text("needle\n")
        git(project, "rm", "--quiet", "--cached", "-r", *(f"part0{number}" for number in range(10)))
        async with asyncio.timeout(60):  # The server lists a folder again after some seconds.
            while (listing := await reader.get("files"))["files"] == ["README.md"]:  # noqa: ASYNC110
                await asyncio.sleep(BETWEEN_S)
        assert len(listing["files"]) > 1_000
        assert not listing["whole"]
        changes = await reader.get("changes", since="commit")
        assert changes["total"] >= FILES * 9 // 10
        assert (await reader.get("git"))["total"] >= FILES * 9 // 10
        await reader.get("grep", q="needle")
