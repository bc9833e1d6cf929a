# SPDX-License-Identifier: Apache-2.0
"""Whether a box may take a job, and why (contract, "Command line", "Gates"). No route answers it:
`hwci boxes fit` writes it.
"""

from enum import StrEnum

from hwci.contract.scope import PeriodOfDays
from hwci.contract.shape import shape


class FitCheck(StrEnum):
    """What is looked at."""

    CLEAN = "clean"
    LOSSES = "losses"
    WORSE = "worse"
    SILENT = "silent"


@shape
class CheckOfBox:
    """A check. `met` null: there is too little to tell."""

    check: FitCheck
    met: bool | None
    says: str


@shape
class Fitness:
    """The answer. `strict`: too little to tell counts as not fit."""

    period: PeriodOfDays
    box_key: str
    fit: bool
    strict: bool
    checks: tuple[CheckOfBox, ...]
