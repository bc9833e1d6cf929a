# SPDX-License-Identifier: Apache-2.0
"""Incidents of a pool of boxes: one history a test. By small pictures, and on random pools in the
plainest way (`pools.py`).
"""

import random
from dataclasses import replace

import pytest

from hwci.analysis.failures.incidents import (
    Described,
    Incident,
    described,
    incidents,
    seen_products,
)
from hwci.contract.vocabulary import Label, Outcome, Verdict
from hwci.engine.facts import FailureKey, Report
from hwci.engine.page.failures import describe
from hwci.engine.rules.classify import Classifier
from tests.analysis.pools import COMMITS, Plain, pushes, random_pool
from tests.analysis.stories import runs, story
from tests.engine.timeline import ALL, EVER, ORG, Past, changes, commit, report
from tests.simulation.fleet import Cause, Kind, Plan, simulate
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds


def shown(past: Past) -> list[Described]:
    """Each incident, the first to begin first."""
    history = FullRecordedRuns(ORG, past.facts)
    rows = incidents(history, ALL, EVER)[::-1]
    return described(history, rows, EVER, seen_products(history, ALL, EVER, rows))


def found(past: Past) -> list[Incident]:
    return [one.incident for one in shown(past)]


def suspects(one: Incident) -> str | None:
    return None if one.suspects is None else "".join(each.sha for each in one.suspects)


def summary(past: Past) -> list[tuple[str, str | None, str | None, str]]:
    """The boxes of each incident, its suspects, its fix, and its label."""
    return [(" ".join(one.boxes), suspects(one), one.fix, one.label.value) for one in found(past)]


def test_a_bug_that_boxes_meet_one_after_the_other_is_one_incident() -> None:
    past = pushes("a:1P2P3P b:1P c:2F d:3F e:1F f:2P g:3P h:1P", fw="bcdef")

    assert summary(past) == [("box-1 box-2 box-3", "c", "f", "resolved")]


def test_the_suspects_begin_after_the_last_pass_on_any_box_that_fails() -> None:
    past = pushes("a:1P2P3P b:1P c:4P d:2F e:1F f:1P2P", fw="bcdef")

    assert summary(past) == [("box-1 box-2", "cd", "f", "resolved")]


def test_a_box_that_never_failed_says_nothing_about_those_that_did() -> None:
    past = pushes("a:1P4P b:4P c:4P d:1F e:1F4P f:1P", fw="bcdef")

    assert summary(past) == [("box-1", "bcd", "f", "resolved")]


def test_boxes_that_pass_amid_the_failures_of_others_stay_apart() -> None:
    past = pushes("a:1P2P b:1F c:1F2P d:1F e:2F f:1P2P", fw="be")

    assert summary(past) == [("box-1", "b", "f", "resolved"), ("box-2", "e", "f", "resolved")]


def test_a_pass_on_the_commit_on_which_another_box_fails_is_amid_its_failures() -> None:
    past = pushes("a:1P2P b:1F2P c:1P2F d:1P2P", fw="bc")

    assert summary(past) == [("box-1", "b", "c", "resolved"), ("box-2", "c", "d", "resolved")]


def test_what_the_bench_is_blamed_for_is_not_joined_with_what_it_is_not() -> None:
    past = pushes("a:1P2P b:1F c:2I d:1F e:1P2P", fw="b")

    assert [one.boxes for one in found(past)] == [["box-1"], ["box-2"]]


def test_a_new_box_that_fails_while_others_do_is_one_of_them_but_not_long_after() -> None:
    amid = pushes("a:1P2P b:1F c:3F d:2F e:1P2P3P", fw="b")
    after = pushes("a:1P2P b:1F c:2P d:2P e:3F", fw="b")

    assert [one.boxes for one in found(amid)] == [["box-1", "box-2", "box-3"]]
    assert [one.boxes for one in found(after)] == [["box-1"], ["box-3"]]


def test_a_new_box_joins_those_that_failed_beside_it_however_often_they_failed_later() -> None:
    past = pushes("a:1P b:1F c:3F d:1F e:1P f:1F", fw="b")

    assert [one.boxes for one in found(past)] == [["box-1", "box-3"], ["box-1"]]


def test_what_never_passed_on_any_box_is_one_incident_from_its_first_failure() -> None:
    past = pushes("a:4P b:1F c:2F d:3F", fw="b", test="new")

    assert summary(replace(past, reports=past.reports[1:])) == [
        ("box-1 box-2 box-3", "b", None, "pending")
    ]


