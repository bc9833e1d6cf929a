# SPDX-License-Identifier: Apache-2.0
"""How long it took until failures were seen, and until they were fixed (contract, "Answers beside
the rules"). No figure is computed here.
"""

from datetime import timedelta
from typing import Literal, Self

from hwci.analysis.spread import Spread
from hwci.analysis.times_to_fix import TimesToFix
from hwci.wire.base import Answer


class SpreadAnswer(Answer):
    """How long it took, of `known` times that ended: a quarter, half and three quarters of all took
    at most so many seconds. Null if `missing` says that too few are known, or if so many have not
    ended yet. `says`: the same in words.
    """

    known: int
    quarter_s: float | None
    median_s: float | None
    three_quarters_s: float | None
    missing: Literal["few"] | None
    says: str

    @classmethod
    def of(cls, found: Spread) -> Self:
        """Make one spread."""
        return cls(
            known=found.known,
            quarter_s=_seconds(found.quarter),
            median_s=_seconds(found.median),
            three_quarters_s=_seconds(found.three_quarters),
            missing=None if found.is_enough else "few",
            says=found.says,
        )


def _seconds(time: timedelta | None) -> float | None:
    return None if time is None else time.total_seconds()


class TimesToFixAnswer(Answer):
    """The incidents that began in a period, of a product on all its boxes (`box_key` null) or on
    one; of all products where `repo_key` and `suite` are null, too. `failing`: those that still
    fail.
    """

    repo_key: str | None
    suite: str | None
    box_key: str | None
    incidents: int
    failing: int
    to_detect: SpreadAnswer
    to_fix: SpreadAnswer

    @classmethod
    def of(cls, row: TimesToFix) -> Self:
        """Make one row."""
        repo_key, suite = row.product or (None, None)
        return cls(
            repo_key=repo_key,
            suite=suite,
            box_key=row.box_key,
            incidents=row.incidents,
            failing=row.failing,
            to_detect=SpreadAnswer.of(row.to_detect),
            to_fix=SpreadAnswer.of(row.to_fix),
        )
