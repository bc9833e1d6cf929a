# SPDX-License-Identifier: Apache-2.0
"""One box over time, by small pictures."""

from collections.abc import Sequence
from datetime import timedelta

from hwci.analysis.benches.by_parts import sure_shares
from hwci.analysis.benches.one_box import one_box
from hwci.analysis.benches.report import KnownOfBoxes, benches
from hwci.analysis.certainty import Tally
from hwci.contract.boxes.benches import BoxShares, Counts, DayOfBox, FailedAlone, Note, OneBox
from hwci.contract.shares import Share
from hwci.engine.facts import Facts, Report
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from tests.engine.timeline import ALL, EVER, ORG, REPO, START, SUITE, item, minute, report
from tests.support.outcomes import FullRecordedRuns, days_in_utc

TESTS = ("boot", "i2c")
DAY = 24 * 60
UNKNOWN = KnownOfBoxes({}, {})


def history(*reports: Report) -> FullRecordedRuns:
    return FullRecordedRuns(ORG, Facts(reports=reports))


def found(*reports: Report, box: str = "box-1", most: int = 100) -> OneBox:
    return one_box(history(*reports), ALL, days_in_utc(EVER), box, most, UNKNOWN)


def shares_of(box: OneBox) -> BoxShares:
    assert box.shares is not None
    return box.shares


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
    both = shares_of(one), one.others
    pairs = [[counts(share) for share in vars(shares).values()] for shares in both]

    assert pairs == [
        [(3, 4), (0, 3), (1, 6), (7, 9)],
        [(4, 4), (0, 4), (0, 8), (1, 8)],
    ]
    for share in (one.others.reached, one.others.lost_board):
        assert share is not None
        assert share.low is not None
        assert share.high is not None
        assert share.low <= share.part / share.total <= share.high


def counts(share: Share | None) -> tuple[int, int]:
    assert share is not None
    return share.part, share.total


def test_its_shares_of_results_are_as_sure_as_they_and_those_of_the_others_scatter() -> None:
    days = range(8)
    past = [run(f"{at}", at * DAY, "F P" if at == 2 else "P P") for at in days]
    others = [run(f"{at}", at * DAY, "P P", "box-2") for at in days]
    one = found(*past, *others)

    assert one.others is not None
    quiet = {**dict.fromkeys(range(6), Tally(0, 2)), 6: Tally(0, 4)}
    shares = sure_shares({**quiet, 2: Tally(1, 2)}, quiet)
    own = shares_of(one)
    assert [own.failed_attempts, one.others.failed_attempts] == shares
    assert own.blamed == sure_shares(quiet, quiet)[0]


def test_a_test_failed_alone_where_no_other_box_that_ran_it_at_the_commit_failed_it() -> None:
    past = (*PAST, run("e", 9, "P2 F"), run("e", 10, "P P", "box-2"))
    one = found(*past)

    assert one.alone == tuple(
        FailedAlone(repo_key=REPO, suite=SUITE, test_id=test, commits=2, of=3)
        for test in ("boot", "i2c")
    )
    assert found(*past, most=1).alone_total == 2
    assert len(found(*past, most=1).alone) == 1


def test_one_failure_alone_is_not_listed() -> None:
    assert found(*PAST).alone == ()


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

    assert [row.test_id for row in one.alone] == ["i2c"]


def test_an_only_box_has_no_others_and_one_that_never_reached_has_no_results() -> None:
    alone = found(run("a", 1, "P F"))
    assert (alone.others, alone.alone) == (None, ())

    never = shares_of(found(run("a", 1, "L")))
    assert counts(never.reached) == (0, 1)
    assert (never.lost_board, never.blamed, never.failed_attempts) == (None, None, None)


def test_results_of_one_instant_have_a_share_and_no_interval() -> None:
    shares = shares_of(found(*(run(sha, 1, "P F") for sha in "abc")))
    assert shares.failed_attempts == Share(part=3, total=6, low=None, high=None)


