"""A server that is killed at any moment of a notice's life neither forgets it nor shows it twice."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.server.notices.killed import NOW, SESSION
from tests.server.notices.push_service import Browser, PushService
from tests.server.notices.receivers import HttpReceiver

ROOT = Path(__file__).parents[3]
PATIENCE_S = 90.0

MOMENTS = (
    # moment, and how often the push service gets the message
    ("append 1 before", 1),  # Nothing has happened.
    ("append 1 after", 1),  # The turn has begun.
    ("append 2 before", 1),
    ("append 2 after", 1),  # The end of the turn is stored, and no notice.
    ("store 1 before", 1),
    ("store 1 after", 1),  # The notice, its delivery and the mark are stored.
    ("send 1 before", 1),
    ("send 1 after", 2),  # The push service has it, and the server does not know that it has.
    ("apply 1 before", 2),
    ("apply 1 after", 1),  # The delivery is removed.
    ("none", 1),
)


async def run(folder: Path, endpoint: str, browser: Browser, moment: str) -> tuple[int, list[str]]:
    keys = browser.subscription(endpoint)
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.server.notices.killed",
        str(folder), endpoint, keys["p256dh"], keys["auth"], moment,
        stdout=asyncio.subprocess.PIPE, cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    async with asyncio.timeout(PATIENCE_S):
        output, _ = await program.communicate()
    assert program.returncode is not None
    return program.returncode, output.decode().splitlines()


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize(("moment", "times"), MOMENTS, ids=[name for name, _ in MOMENTS])
async def test_B93_a_kill_at_any_moment_neither_loses_nor_repeats_a_notice(
    tmp_path: Path, moment: str, times: int
) -> None:
    browser = Browser()
    async with PushService(lambda: NOW) as push:
        code, output = await run(tmp_path / "data", push.endpoint(), browser, moment)
        assert (code, output[-1]) == ((0, "done") if moment == "none" else (-9, moment))
        for _ in range(2):  # The second start finds nothing left to do.
            code, output = await run(tmp_path / "data", push.endpoint(), browser, "none")
            assert (code, output[-1]) == (0, "done")
        messages: list[dict[str, Any]] = [browser.read(body) for _, body in push.received]
        assert len(messages) == times
        # The same number: the browser shows it once (U119).
        assert [(each["id"], each["body"]) for each in messages] == [(1, "Finished.")] * times
        assert len({headers["topic"] for headers, _ in push.received}) == 1


@pytest.mark.matrix(target="faults", cases=1)
@pytest.mark.parametrize(("moment", "times"), MOMENTS[3:], ids=[name for name, _ in MOMENTS[3:]])
async def test_B128_a_kill_at_any_moment_loses_no_notice_to_a_channel_and_repeats_it_once_at_most(
    tmp_path: Path, moment: str, times: int
) -> None:
    async with HttpReceiver() as receiver:
        endpoint = f"json://{receiver.authority}/hook"
        code, said = await run(tmp_path / "data", endpoint, Browser(), moment)
        assert (code, said[-1]) == ((0, "done") if moment == "none" else (-9, moment))
        for _ in range(2):  # The second start finds nothing left to do.
            code, said = await run(tmp_path / "data", endpoint, Browser(), "none")
            assert (code, said[-1]) == (0, "done")
        # The same number, by which a web hook can recognize the repetition.
        messages = [(got.body["notice"], got.body["message"]) for got in receiver.received]
        assert messages == [("1", f"Finished.\nhttp://localhost/s/{SESSION}")] * times
