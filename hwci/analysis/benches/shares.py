# SPDX-License-Identifier: Apache-2.0
"""What the shares of a box count: runs that reached the hardware, results that were blamed on the
bench, attempts that failed. It decides what is a part of what, over any runs.
"""

from collections.abc import Iterable
from typing import NamedTuple

from hwci.analysis.outcomes import RunOutcomes
from hwci.engine.page.reading import Tally
from hwci.engine.vocabulary import Outcome, Verdict


class Tallies(NamedTuple):
    """Parts and their wholes. `reached`: runs that reached the hardware. `blamed`: results that
    failed, and whose harness blamed the bench. `flaky`: failed attempts, of all.
    """

    reached: Tally
    blamed: Tally
    flaky: Tally


def tallies(runs: Iterable[RunOutcomes]) -> Tallies:
    """Count runs of one product. A run whose report came in parts is one on each box, which reached
    the hardware if all of its parts did.
    """
    reached: dict[tuple[str, int, int], bool] = {}
    results = retries = fails = blamed = 0
    for run in runs:
        key = run.box_key, run.ci_run_id, run.run_attempt
        reached[key] = run.hello_ok and reached.get(key, True)
        if run.hello_ok:
            results += run.ran.bit_count()
            for one in run.notable.values():
                failed = one.outcome is Outcome.FAIL
                retries += one.attempts - 1
                fails += failed
                blamed += failed and one.verdict is Verdict.INFRA
    return Tallies(
        reached=Tally(sum(reached.values()), len(reached)),
        blamed=Tally(blamed, results),
        flaky=Tally(retries + fails, results + retries),
    )


def together(some: Iterable[Tallies]) -> Tallies:
    """Add what was counted of several products or boxes."""
    parts = [sum(pair) for pair in zip(*((n for one in t for n in one) for t in some), strict=True)]
    found = parts or [0] * 6
    return Tallies(*(Tally(*found[at : at + 2]) for at in range(0, 6, 2)))
