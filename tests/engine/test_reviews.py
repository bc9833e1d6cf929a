# SPDX-License-Identifier: Apache-2.0
"""Reviews (spec, "Review of a resolved failure"; semantics, 8)."""

from uuid import UUID

import pytest

from hwci.contract.runs.commits import Fix
from hwci.contract.vocabulary import FailureClass, Label, Reason, ReviewAction
from hwci.engine.rules.reviews import (
    FailureUnknownError,
    ReviewPlan,
    ReviewRefusedError,
    plan_review,
)
from tests.engine.timeline import Past, id_of, minute, report, seen

CONFIRM, DISMISS, RESET = ReviewAction.CONFIRM, ReviewAction.DISMISS, None
REAL = seen("box-1 | a:P b:F c:P", changed={"b": "fw", "c": "fw"})
OTHER = seen("box-1 | a:P b:I c:P", changed={"b": "fw", "c": "fw"})
GROUP = seen("box-1 | a:P b:I c:F d:F e:P f:F")


def plan(past: Past, sha: str, action: ReviewAction | None) -> ReviewPlan:
    return plan_review(past.history, id_of(sha), action)


def shown(past: Past, sha: str = "b") -> str:
    return past.row(sha).failure_class.value


# | any resolved failure outside the real-bug list | Confirm | counted as a real firmware bug |
def test_confirm_takes_any_resolved_failure_outside_the_real_bug_list() -> None:
    for past in (OTHER, REAL.reviewed("b", "dismiss")):
        decided = plan(past, "b", CONFIRM)
        assert decided.store_at is not None
        assert decided.store_at.id == id_of("b")
        assert shown(past.reviewed("b", "confirm")) == "real_fw_bug"


# | a real firmware bug | Dismiss | moved to the other list with reason Dismissed by an admin |
def test_dismiss_takes_a_real_firmware_bug() -> None:
    for past in (REAL, OTHER.reviewed("b", "confirm")):
        assert plan(past, "b", DISMISS).store_at is not None
    dismissed = REAL.reviewed("b", "dismiss").row("b")
    assert dismissed.reason is Reason.DISMISSED
    assert dismissed.failure_class is FailureClass.DISMISSED


# | a reviewed failure | Reset | automatic label restored |
def test_reset_takes_a_reviewed_failure_and_stores_nothing() -> None:
    decided = plan(REAL.reviewed("b", "dismiss"), "b", RESET)

    assert decided.store_at is None
    assert decided.drop == (id_of("b"),)
    assert decided.shown.reason is Reason.DISMISSED


@pytest.mark.parametrize(
    ("past", "sha", "action", "message"),
    [
        (REAL, "b", CONFIRM, "already counted as a real firmware bug"),
        (OTHER.reviewed("b", "confirm"), "b", CONFIRM, "already counted as a real firmware bug"),
        (OTHER, "b", DISMISS, "Harness verdict: bench or infrastructure"),
        (REAL.reviewed("b", "dismiss"), "b", DISMISS, "Dismissed by an admin"),
        (REAL, "b", RESET, "no review to reset"),
        (GROUP, "f", CONFIRM, "pending"),
        (GROUP, "f", RESET, "pending"),
        (seen("box-1 | b:F").and_also(report("b:P", 2)), "b", DISMISS, "flake"),
    ],
)
def test_anything_else_is_refused_with_what_the_failure_is_now(
    past: Past, sha: str, action: ReviewAction | None, message: str
) -> None:
    with pytest.raises(ReviewRefusedError, match=message):
        plan(past, sha, action)


def test_a_failure_that_does_not_exist_is_unknown() -> None:
    with pytest.raises(FailureUnknownError, match="There is no failure"):
        plan_review(REAL.history, UUID(int=7), CONFIRM)


def test_an_action_on_any_failure_of_a_group_is_stored_at_its_first() -> None:
    decided = plan(GROUP, "d", CONFIRM)

    assert decided.store_at is not None
    assert decided.store_at.id == id_of("b")
    assert decided.drop == ()
    assert [one.key.sha for one in decided.group.failures] == ["b", "c", "d"]


def test_an_action_removes_the_reviews_of_the_other_members() -> None:
    reviewed = GROUP.reviewed("c", "confirm", 1).reviewed("b", "confirm", 2)

    assert plan(reviewed, "b", DISMISS).drop == (id_of("c"),)
    assert set(plan(reviewed, "b", RESET).drop) == {id_of("b"), id_of("c")}


# "A review replaces the automatic label and is kept when labels are recalculated."
def test_a_group_carries_the_review_written_last_among_its_members() -> None:
    newer_dismissed = GROUP.reviewed("b", "confirm", 1).reviewed("d", "dismiss", 2)
    newer_confirmed = GROUP.reviewed("b", "confirm", 3).reviewed("d", "dismiss", 2)

    assert shown(newer_dismissed) == "dismissed"
    assert shown(newer_confirmed) == "real_fw_bug"
    assert newer_confirmed.row("c").automatic.reason is Reason.VERDICT_INFRA


def test_a_review_follows_its_failure_when_a_late_pass_splits_the_group() -> None:
    split = GROUP.reviewed("b", "confirm").and_also(report("c:P", 9))

    assert shown(split, "b") == "real_fw_bug"
    assert split.row("d").review is None
    assert split.labels() == "b:resolved c:flake d:resolved f:pending"


def test_a_reviewed_group_counts_as_resolved_even_when_its_fix_is_gone() -> None:
    past = seen("box-1 | a:P b:F c:F").reviewed("b", "confirm")

    assert past.labels() == "b:resolved c:resolved"
    assert past.row("c").fix is None
    assert past.row("c").automatic.reason is Reason.CHANGES_NOT_FIRMWARE
    assert plan(past, "c", DISMISS).store_at == past.group("b").first


def test_a_reviewed_failure_whose_own_commit_passed_stands_alone() -> None:
    past = seen("box-1 | a:P b:F c:F d:F e:P").reviewed("c", "confirm").and_also(report("c:P", 9))

    assert past.labels() == "b:resolved c:resolved d:resolved"
    assert past.together() == {"b", "c", "d"}
    assert past.row("c").fix == Fix(sha="e", started_at=minute(4))
    assert past.row("b").fix == Fix(sha="c", started_at=minute(9))
    assert past.row("b").review is None


def test_whenever_the_own_pass_ran() -> None:
    past = seen("box-1 | b:F c:F").reviewed("b", "confirm").and_also(report("b:P", -9))

    assert past.labels() == "b:resolved c:pending"
    assert past.row("b").fix is None


def test_after_a_reset_the_answer_says_what_the_failure_is_now() -> None:
    flake = seen("box-1 | b:F").and_also(report("b:P", 9))

    assert plan(flake.reviewed("b", "confirm"), "b", RESET).drop == (id_of("b"),)
    assert flake.row("b").label is Label.FLAKE
    assert seen("box-1 | b:F").row("b").label is Label.PENDING


def test_a_review_of_a_failure_that_is_gone_waits_unseen() -> None:
    past = seen("box-1 | b:F c:P").reviewed("x", "confirm")

    assert past.row("b").review is None
