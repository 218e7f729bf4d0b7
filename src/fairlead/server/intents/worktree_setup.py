"""A session in a worktree that was made for it: its row, and the command that prepares the folder.

The command belongs to the repository's settings, which only an owner sets. It runs after the trust
question of the folder was answered, because it usually runs programs of the project; not at all
if the answer was to start without the project's own programs.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal

from msgspec import structs

from fairlead.git.reader import GitReader
from fairlead.git.repository import find_repository
from fairlead.git.worktrees import linked_worktrees
from fairlead.host.options.options import Options
from fairlead.server.refusal import Refusal
from fairlead.server.session.live_session import LiveSession
from fairlead.server.sessions.sessions import Sessions
from fairlead.server.trust import WITHOUT
from fairlead.store.tables.sessions import SessionRow, WorktreeRow

__all__ = ["in_worktree", "prepare_then_start", "setup_of"]

SETUP_S = 900.0
"""How long a setup command may take: installing packages can take minutes."""
OUTPUT_CHARS = 8_000
SHOW_EVERY_S = 1.0


async def in_worktree(sessions: Sessions, row: SessionRow, base: str) -> SessionRow:
    """The row of a session whose folder is in a linked worktree; refuses any other folder."""
    repository = await asyncio.to_thread(find_repository, row.cwd)
    if repository is None:
        raise Refusal("conflict", f"{row.cwd!r} is not in a git repository.")
    trees = await linked_worktrees(GitReader(repository))
    tree = next((each for each in trees if each.path == str(repository.top)), None)
    if tree is None or tree.main or tree.branch is None:
        raise Refusal("conflict", f"{row.cwd!r} is not in a worktree with a branch of its own.")
    worktree = WorktreeRow(
        repository=trees[0].path, path=tree.path, branch=tree.branch, base=base[:200]
    )
    setup = sessions.policy.worktrees.setup(trees[0].path)
    return structs.replace(
        row, worktree=structs.replace(worktree, setup="running" if setup else "")
    )


def setup_of(sessions: Sessions, row: SessionRow) -> str:
    """The command to run before the CLI of a new session starts; empty if there is none."""
    worktree = row.worktree
    return "" if worktree is None else sessions.policy.worktrees.setup(worktree.repository)


def prepare_then_start(
    sessions: Sessions, live: LiveSession, options: Options, command: str
) -> None:
    """Run the setup command of a session's worktree and then start its CLI, in the background.

    If the command fails, the session starts anyway: its row shows the output, and the agent can
    repair what is missing.
    """

    async def prepare() -> None:
        row = sessions.row(live.id)
        answer = await asyncio.to_thread(sessions.policy.trust.check, row.cwd, row.profile)
        if answer == WITHOUT:
            _show(sessions, live.id, "", "Not run: the project's own programs are not trusted.")
            return
        worktree = row.worktree
        assert worktree is not None  # `setup_of` returned a command.
        ended = await _run(sessions, live.id, command, worktree.path)
        output = sessions.row(live.id).worktree
        assert output is not None
        _show(
            sessions, live.id, "done" if ended == 0 else "failed", output.setup_output + _end(ended)
        )

    sessions.starter.start_after(live, options, prepare)


def _end(code: int | None) -> str:
    if code == 0:
        return ""
    reason = f"it did not finish within {SETUP_S:g} s" if code is None else f"exit code {code}"
    return f"\n[The setup command failed: {reason}.]"


def _show(sessions: Sessions, session: str, state: str, output: str) -> None:
    row = sessions.rows.get(session)
    if row is None or row.worktree is None:
        return
    worktree = structs.replace(row.worktree, setup=state, setup_output=output[-OUTPUT_CHARS:])
    sessions.catalog.save_soon(structs.replace(row, worktree=worktree))


async def _run(sessions: Sessions, session: str, command: str, folder: str) -> int | None:
    """The exit code of the command; None if it took too long."""
    process = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        command,
        cwd=folder,
        env=sessions.environment_of(sessions.account_of(session)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    output = ""
    shown = 0.0
    try:
        async with asyncio.timeout(SETUP_S):
            while piece := await process.stdout.read(64 * 1024):
                output = (output + piece.decode("utf-8", "replace"))[-OUTPUT_CHARS:]
                now = asyncio.get_running_loop().time()
                if now - shown >= SHOW_EVERY_S:
                    shown = now
                    _show(sessions, session, "running", output)
            _show(sessions, session, "running", output)
            return await process.wait()
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
