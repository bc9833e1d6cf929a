# SPDX-License-Identifier: Apache-2.0
"""Flaky tests with their cause: what was planted on simulated benches is named, and how surely."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from math import isclose
from uuid import UUID

import pytest

from hwci.analysis.benches.blame import OnCommit, Uncompared, blame, uncompared
from hwci.analysis.benches.trials import Trials
from hwci.analysis.benches.words import listed, of_blame
from hwci.analysis.certainty import ATTEMPTS_NEEDED
from hwci.analysis.flaky.onset import rates_beside
from hwci.analysis.flaky.suspect_words import of_change
from hwci.analysis.flaky.suspects import Intermittent, SeenProduct, bisected
from hwci.analysis.flaky_rows import answered, rated, whole
from hwci.analysis.outcomes import ProductOutcomes
from hwci.contract.flaky.suspects import AnsweredTest, FlakyRow, RatedTest, SuspectedTest
from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import CommitKind, Outcome, RankBy, Verdict
from hwci.engine.facts import Facts, Report, TestItem
from hwci.engine.history import Scope
from hwci.engine.rules.flakiness import flakiest
from hwci.wire.codec import as_json, from_json
from tests.analysis.races import EVER, ONE, RACE, asked, only, planted, text_of
from tests.simulation.calibration.page import recorded
from tests.simulation.fleet import EPOCH, FILES, Cause, Kind
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds
from tests.support.strata import columns


def found_in(facts: Facts) -> Intermittent:
    suspect = only(facts)
    assert suspect.found is not None, suspect.missing
    return suspect.found


def with_reports(facts: Facts, reports: Sequence[Report]) -> Facts:
    return replace(facts, reports=tuple(reports))


def test_a_race_is_named_with_its_commit_its_files_and_its_boxes() -> None:
    fleet = planted(RACE)
    found = found_in(fleet.facts)
    step = max(number for number in fleet.tested if number < 20)
    suspects = {suspect.sha for suspect in found.since.suspects}
    assert fleet.commits[20].sha in suspects
    assert found.since.suspects_total < 8
    assert step >= 17
    assert found.boxes.boxes_total == 5
    assert (found.boxes.alike or 0) > 0.5
    assert found.fixed.chance < 0.01
    assert found.fixed.needed
    assert bisected(found).bisection


def test_the_line_says_it_in_words() -> None:
    kinds = planted(RACE)
    every = replace(
        kinds.facts,
        reports=tuple(
            replace(one, changes=replace(one.changes, commits=_firmware(one.changes)))
            for one in kinds.facts.reports
            if one.changes is not None
        ),
    )
    text = text_of(only(every))
    found = found_in(every)
    assert found.since.suspects[0].sha[:12] in text
    takes = bisected(found).bisection
    assert takes is not None
    assert (takes.commits, takes.boxes) == (found.since.suspects_total, 5)
    assert 1 < takes.rounds < takes.runs
    assert (
        f"a bisection would take about {takes.runs} runs ({takes.rounds} rounds on 5 boxes at once)"
        in text
    )
    assert "firmware only" not in text  # so did all commits: it is no news
    assert " must pass so before we may call it fixed (95 % sure)" in text


@pytest.mark.parametrize(
    ("share", "usual", "says"),
    [
        (0.95, 0.5, "the commit changed firmware only"),
        (0.7, 0.5, "the commit changed firmware only (70 % sure)"),
        (0.6, 0.5, ""),
        (0.57, 0.57, ""),
        (0.9, 0.9, ""),
        (0.3, 0.1, "the commit changed firmware only (30 % sure)"),
        (1.0, 1.0, "the commit changed firmware only"),
    ],
)
def test_what_the_commit_changed_is_said_only_where_it_is_news(
    share: float, usual: float, says: str
) -> None:
    since = found_in(planted(RACE).facts).since
    kinds, of_all = (
        {kind: of if kind is CommitKind.FIRMWARE else (1 - of) / 4 for kind in CommitKind}
        for of in (share, usual)
    )
    assert of_change(replace(since, before=0.1, by_kind=kinds, usual=of_all)) == says


def _firmware(changes: ChangeList) -> tuple[Commit, ...]:
    return tuple(replace(one, files=FILES["firmware"]) for one in changes.commits)


def test_chances_add_up_to_one_with_the_chance_that_it_was_so_before() -> None:
    since = found_in(planted(RACE).facts).since
    assert since.before < 0.01
    assert isclose(sum(vars(since.kinds).values()), 1)
    assert 0.9 <= sum(suspect.chance for suspect in since.suspects) / (1 - since.before) <= 1


def test_a_race_that_was_there_before_the_period_is_not_put_on_a_commit_of_it() -> None:
    found = only(planted(replace(RACE, since=0)).facts)
    assert found.found is not None
    assert found.found.since.before > 0.9
    assert "flaky as far back as runs go (1 Jan), " in text_of(found)


def test_a_fixed_race_is_said_to_be_fixed_after_enough_clean_runs() -> None:
    found = only(planted(replace(RACE, until=45)).facts)
    assert found.found is not None
    assert found.found.fixed.chance > 0.95
    assert found.found.fixed.needed == 0
    assert text_of(found).startswith("fixed (")


@pytest.mark.parametrize(("clean", "needed"), [(0, 7), (1, 6), (6, 1), (7, 0)])
def test_one_that_failed_again_is_not_fixed_until_enough_clean_runs_say_so(
    clean: int, needed: int
) -> None:
    rounds = [(commit, commit < 3) for _ in range(15) for commit in range(8)]
    found = only(_of_commits([*rounds, (7, True), *[(7, False)] * clean]))
    assert found.found is not None
    fixed, text = found.found.fixed, text_of(found)
    assert (fixed.clean_runs, fixed.needed) == (clean, needed)
    assert (fixed.chance >= 0.95) == (not needed) == text.startswith("fixed (")
    assert (", its last run failed at the first attempt, " in text) == (not clean)
    passed = {1: "run", 6: "6 runs", 7: "7 runs"}
    assert not clean or f", its last {passed[clean]} passed at the first attempt" in text
    wanted = f", {needed}{' more' if clean else ''} must pass so before we may call it fixed"
    assert (wanted in text) == bool(needed)


def test_no_bisection_is_offered_where_the_commit_is_sure_or_the_test_is_fixed() -> None:
    sure = [(commit, commit > 3) for _ in range(15) for commit in range(8)]
    for runs in (sure, [*sure, *[(8, False)] * 40]):
        found = only(_of_commits(runs))
        assert found.found is not None
        assert found.found.since.suspects[0].chance >= 0.95
        assert bisected(found.found).bisection is None
        assert "bisection" not in text_of(found)


def test_a_commit_that_is_named_has_the_day_of_its_first_run() -> None:
    found = only(_of_commits([(commit, commit > 3) for _ in range(15) for commit in range(8)]))
    assert found.found is not None
    commit = found.found.since.suspects[0]

    assert commit.seen_at == EPOCH + timedelta(hours=5)
    day = f"{commit.seen_at.day} {commit.seen_at:%b}"
    assert text_of(found).startswith(f"broken since {commit.sha[:12]} of {day} (")


def test_one_that_fails_in_every_run_is_broken_and_not_flaky() -> None:
    runs = [(commit, commit > 3) for _ in range(15) for commit in range(8)]
    assert text_of(only(_of_commits(runs))).startswith(f"broken since {4:040x}"[:21])
    assert ", was broken since " in text_of(only(_of_commits([*runs, *[(8, False)] * 40])))
    passed_once = text_of(only(_of_commits([*runs, (7, False), (7, True)])))
    assert passed_once.startswith("flaky since ")


def test_more_clean_runs_than_anybody_waits_for_are_not_told() -> None:
    found = found_in(planted(RACE).facts)
    for needed, told in (
        (1000, "1,000 must pass so before"),
        (1001, "too rarely to tell soon"),
    ):
        fixed = replace(found.fixed, needed=needed)
        suspect = replace(only(planted(RACE).facts), found=replace(found, fixed=fixed))
        assert told in text_of(suspect)


def test_a_run_of_an_old_commit_does_not_say_that_the_fix_failed() -> None:
    rounds = [(commit, commit < 3) for _ in range(15) for commit in range(8)]
    assert text_of(only(_of_commits([*rounds, (0, True)]))).startswith("fixed, was broken ")


def test_a_test_that_fails_on_one_box_is_not_on_all_alike() -> None:
    cause = Cause(Kind.BOX_TEST, ONE, frozenset({"bench-2"}), rate=0.5)
    fleet = planted(cause, verdicts=0.0)
    found = only(fleet.facts)
    assert found.found is not None
    assert (found.found.boxes.alike or 0) < 0.1
    assert found.found.boxes.boxes[0].box_key == "bench-2"
    assert found.blame is not None
    text = of_blame(found.blame, {"bench-2"}, {})
    assert text.startswith("fails on bench-2 only (19 of 41 runs against 0 of ")
    assert text in text_of(found)
    assert found.found.judged_on == {"bench-2"}


def test_what_the_harness_blames_on_the_bench_says_nothing_of_the_firmware() -> None:
    cause = Cause(Kind.BOX_TEST, ONE, frozenset({"bench-2"}), rate=1.0)
    found = only(planted(cause).facts)
    assert found.found is None
    assert found.missing == "0 runs of bench-2 on main; 20 are needed"


def test_the_order_is_the_specifications_unless_the_lower_bound_is_asked_for() -> None:
    fleet = planted(RACE, tests=8, base_rate=0.03)
    history = FullRecordedRuns(UUID(int=1), fleet.facts)
    table = flakiest(history, history.test_runs(Scope(), EVER))
    assert [one.test for one in asked(fleet.facts).items] == table
    ranked = asked(fleet.facts, RankBy.LOWER_BOUND).items
    assert sorted(ranked, key=lambda row: -(row.rate.low or 0)) == ranked
    page = asked(fleet.facts, offset=2, limit=2)
    assert [one.test for one in page.items] == table[2:4]
    assert page.total == len(table)


def test_once_in_two_runs_ranks_below_forty_times_in_a_hundred() -> None:
    few = [_with(one, "rare", number == 0) for number, one in enumerate(_passing(2))]
    many = [_with(one, "often", number % 5 < 2) for number, one in enumerate(_passing(100))]
    facts = with_reports(planted().facts, [*few, *_later(many)])
    assert [one.test.test_id for one in asked(facts).items] == ["rare", "often"]
    ranked = asked(facts, RankBy.LOWER_BOUND).items
    assert [one.test.test_id for one in ranked] == ["often", "rare"]


def test_too_few_attempts_for_an_interval_rank_last_however_often_they_failed() -> None:
    few = [_with(one, "few", True) for one in _passing(ATTEMPTS_NEEDED - 1)]
    many = [_with(one, "rare", number < 2) for number, one in enumerate(_passing(100))]
    facts = with_reports(planted().facts, [*few, *_later(many)])
    ranked = asked(facts, RankBy.LOWER_BOUND).items
    assert [one.test.test_id for one in ranked] == ["rare", "few"]


def test_commits_that_were_not_sent_whole_are_of_no_known_kind() -> None:
    without = planted(RACE, changes=0.0)
    assert set(found_in(without.facts).since.by_kind) == {CommitKind.UNKNOWN}
    unconfigured = replace(planted(RACE).facts, configs={})
    assert set(found_in(unconfigured).since.by_kind) == {CommitKind.UNKNOWN}


# Bad input


def test_one_run_is_not_enough() -> None:
    [run] = _passing(1)
    retried = replace(run, tests=(TestItem("t", Outcome.PASS, attempts=2),))
    text = text_of(only(with_reports(planted().facts, [retried])))
    assert text == "not enough data: 1 run on main; 20 are needed"


def test_one_run_that_failed_does_not_say_that_a_test_is_broken() -> None:
    one, other = (_with(run, "t", True) for run in _passing(2))
    history = planted().facts
    assert text_of(only(with_reports(history, [one]))) == (
        "not enough data: 1 run on main; 20 are needed"
    )
    assert text_of(only(with_reports(history, [one, other]))) == (
        "not enough data: it never passed in this period"
    )


def test_one_that_always_fails_is_broken() -> None:
    facts = planted(Cause(Kind.BUG, ONE, rate=1.0)).facts
    assert text_of(only(facts)) == "not enough data: it never passed in this period"


def test_none_failing_is_no_flaky_test() -> None:
    assert asked(planted().facts).items == []
    assert asked(Facts()).items == []


def test_runs_of_one_commit_do_not_tell_since_when() -> None:
    reports = planted(replace(RACE, since=0)).facts.reports
    same = [replace(one, sha=reports[0].sha, changes=None) for one in reports]
    text = text_of(only(Facts(reports=tuple(same))))
    assert text == "not enough data: all runs on main are of one commit"


def test_one_box_cannot_be_compared() -> None:
    found = only(planted(RACE, boxes=1, runs=60).facts)
    assert found.found is not None
    assert found.found.boxes.alike is None
    assert "on bench-1, the only box" in text_of(found)


def test_few_failures_do_not_say_that_boxes_are_alike() -> None:
    found = only(planted(replace(RACE, rate=0.02, since=0)).facts)
    assert found.found is not None
    assert sum(one.rate.part for one in found.found.boxes.boxes) < 10
    assert "too few failures on commits that other boxes ran" in text_of(found)


def test_no_box_in_common_still_gives_counts_for_each() -> None:
    fleet = planted(RACE)
    apart = [replace(one, box_key=f"bench-{one.sha}") for one in fleet.facts.reports]
    suspect = only(with_reports(fleet.facts, apart))
    assert suspect.found is not None
    boxes = suspect.found.boxes
    assert boxes.boxes_total > 20
    assert len(boxes.boxes) == 20
    assert (boxes.compared, boxes.alike) == (0, None)
    assert "its boxes cannot be compared, as no two ran the same commits" in text_of(suspect)


def test_a_test_that_was_broken_on_all_boxes_failed_on_them_alike() -> None:
    bug = Cause(Kind.BUG, ONE, rate=1.0, since=20, until=30)
    suspect = only(planted(bug).facts)
    assert suspect.tried.uncompared is not None
    boxes = sorted(suspect.tried.failed_on)
    assert len(boxes) > 1
    assert suspect.tried.uncompared.alike == boxes
    said = text_of(suspect)
    assert f"it failed on {listed(boxes)} alike" in said
    assert "cannot be compared" not in said


def test_two_failures_on_commits_that_boxes_ran_tell_none_apart() -> None:
    ran = [{"bench-1": OnCommit(0, 1), "bench-2": OnCommit(0, 1)}] * 20
    failed = {"bench-1": OnCommit(1, 1), "bench-2": OnCommit(1, 1)}

    assert blame(*columns([*ran, failed])) is None
    assert uncompared(*columns([*ran, failed])) == Uncompared(in_common=True)
    assert uncompared(*columns([*ran, failed, failed])) == Uncompared(True, ["bench-1", "bench-2"])
    assert uncompared(*columns([{"bench-1": OnCommit(5, 5)}])) == Uncompared(in_common=False)


def test_a_box_that_ran_other_commits_is_no_part_of_what_is_said_of_boxes() -> None:
    fleet = planted(RACE)
    last = fleet.facts.reports[-50:]
    apart = [replace(one, box_key="bench-9") if one in last else one for one in fleet.facts.reports]
    suspect = only(with_reports(fleet.facts, apart))
    assert suspect.found is not None
    boxes = suspect.found.boxes
    assert (boxes.boxes_total, boxes.compared) == (6, 5)
    assert [one.box_key for one in boxes.boxes if not one.compared] == ["bench-9"]
    assert not boxes.boxes[-1].compared
    assert suspect.blame is not None
    assert "bench-9" not in suspect.blame.compared


def test_commits_that_one_box_ran_alone_say_nothing_of_the_other_boxes() -> None:
    # bench-1 ran the bad commits, bench-2 the good ones; both ran one commit, and it passed.
    alone = [(commit, commit > 3, 1 + (commit < 4)) for _ in range(15) for commit in range(8)]
    runs = [*alone, *[(8, False, box) for box in (1, 2) for _ in range(9)]]
    facts = _of_commits([(commit, failing) for commit, failing, _ in runs])
    reports = [
        replace(one, box_key=f"bench-{box}")
        for one, (_, _, box) in zip(facts.reports, runs, strict=True)
    ]
    boxes = found_in(with_reports(facts, reports)).boxes
    assert (boxes.compared, boxes.alike) == (0, None)


def test_lists_in_any_order_give_each_commit_once() -> None:
    fleet = planted(RACE)
    turned = [
        replace(one, changes=replace(one.changes, commits=one.changes.commits[::-1]))
        for one in fleet.facts.reports
        if one.changes is not None
    ]
    since = found_in(with_reports(fleet.facts, turned)).since
    shas = [suspect.sha for suspect in since.suspects]
    assert len(shas) == len(set(shas))
    assert isclose(sum(vars(since.kinds).values()), 1)


def test_rebases_that_list_commits_in_a_circle_give_no_figure() -> None:
    runs = [(commit, commit < 3) for _ in range(15) for commit in range(8)]
    facts = _of_commits(runs)
    last, first = facts.reports[7].sha, facts.reports[0].sha
    turned = [
        replace(one, changes=ChangeList(last, (Commit(first),))) if one.sha == first else one
        for one in facts.reports
    ]
    assert text_of(only(with_reports(facts, turned))) == (
        "not enough data: the order of the commits is not known: changes that were sent lead in a"
        " circle"
    )


def test_runs_that_never_reached_the_hardware_count_in_nothing() -> None:
    fleet = planted(RACE)
    lost = [
        replace(_with(one, "test_000", True), hello_ok=False, run_id=one.run_id + 10**6)
        for one in fleet.facts.reports
    ]
    with_lost = with_reports(fleet.facts, [*fleet.facts.reports, *lost])
    assert found_in(with_lost) == found_in(fleet.facts)


def test_a_test_that_ran_on_another_branch_only_has_no_runs_on_the_branch() -> None:
    facts = planted(branches=1).facts
    reports = [
        one if one.branch == "main" else _with(one, "elsewhere", one.box_key == "bench-1")
        for one in facts.reports
    ]
    assert text_of(only(with_reports(facts, reports))) == (
        "not enough data: 0 runs on main; 20 are needed"
    )


def _passing(count: int) -> list[Report]:
    return list(planted(runs=count * 5).facts.reports[: count * 5 : 5])


def _with(report: Report, test: str, failing: bool) -> Report:
    outcome = Outcome.FAIL if failing else Outcome.PASS
    verdict = Verdict.DEVICE if failing else Verdict.UNKNOWN
    return replace(report, tests=(TestItem(test, outcome, verdict=verdict),))


def _later(reports: Sequence[Report]) -> list[Report]:
    later = timedelta(days=100)
    return [
        replace(one, run_id=one.run_id + 10**6, started_at=one.started_at + later)
        for one in reports
    ]


def _of_commits(runs: Sequence[tuple[int, bool]]) -> Facts:
    """Runs of a test one after the other, each on a commit, and whether it failed."""
    [before] = _passing(1)
    return Facts(
        reports=tuple(
            replace(
                _with(before, "boot", failing),
                sha=f"{commit:040x}",
                changes=ChangeList(f"{commit - 1:040x}", (Commit(f"{commit:040x}"),))
                if commit
                else None,
                run_id=number,
                started_at=EPOCH + timedelta(hours=number + 1),
            )
            for number, (commit, failing) in enumerate(runs)
        )
    )


def lossy(seed: int) -> tuple[FullRecordedRuns, ProductOutcomes]:
    """Return the runs of a fleet that loses boards, and has a bad one."""
    bad_box = Cause(Kind.BAD_BOX, boxes=frozenset({"bench-2"}), odds=4.0)
    fleet = planted(
        RACE, bad_box, seed=seed, tests=6, base_rate=0.1, lost=0.1, unreached=0.1, renamed=2
    )
    return recorded(fleet)


@pytest.mark.parametrize("seed", range(rounds(2, 30)))
def test_each_run_that_reached_its_board_tells_of_its_tests_up_to_where_that_was_lost(
    seed: int,
) -> None:
    history, outcomes = lossy(seed)
    trials = Trials(outcomes, history.check_time, {})

    for test, test_id in outcomes.tests.items():
        expected = []
        for number, run in enumerate(outcomes.runs):
            result, lost = run.notable.get(test), trials.lost.get(number)
            is_lost = lost is not None and lost.tests[0] == test
            if run.hello_ok and test in run.order and (lost is None or test not in lost.untold):
                of_bench = result is not None and result.verdict is Verdict.INFRA and not is_lost
                retries = 0 if result is None else result.attempts - 1
                passed = result is not None and result.outcome is Outcome.PASS
                expected.append(
                    (number, result is not None, is_lost, of_bench, retries, retries - passed)
                )
        assert [*zip(*trials.told(test_id), strict=True)] == expected
    assert trials.lost
    assert not len(trials.told("no such test").run)


@pytest.mark.parametrize("seed", range(rounds(2, 30)))
def test_the_first_attempts_of_each_test_are_those_of_the_runs_that_tell_of_it(seed: int) -> None:
    history, outcomes = lossy(seed)
    trials = Trials(outcomes, history.check_time, {})

    expected = {
        test_id: (sum(failed), len(failed))
        for test_id in outcomes.tests.values()
        for told in [trials.told(test_id)]
        if (failed := told.failed[told.of_bench == 0].tolist())
    }

    assert trials.lost
    assert trials.first_attempts() == expected


def test_the_rates_of_a_test_are_likely_as_all_others_have_them() -> None:
    fleet = planted(RACE, tests=4, base_rate=0.05)
    history = FullRecordedRuns(UUID(int=1), fleet.facts)
    [outcomes] = history.outcomes(Scope(), EVER)
    of_tests = Trials(outcomes, history.check_time, {}).first_attempts()
    others = Counter(of_tests[test_id] for test_id in of_tests if test_id != "test_000")

    found = SeenProduct(history, outcomes).rates("test_000")

    assert (found.chance == rates_beside(others).chance).all()
    assert (found.chance != rates_beside({}).chance).any()


def test_steady_tests_beside_make_fewer_commits_suspects() -> None:
    fleet = planted(replace(RACE, rate=0.1), tests=20, base_rate=0.001, seed=3)
    alone = [
        replace(report, tests=tuple(one for one in report.tests if one.id == "test_000"))
        for report in fleet.facts.reports
    ]

    def suspects(facts: Facts) -> int:
        [found] = [one.found for one in asked(facts).items if one.test.test_id == "test_000"]
        assert found is not None
        return found.since.suspects_total

    assert suspects(fleet.facts) < suspects(with_reports(fleet.facts, alone))


def test_a_whole_row_goes_over_the_wire_with_all_that_its_runs_suggest() -> None:
    row = only(planted(RACE).facts)
    page = ListPage[FlakyRow](
        items=(rated(row.test, row.rate), answered(row), whole(row, {"bench-1": row.rate})),
        total=3,
        page=1,
        limit=3,
    )
    sent = from_json(ListPage[FlakyRow], as_json(ListPage[FlakyRow], page))

    assert [*map(type, sent.items)] == [RatedTest, AnsweredTest, SuspectedTest]
    assert sent.items[:2] == page.items[:2]
    *_, suspected = sent.items
    assert isinstance(suspected, SuspectedTest)
    assert row.found is not None
    assert suspected.found is not None
    assert suspected.found.since.suspects == row.found.since.suspects
    assert suspected.found.bisection == bisected(row.found).bisection
    assert (suspected.on_boxes[0].flake_rate, suspected.missing) == (row.rate, None)