def test_it_stands_as_in_the_answer_about_all_boxes_with_its_note() -> None:
    seen_at = minute(3)
    known = KnownOfBoxes({"box-1": Note(at=minute(2.5), text="new cable")}, {"box-1": seen_at})
    [row] = [
        row
        for row in benches(history(*PAST), Scope(), EVER, 100, known).boxes
        if row.box_key == "box-1"
    ]
    one = one_box(history(*PAST), ALL, days_in_utc(EVER), "box-1", 100, known)

    assert one.box == row
    assert row.last_seen_at == seen_at
    assert counts(shares_of(one).reached)[1] == 4, "of the whole period"


def test_a_box_without_a_run_has_nothing() -> None:
    nothing = found(*PAST, box="box-9")
    assert nothing.by_day == ()
    assert (nothing.box, nothing.shares, nothing.others) == (None, None, None)
    assert (nothing.tests, nothing.alone, nothing.alone_total) == ((), (), 0)


WEEK = Period(START, START + timedelta(days=7, microseconds=-1))


def by_day(*reports: Report, notes: Sequence[Note] = (), since: Note | None = None) -> OneBox:
    known = UNKNOWN._replace(notes={} if since is None else {"box-1": since})
    return one_box(history(*reports), ALL, days_in_utc(WEEK, notes), "box-1", 100, known)


def test_each_day_has_its_runs_what_failed_here_and_on_the_others_and_its_notes() -> None:
    cable = Note(at=minute(3 * DAY), text="new cable")
    box = by_day(
        run("a", 1, "P F"),
        run("a", 2, "P P", "box-2"),
        run("b", DAY + 1, "P F"),
        run("b", DAY + 2, "F F", "box-2"),
        run("c", 5 * DAY, "L"),
        notes=[cable],
    )

    assert len(box.days) == 7
    assert box.by_day == (
        day(0, 1, counts=(1, 2, 0, 2)),
        day(1, 1, counts=(0, 1, 1, 1)),  # i2c failed on all of them
        day(3, 0, notes=(cable,)),
        day(5, 1, never_reached=1),
    )


def day(
    number: int,
    runs: int,
    never_reached: int = 0,
    counts: tuple[int, int, int, int] = (0, 0, 0, 0),
    notes: tuple[Note, ...] = (),
) -> DayOfBox:
    return DayOfBox(
        day=number,
        runs=runs,
        never_reached=never_reached,
        lost_board=0,
        counts=Counts(
            failed=counts[0], results=counts[1], others_failed=counts[2], others_results=counts[3]
        ),
        notes=notes,
    )


def counted(counts: Counts) -> tuple[int, int, int, int]:
    return counts.failed, counts.results, counts.others_failed, counts.others_results


def test_the_others_count_on_each_day_of_the_box_whenever_they_ran_the_commit() -> None:
    box = by_day(run("a", 1, "P F"), run("a", DAY, "P P"), run("a", 2 * DAY, "P P", "box-2"))

    assert [counted(row.counts) for row in box.by_day] == [(1, 2, 0, 2), (0, 2, 0, 2)]


def test_the_days_add_up_to_what_the_box_is_compared_by_before_and_since_its_note() -> None:
    letters = "PPPFPPIPF"
    runs = [
        run(
            f"{at}",
            at * DAY / 3 + late,
            f"{letters[(at * 7 + box) % 9]} {letters[(at + 3 * box) % 9]}",
            f"box-{box}",
        )
        for at in range(20)
        for box, late in ((1, 0), (2, 5), (3, 9))
    ]
    note = Note(at=minute(3 * DAY), text="new cable")
    box = by_day(*runs, since=note)

    assert box.box is not None
    assert box.box.before is not None
    for field in ("failed", "results"):
        told = getattr(box.box.counts, field) + getattr(box.box.before.counts, field)
        assert sum(getattr(row.counts, field) for row in box.by_day) == told > 0
    assert box.shares is not None
    assert box.shares.reached is not None
    assert sum(row.runs for row in box.by_day) == box.shares.reached.total


def test_a_run_that_lost_its_board_counts_on_its_day() -> None:
    tests = [item("P" if at == 0 else "F", f"t{at}") for at in range(6)]
    others = [
        report(f"{sha}:P", at, box="box-2", tests=[item("P", f"t{test}") for test in range(6)])
        for at, sha in enumerate("abcdefgh")
    ]
    box = by_day(*others, report("a:P", 2 * DAY, box="box-1", tests=tests))

    assert [(row.day, row.lost_board) for row in box.by_day] == [(2, 1)]
