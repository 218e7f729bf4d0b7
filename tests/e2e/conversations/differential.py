"""Plays generated host scripts to real CLIs and to the emulator, and compares them.

    python -m tests.e2e.conversations.differential 2.1.38 2.1.325 --count 500
    python -m tests.e2e.conversations.differential 2.1.325 --only 13-0042 --show

`--cache FOLDER` stores what the real CLIs wrote, so the emulator can be compared again without them.
A script on which the emulator differs is played to the real CLI again, up to three times in all. If the
emulator agrees with one of the plays, or differs only in lines in which they differ from each other
(`comparison.explained`), the CLI itself varies there, and the script counts as equal. A play that does
not end within `PLAY_S` is killed and counts as a difference.
The exit code is 1 if fewer than 95 % of the scripts are equal on a version, or if a difference is not
named in `known_differences`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from tests.e2e.conversations import figures
from tests.e2e.conversations.comparison import difference, equal, explained, outline, signature
from tests.e2e.conversations.generator import SEED, generate, generate_all
from tests.e2e.conversations.host_player import play_emulated, play_real
from tests.e2e.conversations.host_script import HostScript
from tests.e2e.conversations.named_scripts import named_scripts
from tests.e2e.conversations.shrinking import shrink
from tests.e2e.conversations.verdict import Verdict

__all__ = ["HUNG", "Recorder", "compare", "finished", "main"]

PLAYS = 3
"""How often a script is played to a real CLI before a difference counts."""

PLAY_S = 900.0
"""How long a play may take in all; a script has up to about 40 steps, most of them take a second."""

CANCEL_S = 30.0
"""How long a play may take to end after it was cancelled."""

HUNG = [{"_timeout": "play"}]
"""Shown in place of the lines of a play that did not end."""


class Recorder:
    """What real CLIs wrote, in memory and in a folder."""

    def __init__(self, folder: Path | None = None, *, offline: bool = False) -> None:
        self._folder, self._offline = folder, offline
        self._plays: dict[tuple[str, str], list[Any]] = {}

    async def plays(self, script: HostScript, version: str, count: int) -> list[Any]:
        """At least this many plays of a script, unless this recorder is offline."""
        key = (version, script.key)
        plays = self._plays.setdefault(key, self._read(version, script))
        while len(plays) < count and not self._offline:
            plays.append(await finished(play_real(script, version)))
            self._write(version, script, plays)
        return plays

    def _path(self, version: str, script: HostScript) -> Path | None:
        return self._folder / version / f"{script.key}.json" if self._folder else None

    def _read(self, version: str, script: HostScript) -> list[Any]:
        path = self._path(version, script)
        return json.loads(path.read_text()) if path is not None and path.exists() else []

    def _write(self, version: str, script: HostScript, plays: list[Any]) -> None:
        path = self._path(version, script)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(plays))


async def finished(play: Coroutine[Any, Any, list[Any]], limit_s: float = PLAY_S) -> list[Any]:
    """The lines of a play, or `HUNG` if it is not over after this time; then it is cancelled.

    The player kills the process when it is cancelled. A player that does not end even then is left
    alone, so that one script cannot prevent the figures of all others.
    """
    task = asyncio.create_task(play)
    done, _ = await asyncio.wait({task}, timeout=limit_s)
    if done:
        return task.result()
    task.cancel()
    await asyncio.wait({task}, timeout=CANCEL_S)
    return HUNG


async def compare(script: HostScript, version: str, recorder: Recorder) -> Verdict | None:
    """The verdict on one script; None if the recorder is offline and does not know it."""
    if not await recorder.plays(script, version, 1):
        return None
    lines = await finished(play_emulated(script, version))
    if lines == HUNG:
        diff = difference(outline((await recorder.plays(script, version, 1))[0]), lines)
        return Verdict(script=script, version=version, is_equal=False, diff=diff)
    emulated = outline(lines)
    for count in range(1, PLAYS + 1):
        plays = [outline(play) for play in await recorder.plays(script, version, count)]
        if plays[-1] == outline(HUNG):
            break  # repeated plays would only take the same time again
        if any(equal(play, emulated) for play in plays) or explained(plays, emulated):
            return Verdict(script=script, version=version, is_equal=True)
    diff = difference(plays[0], emulated)
    return Verdict(script=script, version=version, is_equal=False, diff=diff)


async def run(given: argparse.Namespace) -> list[Verdict]:
    recorder = Recorder(given.cache, offline=given.offline)
    scripts = generate_all(given.count, given.seed)[given.first :]
    if given.named:
        scripts = [s for s in named_scripts() if not given.only or s.name in given.only]
    elif given.only:
        scripts = [generate(int(name.rpartition("-")[2]), given.seed) for name in given.only]
    if given.theme:
        scripts = [script for script in scripts if script.theme == given.theme]
    gate = asyncio.Semaphore(given.jobs)

    async def judge(script: HostScript, version: str) -> Verdict | None:
        async with gate:
            if given.record:
                await recorder.plays(script, version, 1)
                return None
            verdict = await compare(script, version, recorder)
        if verdict is not None and not verdict.is_equal:
            if given.shrink:
                verdict = await _smallest(verdict, recorder)
            sys.stdout.write(f"=== {version} {script.name} {script.theme}\n")
            if given.show or given.shrink:
                sys.stdout.write(f"{json.dumps(verdict.script.to_json())}\n{verdict.diff}\n")
            sys.stdout.flush()
        return verdict

    work = [judge(script, version) for version in given.versions for script in scripts]
    return [verdict for verdict in await asyncio.gather(*work) if verdict is not None]


async def _smallest(verdict: Verdict, recorder: Recorder) -> Verdict:
    """The verdict on the smallest script that has a changed line in common with this one."""
    version, changed = verdict.version, set(signature(verdict.diff))

    async def shows(script: HostScript) -> bool:
        other = await compare(script, version, recorder)
        return (
            other is not None
            and not other.is_equal
            and not changed.isdisjoint(signature(other.diff))
        )

    return await compare(await shrink(verdict.script, shows), version, recorder) or verdict


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.conversations.differential")
    parser.add_argument("versions", nargs="+", metavar="VERSION")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--theme")
    parser.add_argument("--named", action="store_true", help="the scripts written by hand")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--offline", action="store_true", help="use only what is in the cache")
    parser.add_argument("--write", action="store_true", help="update docs/compatibility.md")
    parser.add_argument("--record", action="store_true", help="only play to the real CLIs")
    given = parser.parse_args(arguments)
    verdicts = asyncio.run(run(given))
    if not verdicts:
        return 0
    sys.stdout.write(figures.summary(verdicts) + "\n")
    for verdict in figures.unnamed(verdicts):
        name = f"{verdict.version} {verdict.script.name} ({verdict.script.theme})"
        sys.stdout.write(f"unnamed difference: {name}\n")
    if given.write:
        figures.write(verdicts, given.seed)
    enough = all(
        figures.share(verdicts, version) >= figures.SHARE
        for version in figures.versions_of(verdicts)
    )
    return 0 if enough and not figures.unnamed(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
