"""The collector of cycles: set up while a server runs, and left as it was found."""

from __future__ import annotations

import asyncio
import gc
import weakref

from fairlead.server.memory.gc_tuning import MOST_RETIRED, sweep_forever
from tests.waiting import until


class Knot:
    """Something that only the collector of cycles can free."""

    def __init__(self) -> None:
        self.me = self


async def test_what_survived_is_out_of_sight_and_comes_back_at_the_end() -> None:
    before = gc.get_threshold(), gc.get_freeze_count()
    sweeping = asyncio.create_task(sweep_forever(lambda: False, lambda: 0))
    await asyncio.sleep(0)
    assert gc.get_freeze_count() > before[1]
    sweeping.cancel()
    await asyncio.wait([sweeping])
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before[0], 0)


async def test_a_cycle_that_is_there_at_a_sweep_is_freed_by_it() -> None:
    lost = weakref.ref(Knot())
    sweeping = asyncio.create_task(sweep_forever(lambda: True, lambda: 0))
    await asyncio.sleep(0)
    assert lost() is None
    sweeping.cancel()
    await asyncio.wait([sweeping])


async def test_B134_cycles_that_were_frozen_are_freed_when_many_sessions_have_ended() -> None:
    knot = Knot()
    lost = weakref.ref(knot)
    retired = 0
    sweeping = asyncio.create_task(sweep_forever(lambda: True, lambda: retired, every_s=0.01))
    await until(lambda: gc.get_freeze_count() > 0)
    del knot  # Frozen by now, so no usual collection finds it.
    gc.collect()
    assert lost() is not None
    retired = MOST_RETIRED
    await until(lambda: lost() is None)
    sweeping.cancel()
    await asyncio.wait([sweeping])
