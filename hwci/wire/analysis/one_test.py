# SPDX-License-Identifier: Apache-2.0
"""What can be asked of one test, and of the tests that there are (contract, "Answers beside the
rules").
"""

from hwci.wire.analysis.days import DaysQuery
from hwci.wire.base import Name, TestId
from hwci.wire.queries import PageQuery, ProductQuery, Search, WhereQuery


class TestNamesQuery(PageQuery, ProductQuery, WhereQuery):
    """Query of the tests that reports name: all, or those of a box, a branch or a commit. `search`:
    those in which every word occurs.
    """

    search: Search | None = None


class OneTestQuery(DaysQuery):
    """Query of one test over a period, by the days of a zone."""

    repo_key: Name
    suite: Name
    test_id: TestId
