"""The load benchmark on a few sessions: it comes to its end and counts right. No word on speed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.server_load.figures import Figures, Times
from bench.server_load.load import Plan, run

PLAN = Plan(
    sessions=3,
    sockets=9,
    lines_per_s=60.0,
    seconds=1.5,
    warm_s=0.3,
    idle_s=0.1,
    askers=2,
    actors=2,
)


@pytest.fixture
async def figures(tmp_path: Path) -> Figures:
    return await run(PLAN, tmp_path, lambda text: None)


@pytest.mark.matrix(target="faults", cases=0)
@pytest.mark.timeout(300)
async def test_every_socket_gets_everything_and_every_question_is_answered(
    figures: Figures,
) -> None:
    assert figures.errors == []
    assert figures.complete
    assert figures.turns == PLAN.sessions
    assert figures.permissions >= PLAN.askers  # How many more depends on the machine.
    assert [len(time.seconds) > 0 for time in figures.times] == [True] * 4
    assert figures.lines > PLAN.sessions * PLAN.seconds
    assert figures.frames > PLAN.sockets
    assert 0 < figures.rss_bare <= figures.rss_end
    assert "every socket got every change; 3 turns" in figures.table()


def test_a_percentile_is_the_time_that_this_share_did_not_exceed() -> None:
    times = Times("anything", tuple(n / 1000 for n in range(1, 101)))
    assert (times.percentile(0.5), times.percentile(0.99)) == (0.051, 0.1)
    assert times.row() == "| anything | 100 | 51.0 | 91.0 | 100.0 | 100.0 |"
    assert Times("nothing", ()).row() == "| nothing | 0 | inf | inf | inf | inf |"


def test_a_run_in_which_something_was_lost_says_so() -> None:
    lost = Figures(sessions=1, sockets=2, lines_per_s=1.0, seconds=1.0, gaps=3)
    lost.times.append(Times("anything", (0.5,)))
    assert not lost.complete
    assert "INCOMPLETE: 3 gaps" in lost.table()
    assert "MISSED" in lost.table()
