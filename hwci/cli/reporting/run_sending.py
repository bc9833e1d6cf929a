# SPDX-License-Identifier: Apache-2.0
"""Sending the reports of a run, and saying in a line what was sent (contract, "Command line"). How
they travel is decided in `delivery.py`.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from hwci.cli.reporting import clock_check, delivery, summaries
from hwci.cli.session.settings import Flags, resolve
from hwci.cli.terminal.options import DEADLINE_S
from hwci.cli.terminal.render import note
from hwci.cli.terminal.tables import counted
from hwci.engine.vocabulary import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from hwci.bench.child import Ended, Signals
    from hwci.ci.job import Job
    from hwci.wire.reports import RunReport

NOT_REPORTED = "The run was not reported"
CANCELLED_DEADLINE_S = 5.0
"""Who cancels a job waits a few seconds; what is not sent then, waits in the spool."""


@dataclass(frozen=True, slots=True)
class Sending:
    """How reports are to go out."""

    flags: Flags
    dry_run: bool = False
    strict: bool = False
    summary: bool = True
    deadline_s: float = DEADLINE_S
    when_kept: Callable[[], AbstractContextManager[None]] = nullcontext
    """The block from when all is on the disk until it is sent: a SignalledError ends it."""

    def after(self, ended: Ended, signals: Signals) -> Sending:
        """Obey a signal once the report is kept; after a command that was cancelled, be quick."""
        sending = replace(self, when_kept=signals.obeying)
        if not ended.cancelled:
            return sending
        # Nothing at all means each report once, which may take longer.
        return replace(sending, deadline_s=min(self.deadline_s or inf, CANCELLED_DEADLINE_S))


def send(
    reports: Sequence[RunReport],
    sending: Sending,
    job: Job | None = None,
    notes: Sequence[str] = (),
) -> delivery.Delivered:
    """Send reports, and leave a summary where the CI of the job shows one. What was not sent is the
    caller's to say.
    """
    parcels = _parcels(reports)
    if sending.dry_run:
        delivery.print_exactly(parcels)
        _warn_of_times(reports, None)
        return delivery.Delivered()
    settings = resolve(sending.flags)
    # A part that was written as such is sent as it is, alone.
    if (parts := sum(report.part_of is not None for report in reports)) > 1:
        note(f"More than 1,000 tests on a box: sending {parts} parts of at most 1,000.")
    with summaries.of_run(reports, job if sending.summary else None, notes) as summary:
        if parcels:
            summary.delivered = delivery.deliver(
                settings, parcels, NOT_REPORTED, sending.deadline_s, sending.when_kept
            )
        summary.notes += _warn_of_times(reports, summary.delivered.server_time)
        if summary.delivered.sent:
            note(f"Reported {_summary(reports)} to {settings.url}.")
    return summary.delivered


def keep_as_known(reports: Sequence[RunReport], sending: Sending) -> None:
    """Put reports on the disk of which more will be known before they are sent."""
    delivery.keep_early(resolve(sending.flags), _parcels(reports))


def taken(reports: Sequence[RunReport], delivered: delivery.Delivered) -> list[RunReport]:
    """Give the reports that the server has, or will have: not those that it refused."""
    return [report for report in reports if _name(report) in delivered.taken]


def _warn_of_times(reports: Sequence[RunReport], server_time: datetime | None) -> list[str]:
    """Say of which boxes the times can hardly be: such a run stands on no page, or on another's."""
    lines = []
    for box_key, report in {report.box_key: report for report in reports}.items():
        times = {"started_at": report.started_at, "ended_at": report.ended_at}
        faults = list(clock_check.doubtful(times, server_time))
        if report.ended_at < report.started_at:
            faults.append("it ended before it started")
        if faults:
            lines.append(
                f"The times of the report of {box_key} are doubtful: {'; '.join(faults)}. Set the "
                "clock of what ran the tests, or say --started-at and --ended-at"
            )
    for line in lines:
        note(f"warning: {line}.")
    return lines


def _parcels(reports: Sequence[RunReport]) -> list[delivery.Parcel]:
    from hwci.client import calls

    return [delivery.Parcel(_name(report), calls.report_run(report)) for report in reports]


def _name(report: RunReport) -> str:
    """Name a report among those of its run."""
    part = report.part_of
    return report.box_key if part is None else f"{report.box_key} part {part.part} of {part.parts}"


def _summary(reports: Sequence[RunReport]) -> str:
    """Say what was sent, in one line."""
    tests = [item for report in reports for item in report.tests]
    failed = sum(item.outcome is Outcome.FAIL for item in tests)
    boxes = list(dict.fromkeys(report.box_key for report in reports))
    where = boxes[0] if len(boxes) == 1 else f"{len(boxes)} boxes"
    many = f" in {len(reports)} reports" if len(reports) > 1 else ""
    return f"{counted(len(tests), 'test')} ({failed:,} failed) on {where}{many}{_reached(reports)}"


def _reached(reports: Sequence[RunReport]) -> str:
    """Say whether boxes were not reached or, without tests, may not have been."""
    if not all(report.hello_ok for report in reports):
        return "; hello failed"
    without = any(not report.tests for report in reports)
    return "; hello ok without tests (was a box not reached? --hello-cmd tells)" if without else ""
