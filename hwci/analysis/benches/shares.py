# SPDX-License-Identifier: Apache-2.0
"""What the shares of a box count: runs that reached the hardware, results that were blamed on the
bench, attempts that failed. It decides what is a part of what, over any runs.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from hwci.analysis.benches.by_parts import Parts, added, part_of
from hwci.analysis.certainty import Tally
from hwci.analysis.outcomes import RunOutcomes
from hwci.contract.vocabulary import Outcome, Verdict
from hwci.engine.periods import Period


class Tallies(NamedTuple):
    """Parts and their wholes. `reached`: runs that reached the hardware. By parts of the time:
    `blamed`, results that failed, and whose harness blamed the bench; `flaky`, failed attempts, of
    all.
    """

    reached: Tally
    blamed: Parts
    flaky: Parts


class _Results:
    """Counts of one part of a period."""

    def __init__(self) -> None:
        self.all = self.retries = self.failed = self.blamed = 0


def tallies(runs: Iterable[RunOutcomes], ran: Period) -> Tallies:
    """Count runs of one product. `ran`: from the first to the last run of all beside them."""
    all_runs = reached = 0
    by_part: dict[int, _Results] = defaultdict(_Results)
    for run in runs:
        all_runs, reached = all_runs + 1, reached + run.hello_ok
        if run.hello_ok and run.ran:
            results = by_part[part_of(run.started_at, ran)]
            results.all += run.ran.bit_count()
            for one in run.notable.values():
                failed = one.outcome is Outcome.FAIL
                results.retries += one.attempts - 1
                results.failed += failed
                results.blamed += failed and one.verdict is Verdict.INFRA
    return Tallies(
        reached=Tally(reached, all_runs),
        blamed={at: Tally(one.blamed, one.all) for at, one in by_part.items()},
        flaky={
            at: Tally(one.retries + one.failed, one.all + one.retries)
            for at, one in by_part.items()
        },
    )


def together(some: Iterable[Tallies]) -> Tallies:
    """Add what was counted of several products or boxes in the same time."""
    found = [*some]
    return Tallies(
        reached=Tally(*(sum(one.reached[at] for one in found) for at in (0, 1))),
        blamed=added(one.blamed for one in found),
        flaky=added(one.flaky for one in found),
    )
