# SPDX-License-Identifier: Apache-2.0
"""Laws of the whole page over random histories (semantics, 1.5 and 4)."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from hwci.contract.vocabulary import Label
from hwci.engine.facts import Report
from hwci.engine.page.tables import FailureSelection, labelled_failures
from tests.engine.drawn import SHAS, reports
from tests.engine.timeline import Past

LAW = settings(deadline=None, max_examples=60)  # a busy machine proves nothing


@LAW
@given(reports().flatmap(lambda made: st.tuples(st.just(made), st.permutations(made))))
def test_the_order_of_arrival_does_not_matter(orders: tuple[list[Report], list[Report]]) -> None:
    one, other = (Past(order) for order in orders)

    assert one.page() == other.page()


def lane_by_lane(past: Past) -> set[tuple[str, ...]]:
    """Form groups as the rules read: walk each lane's commits in order of place."""
    found = set()
    history = past.history
    for lane in {failure.key.lane for failure in past.failures()}:
        failures = {one.key.sha: one for one in past.failures() if one.key.lane == lane}
        passed = _passed(past.reports, lane.box_key)
        places = {sha: history.place(lane.repo_key, lane.branch, sha) for sha in SHAS}
        walk = sorted((place, sha) for sha, place in places.items() if place is not None)
        group: list[str] = []
        for _, sha in walk:
            if sha in passed:
                found.add(tuple(group))
                group = []
            elif sha in failures:
                group.append(sha)
        found.add(tuple(group))
    return found - {()}


def _passed(made: Sequence[Report], box: str) -> set[str]:
    return {
        one.sha
        for one in made
        if one.box_key == box and one.hello_ok and one.tests[0].outcome.value == "pass"
    }


@LAW
@given(reports())
def test_groups_are_runs_of_failures_with_no_passed_commit_between(made: list[Report]) -> None:
    past = Past(made)
    groups = {
        tuple(failure.key.sha for failure in group.failures)
        for group in past.groups()
        if group.label is not Label.FLAKE
    }

    assert groups == lane_by_lane(past)


@LAW
@given(reports())
def test_every_failing_item_is_of_one_failure_with_one_label(made: list[Report]) -> None:
    found = Past(made).labelled()
    rows = labelled_failures(found, FailureSelection(limit=99))
    by_label = [
        labelled_failures(found, FailureSelection(label=label, limit=99)).total for label in Label
    ]
    failing = [one for one in made if one.hello_ok and one.tests[0].outcome.value == "fail"]

    assert sum(row.failure.items for row in rows.items) == len(failing)
    assert sum(by_label) == rows.total
