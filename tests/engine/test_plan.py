# SPDX-License-Identifier: Apache-2.0
"""A plan shows the page as it is once the configuration is sent."""

from collections.abc import Sequence
from dataclasses import astuple, replace

import pytest

from hwci.contract.failures.failures import (
    ClassAndReason,
    ReclassifiedFailure,
    ResolvedFailure,
    Review,
)
from hwci.contract.page.metrics import RealFwBugs, SuiteConfigPlan
from hwci.contract.people import Actor
from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import FailureClass, Reason, ReviewAction
from hwci.engine.facts import Facts, FailureKey, Lane, Product, StoredReview, SuiteConfig
from hwci.engine.full_history import FullHistory
from hwci.engine.history import History, OutOfTimeError, Scope
from hwci.engine.page import plan
from hwci.engine.page.overview import read_page
from hwci.engine.page.tables import OtherSelection, Selection, other_failures, real_bugs
from hwci.engine.periods import Period
from tests.engine.hurried import Hurried
from tests.engine.timeline import CONFIG, EVER, seen
from tests.server.storage.histories import EVER as EVER_DRAWN
from tests.server.storage.histories import NOON, ORG, REPOS, SUITES, HistoryDraw, periods
from tests.support.reading import read_period

SWAPPED = replace(CONFIG, firmware_paths=("ci/**",), harness_paths=("src/**",))


def planned(history: History, period: Period, config: SuiteConfig) -> SuiteConfigPlan:
    """Return a plan with all its changes."""

    def whole(rows: Sequence[ReclassifiedFailure]) -> ListPage[ReclassifiedFailure]:
        return ListPage(items=tuple(rows), total=len(rows), page=1, limit=len(rows))

    return plan.plan(history, period, config, whole)


def bugs(*counts: int) -> RealFwBugs:
    names = ("real", "bench_or_harness", "ambiguous", "dismissed")
    return RealFwBugs(**dict(zip(names, counts, strict=True)))


def rows(history: History, scope: Scope, period: Period) -> dict[object, ResolvedFailure]:
    """Return every resolved failure that the page shows."""
    reading = read_period(history, scope, period)
    bugs = real_bugs(history, reading.real_bugs, Selection())
    others = other_failures(history, reading.other_failures, OtherSelection())
    return {row.id: row for row in (*bugs.items, *others.items)}


def shown(found: ClassAndReason) -> tuple[FailureClass, Reason | None]:
    return found.failure_class, found.reason


def test_a_failure_that_the_checks_would_see_otherwise_is_shown_with_both_classes() -> None:
    past = seen("box-1 | a:P b:F c:P", changed={"b": "fw", "c": "fw"})
    found = planned(past.history, EVER, SWAPPED)

    (one,) = found.changes.items
    assert (one.sha, one.review) == ("b", None)
    assert shown(one.before) == (FailureClass.REAL_FW_BUG, None)
    assert shown(one.after) == (FailureClass.BENCH_OR_HARNESS, Reason.CHANGES_NOT_FIRMWARE)
    assert (found.before, found.after) == (bugs(1, 0, 0, 0), bugs(0, 1, 0, 0))


def test_the_same_configuration_changes_nothing() -> None:
    past = seen("box-1 | a:P b:F c:P", changed={"b": "fw", "c": "fw"})
    found = planned(past.history, EVER, CONFIG)

    assert found.changes.items == ()
    assert found.before == found.after == bugs(1, 0, 0, 0)


def test_a_configuration_of_another_product_changes_nothing() -> None:
    past = seen("box-1 | a:P b:F c:P", changed={"b": "fw", "c": "fw"})
    found = planned(past.history, EVER, replace(SWAPPED, suite="other"))

    assert found.changes.items == ()
    assert found.before == found.after == bugs(0, 0, 0, 0)


def test_a_failure_that_was_not_resolved_is_not_listed() -> None:
    past = seen("box-1 | a:P b:F", changed={"b": "fw"})

    assert planned(past.history, EVER, SWAPPED).changes.items == ()


