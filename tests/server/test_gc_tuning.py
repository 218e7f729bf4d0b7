"""The collector of cycles: set up while a server runs, and left as it was found."""

from __future__ import annotations

import asyncio
import gc
import weakref

from fairlead.server.gc_tuning import sweep_forever


class Knot:
    """Something that only the collector of cycles can free."""

    def __init__(self) -> None:
        self.me = self


async def test_what_survived_is_out_of_sight_and_comes_back_at_the_end() -> None:
    before = gc.get_threshold(), gc.get_freeze_count()
    sweeping = asyncio.create_task(sweep_forever(lambda: False))
    await asyncio.sleep(0)
    assert gc.get_freeze_count() > before[1]
    sweeping.cancel()
    await asyncio.wait([sweeping])
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before[0], 0)


async def test_a_cycle_that_is_there_at_a_sweep_is_freed_by_it() -> None:
    lost = weakref.ref(Knot())
    sweeping = asyncio.create_task(sweep_forever(lambda: True))
    await asyncio.sleep(0)
    assert lost() is None
    sweeping.cancel()
    await asyncio.wait([sweeping])
