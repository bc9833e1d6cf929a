# SPDX-License-Identifier: Apache-2.0
"""One box over a period: how it compares, its shares beside those of all other boxes together, and
the tests that failed on it alone. The shares are counts of all runs, whatever these tested; the
comparison is within test and commit (ADR 0010).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from hwci.analysis.benches.blame import Blamed
from hwci.analysis.benches.by_parts import sure_shares
from hwci.analysis.benches.health import health_of
from hwci.analysis.benches.report import (
    compared_boxes,
    named_tests,
    read_runs,
    report_of,
)
from hwci.analysis.benches.shares import tallies, together
from hwci.analysis.benches.trials import Earlier, box_of
from hwci.analysis.certainty import Rate, wilson
from hwci.engine.history import Listing
from hwci.engine.page.reading import Tally
from hwci.engine.periods import Period
from hwci.engine.test_sets import tests_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hwci.analysis.benches.by_parts import SureShare
    from hwci.analysis.benches.health import Health
    from hwci.analysis.benches.report import BoxReport, Note, TestOnBox
    from hwci.analysis.benches.trials import Trial, Trials
    from hwci.analysis.outcomes import RecordedRuns
    from hwci.engine.facts import Product
    from hwci.engine.history import Scope


COMMITS_NEEDED = 2
"""A test that failed on fewer commits of this box alone may have by chance."""


class Shares(NamedTuple):
    """Shares of runs and results; None: there is nothing to be a part of. `reached`: runs that
    reached the hardware. `lost`: of these, those that lost their board. `blamed`: results that
    failed, and whose harness blamed the bench. `flaky`: failed attempts, of all.
    """

    reached: Rate | None
    lost: Rate | None
    blamed: SureShare | None
    flaky: SureShare | None


class Alone(NamedTuple):
    """A test that failed at first on this box and on no other that ran it at the commit: on how
    many commits, two or more, of those on which another box ran it too. One that fails on all boxes
    alike is left out: it fails alone by chance.
    """

    product: Product
    test_id: str
    commits: int
    of: int


@dataclass(frozen=True, slots=True)
class OneBox:
    """A box. `report`: its row among all boxes. `tests`: those that fail more on it. `health`: over
    the whole period, whatever was noted. `others`: the shares of all other boxes; None: there is
    none.
    """

    report: BoxReport
    tests: Sequence[TestOnBox]
    health: Health
    shares: Shares
    others: Shares | None
    alone: Listing[Alone]


def one_box(
    history: RecordedRuns,
    scope: Scope,
    period: Period,
    box_key: str,
    notes: Mapping[str, Note],
    most: int,
) -> OneBox | None:
    """Return what the runs of a period say about a box; None: it has none. `most`: so many tests
    are named.
    """
    read = read_runs(history.outcomes(scope, period), notes, history.check_time)
    side = next((one for one in (box_key, Earlier(box_key)) if one in read.places), None)
    if side is None:
        return None
    named = [test for test in named_tests(read) if test.box_key == box_key]
    places: dict[str, list[tuple[Trials, int]]] = defaultdict(list)
    for on, runs in read.places.items():
        places[box_of(on)] += runs
    healths = {box: health_of(runs) for box, runs in places.items()}
    others = [health for box, health in healths.items() if box != box_key]
    starts = [run.started_at for one in read.products for run in one.found.runs]
    ran = Period(min(starts), max(starts))
    counted = [
        together(
            tallies((run for run in product.found.runs if (run.box_key == box_key) is own), ran)
            for product in read.products
        )
        for own in (True, False)
    ]
    blamed = sure_shares(*(one.blamed for one in counted))
    flaky = sure_shares(*(one.flaky for one in counted))
    alone = sorted(
        _alone(read.products, box_key), key=lambda one: (-one.commits, -one.of, *one[:2])
    )
    return OneBox(
        report=report_of(read, compared_boxes(read), side),
        tests=named[:most],
        health=healths[box_key],
        shares=_shares([healths[box_key]], counted[0].reached, blamed[0], flaky[0]),
        others=_shares(others, counted[1].reached, blamed[1], flaky[1]) if others else None,
        alone=Listing(alone[:most], len(alone)),
    )


def _shares(
    healths: Sequence[Health], reached: Tally, blamed: SureShare, flaky: SureShare
) -> Shares:
    """Return the shares of boxes. `healths`: of the same."""
    lost = [health.lost for health in healths if health.lost is not None]
    of_lost = Tally(sum(one.failed for one in lost), sum(one.attempts for one in lost))
    return Shares(
        reached=_of_runs(reached),
        lost=_of_runs(of_lost),
        blamed=blamed if blamed.total else None,
        flaky=flaky if flaky.total else None,
    )


def _of_runs(counted: Tally) -> Rate | None:
    """Return a share of runs, with the interval of the tiles."""
    part, total = counted
    return Rate(part, total, *wilson(part / total, total)) if total else None


def _alone(products: Sequence[Trials], box_key: str) -> Iterator[Alone]:
    for product in products:
        ran, failed = Counter[int](), Counter[int]()
        for trials in product.by_stratum.values():
            product.check_time()
            both, alone = _on(trials, box_key)
            ran.update(tests_in(both))
            failed.update(tests_in(alone))
        for test, commits in failed.items():
            blame = product.blame_of(test)
            is_alike = blame is not None and blame.blamed is Blamed.ALIKE
            if commits < COMMITS_NEEDED or is_alike:
                continue
            found = product.found
            yield Alone(found.product, found.tests[test], commits, ran[test])


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
