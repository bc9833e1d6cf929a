# SPDX-License-Identifier: Apache-2.0
"""Histories that simpler ways to keep derived rows up to date get wrong, and what a write costs."""

import random
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hwci.contract.vocabulary import Outcome
from hwci.engine.facts import Report, TestItem, failure_id
from hwci.engine.history import Scope
from hwci.server.storage.sql.transaction import Transaction
from hwci.server.storage.sqlite.connections import Connection, open_writer
from tests.engine.timeline import CONFIG, Past, changes, commit, report
from tests.server.storage.agreeing import compare
from tests.server.storage.histories import EVER, NOON, ORG
from tests.server.storage.kept import Kept
from tests.support.reading import noted, read_period

FIX = report("c:P", 30, sent=changes("b", "c"))
BEGINNING = -29_453_760  # minutes: 1970-01-01T00:00Z
BREAK = report("b:F", 20, sent=changes("a", commit("b", "fw")))

HISTORIES: dict[str, list[Report]] = {
    "a commit that passed on another branch gets a place before the fix": [
        BREAK,
        FIX,
        report("x:P", 5, branch="pr"),
        report("e:L", 25, suite="other", covers=["x"]),
    ],
    "the first and the last failing commit change places": [
        report("d:F", 15),
        BREAK,
        FIX,
        report("e:L", 10, suite="other", covers=["d", "b"]),
        report("f:L", 9, suite="other", covers=["b", "d"]),
    ],
    "an earlier run on the failing commit reports no changes": [
        BREAK,
        FIX,
        report("b:L", 19, suite="other"),
    ],
    "an earlier run on the failing commit reports no changes, and no commit moves": [
        report("a:P", 10),
        BREAK,
        FIX,
        report("b:L", 19, suite="other"),
    ],
    "an earlier run blames the bench, and no commit moves": [
        report("a:P", 10),
        BREAK,
        FIX,
        report("b:I", 19),
    ],
    "an earlier run started in the same instant, and no commit moves": [
        report("a:P", 10),
        report("b:F", 20, run_id=7),
        report("b:F", 20, run_id=5),
        FIX,
    ],
    "the earlier box of a run lists fewer commits": [
        BREAK,
        report("d:P", 40, box="b2", run_id=7, sent=changes("b", "c", "d")),
        report("d:P", 39, box="b3", run_id=7, sent=changes("c", "d")),
        report("d:P", 41),
    ],
    "the missing part of the way back arrives last": [
        report("g:F", 10, sent=changes("f0", commit("g", "fw"))),
        report("f:P", 30, sent=changes("x", commit("f", "fw"))),
        report("x:-", 20, sent=changes("g", "x")),
    ],
    "exact lists arrive after one that was cut": [
        report("g:F", 10, sent=changes("f0", commit("g", "fw"))),
        report("f:P", 50, sent=changes("e", "g", "h", "x", "f")),
        report("x:-", 30, sent=changes("g", commit("x", "hs"))),
        report("f:-", 40, sent=changes("x", commit("f", "fw"))),
    ],
    "a branch that was force-pushed is connected to the failure last": [
        report("g:F", 10, sent=changes("f0", commit("g", "fw"))),
        report("h:-", 11, sent=changes("g", commit("h", "fw"))),
        *(report(f"n{n + 1}:-", 20 + n, sent=changes(f"n{n}", f"n{n + 1}")) for n in range(9)),
        report("f:P", 40, sent=changes("n9", commit("f", "fw"))),
        report("n0:-", 19, sent=changes("h", "n0")),
    ],
    "a commit of two branches passes on the second only": [
        report("c:F", 10),
        report("c:F", 20, branch="release"),
        report("c:P", 30, branch="release"),
    ],
    "the commit of a flake passes two weeks later": [
        report("c:F", 10),
        report("d:P", 20),
        report("c:P", 20_160),
    ],
    "a report from 1970 changes the order of a branch": [
        *(report(f"{number:07x}:{'FP'[number % 2]}", number) for number in range(16)),
        report("e:L", -29_000_000, covers=[f"{number:07x}" for number in range(15, 0, -2)]),
    ],
    "a flake passes at its second attempt": [report("c:F", 0), report("c:P", 1), report("c:P2", 2)],
    "a box without a clock reports the first moment of 1970": [report("c:F", BEGINNING)],
    "a nightly runs the commits of a day again": [
        BREAK,
        report("c:P", 30, sent=changes("b", "c")),
        report("c:P", 90, workflow="nightly", sent=changes("a", "b", "c")),
    ],
    "a pass between failures comes, goes and comes again": [
        report("a:F", 1),
        report("b:F", 2),
        report("c:F", 3),
        report("d:P", 4),
        report("b:P", 5, run_id=77),
        report("b:F", 5, run_id=77),
        report("c:P", 6, run_id=77),
    ],
    "a commit is found to be none of the branch": [
        report("b:F", 10),
        report("c:P", 20),
        report("a:L", 5, run_id=3, covers=["x", "c"]),
        report("a:L", 5, run_id=3),
    ],
}


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    with closing(open_writer(tmp_path / "hwci.db")) as opened:
        opened.execute("BEGIN")
        yield opened
        opened.roll_back()


