# SPDX-License-Identifier: Apache-2.0
"""The table "Flakiest tests" (spec, metric rule 1; semantics, 9.3).

This module decides a test's figures and the order of the table. It does not know labels: the
number of flakes of each test is given.
"""

from collections.abc import Iterable
from typing import NamedTuple

from hwci.engine.facts import TestItem
from hwci.engine.history import Notable, TestRuns
from hwci.engine.vocabulary import Outcome


def is_broken(attempts: int, failed_attempts: int) -> bool:
    """Whether "a test that never passed in the period is broken" applies."""
    return failed_attempts == attempts


class FlakyTest(NamedTuple):
    """A row of "Flakiest tests". `flake_rate` is a percentage (metric rule 1)."""

    repo_key: str
    suite: str
    test_id: str
    boxes: int
    run_reports: int
    attempts: int
    failed_attempts: int
    retry_passes: int
    flaky_failures: int
    flake_rate: float

    @property
    def broken(self) -> bool:
        """Whether the test never passed in the period."""
        return is_broken(self.attempts, self.failed_attempts)


def flakiest(tests: Iterable[TestRuns]) -> list[FlakyTest]:
    """Return the table: "the highest rate first, then more failed attempts, then repository,
    product and id". Each of the tests has a failed attempt.
    """
    return sorted(
        map(_row, tests),
        key=lambda row: (
            -row.flake_rate,
            -row.failed_attempts,
            row.repo_key,
            row.suite,
            row.test_id,
        ),
    )


def _row(test: TestRuns) -> FlakyTest:
    attempts = attempts_of(test.reports, test.notable)
    failed = failed_attempts_of(test.notable)
    return FlakyTest(
        repo_key=test.product.repo_key,
        suite=test.product.suite,
        test_id=test.test_id,
        boxes=test.boxes,
        run_reports=test.reports,
        attempts=attempts,
        failed_attempts=failed,
        retry_passes=retry_passes_of(test.notable),
        flaky_failures=test.flakes,
        flake_rate=100 * failed / attempts,
    )


def has_failed_attempt(item: TestItem) -> bool:
    """Whether an attempt failed: every attempt of a fail, all but the last of a pass."""
    return item.outcome is Outcome.FAIL or item.attempts > 1


def retry_passes_of(notable: Notable) -> int:
    """Count the items that passed "on a retry"."""
    return notable.items - notable.failed


def attempts_of(reports: int, notable: Notable) -> int:
    """Count the attempts of a test. Items that are not notable passed at the first attempt."""
    return reports - notable.items + notable.attempts


def failed_attempts_of(notable: Notable) -> int:
    """Count the failed attempts: "all of a failed item, one less than all of a passed one"."""
    return notable.attempts - retry_passes_of(notable)
