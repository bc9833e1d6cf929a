# SPDX-License-Identifier: Apache-2.0
"""What the metrics page of the dashboard shows beside the specification's answer, as one answer
(contract, "Answers beside the rules"). Each part is as its own route gives it.
"""

from hwci.contract.failures.causes import Cause
from hwci.contract.failures.incidents import Incident
from hwci.contract.failures.lost_boards import LostBoardCounts
from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.periods.days import Days
from hwci.contract.periods.trends import Trends
from hwci.contract.runs.merges import ExplainedMerge
from hwci.contract.runs.products import Product
from hwci.contract.shape import ListPage, Open, shape
from hwci.contract.vocabulary import Band


@shape
class BandCount:
    """The incidents of a band that still fail: how many are on branches that merges of the period
    went to, and how many on others. `first_test`: a test of the first of those on such branches;
    null if there is none.
    """

    band: Open[Band]
    incidents: int
    elsewhere: int
    first_test: str | None


@shape
class PageFigures:
    """The figures beside `ci-metrics`. `real_bug_causes`: the causes of the real firmware bugs;
    `causes_to_review`: how many causes wait for a review; `lost_boards`: which resolved failures
    lie in runs that lost their board; `incidents`: the first of those that still
    fail, on branches that merges of the period went to, by band, the branch with most of them
    first; `bands`: how many each band has; `incidents_elsewhere`: how many are on other branches;
    `pending_failures`: how many failures all of them are one by one; `flaky_tests`: those of
    which a flake was seen, or where there are none, those that are not broken; `products`: 100 at
    most; `unassigned_repositories`: those with a merge that was announced without a suite, 100 at
    most: there may be no product of them. `not_computed`: those that took too long for one answer,
    and are null; without `incidents` there are no `pending_failures` either.
    """

    days: Days | None
    trends: Trends | None
    real_bug_causes: ListPage[Cause] | None
    causes_to_review: int | None
    lost_boards: LostBoardCounts | None
    incidents: ListPage[Incident] | None
    bands: tuple[BandCount, ...] | None
    incidents_elsewhere: int | None
    pending_failures: int | None
    unchecked_merges: ListPage[ExplainedMerge] | None
    flaky_tests: ListPage[FlakyTest] | None
    products: ListPage[Product]
    unassigned_repositories: tuple[str, ...]
    not_computed: tuple[str, ...]
