# SPDX-License-Identifier: Apache-2.0
"""One test over a period: what it did on each box and when, how often its first attempt failed, and
what a retry gave.

This module decides what each run did with the test. It does not know why a test failed, and it
compares no boxes.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from statistics import median
from typing import NamedTuple

from hwci.analysis.benches.trials import Trials
from hwci.analysis.certainty import rates, share
from hwci.analysis.flaky.suspects import SeenProduct
from hwci.analysis.outcomes import RecordedRuns, RunOutcomes
from hwci.contract.flaky.one_test import (
    CommitMark,
    DayTries,
    Given,
    OneTest,
    Took,
    Tries,
    TriesOnBox,
    Verdicts,
)
from hwci.contract.periods.days import CalendarDay
from hwci.contract.runs.runs import TestResult
from hwci.contract.vocabulary import Outcome
from hwci.engine.facts import TestKey
from hwci.engine.page.over_time import BOXES_MAX
from hwci.engine.periods import Period
from hwci.engine.rules.changes import last_place


class Did(StrEnum):
    """What a run did with the test. `lost`: the run never reached the hardware, or had lost its
    board before the test; one that lost it at the test failed it.
    """

    PASSED = "passed"
    RETRIED = "retried"
    FAILED = "failed"
    LOST = "lost"


class Seen(NamedTuple):
    """A run with the test."""

    run: RunOutcomes
    did: Did
    result: TestResult | None


def one_test(
    history: RecordedRuns,
    seen_product: SeenProduct | None,
    test: TestKey,
    days: Sequence[CalendarDay],
    zone: str,
) -> OneTest:
    """Return what a test did on these days of a zone, without words. `seen_product`: the runs of
    its product on them; None: there is none.
    """
    product, test_id = test
    seen = [] if seen_product is None else [*_seen(seen_product.trials, test_id)]
    period, starts = Period(days[0].start, days[-1].end), [day.start for day in days]
    by_box: dict[str, list[Seen]] = defaultdict(list)
    for each in seen:
        by_box[each.run.box_key].append(each)
    on_boxes = sorted(by_box.items())
    seconds: dict[str, list[float]] = defaultdict(list)
    for box, took in history.durations(product, test_id, period) if seen else ():
        seconds[box].append(took)
    every, *of_boxes = _tries([seen, *(runs for _, runs in on_boxes)]) if seen else [None]
    boxes = [
        TriesOnBox(**vars(tries), box_key=box, took=_took(seconds[box]), days=_by_day(runs, starts))
        for (box, runs), tries in zip(on_boxes, of_boxes, strict=True)
    ]
    return OneTest(
        period=period,
        repo_key=product.repo_key,
        suite=product.suite,
        test_id=test_id,
        zone=zone,
        days=tuple(days),
        all=every,
        boxes=tuple(boxes[:BOXES_MAX]),
        boxes_total=len(boxes),
        commits=_marks(seen, starts, history, product.repo_key) if seen else (),
        retries=_retries(seen),
        reruns=_reruns(seen),
    )


def _seen(trials: Trials, test_id: str) -> Iterator[Seen]:
    """Yield the runs with a test, in the order of reports. One that never reached the hardware
    often lists no test: it counts where its workflow ran the test on its box.
    """
    outcomes, lost = trials.found, trials.lost
    number = outcomes.number_of(test_id)
    if number is None:
        return
    usual = {(run.workflow, run.box_key) for run in outcomes.runs if run.ran >> number & 1}
    for at, run in enumerate(outcomes.runs):
        ran = run.ran >> number & 1
        if not run.hello_ok and (ran or (not run.ran and (run.workflow, run.box_key) in usual)):
            yield Seen(run, Did.LOST, None)
        elif run.hello_ok and ran:
            result = run.notable.get(number)
            is_lost = at in lost and number in lost[at].untold
            yield Seen(run, Did.LOST if is_lost else _did(result), result)


def _did(result: TestResult | None) -> Did:
    if result is None:
        return Did.PASSED
    return Did.RETRIED if result.outcome is Outcome.PASS else Did.FAILED


def _tries(groups: Sequence[Sequence[Seen]]) -> list[Tries]:
    counts = [Counter(row.did for row in group) for group in groups]
    firsts = [(did[Did.RETRIED] + did[Did.FAILED], did.total() - did[Did.LOST]) for did in counts]
    known = [pair for pair in firsts if pair[1]]
    rate_of = dict(zip(known, rates(known), strict=True)) if known else {}
    tries = []
    for group, did, first in zip(groups, counts, firsts, strict=True):
        results = [row.result for row in group if row.result is not None]
        retries = sum(result.attempts - 1 for result in results)
        fails = [result for result in results if result.outcome is Outcome.FAIL]
        verdicts = Counter(fail.verdict for fail in fails)
        tries.append(
            Tries(
                passed=did[Did.PASSED],
                retried=did[Did.RETRIED],
                failed=did[Did.FAILED],
                lost=did[Did.LOST],
                attempts=sum(row.run.hello_ok for row in group) + retries,
                failed_attempts=retries + len(fails),
                first=rate_of.get(first) or share(*first, None),
                verdicts=Verdicts(**{verdict.value: times for verdict, times in verdicts.items()}),
                last_run_at=max(row.run.started_at for row in group),
            )
        )
    return tries


def _day(at: datetime, days: Sequence[datetime]) -> int:
    """Return which of these days, by their starts, holds an instant of the period."""
    return bisect_right(days, at, lo=1) - 1


def _by_day(seen: Iterable[Seen], days: Sequence[datetime]) -> tuple[DayTries, ...]:
    on_days = [(_day(row.run.started_at, days), row) for row in seen]
    did = Counter((day, row.did) for day, row in on_days)
    unnamed = Counter(day for day, row in on_days if not row.run.ran)
    return tuple(
        DayTries(
            day=day,
            passed=did[day, Did.PASSED],
            retried=did[day, Did.RETRIED],
            failed=did[day, Did.FAILED],
            lost=did[day, Did.LOST],
            unnamed=unnamed[day],
        )
        for day in sorted({day for day, _ in did})
    )


def _took(seconds: Sequence[float]) -> Took | None:
    if not seconds:
        return None
    nine_of_ten = sorted(seconds)[-(-9 * len(seconds) // 10) - 1]
    return Took(runs=len(seconds), middle=median(seconds), nine_of_ten=nine_of_ten)


def _marks(
    seen: Iterable[Seen], days: Sequence[datetime], history: RecordedRuns, repo_key: str
) -> tuple[CommitMark, ...]:
    first: dict[str, datetime] = {}
    for row in seen:
        first.setdefault(row.run.sha, row.run.started_at)
    by_day: dict[int, list[str]] = defaultdict(list)
    for sha, at in first.items():
        by_day[_day(at, days)].append(sha)
    subjects = _subjects(history, repo_key, {shas[-1] for shas in by_day.values()})
    return tuple(
        CommitMark(day=day, commits=len(shas), sha=shas[-1], subject=subjects.get(shas[-1], ""))
        for day, shas in sorted(by_day.items())
    )


def _subjects(history: RecordedRuns, repo_key: str, shas: Collection[str]) -> Mapping[str, str]:
    """Return the subject of each of these commits, as the first list with it has it."""
    listings = history.first_listing(repo_key, [*shas])
    return {
        sha: changes.commits[last_place(changes.commits, sha)].subject
        for sha, changes in listings.items()
    }


def _retries(seen: Iterable[Seen]) -> Given:
    tried = [row for row in seen if row.result is not None and row.result.attempts > 1]
    return Given(tries=len(tried), passed=sum(row.did is Did.RETRIED for row in tried))


def _reruns(seen: Iterable[Seen]) -> Given:
    failed: set[tuple[str, str]] = set()
    tries = passed = 0
    for row in seen:
        place = row.run.sha, row.run.box_key
        if place in failed and row.did is not Did.LOST:
            tries += 1
            passed += row.did is not Did.FAILED
        if row.did is Did.FAILED:
            failed.add(place)
    return Given(tries=tries, passed=passed)
