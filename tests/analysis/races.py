# SPDX-License-Identifier: Apache-2.0
"""A simulated bench on which a test has a race, and what is suspected there."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from hwci.analysis.flaky.suspects import Suspect, flaky_tests
from hwci.analysis.flaky_rows import whole
from hwci.contract.vocabulary import RankBy
from hwci.engine.facts import Facts
from hwci.engine.history import Listing, Scope
from hwci.engine.page.tables import FlakySelection
from hwci.engine.periods import Period
from tests.simulation.fleet import EPOCH, Cause, Kind, Plan, Simulated, simulate
from tests.support.outcomes import FullRecordedRuns

EVER = Period(EPOCH, EPOCH + timedelta(days=3650))
ONE = frozenset({0})
RACE = Cause(Kind.RACE, ONE, rate=0.4, since=20)
SMALL = Plan(tests=2, runs=200, base_rate=0.0)


def asked(
    facts: Facts, rank_by: RankBy = RankBy.FLAKE_RATE, offset: int = 0, limit: int = 100
) -> Listing[Suspect]:
    """Return a page of the suspected causes."""
    selection = FlakySelection(offset=offset, limit=limit)
    return flaky_tests(FullRecordedRuns(UUID(int=1), facts), Scope(), EVER, selection, rank_by)


def only(facts: Facts) -> Suspect:
    """Return what is suspected of the only flaky test."""
    [found] = asked(facts).items
    return found


def text_of(row: Suspect) -> str:
    """Return what is said of a test in its row of flaky tests."""
    return whole(row, {}).text


def planted(*causes: Cause, seed: int = 1, **plan: Any) -> Simulated:
    """Simulate a small bench with these causes."""
    return simulate(replace(SMALL, **plan), causes, seed)
