# SPDX-License-Identifier: Apache-2.0
"""Runs on a box as answers name them: with their record in the list of runs.

This module knows what identifies a run, and not which run an answer shows.
"""

from hwci.contract.runs.runs import RunOnBox
from hwci.engine.facts import run_record_id
from hwci.engine.history import FailingRun, History, SightedRun


def on_box(history: History, repo_key: str, box_key: str, run: FailingRun | SightedRun) -> RunOnBox:
    """Return what identifies a run on a box: `vars` of it are fields of other shapes, too."""
    number, attempt = run.ci_run_id, run.run_attempt
    return RunOnBox(
        started_at=run.started_at,
        run_id=number,
        run_attempt=attempt,
        run_record_id=run_record_id(history.org_id, repo_key, number, attempt, box_key),
        ci_run=run.ci_run,
    )
