# SPDX-License-Identifier: Apache-2.0
"""One box over a period: how it compares, its shares beside those of all other boxes together, and
the tests that failed on it alone. The shares are counts of all runs, whatever these tested; the
comparison is within test and commit (ADR 0010).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from hwci.analysis.benches.blame import Blamed
from hwci.analysis.benches.boards import boards_of
from hwci.analysis.benches.by_day import days_of
from hwci.analysis.benches.by_parts import sure_shares
from hwci.analysis.benches.health import health_of
from hwci.analysis.benches.report import box_health, compared_boxes, named_tests, read_runs
from hwci.analysis.benches.shares import tallies, together
from hwci.analysis.benches.trials import Earlier, box_of
from hwci.analysis.certainty import share_of_cases
from hwci.contract.boxes.benches import BoxShares, FailedAlone, OneBox
from hwci.engine.periods import Period
from hwci.engine.test_sets import CountedTests, tests_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hwci.analysis.benches.by_day import TimeLine
    from hwci.analysis.benches.health import Health
    from hwci.analysis.benches.report import KnownOfBoxes, Read
    from hwci.analysis.benches.shares import Tallies
    from hwci.analysis.benches.trials import Trial, Trials
    from hwci.analysis.outcomes import RecordedRuns
    from hwci.contract.shares import Share
    from hwci.engine.history import Scope


COMMITS_NEEDED = 2
"""A test that failed on fewer commits of this box alone may have by chance."""


def one_box(
    history: RecordedRuns,
    scope: Scope,
    line: TimeLine,
    box_key: str,
    most: int,
    known: KnownOfBoxes,
) -> OneBox:
    """Return what the runs of a period, by its days, say about a box. `most`: so many tests are
    named.
    """
    period = line.period
    outcomes = history.outcomes(scope, period)
    read = read_runs(outcomes, known, history.check_time)
    by_day = days_of(read, box_key, line)
    side = next((side for side in (box_key, Earlier(box_key)) if side in read.places), None)
    if side is None:
        return OneBox(
            period=period,
            box_key=box_key,
            box=None,
            shares=None,
            others=None,
            board_seconds=0,
            last_clean_run_at=None,
            tests=(),
            alone=(),
            alone_total=0,
            zone=line.zone,
            days=tuple(line.days),
            by_day=by_day,
        )
    places: dict[str, list[tuple[Trials, int]]] = defaultdict(list)
    for on, runs in read.places.items():
        places[box_of(on)] += runs
    healths = {box: health_of(runs) for box, runs in places.items()}
    own = healths.pop(box_key)
    shares, others = _shares(read, box_key, own, [*healths.values()])
    alone = sorted(
        _alone(read.products, box_key),
        key=lambda row: (-row.commits, -row.of, row.repo_key, row.suite, row.test_id),
    )
    named = named_tests(read, box_key)
    return OneBox(
        period=period,
        box_key=box_key,
        box=box_health(read, compared_boxes(read), side),
        shares=shares,
        others=others if healths else None,
        board_seconds=own.board_time.total_seconds(),
        last_clean_run_at=own.last_clean_at,
        tests=tuple(named[:most]),
        alone=tuple(alone[:most]),
        alone_total=len(alone),
        boards=boards_of(outcomes, box_key, most, history.check_time),
        zone=line.zone,
        days=tuple(line.days),
        by_day=by_day,
    )


def _shares(
    read: Read, box_key: str, own: Health, others: Sequence[Health]
) -> tuple[BoxShares, BoxShares]:
    """Return the shares of a box, and of all others together."""
    starts = [run.started_at for trials in read.products for run in trials.found.runs]
    ran = Period(min(starts), max(starts))
    counted = [
        together(
            tallies((run for run in trials.found.runs if (run.box_key == box_key) is is_own), ran)
            for trials in read.products
        )
        for is_own in (True, False)
    ]
    blamed = sure_shares(*(tallied.blamed for tallied in counted))
    flaky = sure_shares(*(tallied.flaky for tallied in counted))
    here, elsewhere = (
        _box_shares(*of_side)
        for of_side in zip(([own], others), counted, blamed, flaky, strict=True)
    )
    return here, elsewhere


def _box_shares(
    healths: Sequence[Health], counted: Tallies, blamed: Share, flaky: Share
) -> BoxShares:
    """Return the shares of boxes. `healths`: of the same."""
    lost = [health.lost for health in healths if health.lost is not None]
    return BoxShares(
        reached=share_of_cases(*counted.reached),
        lost_board=share_of_cases(
            sum(share.part for share in lost), sum(share.total for share in lost)
        ),
        blamed=blamed if blamed.total else None,
        failed_attempts=flaky if flaky.total else None,
    )


def _alone(products: Sequence[Trials], box_key: str) -> Iterator[FailedAlone]:
    for product in products:
        ran, failed = CountedTests(), Counter[int]()
        for trials in product.by_stratum.values():
            product.check_time()
            both, alone = _on(trials, box_key)
            ran.add(both, 1)
            failed.update(tests_in(alone))
        of = ran.counts(max(failed, default=-1) + 1)
        for test, commits in failed.items():
            if commits < COMMITS_NEEDED:
                continue
            blame = product.blame_of(test)
            if blame is not None and blame.blamed is Blamed.ALIKE:
                continue
            yield FailedAlone(
                repo_key=product.found.product.repo_key,
                suite=product.found.product.suite,
                test_id=product.found.tests[test],
                commits=commits,
                of=of[test],
            )


def _on(trials: Sequence[Trial], box_key: str) -> tuple[int, int]:
    """Return the tests of a commit that this box and another ran, and those that failed on this one
    alone.
    """
    ran: dict[bool, int] = defaultdict(int)
    failed: dict[bool, int] = defaultdict(int)
    for trial in trials:
        own = box_of(trial.side) == box_key
        ran[own] |= trial.ran
        failed[own] |= trial.failed
    both = ran[True] & ran[False]
    return both, both & failed[True] & ~failed[False]
