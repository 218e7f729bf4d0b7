"""`python -m bench.compare REF`: is this working tree faster than that commit?"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import report
from bench.compare import ratios
from bench.compare.scenarios import CI, QUICK, SCENARIOS, Sizes
from bench.compare.trees import Tree, UnknownCommit, checked_out, current

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Compare, and print the ratios."""
    arguments = _parse(argv)
    sizes = QUICK if arguments.quick else CI if arguments.short else Sizes()
    say(f"{report.machine()}; {report.load()}")
    measures: dict[str, ratios.Measure] = {}
    try:
        with checked_out(arguments.ref) as old:
            for number in range(arguments.rounds):
                # The first of a pair may find colder caches, so the order alternates.
                pair = (old, current()) if number % 2 == 0 else (current(), old)
                _round(number + 1, pair, arguments.only or list(SCENARIOS), sizes, measures)
    except UnknownCommit as problem:
        say(str(problem))
        return 2
    print(f"\n{ratios.table(measures)}")
    say(f"done; {report.load()}")
    if arguments.json is not None:
        data = [measure.as_data() for measure in measures.values()]
        arguments.json.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    return 0


def say(text: str) -> None:
    """Report progress, apart from the table."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


def _round(
    number: int,
    pair: tuple[Tree, Tree],
    names: list[str],
    sizes: Sizes,
    measures: dict[str, ratios.Measure],
) -> None:
    for name in names:
        for tree in pair:
            say(f"round {number}: {name}, {tree.name} code")
            with tempfile.TemporaryDirectory(prefix="fairlead-compare-") as folder:
                figures = SCENARIOS[name](tree, sizes, Path(folder))
            ratios.collect(measures, tree.name, figures)


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("ref", metavar="REF", help="the commit to compare with")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--only", action="append", choices=list(SCENARIOS), metavar="SCENARIO")
    parser.add_argument("--quick", action="store_true", help="a smoke test; means nothing")
    parser.add_argument("--short", action="store_true", help="smaller sizes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there too")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