def test_tests_that_one_bug_breaks_on_different_boxes_are_one_incident() -> None:
    i2c = pushes("a:1P2P b:1F c:2F d:1P2P", fw="b").reports
    spi = pushes("a:1P2P b:1F c:2F d:1P2P", fw="b", test="spi").reports
    both = [
        replace(one, tests=one.tests + other.tests) for one, other in zip(i2c, spi, strict=True)
    ]

    [one] = found(Past(both))
    assert (one.tests, one.boxes, suspects(one)) == (["i2c", "spi"], ["box-1", "box-2"], "b")


def test_it_is_fixed_once_a_box_passes_but_pending_until_each_was_seen() -> None:
    past = pushes("a:1P2P3P b:1F c:2F d:3F e:2P f:3P", fw="b")
    [one] = shown(past)

    assert (one.incident.fix, one.incident.label) == ("e", Label.PENDING)
    assert one.look_first is not None
    assert one.look_first.startswith(
        "Passes elsewhere since e, not run on box-1 since 1 Jan: test it there"
    )


def test_a_box_that_still_fails_after_others_passed_is_an_incident_of_its_own() -> None:
    past = pushes("a:1P2P b:1F2F c:2P d:1F2P", fw="b")

    assert summary(past) == [
        ("box-1", "b", None, "pending"),
        ("box-2", "b", "c", "resolved"),
    ]


@pytest.mark.parametrize("sent", ["abde", "abcde"])
def test_commits_that_no_run_lists_leave_the_suspects_unknown(sent: str) -> None:
    past = pushes("a:1P b:4P c:4P d:1F e:1F", fw="abcde", sent=sent)

    assert [suspects(one) for one in found(past)] == ["bcd" if "c" in sent else None]


def test_lists_that_were_cut_short_or_go_round_in_a_circle_lead_to_no_pass() -> None:
    past = pushes("a:1P b:4P c:4P d:1F", fw="abcd")
    cut = [
        replace(one, changes=replace(one.changes, truncated=True))
        if one.sha == "c" and one.changes
        else one
        for one in past.reports
    ]

    assert [suspects(one) for one in found(past)] == ["bcd"]
    assert [suspects(one) for one in found(Past(cut))] == [None]
    assert [suspects(one) for one in found(listing(past, "c", "d", "c"))] == [None]


def test_a_failure_whose_commit_passed_stands_alone_with_what_broke_it_on_its_box() -> None:
    sent = changes("a", commit("b", "fw"), commit("c", "fw"))
    reports = [
        report("a:P", 0),
        report("b:P", 1),
        report("c:F", 2, sent=sent),
        report("c:P", 3),
        report("c:F", 4, box="box-2", sent=sent),
    ]
    past = Past(reports).reviewed("c", "confirm")

    assert summary(past) == [("box-1", "c", None, "resolved"), ("box-2", "bc", None, "pending")]


@pytest.mark.parametrize(
    ("picture", "said"),
    [
        (
            "a:1P2P b:2P c:1F d:2F e:1P2P",
            "box-2 alone failed first on d; box-1 failed on c before that",
        ),
        (
            "a:1P b:4P c:1F d:1P",
            (
                "The run on c lists only what came since the run before it; box-1 last passed"
                " earlier, at a"
            ),
        ),
        ("a:1P b:1F c:1P", None),
    ],
)
def test_why_the_suspects_are_others_than_those_of_a_failure_is_said(
    picture: str, said: str | None
) -> None:
    assert shown(pushes(picture, fw="abcde"))[0].suspects_differ == said


def listing(past: Past, sha: str, base: str, listed: str) -> Past:
    """Let the runs on a commit list these."""
    sent = changes(base, *(commit(one, "fw") for one in listed))
    reports = [replace(one, changes=sent) if one.sha == sha else one for one in past.reports]
    return replace(past, reports=reports)


def test_a_box_that_passed_later_than_the_one_that_failed_is_named() -> None:
    past = listing(pushes("a:1P2P b:2P c:1F d:2F e:1P2P", fw="abcde"), "c", "a", "bc")
    [one] = shown(past)

    assert suspects(one.incident) == "c"
    assert one.suspects_differ == "box-1 alone last passed at a; box-2 passed at b since then"


def test_it_is_said_that_no_runs_list_all_commits_since_the_pass() -> None:
    past = pushes("a:1P b:4P c:4P d:1F e:1P", fw="abcde", sent="abde")

    [one] = shown(past)
    assert one.suspects_differ == "No runs list all commits since box-1 passed at a, up to d"


def test_what_still_fails_says_so_behind_where_to_look_first() -> None:
    past = pushes("a:1P2P b:2P c:1F d:2F", fw="abcde")

    [one] = shown(past)
    assert one.look_first == (
        "No bench stands out: look at c first."
        " box-2 alone failed first on d; box-1 failed on c before that"
    )


