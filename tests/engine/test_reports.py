# SPDX-License-Identifier: Apache-2.0
"""What one report says: the order of commits by first mention (semantics, 3), and parts (1.9)."""

from dataclasses import replace

import pytest

from hwci.engine.facts import Part
from hwci.engine.history import Place
from hwci.engine.rules.reports import Mention, ReplacedParts, mentions, replaced_parts
from tests.engine.timeline import changes, lane, minute, order_of, report, seen

WHOLE = report("a:P", 0, run_id=7)


def test_a_report_mentions_base_then_covered_then_listed_then_its_own_commit() -> None:
    one = report("d:P", 1, covers=["b"], sent=changes("a", "c"))

    assert order_of(one) == "a b c d"
    assert mentions(one) == [
        Mention("a", Place(minute(1), 0, 0, "a"), False),
        Mention("b", Place(minute(1), 1, 0, "b"), True),
        Mention("c", Place(minute(1), 2, 0, "c"), False),
        Mention("d", Place(minute(1), 3, 0, "d"), True),
    ]


def test_a_commit_mentioned_several_times_in_one_report_counts_by_the_last() -> None:
    one = report("a:P", 1, covers=["b", "c", "b"], sent=changes("a", "c", "d", "c", "a"))

    assert order_of(one) == "b d c a"
    assert len(mentions(one)) == 4


def test_a_place_is_the_smallest_over_all_reports() -> None:
    newer_first = report("c:P", 1, sent=changes("a", "b", "c"))

    assert order_of(newer_first, report("b:P", 2)) == "a b c"
    assert order_of(report("b:P", 2), newer_first) == "a b c"


def test_commits_first_mentioned_at_one_instant_stand_by_way_index_and_then_sha() -> None:
    assert order_of(report("b:P", 1), report("a:P", 1, run_id=9)) == "a b"
    assert order_of(report("a:P", 1), report("x:P", 1, sent=changes("b"))) == "b a x"


def test_a_report_of_any_product_workflow_and_box_orders_commits() -> None:
    other = report("c:P", 0, box="box-9", suite="boot", workflow="night", sent=changes("a", "b"))
    past = seen("box-1 | c:F").and_also(other, report("b:P", 5))

    assert past.labels() == "c:pending"


def test_a_bisection_by_hand_of_an_older_commit_is_no_fix() -> None:
    past = seen("box-1 | a:P").and_also(
        report("d:F", 1, sent=changes("a", "b", "c", "d")), report("b:P", 9), report("c:P", 10)
    )
    assert past.labels() == "d:pending"


def test_a_commit_older_than_all_recorded_history_counts_as_new() -> None:
    assert seen("box-1 | b:F a:P").labels() == "b:resolved"


def test_main_is_never_resolved_by_a_pass_on_a_branch_that_it_does_not_hold() -> None:
    past = seen("box-1 | b:F").and_also(report("r:P", 5, branch="release"))

    assert past.labels() == "b:pending"


def test_a_pass_on_another_branch_resolves_once_main_mentions_the_commit() -> None:
    past = seen("box-1 | b:F").and_also(report("r:P", 5, branch="topic"))

    assert past.and_also(report("m:-", 9, sent=changes("b", "r", "m"))).labels() == "b:resolved"


def test_places_differ_between_repositories() -> None:
    other = report("c:P", -5, repo="elsewhere", sent=changes("b", "c"))
    past = seen("box-1 | c:F b:P").and_also(other)

    assert past.history.place("board", "main", "c") == Place(minute(0), 3, 0, "c")
    assert past.labels(lane()) == "c:resolved"


@pytest.mark.parametrize(
    ("part", "run", "first", "ended"),
    [
        (None, 7, True, ReplacedParts(7, 1)),
        (Part(40, 1, 1), 40, True, ReplacedParts(40, 1)),
        (Part(40, 1, 3), 40, True, ReplacedParts(40, 3)),
        (Part(40, 2, 3), 40, False, None),
    ],
)
def test_a_first_part_stands_for_the_run_and_ends_the_parts_beyond(
    part: Part | None, run: int, first: bool, ended: ReplacedParts | None
) -> None:
    sent = replace(WHOLE, part_of=part)

    assert (sent.ci_run_id, sent.is_first_part, replaced_parts(sent)) == (run, first, ended)
