"""The comparison of two versions: both run, every delta arrives, ratios are computed per round."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.compare import one_session, ratios
from bench.compare.trees import UnknownCommit, checked_out, current


def test_a_ratio_is_computed_for_each_round_and_its_median_is_reported() -> None:
    measures: dict[str, ratios.Measure] = {}
    for old, new in ((10.0, 5.0), (20.0, 4.0), (8.0, 8.0)):
        ratios.collect(measures, "old", {"cost": old})
        ratios.collect(measures, "new", {"cost": new})
    assert measures["cost"].ratio == 0.5
    assert "| cost | 10.00 | 5.00 | 0.50 | 0.20 - 1.00 |" in ratios.table(measures)


def test_a_commit_is_checked_out_and_removed() -> None:
    with checked_out("HEAD") as tree:
        root = tree.root
        assert (tree.source / "fairlead" / "__init__.py").is_file()
    assert not root.exists()


def test_an_unknown_commit_is_refused() -> None:
    with pytest.raises(UnknownCommit, match="no-such-commit"), checked_out("no-such-commit"):
        pass


@pytest.mark.timeout(120)
async def test_every_delta_of_a_paced_session_arrives_and_has_a_delay(tmp_path: Path) -> None:
    source = current().source
    flow = await one_session.measure_delay(source, tmp_path, deltas=20, per_s=100.0)
    assert len(flow.delays.seconds) == 20
    assert all(0 < delay < 60 for delay in flow.delays.seconds)


@pytest.mark.matrix(target="faults", cases=0)
@pytest.mark.timeout(120)
async def test_a_flood_is_measured_to_its_end(tmp_path: Path) -> None:
    flow = await one_session.measure_flood(current().source, tmp_path, deltas=300)
    assert flow.lines > 300
    assert flow.cpu_s > 0
