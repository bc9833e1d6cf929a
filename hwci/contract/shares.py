# SPDX-License-Identifier: Apache-2.0
"""A share with how sure it is (contract, "Answers beside the rules"). What is a part of what, and
how sure that is, is decided by the analysis.
"""

from hwci.contract.shape import shape


@shape
class Share:
    """So many of all. `low` and `high`, between 0 and 1, hold the true share with 95 %; null of too
    little for an interval.
    """

    part: int
    total: int
    low: float | None
    high: float | None
