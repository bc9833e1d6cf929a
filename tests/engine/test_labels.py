# SPDX-License-Identifier: Apache-2.0
"""Labels and groups (spec, "Failure label"; semantics, 2 and 4)."""

import pytest

from hwci.contract.runs.commits import Fix
from hwci.engine.facts import Report
from hwci.engine.periods import Period
from hwci.engine.rules.labels import groups_of
from tests.engine.timeline import (
    ALL,
    EVER,
    changes,
    id_of,
    item,
    lane,
    minute,
    report,
    seen,
)


# | Flake | The same test passed on the same commit and on the same box, in any run report, at any
# time |
@pytest.mark.parametrize(
    "passed",
    [
        report("b:P", 9),
        report("b:P", -9),
        report("b:P3", 9),
        report("b:P", 9, branch="topic"),
        report("b:P", 9, workflow="night"),
        report("b:P", 1, run_id=77, attempt=2),
    ],
)
def test_a_failure_whose_commit_passed_on_its_box_is_a_flake(passed: Report) -> None:
    assert seen("box-1 | b:F").and_also(passed).labels() == "b:flake"


# | Resolved | Not a flake, and the same test passed on a later commit on the same box |
def test_a_failure_with_a_pass_on_a_later_commit_is_resolved() -> None:
    assert seen("box-1 | b:F c:P").labels() == "b:resolved"


# | Pending | No pass that decides the label exists yet |
def test_a_failure_without_a_deciding_pass_is_pending() -> None:
    assert seen("box-1 | a:P b:F").labels() == "b:pending"


# "each box is evaluated on its own"
def test_a_pass_on_another_box_decides_nothing() -> None:
    past = seen(
        """
        box-1 | b:F c:F
        box-2 | b:P c:P
        """
    )

    assert past.labels() == "b:pending c:pending"


def test_a_pass_of_another_product_or_test_decides_nothing() -> None:
    past = seen("box-1 | b:F").and_also(
        report("b:P", 3, suite="boot"), report("c:-", 4, tests=[item("P", "other")])
    )

    assert past.labels() == "b:pending"


# "A new report can change the label of an older failure."
def test_a_new_report_changes_the_label_of_an_older_failure() -> None:
    pending = seen("box-1 | b:F")

    assert pending.and_also(report("c:P", 5)).labels() == "b:resolved"
    assert pending.and_also(report("c:P", 5), report("b:P", 6)).labels() == "b:flake"


# "A run report with `hello_ok` false counts in no metric except the Infra runs tile."
def test_items_of_a_run_that_never_reached_the_hardware_are_not_counted() -> None:
    past = seen("box-1 | b:F").and_also(
        report("b:L", 5, tests=[item("P")]),
        report("c:L", 6, tests=[item("P")]),
        report("d:L", 7, tests=[item("F")]),
    )

    assert past.labels() == "b:pending"
    assert past.history.test_runs(ALL, EVER)[0].reports == 1


def test_a_run_that_never_reached_the_hardware_still_orders_commits() -> None:
    lost = report("c:L", 0, sent=changes("a", "b", "c"))

    assert seen("box-1 | c:F b:P").labels() == "c:resolved"
    assert seen("box-1 | c:F b:P").and_also(lost).labels() == "c:pending"


def test_a_failure_needs_a_failing_item_on_its_branch() -> None:
    past = seen("box-1 | a:P b:-").and_also(report("b:F", 5, branch="topic"))

    assert past.labels() == ""
    assert past.labels(lane(branch="topic")) == "b:pending"


def test_a_failure_holds_all_failing_items_of_its_commit() -> None:
    past = seen("box-1 | b:F").and_also(
        report("b:U", 4), report("b:I", 2), report("b:F", 3, branch="topic")
    )
    failure = past.group("b").first

    assert failure.items == 3
    assert failure.first.started_at == minute(0)
    assert failure.last_started_at == minute(4)


