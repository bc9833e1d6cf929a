# SPDX-License-Identifier: Apache-2.0
"""Resolved failures that lie in runs that lost their board (contract, "Answers beside the
rules").
"""

from uuid import UUID

from hwci.contract.shape import shape


@shape
class LostBoardCounts:
    """How many rows of the two tables of resolved failures lie in runs that lost their board, and
    which these are: `failures` has the ids of the newest 1,000 of both.
    """

    real_bugs: int
    other_failures: int
    failures: tuple[UUID, ...]