def known(one: Report, number: int) -> Report:
    """List the commit of a run of `runs`, which changed firmware."""
    sent = changes(f"c{number - 1:02}", commit(one.sha, "fw")) if number else None
    return replace(one, changes=sent)


def test_what_the_bench_is_blamed_for_again_and_again_is_one_incident_whatever_was_sent() -> None:
    both = {5, 15, 25, 35}
    dropped = [
        replace(
            one,
            tests=tuple(
                replace(test, verdict=Verdict.INFRA) if test.outcome is Outcome.FAIL else test
                for test in one.tests
            ),
        )
        for one in runs(i2c=both, spi=both, adc=both, uart=both, can=both)
    ]
    for reports in (dropped, [known(one, number) for number, one in enumerate(dropped)]):
        [one] = shown(Past(reports))
        assert (one.incident.times, len(one.incident.tests)) == (4, 5)
        assert one.incident.suspects is None
    assert one.suspects_differ == "It began 4 times, so none of these commits explains it"


def test_what_fails_beside_them_on_another_box_is_an_incident_of_its_own() -> None:
    both = {5, 15, 25, 35}
    beside = [replace(one, box_key="box-2") for one in runs(i2c={5}, spi=set())]
    told = found(Past([*runs(i2c=both, spi=both), *beside]))

    assert sorted((one.times, one.boxes) for one in told) == [(1, ["box-2"]), (4, ["box-1"])]


def test_incidents_of_random_pools_are_those_of_the_plainest_way() -> None:
    sizes = set()
    for seed in range(rounds(100, 10_000)):
        past = random_pool(random.Random(seed))
        plain, rows = Plain.of(past.reports), found(past)
        told = [
            {
                (lane.test_id, lane.box_key, COMMITS.index(sha))
                for lane, sha in (failed.key for failed in one.failed)
            }
            for one in rows
        ]

        assert sorted(map(sorted, told)) == sorted(map(sorted, plain.causes())), seed
        pools = {(it.test, it.box, it.first): pool for pool in plain.pools() for it in pool}
        for one, members in zip(rows, told, strict=True):
            assert suspects(one) == plain.suspects(pools[min(members)]), seed
        sizes |= {len(one.boxes) for one in rows}
    assert sizes == {1, 2, 3}


def test_whatever_comes_each_failure_is_in_one_incident_and_what_differs_is_said() -> None:
    told = 0
    for seed in range(rounds(100, 10_000)):
        past = story(random.Random(seed))
        groups = [one for one in past.groups() if one.label is not Label.FLAKE]
        rows = shown(past)

        members = [failed.episode.id for one in rows for failed in one.incident.failed]
        assert sorted(members) == sorted(one.first.id for one in groups), seed
        for row in rows:
            alone = [broken_by(past, failed.key) for failed in row.incident.failed]
            differs = any(one != suspects(row.incident) for one in alone)
            assert differs == (row.suspects_differ is not None), seed
            told += differs
    assert told


def test_those_that_are_pending_are_the_same_where_no_others_are_asked_for() -> None:
    plan = Plan(boxes=3, boxes_at_once=2, tests=8, runs=60, attempts=1, verdicts=0.5, changes=0.7)
    struck = Cause(Kind.OUTAGE, frozenset({1, 2, 3}), frozenset({"bench-2"}), rate=0.4)
    broken = Cause(Kind.BUG, frozenset({4, 5, 6}), rate=0.8, since=40, until=54)
    fixed = together = 0
    for seed in range(rounds(60, 3_000)):
        facts = [
            random_pool(random.Random(seed)).facts,
            story(random.Random(seed)).facts,
            simulate(replace(plan, base_rate=0.15), [struck], seed).facts,
            simulate(replace(plan, leaves=("bench-3", 50)), [broken], seed).facts,
        ]
        for history in (FullRecordedRuns(ORG, each) for each in facts):
            every = incidents(history, ALL, EVER)
            pending = [one for one in every if one.label is Label.PENDING]

            assert incidents(history, ALL, EVER, Label.PENDING) == pending, seed
            fixed += sum(len(one.boxes) > 1 and one.fix is not None for one in pending)
            together += sum(one.times > 1 for one in pending)
    assert fixed
    assert together


def broken_by(past: Past, key: FailureKey) -> str | None:
    """Return what "Broken by" of a failure names."""
    history = past.history
    [group] = [one for one in past.groups() if one.first.key == key]
    row = describe(history, group, Classifier(history))
    return None if row.broken_by is None else "".join(one.sha for one in row.broken_by.commits)
