# SPDX-License-Identifier: Apache-2.0
"""The definition of the questions in `hwci/analysis/outcomes.py` over all facts, for tests: what a
store must answer, and recorded runs without a store. Tests are numbered by name.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from hwci.analysis.benches.by_day import TimeLine
from hwci.analysis.outcomes import Branches, ProductOutcomes, RunOutcomes
from hwci.contract.boxes.benches import Note
from hwci.contract.known_failures import KnownFailure
from hwci.contract.runs.commits import ChangeList
from hwci.contract.runs.runs import TestResult
from hwci.contract.vocabulary import Outcome
from hwci.engine.calendar import calendar_days
from hwci.engine.facts import (
    Facts,
    FailureKey,
    Lane,
    Product,
    Report,
    TestItem,
    TestKey,
    failure_id,
)
from hwci.engine.full_history import FullHistory
from hwci.engine.history import (
    ANYWHERE,
    BoxRuns,
    Episode,
    Failure,
    Place,
    RunChanges,
    Scope,
    TestRuns,
    Where,
)
from hwci.engine.periods import Period, Slots
from hwci.engine.rules.flakiness import has_failed_attempt
from hwci.engine.rules.reports import report_order


def days_in_utc(period: Period, notes: Sequence[Note] = ()) -> TimeLine:
    """Return the days of a period in UTC, with the notes of a box."""
    return TimeLine("UTC", calendar_days(period, UTC), notes)


class FullRecordedRuns(FullHistory):
    """One organization's recorded runs, from all its facts, and the rules of its people."""

    rules: Sequence[KnownFailure] = ()

    def known_failures(self) -> Sequence[KnownFailure]:
        return self.rules

    def on_branches(self, branches: Branches) -> "FullRecordedRuns":
        return _OnBranches(self, branches)

    def outcomes(self, scope: Scope, period: Period) -> Sequence[ProductOutcomes]:
        return outcomes_of(self._facts, scope, period)

    def commits_run(
        self, lanes: Collection[Lane], period: Period
    ) -> Mapping[Lane, Mapping[str, int]]:
        found: dict[Lane, dict[str, int]] = {lane: {} for lane in lanes}
        reports = sorted(self._facts.reports, key=report_order)
        reports = [one for one in reports if period.start <= one.started_at <= period.end]
        for lane in lanes:
            of_branch = [
                one
                for one in reports
                if ((one.repo_key, one.suite), one.branch) == (lane.product, lane.branch)
            ]
            order = [*dict.fromkeys(one.sha for one in of_branch)]
            for one in of_branch:
                ran = {item.id for item in one.tests}
                if one.hello_ok and one.box_key == lane.box_key and lane.test_id in ran:
                    found[lane][one.sha] = order.index(one.sha)
        return found

    def listings_back(
        self, repo_key: str, shas: Sequence[str], steps: int, oldest: str = ""
    ) -> Mapping[str, ChangeList]:
        found, wanted = dict(self.first_listing(repo_key, shas)), {*shas}
        known = {*shas}
        for _ in range(steps):
            lists = (found[sha] for sha in wanted - {oldest} if sha in found)
            wanted = {one.base_sha for one in lists if one.base_sha is not None} - known
            known |= wanted
            found |= self.first_listing(repo_key, [*wanted])
        return found

    def runs_under_test(self, episodes: Sequence[Episode]) -> Sequence[RunChanges | None]:
        return [
            self.changes_under_test(lane.repo_key, one.first.workflow, lane.branch, sha)
            for one in episodes
            for lane, sha in [one.key]
        ]

    def runs_listing(
        self, repo_key: str, shas: Collection[str]
    ) -> Mapping[str, Sequence[RunChanges]]:
        found = {sha: self.changes_listing(repo_key, sha) for sha in shas}
        return {sha: runs for sha, runs in found.items() if runs}

    def runs_based_on(
        self, repo_key: str, shas: Collection[str]
    ) -> Mapping[str, Sequence[RunChanges]]:
        found = {sha: self.changes_based_on(repo_key, sha) for sha in shas}
        return {sha: runs for sha, runs in found.items() if runs}

    def places(
        self, commits: Mapping[tuple[str, str], Collection[str]]
    ) -> Mapping[tuple[str, str], Mapping[str, Place]]:
        found: dict[tuple[str, str], dict[str, Place]] = {}
        for branch, shas in commits.items():
            placed = ((sha, self.place(*branch, sha)) for sha in shas)
            found[branch] = {sha: place for sha, place in placed if place is not None}
        return found

    def last_passes(self, failures: Sequence[FailureKey], back: int) -> Sequence[str | None]:
        branches = {(lane.repo_key, lane.branch) for lane, _ in failures}
        ordered = {branch: sorted(self._places[branch].values()) for branch in branches}
        last = []
        for lane, sha in failures:
            places = ordered[lane.repo_key, lane.branch]
            at = places.index(self._places[lane.repo_key, lane.branch][sha])
            near = places[max(0, at - back) : at + 1]
            passed = [place for place in self._passes(lane) if place in near]
            last.append(passed[-1].sha if passed else None)
        return last

    def never_passed_since(self, tests: Collection[TestKey], period: Period) -> Sequence[Failure]:
        return [
            one
            for one in self.failures(Scope(), period)
            if (one.key.lane.product, one.key.lane.test_id) in tests
            and not one.passed
            and one.next_pass is None
        ]

    def failed_attempts(self, failures: Collection[UUID]) -> Mapping[UUID, int]:
        found: Counter[UUID] = Counter()
        for one in self._facts.reports:
            for item in one.tests if one.hello_ok else ():
                if item.outcome is Outcome.FAIL:
                    found[failure_id(self.org_id, _key_of(one, item))] += item.attempts
        return {one: found[one] for one in failures if one in found}

    def messages(self, failures: Collection[UUID]) -> Mapping[UUID, str]:
        found: dict[UUID, str] = {}
        for one in sorted(self._facts.reports, key=report_order):
            for item in one.tests if one.hello_ok else ():
                if item.outcome is Outcome.FAIL and item.message is not None:
                    found.setdefault(failure_id(self.org_id, _key_of(one, item)), item.message)
        return {one: found[one] for one in failures if one in found}

    def logs(self, failures: Collection[UUID]) -> Mapping[UUID, str]:
        found: tuple[dict[UUID, str], dict[UUID, str]] = {}, {}
        for one in sorted(self._facts.reports, key=report_order):
            for item in one.tests if one.hello_ok else ():
                for of_kind, address in zip(found, (one.ci_url, item.log_url), strict=True):
                    if item.outcome is Outcome.FAIL and address is not None:
                        of_kind.setdefault(failure_id(self.org_id, _key_of(one, item)), address)
        pages, logs = found
        return {one: (pages | logs)[one] for one in failures if one in pages | logs}

    def elsewhere(
        self, groups: Sequence[Collection[FailureKey]]
    ) -> Sequence[Collection[tuple[str, Outcome]]]:
        runs = [(one, item) for one in self._facts.reports if one.hello_ok for item in one.tests]
        ended = [
            (_key_of(failed, its), run.box_key, item.outcome)
            for failed, its in runs
            if its.outcome is Outcome.FAIL
            for run, item in runs
            if (run.repo_key, run.suite, run.sha) == (failed.repo_key, failed.suite, failed.sha)
            and item.id == its.id
            and run.box_key != failed.box_key
        ]
        return [{(box, outcome) for one, box, outcome in ended if one in of} for of in groups]

    def ended_since(
        self, commits: Sequence[tuple[FailureKey, datetime]]
    ) -> Sequence[Outcome | None]:
        ended: list[Outcome | None] = []
        for (lane, sha), since in commits:
            runs = [
                (report_order(one), item.outcome)
                for one in self._facts.reports
                if one.hello_ok and one.started_at > since and one.sha == sha
                for item in one.tests
                if (one.repo_key, one.suite, item.id, one.box_key) == lane[:4]
            ]
            ended.append(max(runs)[1] if runs else None)
        return ended

    def last_outcome(self, lane: Lane, since: datetime) -> Outcome | None:
        ran = [
            (report_order(one), item.outcome)
            for one in self._facts.reports
            if one.hello_ok and one.started_at >= since
            for item in one.tests
            if Lane(one.repo_key, one.suite, item.id, one.box_key, one.branch) == lane
        ]
        return max(ran)[1] if ran else None

    def durations(
        self, product: Product, test_id: str, period: Period
    ) -> Sequence[tuple[str, float]]:
        return [
            (one.box_key, item.duration_s)
            for one in self._facts.reports
            for item in one.tests
            if (one.repo_key, one.suite, item.id) == (*product, test_id)
            and one.hello_ok
            and period.start <= one.started_at <= period.end
            and not has_failed_attempt(item)
        ]

    def ran_on(
        self, tests: Collection[TestKey], period: Period
    ) -> Mapping[TestKey, Collection[str]]:
        ran: dict[TestKey, set[str]] = {test: set() for test in tests}
        for one in self._facts.reports:
            if one.hello_ok and period.start <= one.started_at <= period.end:
                for item in one.tests:
                    ran.get((Product(one.repo_key, one.suite), item.id), set()).add(one.box_key)
        return ran

    def boxes_with_runs(self, scope: Scope, period: Period) -> Collection[str]:
        return {
            one.box_key
            for one in self._facts.reports
            if scope.holds(one.repo_key, one.suite) and period.start <= one.started_at <= period.end
        }

    def ci_pages(self, scope: Scope, period: Period) -> Sequence[str]:
        newest: dict[Product, Report] = {}
        for one in sorted(self._facts.reports, key=report_order):
            if one.ci_url is not None and period.start <= one.started_at <= period.end:
                newest[Product(one.repo_key, one.suite)] = one
        pages = ((product, one.ci_url) for product, one in sorted(newest.items()))
        return [page for product, page in pages if page is not None and scope.holds(*product)]

    def test_names(self, product: Product, where: Where = ANYWHERE) -> Collection[str]:
        reports = [
            one
            for one in self._facts.reports
            if (one.repo_key, one.suite) == product
            and where.has_box([one.box_key])
            and where.has_commit(one.branch, [one.sha])
        ]
        return {item.id for report in reports for item in report.tests}


