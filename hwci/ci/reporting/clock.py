# SPDX-License-Identifier: Apache-2.0
"""Whether clocks were right: that of this machine beside the server's, and those that the times of
a report came from. A bench whose clock was never set reports its runs as of 1970, and no page
shows them (spec, "Metrics page (dashboard)"). It compares, and sets nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from hwci.ci.results.times import APART_MAX, EARLIEST
from hwci.client.explained import ErrorMessage, wrong_usage
from hwci.wire.reports import RunReport

FIX = "Set the clock of this machine, or let it be set: timedatectl set-ntp true"


def apart(server_time: datetime | None, here: datetime) -> str | None:
    """Return how far the clocks are apart; None when that is near enough, or not known."""
    if server_time is None or abs(here - _aware(server_time)) <= APART_MAX:
        return None
    return f"it is {_minute(here)} here, and at the server {_minute(_aware(server_time))}"


def warning(server_time: datetime | None, here: datetime) -> Iterator[str]:
    """Return the lines of the warning that the clock of this machine is wrong."""
    if (cause := apart(server_time, here)) is not None:
        yield from ErrorMessage("The clock of this machine is wrong", cause, FIX).lines("warning")


def doubtful(
    times: Mapping[str, datetime], server_time: datetime | None, here: datetime
) -> Iterator[str]:
    """Return the doubts about times, by the server's clock or, where it is not known, by that of
    this machine. `times`: by the names of their fields.
    """
    present = here if server_time is None else _aware(server_time)
    whose = "this machine" if server_time is None else "the server"
    for name, time in times.items():
        if time > present + APART_MAX:
            yield f"{name} is {_minute(time)}, and it is {_minute(present)} by the clock of {whose}"
        elif time < EARLIEST:
            yield f"{name} is {_minute(time)}, as of a clock that was never set"


def unlikely(
    reports: Sequence[RunReport], server_time: datetime | None, here: datetime
) -> tuple[str, ...]:
    """Return warnings of unlikely times: such a run is on no page, or on the page of another
    period.
    """
    lines = []
    for box_key, report in {report.box_key: report for report in reports}.items():
        times = {"started_at": report.started_at, "ended_at": report.ended_at}
        faults = list(doubtful(times, server_time, here))
        if report.ended_at < report.started_at:
            faults.append("it ended before it started")
        if faults:
            lines.append(
                f"The times of the report of {box_key} are doubtful: {'; '.join(faults)}. Set the "
                "clock of what ran the tests, or set --started-at and --ended-at"
            )
    return tuple(lines)


def of_run(times: Iterable[datetime | None], here: datetime) -> datetime:
    """Return the time that numbers a run which no CI numbers: the first that a right clock may have
    shown, else that of this machine.

    Raises:
        ExplainedError: there is none. Its number would be that of another run, too.
    """
    is_set = here >= EARLIEST
    likely = (
        time
        for time in (*times, here)
        if time is not None and time >= EARLIEST and (time <= here + APART_MAX or not is_set)
    )
    if (time := next(likely, None)) is None:
        raise wrong_usage(
            "The run has no number",
            f"it is {_minute(here)} by the clock of this machine, which was never set",
            f"{FIX}. Or set --run-id (HWCI_RUN_ID)",
        )
    return time


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _minute(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
