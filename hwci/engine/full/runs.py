# SPDX-License-Identifier: Apache-2.0
"""Runs by commit, from all reports at once: their changes (semantics, 5.1 and 5.2), and which of
them hold a commit (9.1).

This module decides which report gives a run its changes and which run was the first on a commit. It
does not know firmware from harness, nor which runs check a merge.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from hwci.engine.facts import Report
from hwci.engine.history import RunChanges, SightedRun, Sighting
from hwci.engine.rules.reports import carried_changes, report_order


class Target(NamedTuple):
    """What the first run is searched by."""

    repo_key: str
    workflow: str
    branch: str
    sha: str


class Runs:
    """Every run of one organization, indexed once from the reports."""

    def __init__(self, reports: Sequence[Report]) -> None:
        self._reports = sorted(reports, key=report_order)

    def under_test(self, target: Target) -> RunChanges | None:
        """Return the changes of the first run on a commit."""
        run_id = self._first_run.get(target)
        return None if run_id is None else self._changes.get((target, run_id))

    def listing(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        """Return the changes of all runs that list a commit, in the order of their reports."""
        return self._listing.get((repo_key, sha), ())

    def is_base(self, repo_key: str, sha: str) -> bool:
        """Whether some run's changes start after a commit."""
        return (repo_key, sha) in self._bases

    def holding(self, repo_key: str, sha: str) -> Sequence[SightedRun]:
        """Return the reports whose `sha` or `covers_shas` hold a commit."""
        return self._holding.get((repo_key, sha), ())

    @cached_property
    def _first_run(self) -> Mapping[Target, int]:
        first: dict[Target, int] = {}
        for report in self._reports:
            first.setdefault(_target(report), report.run_id)
        return first

    @cached_property
    def _changes(self) -> Mapping[tuple[Target, int], RunChanges]:
        """The changes of each run: "those of its earliest report that carries any"."""
        changes: dict[tuple[Target, int], RunChanges] = {}
        for report in self._reports:
            carried = carried_changes(report)
            run = (_target(report), report.run_id)
            if carried is not None and run not in changes:
                changes[run] = RunChanges(
                    report_order(report),
                    report.ci_run_id,
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

    @cached_property
    def _holding(self) -> Mapping[tuple[str, str], Sequence[SightedRun]]:
        found: dict[tuple[str, str], list[SightedRun]] = defaultdict(list)
        for report in self._reports:
            for sha in {report.sha, *report.covers_shas}:
                found[report.repo_key, sha].append(_sighted(report))
        return found


def _target(report: Report) -> Target:
    return Target(report.repo_key, report.workflow, report.branch, report.sha)


def _sighted(report: Report) -> SightedRun:
    return SightedRun(
        started_at=report.started_at,
        run_id=report.run_id,
        run_attempt=report.run_attempt,
        box_key=report.box_key,
        ci_run_id=report.ci_run_id,
        sha=report.sha,
        sighting=Sighting(report.suite, report.hello_ok, bool(report.tests)),
    )
