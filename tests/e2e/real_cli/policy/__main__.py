"""The permission policy against real CLIs on generated calls.

    python -m tests.e2e.real_cli.policy run 2.1.38 2.1.325 --calls 5000 --seed monday
    python -m tests.e2e.real_cli.policy run 2.1.325 --calls 1000 --mix everyday --save FOLDER
    python -m tests.e2e.real_cli.policy run 2.1.325 --calls 1000 --hunt
    python -m tests.e2e.real_cli.policy compare 2.1.325 FILE…
    python -m tests.e2e.real_cli.policy conform

`run` gets the verdicts of the CLIs, prints how many decisions of the policy are equal, stricter and
laxer, shrinks each laxer case, and exits with 1 if there is one; with `--hunt` it spends its calls where
the policy can be laxer (see `hunt`). `compare` holds stored verdicts
against the policy of today. `conform` is what `make conformance` runs: the fixed slice, then new calls
with a seed of the day on every version; it writes docs/compatibility.md. The CLIs must be in the
cache, and a run needs no network.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from fairlead.permissions import family_of
from fairlead.testing.real_cli import ensure
from tests.e2e.real_cli.compiled import compiled
from tests.e2e.real_cli.policy.compare import Case, Verdicts, cases
from tests.e2e.real_cli.policy.figures import Figures, figures_of, write
from tests.e2e.real_cli.policy.generate import CALLS, scenarios
from tests.e2e.real_cli.policy.hunt import hunted
from tests.e2e.real_cli.policy.recording import SLICE, load, record
from tests.e2e.real_cli.policy.scenario import Scenario
from tests.e2e.real_cli.policy.shrink import shrunk

MAIN = ("2.1.38", "2.1.325")
OTHERS = ("2.1.29", "2.1.120", "2.1.220")
PLAN = (
    *((version, "wild", 5000) for version in MAIN),
    *((version, "everyday", 1000) for version in MAIN),
    *((version, "wild", 1000) for version in OTHERS),
)
"""Version, mix and decided calls of a run of `conform`."""

MOST_DRAWN = 5
"""Generated calls for each call that is to be decided, at most."""

MOST_SHRUNK = 10
"""Laxer cases that are reduced; the others are printed as they are."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.real_cli.policy")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run")
    run.add_argument("versions", nargs="+")
    run.add_argument("--calls", type=int, default=1000)
    run.add_argument("--seed", default="1")
    run.add_argument(
        "--mix", choices=("wild", "everyday", "recombined", "compounds"), default="wild"
    )
    run.add_argument("--workers", type=int, default=1)
    run.add_argument("--save", type=Path)
    run.add_argument("--hunt", action="store_true", help="only calls that the policy allows")
    compare = commands.add_parser("compare")
    compare.add_argument("version")
    compare.add_argument("files", nargs="+", type=Path)
    compare.add_argument("--show", nargs="*", default=("laxer",))
    conform = commands.add_parser("conform")
    conform.add_argument("--seed", default=str(datetime.datetime.now(datetime.UTC).date()))
    conform.add_argument("--workers", type=int, default=2)
    conform.add_argument("--share", type=float, default=1.0, help="share of the calls to make")
    conform.add_argument("--save", type=Path, help="folder of verdicts; continues an earlier run")
    given = parser.parse_args(arguments)
    if given.command == "conform":
        return asyncio.run(_conform(given))
    if given.command == "run":
        return max([asyncio.run(_run(version, given)) for version in given.versions])
    recorded = [item for path in given.files for item in load(path)]
    found = cases(given.version, recorded)
    _print(given.version, found)
    for case in found:
        if case.outcome in given.show:
            sys.stdout.write(f"{case.outcome}: {case}\n")
        if case.host_is_laxer:
            sys.stdout.write(f"host rules laxer: {case}\n")
    return int(any(case.outcome == "laxer" or case.host_is_laxer for case in found))


