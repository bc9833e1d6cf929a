# SPDX-License-Identifier: Apache-2.0
"""The metrics page: its tiles, now and over time, and what a configuration would change (contract,
"CI metrics").
"""

from datetime import datetime
from typing import ClassVar

from hwci.contract.failures.failures import ReclassifiedFailure, ResolvedFailure
from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.runs.merges import Merge
from hwci.contract.scope import PeriodOfDays, ProductKey
from hwci.contract.shape import ListPage, shape


@shape
class MergesChecked:
    """Announced merges of the period, and how many of them a run checked."""

    checked: int
    announced: int


@shape
class RealFwBugs:
    """Resolved failures of the period by class."""

    real: int
    bench_or_harness: int
    ambiguous: int
    dismissed: int


@shape
class FlakyFailures:
    """Failing items on a commit where the test also passed on the same box."""

    count: int


@shape
class InfraRuns:
    """Run reports that never reached the hardware, out of all."""

    infra: int
    total: int


@shape
class Tiles:
    """The four tiles."""

    merges_checked: MergesChecked
    real_fw_bugs: RealFwBugs
    flaky_failures: FlakyFailures
    infra_runs: InfraRuns


@shape
class MetricsPage:
    """The metrics page."""

    period: PeriodOfDays
    product: ProductKey | None
    tiles: Tiles
    unchecked_merges: ListPage[Merge]
    real_bugs: ListPage[ResolvedFailure]
    other_failures: ListPage[ResolvedFailure]
    flakiest_tests: ListPage[FlakyTest]


@shape
class TrendSlot:
    """The counts of the tiles for one slot. Its end belongs to the next slot, if there is one."""

    JSON_NAMES: ClassVar = {"start": "from", "end": "to"}

    start: datetime
    end: datetime
    merges_checked: int
    merges_announced: int
    real_fw_bugs: int
    flaky_failures: int
    infra_runs: int
    runs: int


@shape
class Trend:
    """The tiles over time: slots of equal width, the last ending with the period."""

    period: PeriodOfDays
    product: ProductKey | None
    slots: tuple[TrendSlot, ...]


@shape
class SuiteConfigPlan:
    """What a configuration would change if it were sent: resolved failures of the period by class,
    and those whose class or reason would change. If the time of the request runs out, only the
    newest `looked_at` of all `failures` are compared, and `complete` is false.
    """

    period: PeriodOfDays
    product: ProductKey
    before: RealFwBugs
    after: RealFwBugs
    changes: ListPage[ReclassifiedFailure]
    complete: bool = True
    looked_at: int | None = None
    failures: int | None = None
