# SPDX-License-Identifier: Apache-2.0
"""The merges that ran on hardware, with the run that checked each first (contract, "CI metrics").

The shapes of the list, and the engine's answers put into them. No figure is computed here.
"""

from uuid import UUID

from hwci.engine.facts import run_record_id
from hwci.engine.history import SightedRun
from hwci.engine.page.tables import CheckedMerge, Listing
from hwci.wire.base import Answer, ListPage, Time
from hwci.wire.outgoing import Paging, list_page


class CheckingRun(Answer):
    """A run that checked a merge. `sha`: the commit that it tested, the merge's own or a later one
    of the push that held it.
    """

    started_at: Time
    run_id: int
    run_attempt: int
    run_record_id: UUID
    suite: str
    box_key: str
    sha: str


class CheckedMergeAnswer(Answer):
    """An announced merge that a run checked. `suite` null: Unassigned. `first_run`: of the runs
    that checked it the one that started first.
    """

    repo_key: str
    suite: str | None
    sha: str
    branch: str
    merged_at: Time
    first_run: CheckingRun


def checked_merges(
    org_id: UUID, rows: Listing[CheckedMerge], paging: Paging
) -> ListPage[CheckedMergeAnswer]:
    """Give a page of the merges checked on hardware."""
    items = [
        CheckedMergeAnswer(
            repo_key=merge.repo_key,
            suite=merge.suite,
            sha=merge.sha,
            branch=merge.branch,
            merged_at=merge.merged_at,
            first_run=_checking_run(org_id, merge.repo_key, run),
        )
        for merge, run in rows.items
    ]
    return list_page(items, rows.total, paging)


def _checking_run(org_id: UUID, repo_key: str, run: SightedRun) -> CheckingRun:
    return CheckingRun(
        started_at=run.started_at,
        run_id=run.ci_run_id,
        run_attempt=run.run_attempt,
        run_record_id=run_record_id(org_id, repo_key, run.ci_run_id, run.run_attempt, run.box_key),
        suite=run.sighting.suite,
        box_key=run.box_key,
        sha=run.sha,
    )
