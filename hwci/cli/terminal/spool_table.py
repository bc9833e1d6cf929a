# SPDX-License-Identifier: Apache-2.0
"""What the spool looks like in a terminal and as JSON: what waits and what was refused in one list.

It reads the spool, and decides nothing of it.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from hwci.cli.terminal.tables import Column, Layout, View, when
from hwci.client.delivery.unsent import number_of
from hwci.client.spool import Spool, fingerprint_of
from hwci.client.spool_files import UNKNOWN, Kept, Refused, body_of
from hwci.wire.hashes import short

State = Literal["waiting", "unreadable", "refused", "superseded"]


class SpooledReport(BaseModel):
    """A report that is still here. `name`: its box, or the product or commit of an announcement.
    `tries`: those that failed. `unreadable`: its file cannot be opened, is damaged, or a newer
    hwci's. `superseded`: a later report of the same run or merge came, and only its own name sends
    it. `address` empty: nobody has told the server yet.
    """

    state: State
    kind: str
    name: str
    repo_key: str | None
    run_id: int | None
    run_attempt: int | None
    sha: str | None
    address: str
    created_at: datetime
    tries: int
    reason: str
    file: Path


def rows(spool: Spool, key: str | None = None, address: str | None = None) -> list[SpooledReport]:
    """List all that is here, what waits first. `key`, `address`: what waits for another says so."""
    return [
        *(_row("waiting", kept, _why(kept, key, address)) for kept in spool.waiting()),
        *(_row("unreadable", one, one.reason) for one in spool.unopened()),
        *(_row("refused", refused, refused.reason) for refused in spool.refused()),
        *(_row("superseded", one, _superseded(one)) for one in spool.superseded()),
    ]


def _why(kept: Kept, key: str | None, address: str | None) -> str:
    """Say why a report still waits."""
    said = kept.reason or "not tried yet"
    if key is not None and kept.fingerprint != fingerprint_of(key):
        said = f"meant for another key (hwci spool flush --any-key); {said}"
    if kept.address == UNKNOWN:
        said = f"HWCI_URL was not set: it is sent with the first that is told; {said}"
    elif address is not None and kept.address != address:
        said = f"meant for another server (hwci spool flush --any-server); {said}"
    return said


def _superseded(report: Refused) -> str:
    """Say why a report is not sent any more, and how it is all the same."""
    before = f"; {report.reason}" if report.reason else ""
    return f"a later one came (hwci spool flush {number_of(report)}){before}"


def _row(state: State, report: Kept | Refused, reason: str) -> SpooledReport:
    body = body_of(report)
    told = {name: body.get(name) for name in ("repo_key", "run_id", "run_attempt", "sha")}
    return SpooledReport(
        state=state,
        kind="run" if "run_id" in body else "merge" if body else "unknown",
        name=report.name,
        **told,
        address=report.address,
        created_at=datetime.fromtimestamp(0, UTC) + timedelta(seconds=report.created),
        tries=report.tries,
        reason=reason,
        file=report.path,
    )


def _what(row: SpooledReport) -> str:
    """Tell a report among others of its box: its run and attempt, or its commit."""
    if row.run_id is not None:
        return f"{row.run_id} #{row.run_attempt}"
    return short(row.sha) if row.sha else ""


def layout(view: View) -> Layout[SpooledReport]:
    """The reports that did not reach a server yet."""
    return Layout(
        "spool",
        "Reports on this machine",
        [
            Column("State", lambda row: row.state, whole=True),
            Column("Kind", lambda row: row.kind),
            Column("Report", lambda row: row.name),
            Column("Run", _what, whole=True),
            Column("Server", lambda row: row.address or "not known yet"),
            Column("Since (UTC)", lambda row: when(row.created_at, view.now)),
            Column("Tries", lambda row: str(row.tries), right=True),
            Column("Why", lambda row: row.reason),
        ],
        tuple(SpooledReport.model_fields),
        "Nothing waits, and nothing was refused.",
    )
