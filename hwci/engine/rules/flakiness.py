# SPDX-License-Identifier: Apache-2.0
"""The table "Flakiest tests" (spec, metric rule 1; semantics, 9.3).

This module decides a test's figures and the order of the table. It does not know labels: the
number of flakes of each test is given.
"""

from collections.abc import Sequence

from hwci.contract.flaky.flaky_tests import Figures, FlakyTest, is_broken, is_flake_seen
from hwci.contract.vocabulary import Outcome
from hwci.engine.facts import TestItem, TestKey
from hwci.engine.history import History, Notable, TestRuns


def flakiest(
    history: History, tests: Sequence[TestRuns], most: int | None = None
) -> list[FlakyTest]:
    """Return the table, or so many first rows of it: "the highest rate first, then more failed
    attempts, then repository, product and id". Each of the tests has a failed attempt.
    """
    if most is not None and most < len(tests):
        # Names decide between those that rank as the last row does.
        ranks = [
            _rank(*attempts_of(reports, items, attempts, failed))
            for _, _, reports, items, attempts, failed, _ in tests
        ]
        last = sorted(ranks)[most - 1]
        tests = [test for test, rank in zip(tests, ranks, strict=True) if rank <= last]
    rows = map(_row, history.test_keys([test.test for test in tests]), tests)
    return sorted(rows, key=_order)[:most]


def _rank(attempts: int, failed: int) -> tuple[float, int]:
    return -_rate(failed, attempts), -failed


def _rate(failed: int, attempts: int) -> float:
    return 100 * failed / attempts


def _order(row: FlakyTest) -> tuple[float, int, str, str, str]:
    return -row.flake_rate, -row.failed_attempts, row.repo_key, row.suite, row.test_id


def _row(key: TestKey, test: TestRuns) -> FlakyTest:
    product, test_id = key
    return FlakyTest(
        repo_key=product.repo_key,
        suite=product.suite,
        test_id=test_id,
        boxes=test.boxes,
        flaky_failures=test.flakes,
        **vars(figures_of(test.reports, _notable_of(test))),
    )


def figures_of(reports: int, notable: Notable) -> Figures:
    """Return the figures of a test in so many reports, of which these items are notable."""
    attempts, failed = attempts_of(reports, *notable)
    return Figures(
        run_reports=reports,
        attempts=attempts,
        failed_attempts=failed,
        retry_passes=_retry_passes_of(notable),
        flake_rate=_rate(failed, attempts),
    )


def has_flaked(test: TestRuns) -> bool:
    """Whether a flake of a test was seen."""
    return is_flake_seen(_retry_passes_of(_notable_of(test)), test.flakes)


def never_passed(test: TestRuns) -> bool:
    """Whether a test is broken."""
    return is_broken(*attempts_of(test.reports, test.items, test.attempts, test.failed))


def has_failed_attempt(item: TestItem) -> bool:
    """Whether an attempt failed: every attempt of a fail, all but the last of a pass."""
    return item.outcome is Outcome.FAIL or item.attempts > 1


def attempts_of(reports: int, items: int, attempts: int, failed: int) -> tuple[int, int]:
    """Count the attempts of a test in so many reports, and those that failed: "all of a failed
    item, one less than all of a passed one". `items`, `attempts`, `failed`: as of `Notable`; all
    other items passed at the first attempt.
    """
    return reports - items + attempts, attempts - (items - failed)


def _notable_of(test: TestRuns) -> Notable:
    return Notable(test.items, test.attempts, test.failed)


def _retry_passes_of(notable: Notable) -> int:
    """Count the items that passed "on a retry"."""
    return notable.items - notable.failed
