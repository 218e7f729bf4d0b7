"""Runs git for reading only, with every way to start another program disabled.

What a repository could make git run, and what prevents it here:

- `core.fsmonitor`, hooks (`post-index-change`): switched off by `-c`.
- External diff drivers and text conversion: `--no-ext-diff`, `--no-textconv` (see `DIFF`).
- Filters (`filter.*.clean`, `.process`): those that the repository itself defines are replaced by
  the user's own of the same name, or by none. The user's own filters, such as Git LFS, stay.
- Missing objects of a partial clone, fetched through a configured transport:
  `GIT_NO_LAZY_FETCH` where git knows it, and `GIT_ALLOW_PROTOCOL` set to nothing everywhere.
- Other repositories: submodules are not entered (`--ignore-submodules=dirty`), and the working
  tree is fixed by `--work-tree`, whatever `core.worktree` says.
- File names that look like patterns: paths are written with `literal`.
- Pagers, editors, prompts: there is no terminal and no standard input.

Nothing is written either: `GIT_OPTIONAL_LOCKS=0` keeps `git status` from refreshing the index, and
`diff.autoRefreshIndex=false` keeps `git diff` from it, which does not obey the variable (2.39).
Therefore a diff also lists files that were only touched; `changes` leaves those out.

git hashes a changed file to count its lines, however large it is, so callers leave files beyond
`BIG_FILE` bytes out (`changes`). Every call has a deadline and a limit of output; beyond either, git's whole process group is killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence

from fairlead.git.errors import GitError, GitMissing, GitOutputTooLarge, GitTimeout
from fairlead.git.repository import Repository

__all__ = ["BIG_FILE", "DIFF", "FIXED", "OUTPUT_BYTES", "GitReader", "git_environment", "literal"]

DEADLINE_S = 20.0
OUTPUT_BYTES = 16 * 1024 * 1024
GENTLE_S = 3.0
"""How long git may take to end by itself when it is asked to."""
ERROR_CHARS = 500
BIG_FILE = 8 * 1024 * 1024
"""Bytes. Larger files are compared as binary, so that git does not load them."""

DIFF = (
    "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--ignore-submodules=dirty",
    "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/", "--find-renames",
)  # fmt: skip
"""Options of every `git diff`: nothing of the repository's configuration may change its form."""

FIXED = (
    "-c", "core.fsmonitor=false",
    "-c", f"core.hooksPath={os.devnull}",
    "-c", "core.untrackedCache=false",
    "-c", "diff.autoRefreshIndex=false",
    "-c", f"core.bigFileThreshold={BIG_FILE}",
    "-c", "core.quotePath=false",
    "-c", "log.showSignature=false",
    "-c", "submodule.recurse=false",
)  # fmt: skip

