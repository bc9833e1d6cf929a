# SPDX-License-Identifier: Apache-2.0
"""How the shares of products and boxes changed against the period before (contract, "Answers beside
the rules"). No figure is computed here.
"""

from typing import Self

from hwci.analysis.benches.by_parts import SureShare
from hwci.analysis.periods import box_trends
from hwci.wire.analysis.trends import ShareChangeAnswer
from hwci.wire.base import Answer


class PartAnswer(Answer):
    """So many of all. `low` and `high`: the interval in percent that holds the true share with
    95 %; null of too little for an interval.
    """

    part: int
    total: int
    low: float | None
    high: float | None

    @classmethod
    def of(cls, found: SureShare) -> Self:
        """Make a part."""
        low, high = (None, None) if found.within is None else (100 * one for one in found.within)
        return cls(part=found.part, total=found.total, low=low, high=high)


class ShareTrendAnswer(Answer):
    """A share in a period and in as many days before it; `before` null: these were not all
    recorded. `within`: by how many percentage points it changed, and the interval that holds the
    true change with 95 %; null: not enough data. `points`: the same without the interval. `says`:
    all of it in words.
    """

    says: str
    now: PartAnswer
    before: PartAnswer | None
    points: float | None
    within: ShareChangeAnswer | None

    @classmethod
    def of(cls, found: box_trends.ShareTrend) -> Self:
        """Make the change of a share."""
        within = None if found.change is None else ShareChangeAnswer.of(found.change)
        return cls(
            says=found.says,
            now=PartAnswer.of(found.now),
            before=None if found.before is None else PartAnswer.of(found.before),
            points=None if within is None else within.points,
            within=within,
        )


class BoxTrendAnswer(Answer):
    """A product on one of its boxes, or on all (`box_key` null). `reached`: runs that reached the
    hardware. `blamed`: results that failed, and whose harness blamed the bench. `failedAttempts`:
    of all attempts.
    """

    repo_key: str
    suite: str
    box_key: str | None
    reached: ShareTrendAnswer
    blamed: ShareTrendAnswer
    failed_attempts: ShareTrendAnswer

    @classmethod
    def of(cls, row: box_trends.BoxTrend) -> Self:
        """Make one row."""
        return cls(
            repo_key=row.product.repo_key,
            suite=row.product.suite,
            box_key=row.box_key,
            reached=ShareTrendAnswer.of(row.reached),
            blamed=ShareTrendAnswer.of(row.blamed),
            failed_attempts=ShareTrendAnswer.of(row.flaky),
        )
