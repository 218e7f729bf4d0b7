"""`fairlead limits` in a terminal."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from fairlead.commands.main import main
from fairlead.server.limit_book import FILE, LimitBook
from fairlead.wire.decode import decode_object
from fairlead.wire.events import RateLimitEvent
from tests.server.limits.reports import report


def stored(folder: Path, used: float) -> None:
    event = decode_object(report("allowed", used=used, resets_at=time.time() + 3_600))
    assert isinstance(event, RateLimitEvent)
    assert event.rate_limit_info is not None
    book = LimitBook()
    book.load(folder / FILE)
    book.report("", event.rate_limit_info, time.time())


def test_B89_the_terminal_shows_every_window(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(tmp_path, 0.83)
    assert main(["limits", "--data", str(tmp_path)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("5-hour limit")
    assert " 83%" in first
    assert "resets " in first
    assert second.startswith("weekly limit")
    assert main(["limits", "--data", str(tmp_path), "--json"]) == 0
    windows = json.loads(capsys.readouterr().out)["windows"]
    assert [window["utilization"] for window in windows] == [0.83, 0.4]


def test_B89_the_terminal_says_when_nothing_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["limits", "--data", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("No limit has been reported yet.")