class _OnBranches(FullRecordedRuns):
    """A history in which some answers are those of a history without reports of other branches; but
    what passed there still passed.
    """

    def __init__(self, whole: FullRecordedRuns, branches: Branches) -> None:
        facts = whole._facts
        super().__init__(whole.org_id, facts)
        self.rules, self._branches = whole.rules, branches
        reports = tuple(one for one in facts.reports if branches(one.repo_key, one.branch))
        self._alone = FullRecordedRuns(whole.org_id, replace(facts, reports=reports))

    def outcomes(self, scope: Scope, period: Period) -> Sequence[ProductOutcomes]:
        return self._alone.outcomes(scope, period)

    def test_runs(self, scope: Scope, period: Period) -> Sequence[TestRuns]:
        flakes: Counter[TestKey] = Counter()
        for failure, items in self.failing_items(scope, period).items():
            lane = self._by_id[failure].key.lane
            if self._is_flake(failure) and self._branches(lane.repo_key, lane.branch):
                flakes[lane.product, lane.test_id] += items
        rows = self._alone.test_runs(scope, period)
        return [row._replace(flakes=flakes[row.test]) for row in rows]

    def box_runs(self, tests: Collection[TestKey], slots: Slots) -> Sequence[BoxRuns]:
        return self._alone.box_runs(tests, slots)

    def never_passed_since(self, tests: Collection[TestKey], period: Period) -> Sequence[Failure]:
        return [
            one
            for one in super().never_passed_since(tests, period)
            if self._branches(one.key.lane.repo_key, one.key.lane.branch)
        ]


