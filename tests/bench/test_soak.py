"""The long run in a few seconds: it restarts, reconnects and deletes, and its slopes are right."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.soak.plot import picture
from bench.soak.run import Plan, run
from bench.soak.samples import MEASURES, Sample, slope

SVG = "{http://www.w3.org/2000/svg}"
MIB = 1024 * 1024


def sample(at_s: float, rss: int) -> Sample:
    return Sample(
        at_s=at_s, rss=rss, descriptors=30, threads=4, children=2, database=MIB, latency_s=0.01
    )


def test_a_slope_is_the_growth_in_a_minute_without_the_first_third() -> None:
    grows = [sample(float(at), (100 if at < 30 else at) * MIB) for at in range(0, 91, 5)]
    memory, descriptors, *_ = MEASURES
    assert slope(grows, memory) == pytest.approx(60.0)
    assert slope(grows, descriptors) == 0.0


def test_a_picture_has_a_panel_with_series_and_trend_for_each_measure() -> None:
    root = ElementTree.fromstring(
        picture("5 < 6 sessions", [sample(float(at), at * MIB) for at in range(1, 9)])
    )
    assert len(list(root.iter(f"{SVG}polyline"))) == 2 * len(MEASURES)
    texts = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert "memory: +60 MiB a minute after the first third" in texts


@pytest.mark.matrix(target="faults", cases=0)
@pytest.mark.timeout(300)
async def test_sessions_are_restarted_and_replaced_and_clients_come_again(tmp_path: Path) -> None:
    plan = Plan(seconds=8.0, sessions=2, lines_per_s=40.0, turn_s=0.2, turns=3, sample_s=0.2)
    outcome = await run(plan, tmp_path, lambda text: None)
    assert outcome.turns >= 2
    assert outcome.reconnects >= 1
    assert outcome.restarts >= 1
    assert outcome.sessions >= plan.sessions
    assert len(outcome.samples) > 2
    last = outcome.samples[-1]
    assert last.rss > MIB
    assert last.descriptors > 5
    assert last.threads >= 1
    assert last.database > 0
