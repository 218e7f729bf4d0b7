"""Discarding, rewinding and deleting lose what was named and nothing else, in generated histories.

A seed decides what the files are, what the agent and the user did to them, and what is discarded.
Every step compares all files, indexes, branches and stored sessions before and after.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from fairlead.server.limits import Limits
from fairlead.server.working_files import id_of
from fairlead.testing.emulated import EmulatedClaude
from tests.e2e.browser.app_server import open_app_server
from tests.e2e.browser.scripts import say, scene, use
from tests.git.repositories import commit_all, git, repository_with_author
from tests.server.conftest import Client, Served
from tests.server.intents.stored_state import stored_rows
from tests.server.workbench.held_state import HeldState
from tests.waiting import until

STEPS = 8
SEEDS = range(12)
LIMITS = Limits(hello_s=30.0, analysis_s=30.0, delete_undo_s=0.05)
NAMES = ("a.txt", "b.txt", "deep/c.txt", "deep/-d", "ä e.txt", "new\nline", ":(top)f", "g [1].txt")
AGENT_FILES = ("one", "two", "three")
SCRIPT = [
    *(
        scene(
            f"change {name}",
            use("Read", file_path=f"{{{{cwd}}}}/agent/{name}"),
            use("Write", file_path=f"{{{{cwd}}}}/agent/{name}", content="{{prompt}}\n"),
            say("Done."),
        )
        for name in AGENT_FILES
    ),
    scene(None, say("You said: {{prompt}}")),
]


def numbered(start: str) -> str:
    return "".join(f"{start} {number}\n" for number in range(1, 41))


class Workbench:
    """A repository that is changed at random, and a client that discards at random."""

    def __init__(self, seed: int, served: Served, client: Client, home: Path) -> None:
        self.random = random.Random(seed)
        self.served, self.client, self.home = served, client, home
        self.project = served.project
        self.outside = self.project.parent / "outside"
        self.sessions: list[str] = []
        self.prompts: dict[str, list[tuple[str, str]]] = {}
        """By session: the id of a prompt, and the agent's file that it changed."""

    def furnish(self) -> None:
        """Files that git knows, ignores and does not know, and a folder next to the project."""
        repository_with_author(self.project)
        for name in (*NAMES, *(f"agent/{name}" for name in AGENT_FILES)):
            self.write(name, numbered("line"))
        (self.project / ".gitignore").write_text("*.log\n")
        commit_all(self.project)
        self.write("kept.log", "ignored\n")
        self.outside.mkdir()
        (self.outside / "mine.txt").write_text("mine\n")
        (self.project / "link").symlink_to(self.outside)

    def write(self, name: str, text: str) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def scribble(self) -> None:
        """What a user does: edit, delete, create, stage."""
        for name in self.random.sample(NAMES, 4):
            path = self.project / name
            kind = self.random.choice(("edit", "edit", "edit", "delete", "mode", "stage"))
            if kind == "delete":
                path.unlink(missing_ok=True)
            elif kind == "stage":
                git(self.project, "add", "--all", "--", f":(literal){name}", check=False)
            elif kind == "mode" and path.exists():
                path.chmod(self.random.choice((0o644, 0o755)))
            else:
                lines = (path.read_text() if path.exists() else numbered("new")).splitlines()
                for at in self.random.sample(range(len(lines)), min(3, len(lines))):
                    lines[at] = f"scribble {self.random.random()}"
                self.write(name, "\n".join(lines) + "\n")
        self.write(f"untracked {self.random.randrange(4)}.txt", f"{self.random.random()}\n")

    def held(self, *, without: tuple[str, ...] = ()) -> HeldState:
        """All there is, with every stored event of the sessions."""
        others = [session for session in self.sessions if session not in without]
        stored = stored_rows(self.served.service.store.folder, others)
        events: dict[str, object] = {
            f"event of {session}: {row}": True
            for session, tables in stored.items()
            for row in tables["events"]
        }
        return HeldState.of(self.project, self.outside, self.home / "projects", more=events)

    async def get(self, what: str, **query: Any) -> Any:
        status, body, _ = await self.served.http(
            f"/api/sessions/{self.sessions[0]}/{what}?{urlencode(query, doseq=True)}",
            Authorization=f"Bearer {self.client.token}",
        )
        assert status == 200, body
        return json.loads(body)

    async def act(self, kind: str, **fields: Any) -> dict[str, Any]:
        result = await self.client.intend(kind, **fields)
        assert result["ok"], (kind, fields, result)
        return dict(result["result"] or {})

    def file(self, name: str) -> str:
        return f"file {self.project.name}/{name}"

    async def unstaged(self, kinds: str) -> list[str]:
        rows = (await self.get("git"))["unstaged"]
        return [
            row["path"] for row in rows if row["kind"] in kinds and not row["path"].endswith("/")
        ]

    async def discard_files(self) -> set[str]:
        names = await self.unstaged("MD?")
        chosen = self.random.sample(names, min(len(names), self.random.randint(1, 3)))
        losses = (await self.get("git/losses", file=[id_of(name) for name in chosen]))["losses"]
        files = [{"file": loss["file"], "digest": loss["digest"]} for loss in losses]
        deleted = {name for name in chosen if not (self.project / name).exists()}
        await self.act("git_discard", session=self.sessions[0], files=files)
        # A file that was deleted is there again: nothing of it is lost.
        return {self.file(name) for name in chosen if name not in deleted}

    async def discard_hunk(self) -> set[str]:
        names = [name for name in await self.unstaged("M") if (self.project / name).exists()]
        for name in self.random.sample(names, len(names)):
            hunks = (await self.get("git/hunks", file=id_of(name)))["hunks"]
            if not hunks:  # Only its mode has changed.
                continue
            chosen = self.random.choice(hunks)
            files = [{"file": id_of(name), "digest": chosen["digest"]}]
            await self.act("git_discard", session=self.sessions[0], files=files, hunk=True)
            left = (await self.get("git/hunks", file=id_of(name)))["hunks"]
            kept = [changed(hunk) for hunk in hunks if hunk is not chosen]
            assert [changed(hunk) for hunk in left] == kept
            return {self.file(name)}
        return set()

    async def discard_worktree(self) -> set[str]:
        """Two worktrees with work in them; one is discarded."""
        project = str(self.project)
        trees = [await self.act("add_worktree", cwd=project, name="try") for _ in range(2)]
        for tree in trees:
            folder = Path(tree["cwd"])
            (folder / "a.txt").write_text("tried\n")
            commit_all(folder)
            (folder / "b.txt").write_text("half done\n")
        gone = self.random.choice(trees)
        before = self.held()
        about = {"cwd": gone["cwd"], "repository": project}
        seen = (await self.act("worktree_losses", **about))["seen"]
        await self.act("finish_worktree", how="discard", seen=seen, **about)
        place = str(Path(gone["cwd"]).relative_to(self.project))
        lost = before.lost(self.held())
        mine = (f"{self.file(place)}/", f"head {place}", f"index {place} ")
        assert f"{self.file(place)}/b.txt" in lost
        assert {name for name in lost if not name.startswith(mine)} == {
            f"ref refs/heads/{gone['branch']}"
        }
        return set()

    async def rewind(self) -> set[str]:
        session = self.random.choice(self.sessions[:2])
        prompt, _ = self.random.choice(self.prompts[session])
        preview = await self.act("rewind_files", session=session, prompt=prompt)
        await self.act("rewind_files", session=session, prompt=prompt, dry_run=False)
        named = {Path(name) for name in preview["filesChanged"]}
        assert named <= {self.project / "agent" / name for name in AGENT_FILES}
        return {self.file(str(path.relative_to(self.project))) for path in named}

    async def delete_sessions(self) -> set[str]:
        """Only the last sessions: the first two are the ones that rewind."""
        chosen = tuple(self.random.sample(self.sessions[2:], 1))
        files = self.random.random() < 0.5
        rows = self.served.service.registry.sessions.rows
        own = {str(rows[session].cli_session_id) for session in chosen}
        before = self.held(without=chosen)
        await self.act("delete_sessions", sessions=list(chosen), files=files)
        await until(lambda: not set(chosen) & set(rows))
        self.sessions = [session for session in self.sessions if session not in chosen]
        await until(lambda: not files or not own & {path.stem for path in self.cli_files()})
        lost = before.lost(self.held())
        assert all(any(name in thing for name in own) for thing in lost)
        assert bool(lost) == files
        await self.begin("hello")
        return set()

    def cli_files(self) -> list[Path]:
        return list((self.home / "projects").rglob("*.jsonl"))

    async def begin(self, prompt: str) -> str:
        result = await self.act(
            "new_session", cwd=str(self.project), prompt=prompt, mode="acceptEdits"
        )
        session = str(result["session"])
        await self.rest(session, 1)
        self.sessions.append(session)
        return session

    async def rest(self, session: str, turns: int) -> None:
        """Wait until a session has ended so many turns, and all of that is stored."""
        sessions = self.served.service.registry.sessions

        def ended() -> bool:
            live = sessions.loaded(session)
            if live is None or live.transcript.status.state != "idle":
                return False
            return sum(turn.outcome is not None for turn in live.transcript.turns) >= turns

        await until(ended)

    async def talk(self) -> None:
        """Two sessions whose agent changed files in several turns, and two that did nothing."""
        for number in range(2):
            session = await self.begin(f"hello {number}")
            for turn in range(3):
                name = self.random.choice(AGENT_FILES)
                prompt = str(uuid.uuid4())
                await self.act(
                    "send", session=session, uuid=prompt, text=f"change {name} in {number}.{turn}"
                )
                await self.rest(session, turn + 2)
                self.prompts.setdefault(session, []).append((prompt, name))
        for number in range(2):
            await self.begin(f"hello again {number}")


