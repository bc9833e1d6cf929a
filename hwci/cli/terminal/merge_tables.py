# SPDX-License-Identifier: Apache-2.0
"""What merges look like in a terminal and in a spreadsheet: those that no run checked, and those
that one did, each with the run that checked it first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hwci.cli.terminal.tables import (
    ID_SHOWN,
    TIME_WIDTH,
    Column,
    Layout,
    View,
    product_columns,
    when,
)
from hwci.wire.hashes import short

if TYPE_CHECKING:
    from hwci.wire.metrics import CheckedMergeAnswer, UncheckedMerge

_KEYS = ("repoKey", "suite", "sha", "branch", "mergedAt")


def unchecked_merges(view: View) -> Layout[UncheckedMerge]:
    """Announced merges that no run checked."""
    return Layout(
        "unchecked-merges",
        "Merges not checked on hardware",
        _columns(view),
        _KEYS,
        "Every announced merge of the period ran on hardware, or none was announced"
        " (hwci merge-announce).",
    )


def checked_merges(view: View) -> Layout[CheckedMergeAnswer]:
    """Announced merges that a run checked."""
    return Layout(
        "checked-merges",
        "Merges checked on hardware",
        [
            *_columns(view),
            Column(
                "First run (UTC)",
                lambda row: when(row.first_run.started_at, view.now),
                width=TIME_WIDTH,
            ),
            Column("ID", lambda row: str(row.first_run.run_record_id)[:ID_SHOWN], whole=True),
            Column(
                "Run",
                lambda row: f"{row.first_run.run_id} ({row.first_run.run_attempt})",
                right=True,
            ),
            Column("Box", lambda row: row.first_run.box_key),
        ],
        (
            *_KEYS,
            "firstRun.runRecordId",
            "firstRun.runId",
            "firstRun.runAttempt",
            "firstRun.suite",
            "firstRun.boxKey",
            "firstRun.sha",
            "firstRun.startedAt",
        ),
        "No announced merge of the period ran on hardware, or none was announced"
        " (hwci merge-announce).",
    )


def _columns(view: View) -> list[Column[Any]]:
    return [
        Column("Merged (UTC)", lambda row: when(row.merged_at, view.now), width=TIME_WIDTH),
        *product_columns(view),
        Column("Branch", lambda row: row.branch),
        Column("Commit", lambda row: short(row.sha), whole=True),
    ]
