"""The usage windows of accounts: reported, stored, warned about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fairlead.server.http.limit_routes import LimitRoutes
from fairlead.server.limit_book import LimitBook
from fairlead.wire.decode import decode_object
from fairlead.wire.events import RateLimitEvent, RateLimitInfo
from tests.server.limits.reports import RESET, report


def info_of(event: dict[str, Any]) -> RateLimitInfo:
    message = decode_object(event)
    assert isinstance(message, RateLimitEvent)
    assert message.rate_limit_info is not None
    return message.rate_limit_info


async def asked(book: LimitBook, now: float) -> dict[str, Any]:
    (route,) = LimitRoutes(book, tuple, lambda: now).routes
    answer = await route.handler(None)  # type: ignore[arg-type]
    return dict(json.loads(bytes(answer.body)))


@pytest.mark.parametrize(
    ("used", "warning"),
    [(0.1, None), (0.799, None), (0.8, 0.8), (0.949, 0.8), (0.95, 0.95), (1, 0.95)],
)
async def test_B89_every_window_is_listed_with_its_use_its_reset_and_its_warning(
    used: float, warning: float | None
) -> None:
    book = LimitBook()
    book.report("", info_of(report("allowed", used=used)), 5.0)
    five_hour, seven_day = (await asked(book, 5.0))["windows"]
    assert (five_hour["kind"], seven_day["kind"]) == ("five_hour", "seven_day")
    assert (five_hour["utilization"], five_hour["resets_at"]) == (used, RESET)
    assert (five_hour["warning"], seven_day["warning"]) == (warning, None)


async def test_B89_a_window_that_has_reset_and_an_older_report_are_not_shown() -> None:
    book = LimitBook()
    book.report("", info_of(report(used=0.9)), 50.0)
    book.report("", info_of(report(used=0.3)), 40.0)
    assert (await asked(book, RESET - 1))["windows"][0]["utilization"] == 0.9
    assert [row["kind"] for row in (await asked(book, RESET))["windows"]] == ["seven_day"]


async def test_B89_accounts_are_separate_and_survive_a_restart(tmp_path: Path) -> None:
    book = LimitBook()
    book.load(tmp_path / "usage-limits.json")
    book.report("", info_of(report(used=0.9)), 1.0)
    book.report("work", info_of(report(used=0.2)), 1.0)
    book.set_default(continue_at_reset=True)
    again = LimitBook()
    again.load(tmp_path / "usage-limits.json")
    assert again.rows(2.0) == book.rows(2.0)
    assert {row.account: row.utilization for row in again.rows(2.0) if row.kind == "five_hour"} == {
        "": 0.9,
        "work": 0.2,
    }
    assert again.continue_at_reset
    assert (tmp_path / "usage-limits.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", ["", "{", "[]", '{"windows": 3}', "[" * 100_000])
def test_B89_a_damaged_file_is_as_none(tmp_path: Path, content: str) -> None:
    file = tmp_path / "usage-limits.json"
    file.write_text(content)
    book = LimitBook()
    book.load(file)
    assert book.rows(0.0) == ()


def test_B89_a_cli_that_names_one_window_only_is_understood() -> None:
    book = LimitBook()
    event = report()
    del event["rate_limit_info"]["unifiedWindows"]
    event["rate_limit_info"]["utilization"] = None
    book.report("", info_of(event), 1.0)
    (row,) = book.rows(2.0)
    assert (row.kind, row.utilization, row.resets_at) == ("five_hour", 1.0, RESET)
