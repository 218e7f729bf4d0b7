"""Golden conversations: host scripts with the skeletons that real CLIs wrote for them.

    python -m tests.e2e.conversations.golden --cache FOLDER

chooses scripts from what `differential --cache FOLDER` recorded, and writes
`tests/golden/conversations`. A file holds each distinct skeleton once and the scripts as lists of
their numbers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.e2e.conversations.comparison import outline
from tests.e2e.conversations.differential import Recorder, compare
from tests.e2e.conversations.generator import SEED, THEMES, generate_all
from tests.e2e.conversations.host_script import HostScript
from tests.e2e.conversations.named_scripts import named_scripts

__all__ = ["GOLDEN", "VERSIONS", "names", "read"]

GOLDEN = Path(__file__).parents[2] / "golden" / "conversations"
VERSIONS = ("2.1.38", "2.1.325")


def names(version: str) -> list[str]:
    """The names of the golden scripts of a version."""
    return list(json.loads((GOLDEN / f"{version}.json").read_text("utf-8"))["scripts"])


def read(version: str, name: str) -> tuple[HostScript, list[Any]]:
    """A golden script and the skeletons of the real CLI."""
    data = json.loads((GOLDEN / f"{version}.json").read_text("utf-8"))
    entry = data["scripts"][name]
    script = HostScript.from_json(entry["script"])
    return script, [data["lines"][number] for number in entry["lines"]]


async def _waits_in_vain(script: HostScript, version: str, recorder: Recorder) -> bool:
    """Whether the host waited for a line that the real CLI never wrote, until its time limit."""
    (play, *_) = await recorder.plays(script, version, 1)
    return any("_timeout" in line for line in play)


async def _choose(
    version: str, recorder: Recorder, wanted: Sequence[str], seed: int
) -> list[HostScript]:
    """The scripts with these names, or one of each theme, on which the emulator agrees."""
    chosen: dict[str, HostScript] = {}
    for script in (*named_scripts(), *generate_all(500, seed)):
        key = script.name if wanted else script.theme
        if key not in chosen and (not wanted or script.name in wanted):
            verdict = await compare(script, version, recorder)
            if verdict is None or not verdict.is_equal:
                continue
            if not await _waits_in_vain(script, version, recorder):
                chosen[key] = script
        if len(chosen) == (len(wanted) or len(THEMES)):
            break
    return sorted(chosen.values(), key=lambda script: script.name)


async def _write(
    version: str, recorder: Recorder, wanted: Sequence[str], seed: int, *, adds: bool
) -> None:
    path = GOLDEN / f"{version}.json"
    data = json.loads(path.read_text("utf-8")) if adds else {"lines": [], "scripts": {}}
    lines: list[Any] = data["lines"]
    scripts: dict[str, Any] = data["scripts"]
    for script in await _choose(version, recorder, wanted, seed):
        (play, *_) = await recorder.plays(script, version, 1)
        numbers = []
        for bones in outline(play):
            if bones not in lines:
                lines.append(bones)
            numbers.append(lines.index(bones))
        scripts[script.name] = {"script": script.to_json(), "lines": numbers}
    GOLDEN.mkdir(parents=True, exist_ok=True)
    rows = ",\n".join(json.dumps(line, sort_keys=True) for line in lines)
    entries = ",\n".join(f"{json.dumps(name)}: {json.dumps(e)}" for name, e in scripts.items())
    text = f'{{"lines": [\n{rows}\n],\n"scripts": {{\n{entries}\n}}}}\n'
    path.write_text(text, "utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.conversations.golden")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", nargs="*", default=(), help="names; else one of each theme")
    parser.add_argument("--add", action="store_true", help="keep the scripts that are there")
    parser.add_argument("--versions", nargs="*", default=VERSIONS)
    given = parser.parse_args(arguments)
    recorder = Recorder(given.cache, offline=True)
    for version in given.versions:
        asyncio.run(_write(version, recorder, given.only, given.seed, adds=given.add))
    return 0


if __name__ == "__main__":
    sys.exit(main())
