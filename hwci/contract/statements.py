# SPDX-License-Identifier: Apache-2.0
"""What is claimed of a test, and since which commit it fails (contract, "Answers beside the
rules"). Chances are between 0 and 1.
"""

from datetime import datetime

from hwci.contract.shape import Open, shape
from hwci.contract.vocabulary import Claim


@shape
class Statement:
    """What is claimed of a test (semantics, 14), from which its sentences are made. `boxes`: those
    that it is about: that fail now, that are to blame, that lost the board, that are gone, or all
    that ran it; `others`: of which it says the contrary. `chance`: how sure it is; null where it
    only counts. `failed` of `runs` first attempts: where boxes explain it, on `boxes`, and
    `othersFailed` of `othersRuns` on the others, on the same commits; else on all boxes. `since`:
    when it began to fail now, or was seen last. `lostHere`: so many runs lost the board at it.
    """

    claim: Open[Claim]
    boxes: tuple[str, ...]
    others: tuple[str, ...]
    chance: float | None
    failed: int
    runs: int
    others_failed: int
    others_runs: int
    since: datetime | None
    lost_here: int


@shape
class Certainty:
    """Since which commit of a branch a test fails, by all its runs of the period (semantics, 13).
    `sha` is the likeliest one, and `chance` that it is this one, as every answer has it; `says`
    names it, or those among which it is, or the time before the period.
    """

    branch: str
    sha: str
    chance: float
    says: str
