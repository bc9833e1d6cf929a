# SPDX-License-Identifier: Apache-2.0
"""This module decides which reviews are legal, what they leave behind and which class they give.

Semantics §8. It also replays events in the order of arrival: a review acts on the groups of
its moment.
"""

from tests.reference.checks import REASONS, reason_of
from tests.reference.facts import Event, Facts, Json, Review
from tests.reference.lanes import Failure, Group, groups_and_flakes, lanes


class ReviewRefusedError(Exception):
    """A review that is not legal for what the failure is now; a server answers 409."""


def replay(events: list[Event]) -> Facts:
    """What is kept after all events, in the order of their arrival."""
    facts = Facts()
    for kind, body in events:
        if kind == "announce":
            facts.announce(body)
        elif kind == "report":
            facts.report(body)
        elif kind == "config":
            facts.config(body)
        elif kind == "review":
            review(facts, body)
        else:
            raise ValueError(f"no such event: {kind}")
    return facts


def review(facts: Facts, body: Json) -> None:
    """One review at the first failure, none at the other members; Reset removes all (§8.2)."""
    key = tuple(body["failure"])
    groups, _ = groups_and_flakes(facts, key[:5])
    hit = [one for one in groups if key in [member.key for member in one.failures]]
    if not hit or not is_legal(facts, hit[0], body["action"]):
        raise ReviewRefusedError(f"{body['action']} of {key}")
    for member in hit[0].failures:
        facts.reviews.pop(member.key, None)
    if body["action"] != "reset":
        facts.reviews_written += 1
        first = hit[0].failures[0].key
        facts.reviews[first] = Review(body["action"], body["by"], body["at"], facts.reviews_written)


def is_legal(facts: Facts, group: Group, action: str) -> bool:
    """The spec's table "Review of a resolved failure" (§8.1)."""
    if group.label != "resolved":
        return False
    if action == "reset":
        return group.review is not None
    return (action == "dismiss") == (class_and_reason(facts, group)[0] == "real_fw_bug")


def class_and_reason(facts: Facts, group: Group) -> tuple[str, str | None]:
    """A review replaces the automatic label."""
    if group.review is None:
        reason = reason_of(facts, group)
        return REASONS[reason][0], reason
    reviewed = None if group.review.action == "confirm" else "dismissed"
    return REASONS[reviewed][0], reviewed


def all_groups(facts: Facts) -> tuple[list[Group], list[Failure]]:
    groups: list[Group] = []
    flakes: list[Failure] = []
    for lane in lanes(facts):
        more_groups, more_flakes = groups_and_flakes(facts, lane)
        groups += more_groups
        flakes += more_flakes
    return groups, flakes
