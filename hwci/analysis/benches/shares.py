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
            for result in run.notable.values():
                failed = result.outcome is Outcome.FAIL
                results.retries += result.attempts - 1
                results.failed += failed
                results.blamed += failed and result.verdict is Verdict.INFRA
    return Tallies(
        reached=Tally(reached, all_runs),
        blamed={at: Tally(results.blamed, results.all) for at, results in by_part.items()},
        flaky={
            at: Tally(results.retries + results.failed, results.all + results.retries)
            for at, results in by_part.items()
        },
    )


def together(some: Iterable[Tallies]) -> Tallies:
    """Add what was counted of several products or boxes in the same time."""
    counts = [*some]
    return Tallies(
        reached=Tally(*(sum(count.reached[at] for count in counts) for at in (0, 1))),
        blamed=added(count.blamed for count in counts),
        flaky=added(count.flaky for count in counts),
    )