_PASSED_ON = ("HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "XDG_CONFIG_HOME")
_FILTER_KEYS = ("clean", "process", "required", "smudge")
_TRUSTED_SCOPES = ("system", "global")


def literal(path: str, *, exclude: bool = False) -> str:
    """A pathspec that means exactly this file."""
    return f":(top,literal{',exclude' if exclude else ''}){path}"


class GitReader:
    """Reads one repository."""

    def __init__(
        self, repository: Repository, *, program: str = "git", deadline_s: float = DEADLINE_S
    ) -> None:
        self.repository = repository
        self._program = program
        self._deadline_s = deadline_s
        self._filters: tuple[str, ...] | None = None

    async def read(self, command: str, *arguments: str, limit: int = OUTPUT_BYTES) -> bytes:
        """What a git command prints; raises `GitOutputTooLarge` beyond the limit."""
        output = await self.read_start(command, *arguments, limit=limit)
        if len(output) > limit:
            raise GitOutputTooLarge(command, limit)
        return output

    async def read_start(
        self, command: str, *arguments: str, limit: int, options: Sequence[str] = ()
    ) -> bytes:
        """The first part of what a git command prints: more than `limit` bytes if there is more.

        `options` are further options of git itself.
        """
        own = [*await self._options(), *options]
        return await self._run([*own, command, *arguments], command, limit)

    async def read_with(self, options: Sequence[str], command: str, *arguments: str) -> bytes:
        """Like `read`, with further options of git itself."""
        own = [*await self._options(), *options]
        return await self._run([*own, command, *arguments], command, OUTPUT_BYTES)

    async def commit_of(self, name: str) -> str | None:
        """The id of the commit that a name refers to, or None if there is no such commit."""
        if not name or name.startswith("-") or "\0" in name:
            return None
        try:
            printed = await self.read(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
            )
        except (GitTimeout, GitMissing):
            raise
        except GitError:
            return None
        return printed.decode("ascii", "replace").strip() or None

    async def _options(self) -> list[str]:
        """The options of git itself that disable everything foreign."""
        if self._filters is None:
            self._filters = tuple(filter_overrides(await self._configuration()))
        return [*FIXED, *self._filters]

    async def _configuration(self) -> bytes:
        """The whole configuration, each entry with the scope that it comes from."""
        try:
            printed = await self._run(
                ["config", "--list", "--show-scope", "-z"], "config", OUTPUT_BYTES
            )
        except (GitTimeout, GitMissing):
            raise
        except GitError as error:
            raise GitError(
                "config", f"the repository's configuration is invalid: {error.message}"
            ) from None
        if len(printed) > OUTPUT_BYTES:
            raise GitOutputTooLarge("config", OUTPUT_BYTES)
        return printed

    async def _run(
        self,
        arguments: Sequence[str],
        command: str,
        limit: int,
        *,
        stdin: bytes | None = None,
        environment: Mapping[str, str] | None = None,
        gently: bool = False,
    ) -> bytes:
        """Run git; `stdin` is its standard input.

        With `gently`, git is asked to end before it is killed, so that it removes its lock files.
        """
        process = await self._start(arguments, command, stdin, environment)
        try:
            async with asyncio.timeout(self._deadline_s):
                output, errors, _ = await asyncio.gather(
                    _read_up_to(process, limit),
                    _read_some(process.stderr),
                    _write_stdin(process, stdin),
                )
                code = 0 if len(output) > limit else await process.wait()
        except TimeoutError:
            raise GitTimeout(command, self._deadline_s) from None
        finally:
            await _end(process, gently=gently)
        if code != 0:
            reason = errors or output[-ERROR_CHARS:].decode("utf-8", "replace").strip()
            failure = GitError(command, reason)
            failure.output, failure.code = output, code
            raise failure
        return output

    async def _start(
        self,
        arguments: Sequence[str],
        command: str,
        stdin: bytes | None,
        environment: Mapping[str, str] | None,
    ) -> asyncio.subprocess.Process:
        repository, pipe = self.repository, asyncio.subprocess.PIPE
        try:
            return await asyncio.create_subprocess_exec(
                self._program,
                "--no-pager",
                f"--git-dir={repository.git_dir}",
                f"--work-tree={repository.top}",
                *arguments,
                cwd=repository.top,
                env=git_environment() if environment is None else environment,
                stdin=asyncio.subprocess.DEVNULL if stdin is None else pipe,
                stdout=pipe,
                stderr=pipe,
                start_new_session=True,
            )
        except FileNotFoundError:
            if not repository.top.is_dir():
                raise GitError(command, f"the folder {repository.top} no longer exists") from None
            raise GitMissing(self._program) from None
        except (OSError, ValueError) as error:
            raise GitError(command, str(error)) from None


def filter_overrides(listed: bytes) -> list[str]:
    """The `-c` options for a listing of `git config --list --show-scope -z`."""
    trusted, foreign = filter_settings(listed)
    options = []
    for key in foreign:
        none = "false" if key.endswith(".required") else ""
        options += ["-c", f"{key}={trusted.get(key, none)}"]
    return options


def filter_settings(listed: bytes) -> tuple[dict[str, str], tuple[str, ...]]:
    """The user's own settings of filters, and the names of those that the repository sets."""
    trusted: dict[str, str] = {}
    foreign: dict[str, None] = {}
    fields = listed.decode("utf-8", "surrogateescape").split("\0")
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = entry.partition("\n")
        section, _, rest = key.partition(".")
        name, _, option = rest.rpartition(".")
        if section != "filter" or not name or option not in _FILTER_KEYS:
            continue
        if scope in _TRUSTED_SCOPES:
            trusted[key] = value
        else:
            foreign[key] = None
    return trusted, tuple(foreign)


def git_environment() -> dict[str, str]:
    """The complete environment of git, in which it neither prompts for input nor fetches anything."""
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return environment | {
        "LC_ALL": "C.UTF-8",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GIT_EDITOR": "false",
        "GIT_PAGER": "cat",
    }


async def _read_up_to(process: asyncio.subprocess.Process, limit: int) -> bytes:
    """The output of a process; beyond the limit the process is killed, and the rest is not read."""
    stream = process.stdout
    assert stream is not None
    pieces: list[bytes] = []
    size = 0
    while size <= limit and (piece := await stream.read(256 * 1024)):
        size += len(piece)
        pieces.append(piece)
    if size > limit:
        await _end(process)
    return b"".join(pieces)


async def _read_some(stream: asyncio.StreamReader | None) -> str:
    """The start of the error output; the rest is read and dropped, so that git never waits."""
    assert stream is not None
    start = b""
    while piece := await stream.read(64 * 1024):
        start = (start + piece)[: 4 * ERROR_CHARS]
    return start.decode("utf-8", "replace").strip()[:ERROR_CHARS]


async def _write_stdin(process: asyncio.subprocess.Process, stdin: bytes | None) -> None:
    if stdin is None or process.stdin is None:
        return
    with contextlib.suppress(ConnectionError):  # git ended before it had read everything.
        process.stdin.write(stdin)
        await process.stdin.drain()
    process.stdin.close()


async def _end(process: asyncio.subprocess.Process, *, gently: bool = False) -> None:
    """End git and everything that it started, if it still runs."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if gently:
            os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), GENTLE_S)
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
