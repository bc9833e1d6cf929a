# SPDX-License-Identifier: Apache-2.0
"""How long it took until failures were seen, and until they were fixed (contract, "Answers beside
the rules").
"""

from typing import Literal

from hwci.contract.shape import shape


@shape
class Spread:
    """How long it took, of `known` times that ended: a quarter, half and three quarters of all took
    at most so many seconds. Null if `missing` says that too few are known, or if so many have not
    ended yet. `says`: the same in words; `half`: how long half of them took, in words.
    """

    known: int
    quarter_s: float | None
    median_s: float | None
    three_quarters_s: float | None
    missing: Literal["few"] | str | None
    half: str
    says: str


@shape
class IncidentTimes:
    """The incidents that began in a period. `toDetect`: from the merge to the start of the first
    failing run, of those whose merge is known. `toFix`: from there to the start of the first run in
    which all of it passed; `failing`: how many still fail.
    """

    incidents: int
    failing: int
    to_detect: Spread
    to_fix: Spread


@shape
class TimesToFix(IncidentTimes):
    """The incidents of a product on all its boxes (`boxKey` null) or on one; of all products where
    `repoKey` and `suite` are null, too. `before`: those of as many days before; null if these were
    not all recorded.
    """

    repo_key: str | None
    suite: str | None
    box_key: str | None
    before: IncidentTimes | None
