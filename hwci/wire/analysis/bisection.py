# SPDX-License-Identifier: Apache-2.0
"""What can be asked of bisections (contract, "Answers beside the rules")."""

from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from hwci.wire import limits
from hwci.wire.base import Name, TestId
from hwci.wire.queries import DIGITS, BoxQuery, PeriodQuery, ShaStart


class BisectionQuery(PeriodQuery, BoxQuery):
    """Query of a bisection. `good` and `bad` are commits, or the first digits of one that ran; with
    neither, they are the ends of what the runs suggest. `boxKey`: only runs of this box count, and
    it alone is proposed. `boxes`: how many runs to propose, each on a box of its own.
    """

    repo_key: Name
    suite: Name
    test_id: TestId
    good: ShaStart | None = None
    bad: ShaStart | None = Field(None, validate_default=True)
    boxes: Annotated[int, Field(ge=1, le=limits.BISECTED_AT_ONCE_MAX), DIGITS] = 1

    @field_validator("bad", mode="after")
    @classmethod
    def _both_or_neither(cls, bad: str | None, info: ValidationInfo) -> str | None:
        # A faulty `good` is not in `info`, and has a fault of its own.
        if (info.data.get("good", bad) is None) != (bad is None):
            raise PydanticCustomError("ends", "Needs both `good` and `bad`, or neither")
        return bad

    @property
    def more_flags(self) -> dict[str, object]:
        """The flags that a command has which asks the same again."""
        flags: dict[str, tuple[object, object]] = {
            "--box": (self.box_key, None),
            "--boxes": (self.boxes, 1),
            "--days": (self.days, limits.DAYS_DEFAULT),
        }
        return {flag: value for flag, (value, usual) in flags.items() if value != usual}
