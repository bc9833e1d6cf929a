# SPDX-License-Identifier: Apache-2.0
"""Which runs would check the unchecked merges, in the least board time.

A planned run covers its own commit only: it invents no push list. So the commits are planned one by
one: each product that a merge of the commit names needs a run there, and a merge that names none is
checked by any of these, or by the cheapest product of its repository. It is the least number of
runs, and of board time as recorded runs took it (ADR 0009).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from typing import NamedTuple

from hwci.analysis.outcomes import ProductOutcomes, RecordedRuns, RunOutcomes
from hwci.analysis.run_command import TO_FILL_IN, run_command
from hwci.contract.flaky.bisection import NO_BOX_ANSWERS
from hwci.contract.runs.merges import CiJob, Merge, MergePlan, PlannedRun, UnplannedMerges
from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import MissingRun
from hwci.engine.facts import Product
from hwci.engine.history import Scope
from hwci.engine.page.tables import subjects_of
from hwci.engine.periods import Period

_SECOND = timedelta(seconds=1)


class BoxOffer(NamedTuple):
    """What a run of a product takes on a box: the median of its `runs` runs there. Offers compare
    by cost.
    """

    seconds: float
    box_key: str
    product: Product
    runs: int


MISSING = {
    MissingRun.NO_RUN: (
        "Not enough data: no run of it reached the hardware with a test in the period"
    ),
    MissingRun.NOT_REACHED: NO_BOX_ANSWERS,
}


@dataclass(frozen=True, slots=True)
class CommitRun:
    """A run of a product at a commit, on its cheapest box, and the merges that it checks."""

    sha: str
    offer: BoxOffer
    merges: Sequence[Merge]
    subject: str | None

    @property
    def branch(self) -> str:
        """The branch that received the merge."""
        return self.merges[0].branch


@dataclass(frozen=True, slots=True)
class LeastRuns:
    """The runs, the cheapest first, and the merges for which none can be planned. `merges`: the
    number of all unchecked ones.
    """

    merges: int
    runs: Sequence[CommitRun]
    unplanned: Mapping[Merge, MissingRun]

    @property
    def board_seconds(self) -> float:
        """The time that all runs take, one after the other."""
        return sum(run.offer.seconds for run in self.runs)


def merge_plan(
    history: RecordedRuns,
    scope: Scope,
    period: Period,
    least: LeastRuns,
    paged: Callable[[Sequence[PlannedRun]], ListPage[PlannedRun]],
) -> MergePlan:
    """Return these runs with their commands. `paged`: the page of them that is shown."""
    jobs = {
        product: pages[-1]
        for product in {run.offer.product for run in least.runs}
        if (pages := history.ci_pages(Scope(*product), period))
    }
    unplanned = Counter(
        (merge.repo_key, merge.suite, missing) for merge, missing in least.unplanned.items()
    )
    return MergePlan(
        period=period,
        product=scope.product,
        unchecked_merges=least.merges,
        board_seconds=least.board_seconds,
        runs=paged([_row(run) for run in least.runs]),
        to_fill_in=TO_FILL_IN,
        ci_jobs=tuple(
            CiJob(repo_key=product.repo_key, suite=product.suite, ci_url=page)
            for product, page in sorted(jobs.items())
        ),
        unplanned=tuple(
            UnplannedMerges(
                repo_key=repo_key,
                suite=suite,
                merges=merges,
                missing=missing,
                missing_text=MISSING[missing],
            )
            for (repo_key, suite, missing), merges in sorted(
                unplanned.items(), key=lambda counted: (counted[0][0], counted[0][1] or "")
            )
        ),
    )


def _row(run: CommitRun) -> PlannedRun:
    product, box_key = run.offer.product, run.offer.box_key
    return PlannedRun(
        repo_key=product.repo_key,
        suite=product.suite,
        sha=run.sha,
        branch=run.branch,
        subject=run.subject,
        box_key=box_key,
        board_seconds=run.offer.seconds,
        runs_seen=run.offer.runs,
        merges=len(run.merges),
        command=run_command(product, box_key, run.branch, run.sha),
    )


def plan(
    history: RecordedRuns,
    scope: Scope,
    period: Period,
    merges: Sequence[Merge],
    box_key: str | None = None,
) -> LeastRuns:
    """Return the runs that would check these merges. `period`: whose runs tell what a run takes;
    `box_key`: the only box on which they may run.
    """
    offers = Offers(history.outcomes(scope, period), box_key)
    subjects = subjects_of(history, merges)
    by_commit: dict[tuple[str, str], list[Merge]] = defaultdict(list)
    for merge in merges:
        by_commit[merge.repo_key, merge.sha].append(merge)
    runs: list[CommitRun] = []
    unplanned: dict[Merge, MissingRun] = {}
    for (repo_key, sha), of_commit in by_commit.items():
        history.check_time()
        chosen = _offers_for(repo_key, of_commit, offers)
        for number, offer in enumerate(chosen):
            checked = [
                merge
                for merge in of_commit
                if merge.suite == offer.product.suite or (merge.suite is None and number == 0)
            ]
            runs.append(CommitRun(sha, offer, checked, subjects.get((repo_key, sha))))
        suites = {offer.product.suite for offer in chosen}
        for merge in of_commit:
            if merge.suite not in suites and not (merge.suite is None and chosen):
                unplanned[merge] = offers.missing(repo_key, merge.suite)
    runs.sort(key=lambda run: run.offer)
    return LeastRuns(len(merges), runs, unplanned)


def _offers_for(repo_key: str, merges: Sequence[Merge], offers: "Offers") -> list[BoxOffer]:
    """Return the runs that a commit needs, the cheapest first."""
    suites = {merge.suite for merge in merges}
    named = (offers.by_cost(Product(repo_key, suite)) for suite in suites if suite is not None)
    chosen = sorted(offer for ranked in named for offer in ranked[:1])
    if not chosen and None in suites:
        return offers.cheapest(repo_key)
    return chosen


class Offers:
    """What a run of each product takes on its boxes, of those whose last run in the period, of any
    product, reached the hardware. `box_key`: the only one that may be proposed; None: any.
    """

    def __init__(self, outcomes: Sequence[ProductOutcomes], box_key: str | None = None) -> None:
        self._ran: set[Product] = set()
        self._offers: dict[Product, list[BoxOffer]] = {}
        reached = _last_reached(outcomes)
        for outcome in outcomes:
            times = _run_times([run for run in outcome.runs if box_key in {None, run.box_key}])
            if times:
                self._ran.add(outcome.product)
            self._offers[outcome.product] = sorted(
                BoxOffer(median(of_box), box_key, outcome.product, len(of_box))
                for box_key, of_box in times.items()
                if reached[box_key]
            )

    def by_cost(self, product: Product) -> Sequence[BoxOffer]:
        """Return a run of a product on each box that can be proposed, the cheapest first."""
        return self._offers.get(product, ())

    def cheapest(self, repo_key: str) -> list[BoxOffer]:
        """Return the cheapest run of any product of a repository, if there is one."""
        firsts = (offer for ranked in self._offers.values() for offer in ranked[:1])
        return sorted(offer for offer in firsts if offer.product.repo_key == repo_key)[:1]

    def missing(self, repo_key: str, suite: str | None) -> MissingRun:
        """Return why there is no offer for a product, or for any product of a repository."""
        ran = any(
            product.repo_key == repo_key and suite in {None, product.suite} for product in self._ran
        )
        return MissingRun.NOT_REACHED if ran else MissingRun.NO_RUN


def _last_reached(outcomes: Sequence[ProductOutcomes]) -> dict[str, bool]:
    """Return of each box whether its last run reached the hardware."""
    runs = sorted(
        (run.started_at, run.ci_run_id, run.run_attempt, run.box_key, run.hello_ok)
        for outcome in outcomes
        for run in outcome.runs
    )
    return {box_key: hello_ok for *_, box_key, hello_ok in runs}


def _run_times(runs: Sequence[RunOutcomes]) -> dict[str, list[float]]:
    """Return by box how long its runs with a test took. A run that ended before it began, by a
    clock that was set back, tells nothing.
    """
    times: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        took = (run.ended_at - run.started_at) / _SECOND
        if run.hello_ok and run.ran and took >= 0:
            times[run.box_key].append(took)
    return times
