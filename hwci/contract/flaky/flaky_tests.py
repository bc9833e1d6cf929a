# SPDX-License-Identifier: Apache-2.0
"""A row of "Flakiest tests" (spec, "Metrics page")."""

from hwci.contract.scope import TestName
from hwci.contract.shape import shape


def is_broken(attempts: int, failed_attempts: int) -> bool:
    """Whether "a test that never passed in the period is broken" applies."""
    return failed_attempts == attempts


def is_flake_seen(retry_passes: int, flaky_failures: int) -> bool:
    """Whether a test passed where it failed."""
    return retry_passes > 0 or flaky_failures > 0


@shape
class Figures:
    """What the table counts of a test, on all its boxes or on one. `flake_rate` is a percentage
    (metric rule 1).
    """

    run_reports: int
    attempts: int
    failed_attempts: int
    retry_passes: int
    flake_rate: float


@shape
class FlakyTest(TestName):
    """A row of "Flakiest tests", with its figures on all boxes."""

    boxes: int
    run_reports: int
    attempts: int
    failed_attempts: int
    retry_passes: int
    flaky_failures: int
    flake_rate: float

    @property
    def broken(self) -> bool:
        """Whether the test never passed in the period. Not sent: it follows from the row."""
        return is_broken(self.attempts, self.failed_attempts)

    @property
    def flaked(self) -> bool:
        """Whether a flake of it was seen: a retry passed, or its failing commit did. Not sent."""
        return is_flake_seen(self.retry_passes, self.flaky_failures)
