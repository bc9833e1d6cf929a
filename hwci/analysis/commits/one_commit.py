# SPDX-License-Identifier: Apache-2.0
"""One commit, as people see it: its runs, its failures with whose they are, and which bugs of the
base branch are gone. What caused a failure is decided in `whose.py`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from hwci.analysis.commits.change import Change, base_branch_of, change_of
from hwci.analysis.commits.known import Known, Tested
from hwci.analysis.commits.whose import chance_of, whose
from hwci.analysis.commits.words import broken_since, words
from hwci.analysis.failures.known_failures import Failed, known_by, known_rules
from hwci.analysis.outcomes import ProductOutcomes, RecordedRuns
from hwci.contract.known_failures import KnownFailure
from hwci.contract.runs import one_commit as shapes
from hwci.contract.vocabulary import Outcome, Whose
from hwci.engine.facts import FailureKey, Lane, Product, failure_id
from hwci.engine.history import Scope
from hwci.engine.page.runs import on_box
from hwci.engine.periods import Period
from hwci.said import day, short


class _Failed(NamedTuple):
    """A test that failed at the commit, and whose that is."""

    whose: Whose
    known: Known
    product: Product
    tested: Tested
    test: int

    @property
    def failed_on(self) -> Mapping[Lane, datetime]:
        """The lanes that failed it at the commit, in the order of runs, and when each first did."""
        name, first = self.tested.name_of(self.test), dict[Lane, datetime]()
        for run in self.tested.failed_by(self.test):
            first.setdefault(Lane(*self.product, name, run.box_key, run.branch), run.started_at)
        return first

    @property
    def order(self) -> tuple[object, ...]:
        """Those of the change first, of one kind the surest first."""
        sure = chance_of(self.whose, self.known) or 0.0
        return _SHOWN[self.whose], -sure, *self.product, self.tested.name_of(self.test)


_SHOWN = {claim: number for number, claim in enumerate(Whose)}


def one_commit(
    history: RecordedRuns, scope: Scope, period: Period, sha: str, most: int
) -> shapes.OneCommit:
    """Return what became of a commit with a run in the period. At most so many runs, failures and
    passes are listed, of each.
    """
    repo_key = scope.repo_key or ""
    products = history.outcomes(scope, period)
    base_branch = base_branch_of(history, scope, period)
    failed: list[_Failed] = []
    passes: list[shapes.PassOfCommit] = []
    change = None
    if base_branch is not None:
        change = change_of(history, repo_key, sha, base_branch, products)
        for outcomes in products:
            tested = Tested(history, outcomes, change)
            for test in tested.failing:
                known = tested.known(test)
                failed.append(_Failed(whose(known), known, outcomes.product, tested, test))
            passes += _passes(outcomes.product, tested, change)
    failed.sort(key=lambda row: row.order)
    rules = _rules(history, sha, failed)
    counts = Counter(row.whose for row in failed)
    merges = history.merge_counts(scope, period)
    listing = history.first_listing(repo_key, [sha]).get(sha)
    runs = _runs(history, repo_key, sha, products)
    return shapes.OneCommit(
        period=period,
        repo_key=repo_key,
        sha=sha,
        subject=next((commit.subject for commit in listing.commits if commit.sha == sha), None)
        if listing
        else None,
        base_branch=base_branch,
        checked=any(run.tests for run in runs),
        runs=tuple(runs[:most]),
        failures=_rows(history, change, failed[:most], rules) if change else (),
        counts=tuple(
            shapes.WhoseCount(whose=claim, failures=counts[claim])
            for claim in Whose
            if counts[claim]
        ),
        passes=tuple(passes[:most]),
        unchecked=merges.total - merges.checked,
        known_failures=sum(rule is not None for rule in rules),
    )


def _rules(
    history: RecordedRuns, sha: str, failed: Sequence[_Failed]
) -> Sequence[KnownFailure | None]:
    """Return the rule by which each of these tests is known: that of the first run that failed it,
    if each failure of it on the commit is known; else None.
    """
    if not history.known_failures():
        return [None] * len(failed)
    lanes = [
        {
            failure_id(history.org_id, FailureKey(lane, sha)): Failed(
                lane.test_id, lane.box_key, started_at
            )
            for lane, started_at in row.failed_on.items()
        }
        for row in failed
    ]
    rules = known_rules(history, {key: value for lane in lanes for key, value in lane.items()})
    return [rules[next(iter(lane))] if lane.keys() <= rules.keys() else None for lane in lanes]


def _runs(
    history: RecordedRuns, repo_key: str, sha: str, products: Sequence[ProductOutcomes]
) -> list[shapes.RunOfCommit]:
    """Return the runs of a commit, in the order of reports."""
    sighted = history.sighted_runs(repo_key, [sha]).get(sha, ())
    identified = {
        (run.sighting.suite, run.ci_run_id, run.run_attempt, run.box_key): run
        for run in sorted(sighted, reverse=True)
        if run.sha == sha
    }
    rows = [
        shapes.RunOfCommit(
            **vars(
                on_box(
                    history,
                    repo_key,
                    run.box_key,
                    identified[product.suite, run.ci_run_id, run.run_attempt, run.box_key],
                )
            ),
            suite=product.suite,
            box_key=run.box_key,
            branch=run.branch,
            hello_ok=run.hello_ok,
            tests=run.ran.bit_count() if run.hello_ok else 0,
            failed=sum(result.outcome is Outcome.FAIL for result in run.notable.values()),
        )
        for product, _, runs in ((of.product, of.tests, of.runs) for of in products)
        for run in runs
        if run.sha == sha
    ]
    return sorted(rows, key=lambda row: (row.started_at, row.run_id, row.run_attempt, row.box_key))


def _rows(
    history: RecordedRuns,
    change: Change,
    failed: Sequence[_Failed],
    rules: Sequence[KnownFailure | None],
) -> tuple[shapes.FailureOfCommit, ...]:
    ids = [failure_id(history.org_id, _key(change, row)) for row in failed]
    logs = history.logs(ids)
    rows = [_row(change, row, of, logs.get(of)) for row, of in zip(failed, ids, strict=True)]
    return tuple(
        row if rule is None else replace(row, known=known_by(rule))
        for row, rule in zip(rows, rules, strict=False)
    )


def _key(change: Change, row: _Failed) -> FailureKey:
    first = row.tested.failing[row.test]
    name = row.tested.name_of(row.test)
    return FailureKey(Lane(*row.product, name, first.box_key, first.branch), change.sha)


def _row(change: Change, row: _Failed, row_id: UUID, log_url: str | None) -> shapes.FailureOfCommit:
    name, known = row.tested.name_of(row.test), row.known
    lost_at = ["this test" if at == row.test else row.tested.name_of(at) for at in known.lost_at]
    since = broken_since(known)
    sentences = words(row.whose, known, change, lost_at)
    return shapes.FailureOfCommit(
        repo_key=row.product.repo_key,
        suite=row.product.suite,
        test_id=name,
        failure_id=row_id,
        failed_on=tuple(known.failed_on),
        passed_on=tuple(known.passed_on),
        whose=row.whose,
        chance=chance_of(row.whose, known),
        since=None if since is None else since.sha,
        since_at=None if since is None else since.started_at,
        says=sentences.says,
        evidence=sentences.evidence,
        to_settle=sentences.to_settle,
        log_url=log_url,
    )


def _passes(product: Product, tested: Tested, change: Change) -> Iterator[shapes.PassOfCommit]:
    """Yield the tests that pass at the commit, and fail now on the base branch on the same boxes or
    on those that are alike.
    """
    for test in sorted(tested.mended, key=tested.name_of):
        known = tested.known(test)
        since = broken_since(known)
        boxes = [box.box_key for box in known.boxes if box.on.was_broken and not box.is_alone]
        if since is not None and boxes:
            yield shapes.PassOfCommit(
                repo_key=product.repo_key,
                suite=product.suite,
                test_id=tested.name_of(test),
                boxes=tuple(boxes),
                since=since.sha,
                since_at=since.started_at,
                says=f"Passes here; fails on {change.base_branch} since {short(since.sha)}"
                f" ({day(since.started_at)})",
            )
