# SPDX-License-Identifier: Apache-2.0
"""One box over a period, for its page (contract, "Answers beside the rules"). No figure is computed
here. Rates are between 0 and 1, as in the answer about all boxes.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from hwci.analysis import certainty
from hwci.analysis.benches import one_box
from hwci.analysis.benches.by_parts import SureShare
from hwci.contract.scope import PeriodOfDays
from hwci.engine.periods import Period
from hwci.wire.analysis.benches import BoxHealthAnswer, ShareAnswer, TestOnBoxAnswer
from hwci.wire.base import Answer, Name, Time
from hwci.wire.queries import BoxQuery, PeriodQuery


class OneBoxQuery(PeriodQuery, BoxQuery):
    """Query of one box over a period."""

    box_key: Name


class SharesAnswer(Answer):
    """Shares of runs and results; null: there is nothing to be a part of. `reached`: runs that
    reached the hardware. `lostBoard`: of these, those that lost their board. `blamed`: results that
    failed, and whose harness blamed the bench. `failedAttempts`: of all attempts.
    """

    reached: ShareAnswer | None
    lost_board: ShareAnswer | None
    blamed: ShareAnswer | None
    failed_attempts: ShareAnswer | None

    @classmethod
    def of(cls, shares: one_box.Shares) -> Self:
        """Make the shares."""
        return cls(
            reached=_of_runs(shares.reached),
            lost_board=_of_runs(shares.lost),
            blamed=_of_results(shares.blamed),
            failed_attempts=_of_results(shares.flaky),
        )


class AloneAnswer(Answer):
    """A test that failed at first on this box and on no other that ran it at the commit: on so many
    `commits`, `of` those on which another box ran it too.
    """

    repo_key: str
    suite: str
    test_id: str
    commits: int
    of: int


class OneBoxAnswer(Answer):
    """A box over a period. `box` null: no run named it; else its row of the answer about all boxes.
    All else is of the whole period, whatever was noted. `others`: all other boxes together; null:
    there is none. `tests`: those that fail more on this box. `alone`: at most 100, of `aloneTotal`.
    """

    period: PeriodOfDays
    box_key: str
    box: BoxHealthAnswer | None
    shares: SharesAnswer | None
    others: SharesAnswer | None
    board_seconds: float
    last_clean_run_at: Time | None
    tests: Sequence[TestOnBoxAnswer]
    alone: Sequence[AloneAnswer]
    alone_total: int

    @classmethod
    def of(
        cls,
        found: one_box.OneBox | None,
        query: OneBoxQuery,
        period: Period,
        seen_at: datetime | None,
    ) -> Self:
        """Make the answer. `seen_at`: as in the answer about all boxes."""
        others = None if found is None else found.others
        return cls(
            period=period.shown,
            box_key=query.box_key,
            box=None if found is None else BoxHealthAnswer.of(found.report, seen_at),
            shares=None if found is None else SharesAnswer.of(found.shares),
            others=None if others is None else SharesAnswer.of(others),
            board_seconds=0 if found is None else found.health.board_time.total_seconds(),
            last_clean_run_at=None if found is None else found.health.last_clean_at,
            tests=[] if found is None else [*map(TestOnBoxAnswer.of, found.tests)],
            alone=[] if found is None else [*map(_alone, found.alone.items)],
            alone_total=0 if found is None else found.alone.total,
        )


def _of_runs(rate: certainty.Rate | None) -> ShareAnswer | None:
    return None if rate is None else ShareAnswer.of(rate)


def _of_results(found: SureShare | None) -> ShareAnswer | None:
    return None if found is None else ShareAnswer.of_results(found)


def _alone(found: one_box.Alone) -> AloneAnswer:
    product = found.product
    return AloneAnswer(
        repo_key=product.repo_key,
        suite=product.suite,
        test_id=found.test_id,
        commits=found.commits,
        of=found.of,
    )
