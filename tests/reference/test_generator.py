# SPDX-License-Identifier: Apache-2.0
"""The random histories hold everything that the comparison with the server is meant to compare."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from tests.reference import brute
from tests.reference.checks import (
    REASONS,
    Walk,
    broken_by,
    carries,
    changes_under_test,
    reason_of,
    run_of,
    walk_back,
)
from tests.reference.delivery import in_arrival_order
from tests.reference.facts import Event, Facts
from tests.reference.generator import COVERING, LATEST, choose, generate, settle
from tests.reference.lanes import Group, passing_reports
from tests.reference.reviews import all_groups, class_and_reason
from tests.support.soak import rounds

SEEDS = rounds(COVERING, range(200))


@dataclass(frozen=True)
class Case:
    """A resolved failure in its story."""

    facts: Facts
    group: Group

    @property
    def walk(self) -> Walk | None:
        """The walk that the checks came to look at."""
        reason = reason_of(self.facts, self.group)
        if self.group.fix is None or (reason is not None and not reason.startswith("fix_")):
            return None
        last_failing = self.group.failures[-1].sha
        return walk_back(self.facts, self.group.lane[0], last_failing, self.group.fix)

    @property
    def first_run_reached_hardware(self) -> bool:
        failing = run_of(self.group.first_hit[0])
        return min(
            (one for one in self.facts.reports.values() if run_of(one)[:4] == failing[:4]),
            key=lambda report: report.order,
        ).hello_ok

    @property
    def broken_by_narrowed(self) -> bool:
        """A pass among the changes under test leaves fewer commits to blame."""
        whole = broken_by(self.facts, replace(self.group, passed_before=None))
        return whole != broken_by(self.facts, self.group)

    @property
    def fix_passed_only_elsewhere(self) -> bool:
        if self.group.fix is None:
            return False
        passing = passing_reports(self.facts, self.group.lane, self.group.fix)
        return all(report.branch != self.group.lane[4] for report in passing)


def stands_alone(case: Case) -> bool:
    own = case.group.failures[0].sha
    return bool(passing_reports(case.facts, case.group.lane, own))


def review_outlived_its_reason(case: Case) -> bool:
    """What was confirmed is a real bug by itself now, or what was dismissed is none."""
    review = case.group.review
    automatic = reason_of(case.facts, case.group)
    return review is not None and (review.action == "confirm") == (automatic is None)


def commits_ran_out_of_order(case: Case) -> bool:
    starts = [failure.hits[0][0].started for failure in case.group.failures]
    return starts != sorted(starts)


def first_run_is_another(case: Case) -> bool:
    first = case.group.first_hit[0]
    reports = [one for one in case.facts.reports.values() if run_of(one)[:4] == run_of(first)[:4]]
    return run_of(min(reports, key=lambda one: one.order)) != run_of(first)


WALKS: dict[str, Callable[[Walk], bool]] = {
    "a walk of one exact step": lambda walk: not walk.cut and len(walk.steps) == 1,
    "a walk of several steps": lambda walk: len(walk.steps) > 1,
    "a walk whose last step is cut": lambda walk: walk.cut,
    "a walk of several steps, the last one cut": lambda walk: walk.cut and len(walk.steps) > 1,
    "equally short walks": lambda walk: walk.rivals > 0,
    "equally short cut walks": lambda walk: walk.cut and walk.rivals > 0,
    "an exact step that names the last failing commit": lambda walk: (
        not walk.cut and walk.steps[-1].base in [one.sha for one in walk.steps[-1].commits]
    ),
    "a commit listed twice in a walk": lambda walk: (
        len({one.sha for one in walk.commits}) < len(walk.commits)
    ),
}

CASES: dict[str, Callable[[Case], bool]] = {
    "a group of several commits": lambda case: len(case.group.failures) > 1,
    "a reviewed failure that stands alone": stands_alone,
    "a reviewed group whose fix is gone": lambda case: case.group.fix is None,
    "a review that outlived its reason": review_outlived_its_reason,
    "a group with several reviews": lambda case: len(case.group.reviews) > 1,
    "a review that is not the first failure's": lambda case: (
        bool(case.group.reviews) and case.group.failures[0].key not in case.facts.reviews
    ),
    "broken by several commits": lambda case: (
        len((broken_by(case.facts, case.group) or {"commits": []})["commits"]) > 1
    ),
    "broken by fewer commits than were under test": lambda case: case.broken_by_narrowed,
    "a group run out of the order of its commits": commits_ran_out_of_order,
    "a first run that is not the first failing one": first_run_is_another,
    "a first run that never reached the hardware": lambda case: (
        not case.first_run_reached_hardware
        and changes_under_test(case.facts, case.group.first_hit[0]) is not None
    ),
    "a fix that passed only on another branch": lambda case: case.fix_passed_only_elsewhere,
    "a failure that came in a later part": lambda case: case.group.first_hit[0].is_later_part,
    "a failure on a side branch": lambda case: case.group.lane[4] != "main",
}


def traits_of_case(case: Case) -> Iterator[str]:
    yield f"class {class_and_reason(case.facts, case.group)[0]}"
    yield f"reason {class_and_reason(case.facts, case.group)[1]}"
    yield f"automatic reason {reason_of(case.facts, case.group)}"
    for name, holds in CASES.items():
        if holds(case):
            yield name
    walk = case.walk
    for name, is_so in WALKS.items():
        if walk is not None and is_so(walk):
            yield name


def traits_of_events(events: list[Event]) -> Iterator[str]:
    reports: dict[tuple[object, ...], str] = {}
    for kind, body in events:
        yield f"event {body['action'] if kind == 'review' else kind}"
        if kind != "report":
            continue
        identity = (body["repo_key"], body["run_id"], body["run_attempt"], body["box_key"])
        before = reports.setdefault(identity, repr(body))
        reports[identity] = repr(body)
        if before != repr(body):
            yield "a report replaced"
        if body["tests"] and not body["hello_ok"]:
            yield "a lost run with tests"


def traits_of_facts(facts: Facts) -> Iterator[str]:
    for report in facts.reports.values():
        if report.changes is not None and not carries(report):
            yield "changes that say nothing about their commit"
        if report.changes is not None and report.changes.truncated:
            yield "a truncated range"
        if len(report.sha) < 40:
            yield "an abbreviated commit"
    for group in all_groups(facts)[0]:
        if group.label == "resolved":
            yield from traits_of_case(Case(facts, group))


def traits_of_page(seed: int, events: list[Event]) -> Iterator[str]:
    for view in generate(seed).views:
        page = brute.page(events, **view)
        yield "a merge that no run checked" if page["uncheckedMerges"] else "no such merge"
        if any(row["suite"] is None for row in page["uncheckedMerges"]):
            yield "an unassigned merge"
        if page["tiles"]["infraRuns"]["infra"]:
            yield "an infra run"
        if page["tiles"]["mergesChecked"]["checked"]:
            yield "a checked merge"
    for row in brute.failures(events, 3650, LATEST):
        yield f"label {row['label']}"


@pytest.fixture(scope="module")
def seen() -> Counter[str]:
    """How many times each trait occurs over all seeds."""
    found: Counter[str] = Counter()
    for seed in SEEDS:
        events = settle(generate(seed).events)
        found.update(traits_of_events(events))
        found.update(traits_of_facts(brute.replay(events)))
        found.update(traits_of_page(seed, events))
    return found


AUTOMATIC = [reason for reason in REASONS if reason != "dismissed"]
EXPECTED = [
    *(f"reason {reason}" for reason in REASONS),
    *(f"automatic reason {reason}" for reason in AUTOMATIC),
    *(f"class {name}" for name, _ in set(REASONS.values())),
    *WALKS,
    *CASES,
    *(f"event {kind}" for kind in ["announce", "report", "config", "confirm", "dismiss", "reset"]),
    *(f"label {label}" for label in ["flake", "resolved", "pending"]),
    "a report replaced",
    "a lost run with tests",
    "changes that say nothing about their commit",
    "a truncated range",
    "an abbreviated commit",
    "a merge that no run checked",
    "a checked merge",
    "an unassigned merge",
    "an infra run",
]


@pytest.mark.parametrize("trait", sorted(set(EXPECTED)))
def test_the_random_histories_hold(trait: str, seen: Counter[str]) -> None:
    assert seen[trait] > 0


def test_one_seed_is_one_story() -> None:
    assert generate(7) == generate(7)
    assert generate(7).events != generate(8).events


def test_stories_are_small() -> None:
    sizes = [len(generate(seed).events) for seed in range(60)]
    assert min(sizes) >= 5
    assert max(sizes) <= 130


def test_the_order_of_arrival_changes_no_number() -> None:
    """Apart from the three identities of semantics §1.5, whose order a delivery keeps."""
    for seed in SEEDS[:40]:
        result = [event for event in generate(seed).events if event[0] != "review"]
        again = in_arrival_order(random.Random(seed), result)
        for view in generate(seed).views:
            assert brute.page(result, **view) == brute.page(again, **view)


def test_a_choice_that_nothing_is_legal_for_is_none() -> None:
    choice = {"action": "reset", "choose": 3, "member": 0, "reviewer": 0}
    assert choose(choice, [], []) is None
