# SPDX-License-Identifier: Apache-2.0
"""What `hwci spool list` shows of each report that is still on this machine."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from pydantic.alias_generators import to_camel

from hwci.cli.terminal.tables import Column, Layout, View, time_column
from hwci.client.store import UNKNOWN, PendingReport, fingerprint_of
from hwci.said import short
from hwci.wire.base import Answer, Time

STATES = ("waiting", "refused", "superseded")
STATE_WORDS = {"waiting": "pending"}
"""What tables show in place of a state; JSON and CSV have the state itself."""


class SpooledReport(Answer):
    """A report that is still here. `name`: its box, or the product or commit of an announcement.
    `tries`: those that failed. `number`: what names it; the name of a damaged file. `superseded`: a
    later report of the same run or merge came, and only its own number sends it. `address` empty:
    the server is not known yet.
    """

    state: Literal["waiting", "refused", "superseded"]
    kind: str
    name: str
    repo_key: str | None
    run_id: int | None
    run_attempt: int | None
    sha: str | None
    address: str
    created_at: Time
    tries: int
    reason: str
    file: Path
    number: str


def rows(
    reports: Iterable[PendingReport], key: str | None, address: str | None
) -> list[SpooledReport]:
    """Return a row for each report, by state. The reason names another `key` or `address`."""
    rows = [_row(report, key, address) for report in reports]
    return sorted(rows, key=lambda row: STATES.index(row.state))


def _row(report: PendingReport, key: str | None, address: str | None) -> SpooledReport:
    return SpooledReport(
        state="refused" if report.state == "damaged" else report.state,
        kind=report.kind,
        name=report.name,
        repo_key=report.repo_key,
        run_id=report.run_id,
        run_attempt=report.run_attempt,
        sha=report.sha,
        address=report.address,
        created_at=datetime.fromtimestamp(0, UTC) + timedelta(seconds=report.created),
        tries=report.tries,
        reason=_why(report, key, address),
        file=report.file,
        number=report.label,
    )


def _why(report: PendingReport, key: str | None, address: str | None) -> str:
    if report.state == "superseded":
        before = f"; {report.reason}" if report.reason else ""
        return f"a later one came (hwci spool flush {report.label}){before}"
    if report.state != "waiting":
        return report.reason
    reason = report.reason or "not tried yet"
    if key is not None and report.fingerprint != fingerprint_of(key):
        reason = f"meant for another key (hwci spool flush --any-key); {reason}"
    if report.address == UNKNOWN:
        reason = f"HWCI_URL was not set: it is sent to the first server that is named; {reason}"
    elif address is not None and report.address != address:
        reason = f"meant for another server (hwci spool flush --any-server); {reason}"
    return reason


def _what(row: SpooledReport) -> str:
    """Return what distinguishes the reports of a box: run and attempt, or the commit."""
    if row.run_id is not None:
        return f"{row.run_id} #{row.run_attempt}"
    return short(row.sha) if row.sha else ""


def layout(view: View) -> Layout[SpooledReport]:
    """Return the table of the reports, as seen at the time of the view."""
    return Layout(
        "spool",
        "Reports on this machine",
        [
            Column("State", lambda row: STATE_WORDS.get(row.state, row.state)),
            Column("Kind", lambda row: row.kind, spare=True),
            Column("Report", lambda row: row.name),
            Column("Run", _what),
            Column("Server", lambda row: row.address or "not known yet", spare=True),
            time_column("Since", lambda row: row.created_at, view.now, spare=True),
            Column("Tries", lambda row: str(row.tries), right=True, spare=True),
            Column("Why", lambda row: row.reason),
        ],
        " ".join(map(to_camel, SpooledReport.model_fields)),
        "Nothing waits, and nothing was refused.",
    )
