# SPDX-License-Identifier: Apache-2.0
"""Changes of runs, from all reports at once (semantics, 5.1 and 5.2): the definition.

This module decides which report speaks for a run's changes and which run was the first on a
commit. It does not know firmware from harness, nor whether a run reached the hardware.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from hwci.engine.facts import Changes, Report
from hwci.engine.history import ReportOrder, RunChanges
from hwci.engine.parts import ci_run_id


class Target(NamedTuple):
    """What the first run is looked for by."""

    repo_key: str
    workflow: str
    branch: str
    sha: str


def report_order(report: Report) -> ReportOrder:
    """Give the place of a report wherever the rules say "earliest" (semantics, 5.1)."""
    return ReportOrder(report.started_at, report.run_id, report.run_attempt, report.box_key)


def carried_changes(report: Report) -> Changes | None:
    """Give the changes that a report speaks for: "Changes whose `base_sha` is the report's own
    `sha` say nothing about that commit: they count as not carried" (semantics, 5.1).
    """
    changes = report.changes
    return None if changes is None or changes.base_sha == report.sha else changes


class Runs:
    """Every run of one organization with its changes, indexed once from the reports."""

    def __init__(self, reports: Sequence[Report]) -> None:
        self._reports = sorted(reports, key=report_order)

    @cached_property
    def _first_run(self) -> Mapping[Target, int]:
        first: dict[Target, int] = {}
        for report in self._reports:
            first.setdefault(_target(report), report.run_id)
        return first

    @cached_property
    def _changes(self) -> Mapping[tuple[Target, int], RunChanges]:
        """Each run's changes, from its earliest report that carries them; in their order."""
        changes: dict[tuple[Target, int], RunChanges] = {}
        for report in self._reports:
            carried = carried_changes(report)
            run = (_target(report), report.run_id)
            if carried is not None and run not in changes:
                changes[run] = RunChanges(
                    report_order(report),
                    ci_run_id(report),
                    report.workflow,
                    report.branch,
                    report.sha,
                    carried,
                )
        return changes

    @cached_property
    def _listing(self) -> Mapping[tuple[str, str], Sequence[RunChanges]]:
        listing: dict[tuple[str, str], list[RunChanges]] = defaultdict(list)
        for (target, _), run in self._changes.items():
            for sha in {commit.sha for commit in run.changes.commits}:
                listing[target.repo_key, sha].append(run)
        return listing

    @cached_property
    def _bases(self) -> frozenset[tuple[str, str | None]]:
        return frozenset(
            (target.repo_key, run.changes.base_sha) for (target, _), run in self._changes.items()
        )

    def under_test(self, target: Target) -> RunChanges | None:
        """Give the changes of the first run on a commit."""
        run_id = self._first_run.get(target)
        return None if run_id is None else self._changes.get((target, run_id))

    def listing(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        """Give the changes of all runs whose list holds a commit, by order of their reports."""
        return self._listing.get((repo_key, sha), ())

    def is_base(self, repo_key: str, sha: str) -> bool:
        """Whether some run's changes start after a commit."""
        return (repo_key, sha) in self._bases


def _target(report: Report) -> Target:
    return Target(report.repo_key, report.workflow, report.branch, report.sha)
