"""When a schedule runs next, in its time zone. Reads no clock; the time is a parameter."""

from __future__ import annotations

from datetime import datetime

from fairlead.server.notices.targets import check_zone
from fairlead.server.refusal import Refusal
from fairlead.server.schedules.rules.schedule import Schedule

__all__ = ["next_run"]

FIELDS = 5


def next_run(schedule: Schedule, after: float) -> float | None:
    """The first time after a time; None if there is none. Refuses an expression without meaning."""
    zone = check_zone(schedule.zone)
    if schedule.at is not None:
        return schedule.at if schedule.at > after else None
    # Imported here: most servers have no schedules.
    from croniter import CroniterError, croniter

    if len(schedule.cron.split()) != FIELDS:
        raise Refusal("bad_message", "A cron expression has five fields, such as `0 7 * * 1-5`.")
    try:
        start = datetime.fromtimestamp(after, zone)
        return float(croniter(schedule.cron, start, max_years_between_matches=5).get_next(float))
    except (CroniterError, ValueError, OverflowError) as problem:
        text = f"The cron expression {schedule.cron!r:.60} has no meaning: {problem}."
        raise Refusal("bad_message", text) from None