def test_runs_that_started_together_are_ordered_by_run_then_attempt() -> None:
    past = seen("box-1 | b:-").and_also(
        report("b:U", 1, run_id=8, attempt=1),
        report("b:I", 1, run_id=7, attempt=2),
        report("b:F", 1, run_id=7, attempt=1),
    )

    first = past.row("b").first_failure
    assert (first.run_id, first.run_attempt) == (7, 1)
    assert past.row("b").verdict == "device"


# "Consecutive failures of a test on several commits with no pass between count as one resolved
# failure."
def test_failures_with_no_pass_between_are_one() -> None:
    past = seen("box-1 | a:P b:F c:F d:- e:F f:P g:F h:P i:F j:F")

    assert past.together() == {"b c e", "g", "i j"}
    assert past.row("c").fix is not None
    assert past.row("c").fix == past.row("b").fix
    assert past.row("e").id == id_of("b")
    assert past.row("e").last_failing_sha == "e"
    assert past.row("e").failing_commits == 3


def test_the_fix_is_the_first_passed_commit_by_place_and_dated_by_its_first_pass() -> None:
    past = seen("box-1 | b:F d:-").and_also(
        report("d:P", 9, sent=changes("b", "c", "d")),
        report("c:P", 20),
        report("c:P", 18, branch="topic"),
        report("c:F", 17, branch="topic"),
    )

    # d stood first at minute 1; c was mentioned later, so d is the fix.
    assert past.row("b").fix == Fix(sha="d", started_at=minute(9))
    by_place = seen("box-1 | b:F").and_also(
        report("d:P", 9, sent=changes("b", "c", "d")),
        report("c:P", 20),
        report("c:P", 18, branch="topic"),
    )
    assert by_place.row("b").fix == Fix(sha="c", started_at=minute(18))


def test_a_flake_ends_the_group_before_it_and_is_its_fix() -> None:
    past = seen("box-1 | b:F c:F d:F").and_also(report("c:P", 9))

    assert past.labels() == "b:resolved c:flake d:pending"
    assert past.together() == {"b", "c", "d"}
    assert past.row("b").fix == Fix(sha="c", started_at=minute(9))


def test_verdict_date_and_identity_are_those_of_the_first_failures_first_run() -> None:
    past = seen("box-1 | b:I c:F d:P").and_also(report("b:F", 7))

    assert past.row("c").verdict == "infra"
    assert past.row("c").first_failure.started_at == minute(0)
    assert past.row("c").id == id_of("b")


def test_the_first_failure_of_a_group_is_first_by_place_not_by_time() -> None:
    past = seen("box-1 | a:P").and_also(
        report("c:U", 1, sent=changes("a", "b", "c")), report("b:F", 9)
    )

    assert past.row("c").first_failure.sha == "b"
    assert past.row("c").verdict == "device"


def test_failing_items_are_counted_in_the_period_to_the_microsecond() -> None:
    past = seen("box-1 | b:F").and_also(report("b:F", 5), report("b:F", 7))
    history = past.history

    assert history.failing_items(ALL, Period(minute(0), minute(7))) == {id_of("b"): 3}
    assert history.failing_items(ALL, Period(minute(0.00001), minute(6.9))) == {id_of("b"): 1}
    assert history.failing_items(ALL, Period(minute(8), minute(9))) == {}


def test_failing_items_of_another_branch_are_of_another_failure() -> None:
    past = seen("box-1 | b:F").and_also(report("b:F", 5, branch="topic"))
    topic = lane(branch="topic")

    assert past.history.failing_items(ALL, EVER) == {id_of("b"): 1, id_of("b", topic): 1}


def test_failures_form_one_group_in_whatever_order_a_store_gives_them() -> None:
    history = seen("box-1 | a:P b:F c:F d:P").history
    (group,) = groups_of(history, history.failures(ALL, EVER)[::-1])

    assert [failure.key.sha for failure in group.failures] == ["b", "c"]


def test_failures_of_a_period_come_with_all_that_share_their_fix() -> None:
    past = seen("box-1 | a:F b:P c:F d:F e:F f:P")

    found = past.history.failures(ALL, Period(minute(3), minute(3)))

    assert {failure.key.sha for failure in found} == {"c", "d", "e"}