def changed(hunk: dict[str, Any]) -> list[str]:
    """The lines that a hunk adds and removes."""
    return [line for line in hunk["lines"] if line[:1] in "+-"]


@asynccontextmanager
async def workbench(folder: Path, seed: int) -> AsyncIterator[Workbench]:
    claude = EmulatedClaude(folder / "claude", SCRIPT)
    async with open_app_server(
        folder, agent=claude.executable, project=claude.project, home=claude.home, limits=LIMITS
    ) as server:
        served = Served(server.service, server.project)
        bench = Workbench(seed, served, await served.client(), claude.home / ".claude")
        bench.furnish()
        await bench.talk()
        yield bench


@pytest.mark.timeout(300)
@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize("seed", SEEDS)
async def test_G28_only_what_was_named_is_lost(tmp_path: Path, seed: int) -> None:
    async with workbench(tmp_path, seed) as bench:
        actions = [
            bench.discard_files, bench.discard_hunk, bench.rewind,
            bench.discard_worktree, bench.delete_sessions,
        ]  # fmt: skip
        for step in range(STEPS):
            bench.scribble()
            action = actions[step] if step < len(actions) else bench.random.choice(actions)
            before = bench.held()
            named = await action()
            if action == bench.delete_sessions:
                continue  # It has compared already, without the deleted ones.
            lost = before.lost(bench.held())
            assert lost <= named, f"seed {seed}, step {step}, {action.__name__}"