def in_order(history: list[Report]) -> list[Report]:
    return history


def backwards(history: list[Report]) -> list[Report]:
    return history[::-1]


@pytest.mark.parametrize("arriving", [in_order, backwards])
@pytest.mark.parametrize("name", HISTORIES)
def test_each_report_leaves_what_the_definition_gives(
    connection: Connection, name: str, arriving: Callable[[list[Report]], list[Report]]
) -> None:
    sqlite, kept = Transaction(connection), Kept()
    both: tuple[Transaction | Kept, ...] = (sqlite, kept)
    for writer in both:
        writer.put_config(ORG, CONFIG, NOON)
    for one in arriving(HISTORIES[name]):
        for writer in both:
            writer.put_report(ORG, one, NOON)
        compare(0, sqlite, kept.facts(ORG))


def test_a_reviewed_failure_joins_an_episode_as_another_one_leaves_it(
    connection: Connection,
) -> None:
    sqlite, kept = Transaction(connection), Kept()
    both: tuple[Transaction | Kept, ...] = (sqlite, kept)
    first, reviewed = report("x:F", 2, run_id=7), report("b:F", 2, run_id=7)
    for one in (report("a:F", 1), first, report("c:F", 3), report("d:P", 4)):
        for writer in both:
            writer.put_report(ORG, one, NOON)
    review = Past().reviewed("b", "confirm").reviews.popitem()[1]
    for writer in both:
        writer.put_review(ORG, failure_id(ORG, review.key), review)
    for one in (reviewed, first):
        for writer in both:
            writer.put_report(ORG, one, NOON)
        compare(0, sqlite, kept.facts(ORG))
    assert connection.rows("SELECT reviewed FROM episode") == [(0,)]


def of_many_tests(sha: str, at: float, outcome: Outcome, tests: int) -> Report:
    items = [TestItem(f"test {number}", outcome) for number in range(tests)]
    return report(f"{sha}:P", at, tests=items)


def test_a_fix_writes_no_row_for_each_night_that_failed(connection: Connection) -> None:
    tests, nights = 50, 30
    writer = Transaction(connection)
    for night in range(nights):
        writer.put_report(ORG, of_many_tests(f"{night:07x}", night, Outcome.FAIL, tests), NOON)
    before = connection.raw.total_changes
    writer.put_report(ORG, of_many_tests("fffffff", nights, Outcome.PASS, tests), NOON)
    assert connection.raw.total_changes - before < 4 * tests


def test_boxes_that_report_in_any_order_write_no_failure_again(connection: Connection) -> None:
    writer = Transaction(connection)
    for night in range(10):
        writer.put_report(ORG, of_many_tests(f"{night:07x}", 60 * night, Outcome.FAIL, 50), NOON)
    before = connection.raw.total_changes
    earlier = report("0000009:-", 539.5, box="box-2", sent=changes("0000008", "0000009"))
    writer.put_report(ORG, earlier, NOON)
    assert connection.raw.total_changes - before < 20


