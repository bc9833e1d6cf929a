# SPDX-License-Identifier: Apache-2.0
"""One test over a period: what it did on each box and when, how often its first attempt failed, and
what a retry gave.

This module decides what each run did with the test. It does not know why a test failed, and it
compares no boxes.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from statistics import median
from typing import NamedTuple

from hwci.analysis.benches.trials import Trials
from hwci.analysis.certainty import rates
from hwci.analysis.outcomes import NotableResult, ProductOutcomes, RecordedRuns, RunOutcomes
from hwci.contract.days import CalendarDay
from hwci.contract.shares import Share
from hwci.contract.vocabulary import Outcome, Verdict
from hwci.engine.periods import Period


class Did(StrEnum):
    """What a run did with the test. `lost`: the run never reached the hardware, or had lost its
    board before the test; one that lost it at the test failed it.
    """

    PASSED = "passed"
    RETRIED = "retried"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Tries:
    """A number of runs with the test. `retried` ones passed on a retry.

    `attempts` and `failed_attempts` are those of "Flakiest tests" (semantics, 9.3), which know no
    lost board. `first`: how many failed at their first attempt, of all but the lost ones; `within`:
    the same with its interval, None if there is none.
    """

    passed: int
    retried: int
    failed: int
    lost: int
    attempts: int
    failed_attempts: int
    first: tuple[int, int]
    within: Share | None
    verdicts: Mapping[Verdict, int]
    last_run_at: datetime


class DayTries(NamedTuple):
    """The runs of one day of the period. `unnamed`: the lost ones whose report names no test."""

    day: int
    passed: int
    retried: int
    failed: int
    lost: int
    unnamed: int


class Took(NamedTuple):
    """Seconds of the runs that passed at the first attempt: the middle one, and what nine of ten
    took at most.
    """

    runs: int
    middle: float
    nine_of_ten: float


@dataclass(frozen=True, slots=True)
class OnBox:
    """The test on one box. A day without a run is left out. `took` None: it never passed at the
    first attempt.
    """

    box_key: str
    tries: Tries
    days: Sequence[DayTries]
    took: Took | None


class CommitMark(NamedTuple):
    """A day on which commits ran the test for the first time: how many, and the last of them."""

    day: int
    commits: int
    sha: str
    subject: str


class Given(NamedTuple):
    """Tries after a failure, and how many of them passed."""

    tries: int
    passed: int


@dataclass(frozen=True, slots=True)
class OneTest:
    """A test over the days of a period; boxes by name. `all` None: no run had it. `retries`:
    results whose first attempt failed and that were tried again in the same run. `reruns`: runs on
    a commit and box where the test had failed before.
    """

    all: Tries | None
    boxes: Sequence[OnBox]
    commits: Sequence[CommitMark]
    retries: Given
    reruns: Given


class Seen(NamedTuple):
    """A run with the test."""

    run: RunOutcomes
    did: Did
    result: NotableResult | None


def one_test(
    history: RecordedRuns,
    product_runs: ProductOutcomes | None,
    test_id: str,
    days: Sequence[CalendarDay],
) -> OneTest:
    """Return what a test did on these days. `product_runs`: of its product on them; None: there is
    none.
    """
    number = None if product_runs is None else product_runs.number_of(test_id)
    if product_runs is None or number is None:
        return OneTest(None, [], [], Given(0, 0), Given(0, 0))
    seen = [*_seen(product_runs, number, history)]
    product = product_runs.product
    period = Period(days[0].start, days[-1].end)
    by_box: dict[str, list[Seen]] = defaultdict(list)
    for one in seen:
        by_box[one.run.box_key].append(one)
    boxes = sorted(by_box.items())
    seconds: dict[str, list[float]] = defaultdict(list)
    for box, took in history.durations(product, test_id, period):
        seconds[box].append(took)
    tries = _tries([seen, *(runs for _, runs in boxes)])
    return OneTest(
        all=tries[0],
        boxes=[
            OnBox(box, own, _by_day(runs, days), _took(seconds[box]))
            for (box, runs), own in zip(boxes, tries[1:], strict=True)
        ],
        commits=_marks(seen, days, history, product.repo_key),
        retries=_retries(seen),
        reruns=_reruns(seen),
    )


def _seen(found: ProductOutcomes, number: int, history: RecordedRuns) -> Iterator[Seen]:
    """Yield the runs with a test, in the order of reports. One that never reached the hardware
    often lists no test: it counts where its workflow ran the test on its box.
    """
    lost = Trials(found, history.check_time, {}).lost
    usual = {(run.workflow, run.box_key) for run in found.runs if run.ran >> number & 1}
    for at, run in enumerate(found.runs):
        ran = run.ran >> number & 1
        if not run.hello_ok and (ran or (not run.ran and (run.workflow, run.box_key) in usual)):
            yield Seen(run, Did.LOST, None)
        elif run.hello_ok and ran:
            result = run.notable.get(number)
            is_lost = at in lost and number in lost[at].untold
            yield Seen(run, Did.LOST if is_lost else _did(result), result)


def _did(result: NotableResult | None) -> Did:
    if result is None:
        return Did.PASSED
    return Did.RETRIED if result.outcome is Outcome.PASS else Did.FAILED


def _tries(groups: Sequence[Sequence[Seen]]) -> list[Tries]:
    counts = [Counter(one.did for one in group) for group in groups]
    firsts = [(did[Did.RETRIED] + did[Did.FAILED], did.total() - did[Did.LOST]) for did in counts]
    known = [pair for pair in firsts if pair[1]]
    rate_of = dict(zip(known, rates(known), strict=True)) if known else {}
    found = []
    for group, did, first in zip(groups, counts, firsts, strict=True):
        results = [one.result for one in group if one.result is not None]
        retries = sum(result.attempts - 1 for result in results)
        fails = [result for result in results if result.outcome is Outcome.FAIL]
        found.append(
            Tries(
                **{one.value: did[one] for one in Did},
                attempts=sum(one.run.hello_ok for one in group) + retries,
                failed_attempts=retries + len(fails),
                first=first,
                within=rate_of.get(first),
                verdicts=Counter(fail.verdict for fail in fails),
                last_run_at=max(one.run.started_at for one in group),
            )
        )
    return found


def _day(at: datetime, days: Sequence[CalendarDay]) -> int:
    """Return which of these days holds an instant of the period."""
    return bisect_right(days, at, lo=1, key=lambda day: day.start) - 1


def _by_day(seen: Iterable[Seen], days: Sequence[CalendarDay]) -> list[DayTries]:
    counts: dict[int, Counter[Did]] = defaultdict(Counter)
    unnamed: Counter[int] = Counter()
    for one in seen:
        day = _day(one.run.started_at, days)
        counts[day][one.did] += 1
        unnamed[day] += not one.run.ran
    return [
        DayTries(day, **{one.value: did[one] for one in Did}, unnamed=unnamed[day])
        for day, did in sorted(counts.items())
    ]


def _took(seconds: Sequence[float]) -> Took | None:
    if not seconds:
        return None
    nine_of_ten = sorted(seconds)[-(-9 * len(seconds) // 10) - 1]
    return Took(len(seconds), median(seconds), nine_of_ten)


def _marks(
    seen: Iterable[Seen], days: Sequence[CalendarDay], history: RecordedRuns, repo_key: str
) -> list[CommitMark]:
    first: dict[str, datetime] = {}
    for one in seen:
        first.setdefault(one.run.sha, one.run.started_at)
    by_day: dict[int, list[str]] = defaultdict(list)
    for sha, at in first.items():
        by_day[_day(at, days)].append(sha)
    subjects = _subjects(history, repo_key, {shas[-1] for shas in by_day.values()})
    return [
        CommitMark(day, len(shas), shas[-1], subjects.get(shas[-1], ""))
        for day, shas in sorted(by_day.items())
    ]


def _subjects(history: RecordedRuns, repo_key: str, shas: Collection[str]) -> Mapping[str, str]:
    listings = history.first_listing(repo_key, [*shas])
    return {
        commit.sha: commit.subject
        for changes in listings.values()
        for commit in changes.commits
        if commit.sha in shas
    }


def _retries(seen: Iterable[Seen]) -> Given:
    tried = [one for one in seen if one.result is not None and one.result.attempts > 1]
    return Given(len(tried), sum(one.did is Did.RETRIED for one in tried))


def _reruns(seen: Iterable[Seen]) -> Given:
    failed: set[tuple[str, str]] = set()
    tries = passed = 0
    for one in seen:
        place = one.run.sha, one.run.box_key
        if place in failed and one.did is not Did.LOST:
            tries += 1
            passed += one.did is not Did.FAILED
        if one.did is Did.FAILED:
            failed.add(place)
    return Given(tries, passed)