def _key_of(run: Report, item: TestItem) -> FailureKey:
    return FailureKey(Lane(run.repo_key, run.suite, item.id, run.box_key, run.branch), run.sha)


def outcomes_of(facts: Facts, scope: Scope, period: Period) -> list[ProductOutcomes]:
    """Return what a store answers that keeps these facts."""
    products = {Product(one.repo_key, one.suite) for one in facts.reports}
    found = []
    for product in sorted(products):
        reports = [
            one
            for one in facts.reports
            if (one.repo_key, one.suite) == product
            and scope.repo_key in {None, one.repo_key}
            and scope.suite in {None, one.suite}
            and period.start <= one.started_at <= period.end
        ]
        if reports:
            found.append(_of_product(product, sorted(reports, key=report_order)))
    return found


def _of_product(product: Product, reports: Sequence[Report]) -> ProductOutcomes:
    names = sorted({item.id for report in reports for item in report.tests})
    numbers = {name: number for number, name in enumerate(names)}
    parts: dict[object, list[Report]] = {}
    for one in reports:
        of_run = one.ci_run_id, one.run_attempt, one.box_key, one.branch, one.sha
        parts.setdefault(id(one) if one.part_of is None else of_run, []).append(one)
    runs = [_run(sorted(of_run, key=_part_of), numbers) for of_run in parts.values()]
    return ProductOutcomes(product, dict(enumerate(names)), runs)


