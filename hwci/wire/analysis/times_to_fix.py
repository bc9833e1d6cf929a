# SPDX-License-Identifier: Apache-2.0
"""How long it took until failures were seen, and until they were fixed (contract, "Answers beside
the rules"). No figure is computed here.
"""

from datetime import timedelta
from typing import Any, Literal, Self

from hwci.analysis.periods.spread import Spread
from hwci.analysis.periods.times_to_fix import BesideBefore, TimesToFix
from hwci.wire.base import Answer


class SpreadAnswer(Answer):
    """How long it took, of `known` times that ended: a quarter, half and three quarters of all took
    at most so many seconds. Null if `missing` says that too few are known, or if so many have not
    ended yet. `says`: the same in words; `half`: how long half of them took, in words.
    """

    known: int
    quarter_s: float | None
    median_s: float | None
    three_quarters_s: float | None
    missing: Literal["few"] | None
    half: str
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
            half=found.half,
            says=found.says,
        )


def _seconds(time: timedelta | None) -> float | None:
    return None if time is None else time.total_seconds()


class IncidentTimes(Answer):
    """The incidents that began in a period. `failing`: those that still fail."""

    incidents: int
    failing: int
    to_detect: SpreadAnswer
    to_fix: SpreadAnswer


def _times(row: TimesToFix) -> dict[str, Any]:
    return {
        "incidents": row.incidents,
        "failing": row.failing,
        "to_detect": SpreadAnswer.of(row.to_detect),
        "to_fix": SpreadAnswer.of(row.to_fix),
    }


class TimesToFixAnswer(IncidentTimes):
    """The incidents of a product on all its boxes (`box_key` null) or on one; of all products where
    `repo_key` and `suite` are null, too. `before`: those of as many days before; null if these were
    not all recorded.
    """

    repo_key: str | None
    suite: str | None
    box_key: str | None
    before: IncidentTimes | None

    @classmethod
    def of(cls, row: BesideBefore) -> Self:
        """Make one row."""
        now, before = row
        repo_key, suite = now.product or (None, None)
        return cls(
            **_times(now),
            repo_key=repo_key,
            suite=suite,
            box_key=now.box_key,
            before=None if before is None else IncidentTimes(**_times(before)),
        )
