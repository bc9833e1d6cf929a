# SPDX-License-Identifier: Apache-2.0
"""States of failures, from all reports at once (semantics, 3 and 4.1-4.3).

This module decides which failures exist, whether their own commit passed, and which commit passed
next. It does not know labels, groups or reviews: those follow in `rules/labels.py`.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from hwci.engine.facts import FailureKey, Lane, Report, TestItem, failure_id
from hwci.engine.history import FailingRun, Failure, LaneCommit, LaneRun, Place
from hwci.engine.rules.reports import first_places
from hwci.engine.vocabulary import Outcome


class Ran(NamedTuple):
    """A test item and its report."""

    report: Report
    item: TestItem


Bench = tuple[str, str, str, str]  # a lane without its branch: repository, suite, test, box


class Lanes:
    """Every lane of one organization, indexed once from its reports."""

    def __init__(self, org_id: UUID, reports: Sequence[Report]) -> None:
        self._org_id = org_id
        self._reports = sorted(reports, key=lambda r: (r.started_at, r.run_id, r.run_attempt))

    @cached_property
    def _places(self) -> Mapping[tuple[str, str], Mapping[str, Place]]:
        branches: dict[tuple[str, str], list[Report]] = defaultdict(list)
        for report in self._reports:
            branches[report.repo_key, report.branch].append(report)
        return {branch: first_places(reports) for branch, reports in branches.items()}

    @cached_property
    def _runs(self) -> Mapping[Bench, Mapping[str, Sequence[Ran]]]:
        """Every counted item by bench and commit, each list by start."""
        runs: dict[Bench, dict[str, list[Ran]]] = defaultdict(lambda: defaultdict(list))
        for report in self._reports:
            if report.hello_ok:
                for item in report.tests:
                    bench = (report.repo_key, report.suite, item.id, report.box_key)
                    runs[bench][report.sha].append(Ran(report, item))
        return runs

    @cached_property
    def by_lane(self) -> Mapping[Lane, Sequence[Failure]]:
        """Every failure, by lane and in order of place."""
        failing: dict[Lane, dict[str, list[Ran]]] = defaultdict(lambda: defaultdict(list))
        for bench, commits in self._runs.items():
            for sha, runs in commits.items():
                for ran in runs:
                    if ran.item.outcome is Outcome.FAIL:
                        failing[Lane(*bench, ran.report.branch)][sha].append(ran)
        return {lane: self._states(lane, commits) for lane, commits in failing.items()}

    @cached_property
    def by_id(self) -> Mapping[UUID, Failure]:
        """Every failure, by its id."""
        return {failure.id: failure for lane in self.by_lane.values() for failure in lane}

    def failing_runs(self, key: FailureKey) -> Sequence[Ran]:
        """Return the failing items of a failure, by start."""
        return [
            ran
            for ran in self.runs(key.lane, key.sha)
            if ran.report.branch == key.lane.branch and ran.item.outcome is Outcome.FAIL
        ]

    def runs(self, lane: Lane, sha: str) -> Sequence[Ran]:
        """Return the items of the lane's test and box on one commit, on any branch, by start."""
        return self._runs.get(lane[:4], {}).get(sha, ())

    def place(self, repo_key: str, branch: str, sha: str) -> Place | None:
        """Return the place of a commit on a branch."""
        return self._places.get((repo_key, branch), {}).get(sha)

    def passes(self, lane: Lane) -> Sequence[Place]:
        """Return the commits of the branch that passed for the lane's test and box, by place."""
        return self._placed(lane, only_passed=True)

    def commits(self, lane: Lane, first: Place, last: Place, margin: int) -> list[LaneCommit]:
        """Return the commits that ran the lane's test, from `first` to `last` and around them."""
        places = self._placed(lane, only_passed=False)
        start = max(0, bisect_left(places, first) - margin)
        end = bisect_right(places, last) + margin
        return [
            LaneCommit(place.sha, place, tuple(_lane_run(r) for r in self.runs(lane, place.sha)))
            for place in places[start:end]
        ]

    def _placed(self, lane: Lane, *, only_passed: bool) -> list[Place]:
        places = self._places.get((lane.repo_key, lane.branch), {})
        return sorted(
            places[sha]
            for sha, runs in self._runs.get(lane[:4], {}).items()
            if sha in places
            and (not only_passed or any(ran.item.outcome is Outcome.PASS for ran in runs))
        )

    def _states(self, lane: Lane, failing: Mapping[str, Sequence[Ran]]) -> list[Failure]:
        passes = self.passes(lane)
        failures = [
            self._state(FailureKey(lane, sha), runs, passes) for sha, runs in failing.items()
        ]
        return sorted(failures, key=lambda failure: failure.place)

    def _state(self, key: FailureKey, runs: Sequence[Ran], passes: Sequence[Place]) -> Failure:
        place = self._places[key.lane.repo_key, key.lane.branch][key.sha]
        later = bisect_right(passes, place)
        return Failure(
            id=failure_id(self._org_id, key),
            key=key,
            place=place,
            items=len(runs),
            first=_failing_run(runs[0]),
            last_started_at=runs[-1].report.started_at,
            passed=later > 0 and passes[later - 1].sha == key.sha,
            next_pass=passes[later].sha if later < len(passes) else None,
        )


def _failing_run(ran: Ran) -> FailingRun:
    report = ran.report
    return FailingRun(
        started_at=report.started_at,
        run_id=report.run_id,
        run_attempt=report.run_attempt,
        workflow=report.workflow,
        verdict=ran.item.verdict,
        ci_run_id=report.ci_run_id,
    )


def _lane_run(ran: Ran) -> LaneRun:
    report, item = ran
    return LaneRun(
        started_at=report.started_at,
        ci_run_id=report.ci_run_id,
        run_attempt=report.run_attempt,
        workflow=report.workflow,
        branch=report.branch,
        outcome=item.outcome,
        attempts=item.attempts,
        verdict=item.verdict,
        duration_s=item.duration_s,
    )
