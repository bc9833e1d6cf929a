# SPDX-License-Identifier: Apache-2.0
"""A commit has one chance that it broke a test (semantics, 13): whatever is asked, of random
histories.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, timedelta
from random import Random
from uuid import UUID

import pytest

from hwci.analysis.failures.incidents import described, incidents, seen_products
from hwci.analysis.flaky.bisection import Asked, progress
from hwci.analysis.flaky.suspects import Intermittent, SeenProduct, Suspect, flaky_tests
from hwci.analysis.one_test import one_test
from hwci.analysis.one_test_words import About, concluded
from hwci.contract.flaky.bisection import Bisected
from hwci.contract.vocabulary import MissingCommit
from hwci.engine.calendar import calendar_days
from hwci.engine.facts import Product
from hwci.engine.history import Scope
from hwci.engine.page.tables import FlakySelection
from hwci.engine.periods import Period
from hwci.said import percent
from tests.analysis.races import planted
from tests.simulation.fleet import EPOCH, Cause, Kind, Simulated
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds

PERIOD = Period(EPOCH, EPOCH + timedelta(days=30))
BOX_SETS: Sequence[frozenset[str]] = (frozenset(), frozenset({"bench-2"}))


def drawn(seed: int) -> Simulated:
    """Return a history in which two tests have a cause, of all boxes or of one."""
    draw = Random(seed)
    kinds = draw.choice([Kind.RACE, Kind.BUG]), Kind.RACE
    causes = [
        Cause(
            kind,
            frozenset({test}),
            draw.choice(BOX_SETS),
            rate=1.0 if kind is Kind.BUG else draw.choice([0.2, 0.5, 1.0]),
            since=(since := draw.randrange(10, 60)),
            until=draw.choice([None, None, since + 12]),
        )
        for test, kind in enumerate(kinds)
    ]
    return planted(*causes, seed=seed, tests=8, base_rate=0.002)


class Asker:
    """Asks all that says something of a commit."""

    def __init__(self, fleet: Simulated) -> None:
        self.history = FullRecordedRuns(UUID(int=1), fleet.facts)
        first = fleet.facts.reports[0]
        self.product = Product(first.repo_key, first.suite)
        self.scope = Scope(*self.product)
        [self.runs] = self.history.outcomes(self.scope, PERIOD)

    def bisected(
        self, test: str, good: str | None = None, bad: str | None = None
    ) -> Bisected | MissingCommit:
        return progress(self.history, PERIOD, Asked(self.product, test, good, bad))

    def suspects(self) -> Mapping[str, Suspect]:
        rows = flaky_tests(self.history, self.scope, PERIOD, FlakySelection(limit=100)).items
        return {row.test.test_id: row for row in rows}

    def shown(self, test: str) -> Mapping[str, float]:
        seen = SeenProduct(self.history, self.runs)
        found = one_test(
            self.history, seen, (self.product, test), calendar_days(PERIOD, UTC), "UTC"
        )
        assert found.all is not None
        about = About(seen, test, (), ())
        since = concluded(about, found, found.all).since
        return {} if since is None else since.chances

    def incidents(self) -> Iterator[tuple[str, Mapping[str, float]]]:
        found = incidents(self.history, self.scope, PERIOD)
        seen = seen_products(self.history, self.scope, PERIOD, found)
        for one in described(self.history, found, PERIOD, seen):
            if one.history is not None:
                yield one.incident.lane.test_id, one.history.chances


@pytest.mark.parametrize("seed", range(rounds(8, 200)))
def test_a_commit_has_one_chance_whatever_is_asked(seed: int) -> None:
    ask = Asker(drawn(seed))
    seen, suspects = SeenProduct(ask.history, ask.runs), ask.suspects()
    compared = 0
    for test in ("test_000", "test_001"):
        suggested = seen.suggested(test)
        if not isinstance(suggested, Intermittent):
            continue
        compared += 1
        chances = suggested.since.chances
        assert sum(chances.values()) + suggested.since.before == pytest.approx(1)
        row = suspects[test].found
        assert row is not None
        assert {each.sha: each.chance for each in row.since.suspects}.items() <= chances.items()
        assert ask.shown(test) == chances
        found = ask.bisected(test)
        if isinstance(found, Bisected):
            ends = found.commits[0].sha, found.commits[-1].sha
            assert ask.bisected(test, *ends) == found
            assert found.of_history
            for commit in found.commits[1:]:
                assert commit.chance == chances[commit.sha]
            assert f"({percent(found.bracket.chance)} sure)" in found.says
    of_incidents = [*ask.incidents()]
    for test, chances in of_incidents:
        found_there = seen.suggested(test)
        assert isinstance(found_there, Intermittent)
        assert chances == found_there.since.chances
    assert compared


def test_an_earlier_time_at_which_it_failed_is_judged_by_the_runs_there_alone() -> None:
    twice = [
        Cause(Kind.BUG, frozenset({0}), rate=1.0, since=since, until=until)
        for since, until in ((10, 24), (50, None))
    ]
    fleet = planted(*twice, tests=8)
    ask = Asker(fleet)

    def between(good: int, bad: int) -> Bisected:
        last_before = max(at for at in fleet.tested if at < good)
        ends = last_before, min(at for at in fleet.tested if at >= bad)
        found = ask.bisected("test_000", *(fleet.commits[at].sha for at in ends))
        assert isinstance(found, Bisected)
        return found

    first, last = between(10, 12), between(50, 52)

    assert (first.of_history, last.of_history) == (False, True)
    assert "they alone are weighed" in first.says
    assert "alone" not in last.says


def test_passes_on_a_box_on_which_it_hardly_fails_clear_no_commit() -> None:
    """On one box of five it fails since commit 30, always: four passes on each commit beside."""
    on_one = Cause(Kind.BUG, frozenset({0}), frozenset({"bench-2"}), rate=1.0, since=30)
    fleet = planted(on_one)
    ask = Asker(fleet)
    found = SeenProduct(ask.history, ask.runs).suggested("test_000")
    assert isinstance(found, Intermittent)
    step = [fleet.commits[at].sha for at in (29, 30, 31)]
    assert sum(found.since.chances[sha] for sha in step) > 0.95
