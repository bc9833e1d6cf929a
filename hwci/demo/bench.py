# SPDX-License-Identifier: Apache-2.0
"""The demo's boxes: whether one answers, and how each test ends on it.

This module decides results only, from lasting troubles, outages and chance.
"""

import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

from hwci.contract.vocabulary import Outcome, Verdict
from hwci.demo.branches import Trouble
from hwci.demo.project import BENCH_MESSAGE, MESSAGES, DemoProduct
from hwci.demo.story import FLAKY, OUTAGES, Outage, moment
from hwci.wire.reports import TestItem

ATTEMPTS = 3
"""Attempts of the harness at a test that fails."""
CHANCE_OF_A_BAD_ATTEMPT = 0.0006
CHANCE_OF_A_LOST_BOX = 0.012
# The harness's message for a failure that it cannot explain.
GUESSES: tuple[Verdict, ...] = (Verdict.UNKNOWN, Verdict.UNKNOWN, Verdict.INFRA)


class Bench:
    """All boxes, over the whole history."""

    def __init__(self, rng: Random, troubles: Sequence[Trouble]) -> None:
        self._rng = rng
        self._troubles = troubles
        self._outages = [(*_window(outage), outage) for outage in OUTAGES]
        self._rates = {(flaky.product.suite, flaky.test): flaky for flaky in FLAKY}

    def runner_is_there(self, box: str, at: datetime) -> bool:
        """Return whether the machine beside the box can send a report."""
        return not any(outage.silent for outage in self._outages_of(box, at))

    def answers(self, box: str, at: datetime) -> bool:
        """Return whether the connectivity check before the tests passes."""
        return not self._outages_of(box, at) and self._rng.random() >= CHANCE_OF_A_LOST_BOX

    def _outages_of(self, box: str, at: datetime) -> list[Outage]:
        return [
            outage
            for start, end, outage in self._outages
            if start <= at < end and box in outage.boxes
        ]

    def results(
        self, product: DemoProduct, box: str, branch: str, place: int, at: datetime
    ) -> tuple[list[TestItem], bool]:
        """Return the results of the product's tests, and whether one failed by chance alone."""
        broken = {
            test: trouble.incident.verdict
            for trouble in self._troubles
            if trouble.strikes(product, box) and trouble.lasts(branch, place, at)
            for test in trouble.incident.tests
        }
        items = [
            _failed(test, broken[test]) if test in broken else self._tried(product, test, box)
            for test in product.tests
        ]
        flaked = any(item.outcome is Outcome.FAIL and item.id not in broken for item in items)
        return items, flaked

    def _tried(self, product: DemoProduct, test: str, box: str) -> TestItem:
        rate = self._rate(product, test, box)
        for attempt in range(1, ATTEMPTS + 1):
            if self._rng.random() >= rate:
                return TestItem(
                    id=test,
                    outcome=Outcome.PASS,
                    attempts=attempt,
                    duration_s=round(_seconds(test) * attempt * self._rng.uniform(0.95, 1.1), 3),
                )
        return _failed(test, self._rng.choice(GUESSES))

    def _rate(self, product: DemoProduct, test: str, box: str) -> float:
        flaky = self._rates.get((product.suite, test))
        if flaky is None or flaky.box not in (None, box):
            return CHANCE_OF_A_BAD_ATTEMPT
        return flaky.rate


def _window(outage: Outage) -> tuple[datetime, datetime]:
    start = moment(outage.days_ago, 9)
    return start, start + timedelta(hours=outage.hours)


def _failed(test: str, verdict: Verdict | None) -> TestItem:
    return TestItem(
        id=test,
        outcome=Outcome.FAIL,
        attempts=ATTEMPTS,
        duration_s=round(_seconds(test) * ATTEMPTS, 3),
        verdict=verdict or Verdict.UNKNOWN,
        message=BENCH_MESSAGE if verdict is Verdict.INFRA else MESSAGES[test.partition(".")[0]],
    )


def _seconds(test: str) -> float:
    """Each test takes its own time."""
    return 0.4 + zlib.crc32(test.encode()) % 190 / 10