def test_a_report_on_a_failing_commit_that_changes_no_failure_writes_no_episode(
    connection: Connection,
) -> None:
    writer = Transaction(connection)
    writer.put_report(ORG, of_many_tests("b", 20, Outcome.FAIL, 200), NOON)
    before = connection.raw.total_changes
    writer.put_report(ORG, report("b:L", 25, suite="other"), NOON)
    assert connection.raw.total_changes - before < 20


def test_a_walk_is_forgotten_with_its_last_episode(connection: Connection) -> None:
    writer = Transaction(connection)
    writer.put_config(ORG, CONFIG, NOON)
    for one in (BREAK, FIX, report("b:P", 40)):
        writer.put_report(ORG, one, NOON)
        found = read_period(writer.history(ORG), Scope(), EVER).decided
        writer.keep_decisions(noted(ORG, writer.version(ORG), found))
        if one is FIX:
            assert connection.row("SELECT 1 FROM walk_commit") is not None
    assert connection.row("SELECT 1 FROM walk_commit") is None


def test_a_branch_without_room_between_two_commits_is_spread(connection: Connection) -> None:
    sqlite, kept = Transaction(connection), Kept()
    both: tuple[Transaction | Kept, ...] = (sqlite, kept)
    squeezed = [report("a:F", 0), report("b:P", 100)]
    squeezed += [
        report(f"{number:07x}:{'FP'[number % 3 == 0]}", 100 - number) for number in range(1, 60)
    ]
    for one in squeezed:
        for writer in both:
            writer.put_report(ORG, one, NOON)
    compare(0, sqlite, kept.facts(ORG))


def test_lists_of_the_same_tests_in_any_order_share_a_row_a_day(connection: Connection) -> None:
    writer, shuffled = Transaction(connection), random.Random(1)
    for number in range(20):
        items = [TestItem(f"test {one}", Outcome.PASS) for one in range(9)]
        shuffled.shuffle(items)
        writer.put_report(ORG, report(f"{number:07x}:P", number, tests=items), NOON)
    assert connection.rows("SELECT reports, runs, infra FROM day_run") == [(20, 20, 0)]


def test_a_report_of_passed_tests_adds_one_row_a_day(connection: Connection) -> None:
    writer = Transaction(connection)
    writer.put_report(ORG, of_many_tests("a", 0, Outcome.PASS, 500), NOON)
    sums = "SELECT (SELECT count(*) FROM day_run), (SELECT count(*) FROM day_result)"
    assert connection.row(sums) == (1, 0)


def test_items_of_a_flake_count_on_their_own_days(connection: Connection) -> None:
    writer, day = Transaction(connection), 24 * 60
    for at in (0, day):
        writer.put_report(ORG, report("c:F", at), NOON)
    flakes = "SELECT flakes FROM day_result ORDER BY day"
    assert connection.rows(flakes) == [(0,), (0,)]
    writer.put_report(ORG, report("c:P", 14 * day, run_id=77), NOON)
    assert connection.rows(flakes) == [(1,), (1,)]
    writer.put_report(ORG, report("c:L", 14 * day, run_id=77), NOON)
    assert connection.rows(flakes) == [(0,), (0,)]


def test_a_report_of_a_flakes_commit_reads_no_item_of_earlier_ones(connection: Connection) -> None:
    sqlite, asked = Transaction(connection), list[str]()
    for at, outcome in enumerate("FPFF"):
        sqlite.put_report(ORG, report(f"c:{outcome}", at), NOON)
    connection.raw.set_trace_callback(asked.append)
    sqlite.put_report(ORG, report("c:P", 9), NOON)
    connection.raw.set_trace_callback(None)
    assert not [one for one in asked if "JOIN item" in one]
    assert connection.rows("SELECT results, flakes FROM day_result") == [
        ("[[0],[3],[3],[3],[3]]", 3)
    ]
