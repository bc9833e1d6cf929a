# SPDX-License-Identifier: Apache-2.0
"""What the spool looks like in a terminal and as JSON: what waits and what was refused in one list.

It reads the spool, and decides nothing of it.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from hwci.cli.tables import Column, Layout, View, when
from hwci.client.spool import Kept, Refused, Spool


class SpooledReport(BaseModel):
    """A report that is still here. `tries`: those that failed."""

    state: Literal["waiting", "refused"]
    name: str
    address: str
    created_at: datetime
    tries: int
    reason: str
    file: Path


def rows(spool: Spool) -> list[SpooledReport]:
    """List all that is here, what waits first."""
    return [
        *(_row("waiting", kept) for kept in spool.waiting()),
        *(_row("refused", refused) for refused in spool.refused()),
    ]


def _row(state: Literal["waiting", "refused"], report: Kept | Refused) -> SpooledReport:
    return SpooledReport(
        state=state,
        name=report.name,
        address=report.address,
        created_at=datetime.fromtimestamp(0, UTC) + timedelta(seconds=report.created),
        tries=report.tries,
        reason=report.reason,
        file=report.path,
    )


def layout(view: View) -> Layout[SpooledReport]:
    """The reports that did not reach a server yet."""
    return Layout(
        "spool",
        "Reports on this machine",
        [
            Column("State", lambda row: row.state, whole=True),
            Column("Report", lambda row: row.name),
            Column("Server", lambda row: row.address),
            Column("Since (UTC)", lambda row: when(row.created_at, view.now)),
            Column("Tries", lambda row: str(row.tries), right=True),
            Column("Why", lambda row: row.reason or "not tried yet"),
        ],
        tuple(SpooledReport.model_fields),
        "Nothing waits, and nothing was refused.",
    )
