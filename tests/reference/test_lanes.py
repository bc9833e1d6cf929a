# SPDX-License-Identifier: Apache-2.0
"""Order of commits, labels and groups, as computed by hand (semantics §2 to §4)."""

from tests.reference.cases import (
    BREAK,
    MEND,
    REAL,
    config,
    failures,
    labels,
    page,
    reason,
    resolved,
    run,
    sha,
    the_one,
)

# -- §2: reports that never reached the hardware


def test_a_lost_run_counts_in_the_infra_tile_only() -> None:
    shown = page(*REAL, run("b", 30, "pass", hello_ok=False, attempts=3))
    assert shown["tiles"]["infraRuns"] == {"infra": 1, "total": 4}
    assert shown["tiles"]["flakyFailures"] == {"count": 0}
    assert [row["runReports"] for row in shown["flakiestTests"]] == [3]


def test_a_lost_run_still_carries_the_changes_under_test() -> None:
    lost = run("b", 10, after="a", of="b:fw", hello_ok=False, run_id=7)
    again = run("b", 12, "fail", after="b", of="", run_id=7, run_attempt=2)
    assert reason(config(), lost, again, MEND) is None


def test_a_lost_run_connects_a_failure_to_its_fix() -> None:
    lost = run("c", 15, after="b", of="c:fw", hello_ok=False)
    assert reason(config(), BREAK, lost, run("c", 20, "pass")) is None
    assert reason(config(), BREAK, run("c", 20, "pass")) == "fix_unconnected"


def test_a_lost_run_orders_commits() -> None:
    lost = run("c", 5, after="b", of="c:fw", hello_ok=False)
    assert labels(lost, run("c", 10, "fail"), run("b", 20, "pass")) == {"c": "pending"}


# -- §3: order of commits


def test_a_bisection_by_hand_is_no_later_commit() -> None:
    newer = run("d", 10, "fail", after="a", of="b:fw c:fw d:fw")
    assert labels(newer, run("b", 20, "pass")) == {"d": "pending"}
    assert labels(newer, run("b", 20, "fail"), run("c", 30, "pass")) == {
        "b": "resolved",
        "d": "pending",
    }


def test_a_commit_older_than_all_recorded_history_counts_as_new() -> None:
    assert labels(run("d", 10, "fail", after="c", of="d:fw"), run("b", 20, "pass")) == {
        "d": "resolved"
    }


def test_the_last_of_several_mentions_in_one_report_counts() -> None:
    twice = run("c", 0, after="0", of="a b a c")
    assert labels(twice, run("a", 10, "fail"), run("b", 20, "pass")) == {"a": "pending"}
    once = run("c", 0, after="0", of="a b c")
    assert labels(once, run("a", 10, "fail"), run("b", 20, "pass")) == {"a": "resolved"}


def test_covered_commits_come_before_listed_ones_and_the_base_before_both() -> None:
    push = run("d", 0, after="a", of="c d", covers_shas=[sha("b")])
    fails, passes = run("b", 10, "fail"), run("c", 20, "pass")
    assert labels(push, fails, passes) == {"b": "resolved"}
    assert labels(push, run("c", 10, "fail"), run("b", 20, "pass")) == {"c": "pending"}
    assert labels(push, run("b", 10, "fail"), run("a", 20, "pass")) == {"b": "pending"}


def test_places_of_equal_reports_and_ways_follow_the_hash() -> None:
    tied = [run("b", 0, "fail", run_id=1), run("c", 0, "pass", run_id=2)]
    assert labels(*tied) == {"b": "resolved"}
    assert labels(run("c", 0, "fail", run_id=1), run("b", 0, "pass", run_id=2)) == {"c": "pending"}


def test_a_pass_on_a_branch_that_never_had_the_commit_resolves_nothing() -> None:
    assert labels(BREAK, run("c", 20, "pass", branch="release")) == {"b": "pending"}


# -- §4: labels and groups


def test_a_pass_of_the_commit_on_another_branch_makes_a_flake() -> None:
    assert labels(BREAK, run("b", 1, "pass", branch="topic", workflow="by hand", suite="hil")) == {
        "b": "flake"
    }


def test_a_pass_on_another_box_or_of_another_product_makes_no_flake() -> None:
    assert labels(BREAK, run("b", 20, "pass", box_key="box 2")) == {"b": "pending"}
    assert labels(BREAK, run("b", 20, "pass", suite="ota")) == {"b": "pending"}


def test_a_commit_known_here_that_passed_elsewhere_is_a_fix() -> None:
    known = run("c", 15, after="b", of="c:fw")
    elsewhere = run("c", 20, "pass", branch="release")
    row = the_one(config(), BREAK, known, elsewhere)
    assert (row["fix"]["sha"], row["reason"]) == (sha("c"), None)


def test_failures_with_no_pass_between_are_one_group() -> None:
    row = the_one(BREAK, run("c", 20, "fail"), run("d", 30, "pass"))
    assert (row["failingCommits"], row["lastFailingSha"]) == (2, sha("c"))
    assert len(resolved(BREAK, MEND, run("d", 30, "fail"), run("e", 40, "pass"))) == 2


def test_a_flake_ends_the_group_before_it_and_is_its_fix() -> None:
    flake = [run("c", 20, "fail"), run("c", 21, "pass")]
    row = the_one(BREAK, *flake)
    assert row["fix"] == {"sha": sha("c"), "startedAt": "2026-02-03T00:21:00+00:00"}
    assert labels(BREAK, *flake) == {"b": "resolved", "c": "flake"}


def test_a_group_has_the_verdict_and_date_of_its_first_commits_first_failing_run() -> None:
    order = run("a", 0, after="0", of="b:fw c:fw d:fw")
    late = run("b", 30, "fail", verdict="infra", attempts=2)
    again = run("b", 40, "fail")
    row = the_one(order, run("c", 10, "fail"), late, again, run("d", 50, "pass"))
    assert (row["verdict"], row["failingCommits"]) == ("infra", 2)
    assert row["firstFailure"]["startedAt"] == "2026-02-03T00:30:00+00:00"


def test_the_flaky_tile_counts_items_by_the_start_of_their_run() -> None:
    items = [BREAK, run("b", 12, "fail"), run("b", 14, "pass"), run("b", 2000, "fail")]
    assert page(*items)["tiles"]["flakyFailures"] == {"count": 2}
    assert page(*items, days=2, as_of="2026-02-05T00:00:00Z")["tiles"]["flakyFailures"] == {
        "count": 3
    }


def test_a_listed_failure_has_all_its_items_and_its_group() -> None:
    (newer, older) = failures(
        BREAK, run("b", 12, "fail", verdict=None), run("c", 20, "fail"), run("d", 30, "pass")
    )
    assert (older["items"], older["verdict"], older["label"]) == (2, "device", "resolved")
    assert older["lastStartedAt"] == "2026-02-03T00:12:00+00:00"
    assert newer["groupId"] == older["id"]
    assert failures(BREAK, MEND, label="pending") == []
