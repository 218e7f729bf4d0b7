"""What the workers of one server share."""

from __future__ import annotations

import pytest

from fairlead.fleet.workers.worker import limits_of_worker
from fairlead.server.limits import Limits


@pytest.mark.parametrize("count", [1, 2, 5])
def test_B136_all_workers_together_append_as_often_as_one_server(count: int) -> None:
    assert count * limits_of_worker(count).appends_per_s == pytest.approx(Limits().appends_per_s)
    assert limits_of_worker(count).sessions_live == Limits().sessions_live
