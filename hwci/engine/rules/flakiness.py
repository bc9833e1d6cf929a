# SPDX-License-Identifier: Apache-2.0
"""The table "Flakiest tests" (spec, metric rule 1; semantics, 9.3).

This module decides a test's figures and the order of the table. It does not know labels: how many
failures of a test are flakes is handed in.
"""

from collections.abc import Iterable, Mapping

from hwci.engine.answers import FlakyTest
from hwci.engine.facts import Product, TestItem
from hwci.engine.history import ItemGroup, TestRuns
from hwci.engine.vocabulary import Outcome

TestKey = tuple[Product, str]


def flakiest(tests: Iterable[TestRuns], flaky: Mapping[TestKey, int]) -> list[FlakyTest]:
    """Order the tests by rate, the highest first; each has a failed attempt, or it is not given."""
    rows = [_row(test, flaky.get((test.product, test.test_id), 0)) for test in tests]
    return sorted(
        rows,
        key=lambda row: (
            -row.flake_rate,
            -row.failed_attempts,
            row.repo_key,
            row.suite,
            row.test_id,
        ),
    )


def _row(test: TestRuns, flaky_failures: int) -> FlakyTest:
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
        retry_passes=sum(one.items for one in test.notable if is_retry_pass(one)),
        flaky_failures=flaky_failures,
        flake_rate=100 * failed / attempts,
    )


def is_retry_pass(told: TestItem | ItemGroup) -> bool:
    """Whether a test passed "on a retry"."""
    return told.outcome is Outcome.PASS and told.attempts > 1


def has_failed_attempt(told: TestItem | ItemGroup) -> bool:
    """Whether some attempt failed: all of a fail, all but the last of a pass."""
    return told.outcome is Outcome.FAIL or told.attempts > 1


def attempts_of(reports: int, notable: Iterable[ItemGroup]) -> int:
    """Count the attempts of a test; an item that is not notable is one, and it passed."""
    return reports + sum((one.attempts - 1) * one.items for one in notable)


def failed_attempts_of(notable: Iterable[ItemGroup]) -> int:
    """Count the failed attempts of a test."""
    return sum(_failed_attempts(one) for one in notable)


def _failed_attempts(group: ItemGroup) -> int:
    """Spec: "A test that passed on its third attempt adds two failed attempts"; a fail adds all."""
    passed = group.outcome is Outcome.PASS
    return group.items * (group.attempts - 1 if passed else group.attempts)
