# SPDX-License-Identifier: Apache-2.0
"""What a gate asks of the server, and of the clone that it is called in. What that means for a
release is decided in `hwci.analysis.gate`.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from hwci import client
from hwci.analysis.gate import Facts, MergedCommit
from hwci.cli.session.connection import Connection
from hwci.contract.scope import ProductKey
from hwci.engine.periods import last_days
from hwci.said import counted
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hwci.contract.runs.merges import MergePlan


def facts_of(
    server: Connection, scope: tuple[str | None, str | None], days: int, now: datetime
) -> Facts:
    """Return what is known of the merges of the last days."""
    repo_key, suite = scope
    period = last_days(days, now)
    asked: dict[str, Any] = {
        "repo_key": repo_key,
        "suite": suite,
        "start": period.start,
        "as_of": period.end,
        "limit": limits.PAGE_LIMIT_MAX,
    }
    merges = [*server.items(client.calls.list_merges(server.org_id(), **asked))]
    planned: Mapping[MergedCommit, str] = {}
    unplanned: Mapping[tuple[str, str | None], str] = {}
    if not all(merge.checked for merge in merges):
        planned, unplanned = _plan(server, asked)
    return Facts(
        commits=f"the merges of the last {counted(days, 'day')}",
        product=None if repo_key is None else ProductKey(repo_key=repo_key, suite=suite),
        period=period,
        branches=sorted({merge.branch for merge in merges}),
        end=merges[0].sha if merges else None,
        merges=merges,
        planned=planned,
        unplanned=unplanned,
    )


def _plan(
    server: Connection, asked: dict[str, Any]
) -> "tuple[Mapping[MergedCommit, str], Mapping[tuple[str, str | None], str]]":
    """Return the runs that would check the unchecked merges, and why there is none for others."""
    planned: dict[MergedCommit, str] = {}
    unplanned: dict[tuple[str, str | None], str] = {}
    page, shown = 1, 0
    while True:
        plan: MergePlan = server.send(client.calls.plan_merges(server.org_id(), **asked, page=page))
        for run in plan.runs.items:
            planned[MergedCommit(run.repo_key, run.suite, run.sha)] = run.command
        shown += len(plan.runs.items)
        if not plan.runs.items or shown >= plan.runs.total:
            break
        page += 1
    for group in plan.unplanned:
        unplanned[group.repo_key, group.suite] = group.missing_text
    return planned, unplanned
