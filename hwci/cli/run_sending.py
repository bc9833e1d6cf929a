# SPDX-License-Identifier: Apache-2.0
"""Sending the reports of a run, and saying in a line what was sent (contract, "Command line"). How
they travel is decided in `delivery.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hwci.cli import delivery, summaries
from hwci.cli.options import DEADLINE_S
from hwci.cli.render import note
from hwci.cli.settings import Flags, resolve
from hwci.cli.tables import counted
from hwci.engine.vocabulary import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hwci.ci.job import Job
    from hwci.wire.reports import RunReport

NOT_REPORTED = "The run was not reported"


@dataclass(frozen=True, slots=True)
class Sending:
    """How reports are to go out."""

    flags: Flags
    dry_run: bool = False
    strict: bool = False
    summary: bool = True
    deadline_s: float = DEADLINE_S


def send(
    reports: Sequence[RunReport],
    sending: Sending,
    job: Job | None = None,
    notes: Sequence[str] = (),
) -> bool:
    """Send reports, and leave a summary where the CI of the job shows one. Tells whether they went.

    Raises:
        CommandError: they were not taken, and the caller is strict.
    """
    from hwci.client import calls

    parcels = [delivery.Parcel(_name(report), calls.report_run(report)) for report in reports]
    if sending.dry_run:
        delivery.print_exactly(parcels)
        return False
    settings = resolve(sending.flags)
    # A part that was written as such is sent as it is, alone.
    if (parts := sum(report.part_of is not None for report in reports)) > 1:
        note(f"More than 1,000 tests on a box: sending {parts} parts of at most 1,000.")
    with summaries.of_run(reports, job if sending.summary else None, notes) as summary:
        if parcels and delivery.deliver(
            settings,
            parcels,
            NOT_REPORTED,
            strict=sending.strict,
            deadline_s=sending.deadline_s,
        ):
            summary.sent = True
            note(f"Reported {_summary(reports)} to {settings.url}.")
    return summary.sent


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
    return "; hello ok without tests (was a box not reached? --hello failed)" if without else ""