def _part_of(report: Report) -> int:
    return 1 if report.part_of is None else report.part_of.part


def _run(parts: Sequence[Report], numbers: dict[str, int]) -> RunOutcomes:
    report, hello_ok = parts[0], all(one.hello_ok for one in parts)
    order = [*dict.fromkeys(one.id for part in parts for one in part.tests)]
    return RunOutcomes(
        started_at=min(one.started_at for one in parts),
        ended_at=max(one.ended_at for one in parts),
        ci_run_id=report.ci_run_id,
        run_attempt=report.run_attempt,
        rerun_of=report.rerun_of,
        box_key=report.box_key,
        workflow=report.workflow,
        trigger=report.trigger,
        branch=report.branch,
        sha=report.sha,
        hello_ok=hello_ok,
        ran=sum(1 << numbers[test] for test in order),
        order=tuple(numbers[test] for test in order),
        notable={
            numbers[one.id]: TestResult(one.outcome, one.attempts, one.verdict)
            for part in reversed(parts)
            for one in part.tests
            if hello_ok and has_failed_attempt(one)
        },
        boards={
            board: sum(1 << numbers[test] for test in on)
            for board in {one.board for part in parts for one in part.tests if one.board}
            for on in [{one.id for part in parts for one in part.tests if one.board == board}]
        },
    )


def by_name(found: Sequence[ProductOutcomes]) -> list[object]:
    """Return answers in a form in which equal ones are equal, however their tests are numbered."""
    return [
        (
            product,
            sorted(tests.values()),
            [
                (
                    *(one.started_at, one.ended_at, one.ci_run_id, one.run_attempt, one.box_key),
                    *(one.workflow, one.trigger, one.branch, one.sha, one.hello_ok, one.rerun_of),
                    [tests[number] for number in one.order],
                    {name for number, name in tests.items() if one.ran >> number & 1},
                    {tests[number]: result for number, result in one.notable.items()},
                    {
                        board: {name for number, name in tests.items() if on >> number & 1}
                        for board, on in one.boards.items()
                    },
                )
                for one in runs
            ],
        )
        for product, tests, runs in ((one.product, one.tests, one.runs) for one in found)
    ]