def test_a_review_stays_and_the_checks_below_it_are_listed() -> None:
    past = seen("box-1 | a:P b:F c:P", changed={"b": "fw", "c": "fw"})
    found = planned(past.reviewed("b", "dismiss").history, EVER, SWAPPED)

    (one,) = found.changes.items
    assert one.review is not None
    assert one.review.action is ReviewAction.DISMISS
    assert one.before.failure_class is FailureClass.REAL_FW_BUG
    assert one.after.failure_class is FailureClass.BENCH_OR_HARNESS
    assert found.before == found.after == bugs(0, 0, 0, 1)


def test_a_plan_whose_time_is_over_has_the_newest_failures_that_it_reached() -> None:
    facts, draw = drawn(3)
    new = replace(draw.config(), repo_key=REPOS[0], suite=SUITES[0])
    whole = planned(Hurried(facts, 10**9), EVER_DRAWN, new)
    assert whole.failures is not None
    assert whole.looked_at == whole.failures > 3
    seen: set[int] = set()
    for looks in range(2_000):
        try:
            found = planned(Hurried(facts, looks), EVER_DRAWN, new)
        except OutOfTimeError:
            assert not seen, "with more time a plan comes further"
            continue
        assert found.failures == whole.failures
        assert found.looked_at is not None
        assert sum(astuple(found.before)) == sum(astuple(found.after)) == found.looked_at
        assert found.changes.items == whole.changes.items[: found.changes.total]
        seen.add(found.looked_at)
        if found == whole:
            break

    assert seen == set(range(1, whole.failures + 1))


def drawn(seed: int) -> tuple[Facts, HistoryDraw]:
    """Draw a history in which people reviewed some failures."""
    draw = HistoryDraw(seed)
    identities = {}
    for _ in range(80):
        one = draw.next_report()
        identities[one.repo_key, one.run_id, one.run_attempt, one.box_key] = one
    configs = [draw.config() for _ in range(3)]
    facts = Facts(
        reports=tuple(identities.values()),
        configs={Product(one.repo_key, one.suite): one for one in configs},
    )
    resolved = rows(FullHistory(ORG, facts), Scope(), EVER_DRAWN).values()
    reviews = {
        key_of(row): StoredReview(
            key_of(row),
            Review(draw.random.choice(list(ReviewAction)), Actor(ORG, "Ada"), NOON),
            number,
        )
        for number, row in enumerate(resolved)
        if draw.random.random() < 0.2
    }
    return replace(facts, reviews=reviews), draw


def key_of(row: ResolvedFailure) -> FailureKey:
    lane = Lane(row.repo_key, row.suite, row.test_id, row.box_key, row.branch)
    return FailureKey(lane, row.first_failure.sha)


def told_and_true(seed: int) -> int:
    """Compare a plan with the pages before and after; give how many failures changed."""
    facts, draw = drawn(seed)
    new = replace(draw.config(), repo_key=REPOS[0], suite=draw.random.choice(SUITES))
    product = Product(new.repo_key, new.suite)
    now = FullHistory(ORG, facts)
    then = FullHistory(ORG, replace(facts, configs={**facts.configs, product: new}))
    changed = 0
    for period in periods(draw.random):
        found = planned(now, period, new)
        before, after = (rows(one, Scope(*product), period) for one in (now, then))
        tiles = [read_page(one, Scope(*product), period).tiles for one in (now, then)]
        assert [found.before, found.after] == [one.real_fw_bugs for one in tiles]
        assert {one.id: (shown(one.before), shown(one.after)) for one in found.changes.items} == {
            row.id: (shown(row.automatic), shown(after[row.id].automatic))
            for row in before.values()
            if shown(row.automatic) != shown(after[row.id].automatic)
        }
        assert {one.id: one.review for one in found.changes.items}.items() <= {
            row.id: row.review for row in before.values()
        }.items()
        changed += found.changes.total
    return changed


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_what_a_plan_shows_is_what_the_page_shows_once_it_is_sent(first: int) -> None:
    assert sum(told_and_true(seed) for seed in range(first, first + 10)) > 0
