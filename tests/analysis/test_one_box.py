# SPDX-License-Identifier: Apache-2.0
"""One box over time, by small pictures."""

from collections.abc import Sequence

from hwci.analysis.benches.by_parts import SureShare, sure_shares
from hwci.analysis.benches.one_box import Alone, OneBox, one_box
from hwci.analysis.benches.report import Note, benches
from hwci.analysis.certainty import Rate
from hwci.engine.facts import Facts, Product, Report
from hwci.engine.history import Scope
from hwci.engine.page.reading import Tally
from tests.engine.timeline import ALL, EVER, ORG, REPO, SUITE, item, minute, report
from tests.support.outcomes import FullRecordedRuns

TESTS = ("boot", "i2c")
DAY = 24 * 60


def history(*reports: Report) -> FullRecordedRuns:
    return FullRecordedRuns(ORG, Facts(reports=reports))


def found(*reports: Report, box: str = "box-1", most: int = 100) -> OneBox:
    one = one_box(history(*reports), ALL, EVER, box, {}, most)
    assert one is not None
    return one


def run(sha: str, at: float, results: str, box: str = "box-1") -> Report:
    """A run with a result for each of the tests, with blanks between; "L": never reached."""
    if results == "L":
        return report(f"{sha}:L", at, box=box)
    tests = [item(one, name) for one, name in zip(results.split(), TESTS, strict=True)]
    return report(f"{sha}:P", at, box=box, tests=tests)


PAST = (
    run("a", 1, "P F"),
    run("a", 2, "P P", "box-2"),
    run("b", 3, "I2 F"),
    run("b", 4, "P F", "box-2"),
    run("c", 5, "P3 F"),
    run("d", 6, "L"),
    run("d", 7, "P P", "box-2"),
    run("d", 8, "P P", "box-3"),
)


def test_its_shares_stand_beside_those_of_all_other_boxes() -> None:
    one = found(*PAST)
    assert one.others is not None
    pairs = [[counts(share) for share in shares] for shares in (one.shares, one.others)]

    assert pairs == [
        [(3, 4), (0, 3), (1, 6), (7, 9)],
        [(4, 4), (0, 4), (0, 8), (1, 8)],
    ]
    for share in (one.shares.reached, one.shares.lost):
        assert share is not None
        assert share.low <= share.rate <= share.high


def counts(share: Rate | SureShare | None) -> tuple[int, int]:
    assert share is not None
    return share[:2] if isinstance(share, SureShare) else (share.failed, share.attempts)


def test_its_shares_of_results_are_as_sure_as_they_and_those_of_the_others_scatter() -> None:
    days = range(8)
    past = [run(f"{at}", at * DAY, "F P" if at == 2 else "P P") for at in days]
    others = [run(f"{at}", at * DAY, "P P", "box-2") for at in days]
    one = found(*past, *others)

    assert one.others is not None
    quiet = {**dict.fromkeys(range(6), Tally(0, 2)), 6: Tally(0, 4)}
    shares = sure_shares({**quiet, 2: Tally(1, 2)}, quiet)
    assert [one.shares.flaky, one.others.flaky] == shares
    assert one.shares.blamed == sure_shares(quiet, quiet)[0]


def test_a_test_failed_alone_where_no_other_box_that_ran_it_at_the_commit_failed_it() -> None:
    past = (*PAST, run("e", 9, "P2 F"), run("e", 10, "P P", "box-2"))
    one = found(*past)

    assert one.alone.items == [
        Alone(Product(REPO, SUITE), "boot", 2, 3),
        Alone(Product(REPO, SUITE), "i2c", 2, 3),
    ]
    assert found(*past, most=1).alone.total == 2
    assert len(found(*past, most=1).alone.items) == 1


def test_one_failure_alone_is_not_listed() -> None:
    assert found(*PAST).alone.items == []


def test_a_test_that_fails_on_all_boxes_alike_failed_on_none_alone() -> None:
    """Of 200 commits, boot fails on ten of either box, and i2c on 25 of the first."""

    def runs_of(at: int) -> Sequence[Report]:
        boot = ["F" if at % 20 == number else "P" for number in (0, 10)]
        i2c = "F" if at % 8 == 1 else "P"
        return [
            run(f"{at}", at * DAY, f"{boot[0]} {i2c}"),
            run(f"{at}", at * DAY + 1, f"{boot[1]} P", "box-2"),
        ]

    one = found(*(report for at in range(200) for report in runs_of(at)))

    assert [row.test_id for row in one.alone.items] == ["i2c"]


def test_an_only_box_has_no_others_and_one_that_never_reached_has_no_results() -> None:
    alone = found(run("a", 1, "P F"))
    assert (alone.others, alone.alone.items) == (None, [])

    never = found(run("a", 1, "L")).shares
    assert never.reached is not None
    assert (never.reached.failed, never.reached.attempts) == (0, 1)
    assert never[1:] == (None, None, None)


def test_results_of_one_instant_have_a_share_and_no_interval() -> None:
    flaky = found(*(run(sha, 1, "P F") for sha in "abc")).shares.flaky
    assert flaky == SureShare(3, 6, None)


def test_it_stands_as_in_the_answer_about_all_boxes_with_its_note() -> None:
    notes = {"box-1": Note(minute(2.5), "new cable")}
    [row] = [
        one
        for one in benches(history(*PAST), Scope(), EVER, 100, notes).boxes
        if one.box_key == "box-1"
    ]
    one = one_box(history(*PAST), ALL, EVER, "box-1", notes, 100)

    assert one is not None
    assert one.report == row
    assert one.health.unreached.attempts == 4, "of the whole period"


def test_a_box_without_a_run_has_nothing() -> None:
    assert one_box(history(*PAST), ALL, EVER, "box-9", {}, 100) is None