async def _conform(given: argparse.Namespace) -> int:
    changed = [
        f"{version}: {note}"
        for version in MAIN
        for note in await _slice_changes(version, given.workers)
    ]
    for note in changed:
        sys.stdout.write(f"slice: {note}\n")
    figures: list[Figures] = []
    for version, mix, calls in PLAN:
        wanted = max(1, int(calls * given.share))
        cli = compiled(ensure(version))
        found = cases(version, await _decided(version, mix, wanted, given))
        figures.append(figures_of(version, mix, found))
        sys.stdout.write(f"{figures[-1]}\n")
        for case in found:
            if case.host_is_laxer:
                sys.stdout.write(f"host rules laxer: {case}\n")
        worse = [case for case in found if case.outcome == "laxer"]
        for case in worse[:MOST_SHRUNK]:
            sys.stdout.write(f"laxer: {await shrunk(case, version, cli)}\n")
    write(figures, given.seed)
    return int(bool(changed) or not all(entry.passed for entry in figures))


async def _decided(
    version: str, mix: str, wanted: int, given: argparse.Namespace
) -> list[tuple[Scenario, Verdicts]]:
    """Verdicts on at least as many calls as wanted: a CLI does not decide about every generated call."""
    save = given.save / f"{version}-{mix}-{given.seed}.jsonl" if given.save else None
    known = family_of(version).classifier_in_auto
    drawn = (
        made
        for made in scenarios(given.seed, MOST_DRAWN * wanted, mix)
        if known or made.mode != "auto"
    )
    found: list[tuple[Scenario, Verdicts]] = []
    while True:
        decided = sum(verdict is not None for _, verdicts in found for verdict in verdicts)
        batch = list(islice(drawn, -(-(wanted - decided) // CALLS)))
        if not batch:
            return found
        cli = compiled(ensure(version))
        found += await record(batch, cli, workers=given.workers, save=save)


async def _slice_changes(version: str, workers: int) -> list[str]:
    """The calls of the fixed slice about which the CLI decides otherwise than recorded."""
    recorded = {made.seed: (made, verdicts) for made, verdicts in load(SLICE / f"{version}.jsonl")}
    asked = [made for made, _ in recorded.values()]
    changed = []
    for made, now in await record(asked, compiled(ensure(version)), workers=workers):
        pairs = zip(made.calls, recorded[made.seed][1], now, strict=True)
        changed += [f"{call}: {old} -> {new}" for call, old, new in pairs if old != new]
    return changed


async def _run(version: str, given: argparse.Namespace) -> int:
    cli = compiled(ensure(version))
    kind = "hunt-" if given.hunt else ""
    save = given.save / f"{kind}{version}-{given.mix}-{given.seed}.jsonl" if given.save else None
    if save is not None:
        save.parent.mkdir(parents=True, exist_ok=True)
    made = scenarios(given.seed, given.calls, given.mix)
    if given.hunt:
        made = hunted(given.seed, given.calls, given.mix, version)
    recorded = await record(made, cli, workers=given.workers, save=save)
    found = cases(version, recorded)
    _print(version, found)
    laxer = [case for case in found if case.outcome == "laxer"]
    for number, case in enumerate(laxer):
        smallest = await shrunk(case, version, cli) if number < MOST_SHRUNK else case
        sys.stdout.write(f"laxer: {smallest}\n")
    return int(bool(laxer))


def _print(version: str, found: Sequence[Case]) -> None:
    counts = Counter(case.outcome for case in found)
    total = len(found) or 1
    parts = [
        f"{name} {counts[name]} ({100 * counts[name] / total:.1f} %)"
        for name in ("equal", "stricter", "laxer")
    ]
    kinds = Counter(
        (case.decision.behavior.value, case.verdict) for case in found if case.outcome != "equal"
    )
    sys.stdout.write(f"{version}: {len(found)} calls, {', '.join(parts)}\n")
    for (decided, verdict), count in kinds.most_common():
        sys.stdout.write(f"  policy {decided}, CLI {verdict}: {count}\n")


if __name__ == "__main__":
    sys.exit(main())
