# SPDX-License-Identifier: Apache-2.0
"""What a report and a page cost: every search by index, and no put that grows with the history.

Cost is counted in steps of SQLite's virtual machine, not in time.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import pytest

from hwci.contract.failures.failures import Review
from hwci.contract.people import Actor
from hwci.contract.runs.commits import ChangeList, Commit
from hwci.contract.vocabulary import Outcome, ReviewAction, RunStatus
from hwci.engine.facts import Facts, FailureKey, Lane, Report, StoredReview, TestItem, run_record_id
from hwci.engine.history import Scope
from hwci.engine.page import tables
from hwci.engine.page.reading import read_failures
from hwci.engine.periods import Period
from hwci.server.storage.records import RunFilter
from hwci.server.storage.sql.codec import uuid_of
from hwci.server.storage.sql.transaction import Transaction
from hwci.server.storage.sqlite.connections import Connection, open_writer
from tests.server.storage.examples import ACME, BOX, DELIVERY, NOON, REPORT, WEBHOOK
from tests.server.storage.histories import EVER, ORG, HistoryDraw, questions
from tests.server.storage.live_runs import ask_runs, record_runs
from tests.support.reading import read_period

WIDE = re.compile(r"\((org_id=\?)?( AND repo_key=\?)?( AND product_id=\?)?( AND \w+>\?)?\)")
STEPS = 50  # of the virtual machine, per call of the handler


@pytest.fixture
def connection(tmp_path: Path) -> Connection:
    return in_one_transaction(tmp_path)


def in_one_transaction(folder: Path) -> Connection:
    """Open a database for many writes, which wait for no disk."""
    connection = open_writer(folder / "hwci.db")
    connection.execute("BEGIN")
    return connection


def shape(statement: str) -> str:
    """Return a statement without its values."""
    return re.sub(r"(x?'[^']*'|\b\d+\b)", "?", statement, flags=re.IGNORECASE)


def test_every_search_goes_by_index(connection: Connection) -> None:
    draw, writer = HistoryDraw(5), Transaction(connection)
    for _ in range(30):
        writer.put_report(ORG, draw.next_report(), NOON)
        writer.announce(ORG, draw.announcement(), NOON)
        writer.put_config(ORG, draw.config(), NOON)
    asked: set[str] = set()
    put: set[str] = set()
    connection.raw.set_trace_callback(put.add)
    for _ in range(8):
        writer.put_report(ORG, draw.next_report(), NOON)
    connection.raw.set_trace_callback(asked.add)
    facts = Facts(reports=tuple(draw.reports))
    for _ in questions(writer.history(ORG), facts, draw.random):
        pass
    connection.raw.set_trace_callback(None)
    statements = {shape(statement): statement for statement in put | asked}
    assert len(statements) > 40
    for statement in statements.values():
        plan = [row[3] for row in connection.rows(f"EXPLAIN QUERY PLAN {statement}")]
        scans = [step for step in plan if step.startswith("SCAN")]
        # `j` is the list that the statement was given, `h` what it has found so far; a constant row
        # is of no table.
        few = ("SCAN j ", "SCAN h", "SCAN CONSTANT ROW")
        assert all(step.startswith(few) for step in scans), (statement, plan)
        if statement in put:
            # Everything of a repository, or of a product: a scan in disguise.
            assert not any(WIDE.search(step) for step in plan), (statement, plan)
        if "INDEXED BY place_order" in statement:
            assert not any("TEMP B-TREE" in step for step in plan), (statement, plan)


def test_any_number_of_commits_is_read_in_one_statement(
    connection: Connection,
) -> None:
    writer = Transaction(connection)
    shas = [f"{number:040x}" for number in range(300)]
    for number, sha in enumerate(shas):
        changes = ChangeList(None, (Commit(sha, f"change {number}"),))
        writer.put_report(ORG, replace(REPORT, run_id=number, sha=sha, changes=changes), NOON)
    asked: list[str] = []
    connection.raw.set_trace_callback(asked.append)
    listings = writer.history(ORG).first_listing(REPORT.repo_key, shas)
    connection.raw.set_trace_callback(None)
    result = {sha: changes.commits[0].subject for sha, changes in listings.items()}
    assert result == {sha: f"change {number}" for number, sha in enumerate(shas)}
    assert len(asked) == 1, asked


def test_a_report_that_replaces_none_asks_as_much_whatever_number_of_commits_it_covers(
    connection: Connection,
) -> None:
    writer = Transaction(connection)
    shas = [f"{number:040x}" for number in range(40)]
    first = replace(REPORT, changes=None, covers_shas=tuple(shas), sha="f" * 40)
    writer.put_report(ORG, first, NOON)
    asked: list[list[str]] = [[], []]
    for number, covers in enumerate((shas[:1], shas)):
        connection.raw.set_trace_callback(asked[number].append)
        again = replace(first, run_id=number + 1, covers_shas=tuple(covers))
        writer.put_report(ORG, again, NOON)
        connection.raw.set_trace_callback(None)
    few, many = ([one for one in own if one.lstrip().startswith("SELECT")] for own in asked)
    assert len(few) == len(many) == 9
    assert not any("FROM mention" in one for one in many)


def test_a_report_asks_for_the_reports_of_its_commit_once_and_twice_for_their_failures(
    connection: Connection,
) -> None:
    writer = Transaction(connection)
    failing = replace(
        REPORT, tests=(TestItem("boot", Outcome.FAIL), TestItem("uart", Outcome.PASS))
    )
    writer.put_report(ORG, failing, NOON)
    asked: list[str] = []
    connection.raw.set_trace_callback(asked.append)
    writer.put_report(ORG, replace(failing, run_id=8), NOON)
    connection.raw.set_trace_callback(None)
    for table, times in (
        ("report INDEXED BY report_commit", 1),
        ("report r INDEXED BY report_commit", 0),
        ("failure INDEXED BY failure_at", 2),
    ):
        of_commit = [
            one for one in asked if one.lstrip().startswith("SELECT") and f"FROM {table}" in one
        ]
        assert len(of_commit) == times, of_commit


def test_every_search_for_run_records_and_events_goes_by_index(connection: Connection) -> None:
    writer = Transaction(connection)
    writer.add_organization(ACME)
    writer.add_box(BOX)
    for number in range(20):
        writer.put_report(ORG, replace(REPORT, run_id=number), NOON)
    asked: set[str] = set()
    connection.raw.set_trace_callback(asked.add)
    record_runs(writer)
    ask_runs(writer)
    connection.raw.set_trace_callback(None)
    statements = {shape(statement): statement for statement in asked}
    assert len(statements) > 25
    for statement in statements.values():
        plan = [row[3] for row in connection.rows(f"EXPLAIN QUERY PLAN {statement}")]
        # `j` is the list that the statement was given, `whole` a query with indexes, and `o` the
        # organizations, each of which is looked at for old events.
        scans = [step for step in plan if step.startswith("SCAN")]
        no_table = re.compile(r"SCAN (j |o\b|whole|\(subquery|CONSTANT ROW)")
        assert all(no_table.match(step) for step in scans), (statement, plan)


@pytest.mark.parametrize("wanted", [RunFilter(), RunFilter(box_key="b1")])
def test_the_first_page_of_runs_is_read_in_order_and_not_sorted(
    connection: Connection, wanted: RunFilter
) -> None:
    writer = Transaction(connection)
    asked: list[str] = []
    connection.raw.set_trace_callback(asked.append)
    writer.runs(ORG, replace(wanted, status=RunStatus.REPORTED), NOON, 0, 20)
    connection.raw.set_trace_callback(None)
    [page] = [statement for statement in asked if "LIMIT" in statement]
    plan = [row[3] for row in connection.rows(f"EXPLAIN QUERY PLAN {page}")]
    assert not any("TEMP B-TREE" in step for step in plan), plan


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (RunFilter(sha_start="abcd"), "report_commit (org_id=? AND sha>? AND sha<?)"),
        (
            RunFilter(sha_start="abcd", branch="main", box_key="b1", start=NOON, end=NOON),
            "report_commit (org_id=? AND sha>? AND sha<?)",
        ),
        (RunFilter(branch="main"), "report_branch (org_id=? AND branch=?)"),
        (
            RunFilter(branch="main", start=NOON, end=NOON, hello_ok=False),
            "report_branch (org_id=? AND branch=? AND started_at>? AND started_at<?)",
        ),
        (
            RunFilter(start=NOON, end=NOON, hello_ok=False),
            "report_started (org_id=? AND started_at>? AND started_at<?)",
        ),
    ],
)
def test_runs_of_a_commit_a_branch_or_a_period_are_found_by_index(
    connection: Connection, wanted: RunFilter, index: str
) -> None:
    writer = Transaction(connection)
    asked: list[str] = []
    connection.raw.set_trace_callback(asked.append)
    writer.runs(ORG, wanted, NOON, 0, 20)
    connection.raw.set_trace_callback(None)
    listing = [statement for statement in asked if "ORDER BY 1 DESC" in statement]
    assert len(listing) == 2
    for statement in listing:
        plan = [row[3] for row in connection.rows(f"EXPLAIN QUERY PLAN {statement}")]
        searches = [step for step in plan if step.startswith("SEARCH r ")]
        assert searches == [f"SEARCH r USING INDEX {index}"], plan


def test_only_the_runs_of_the_box_are_read_on_a_branch(connection: Connection) -> None:
    asked: list[str] = []
    connection.raw.set_trace_callback(asked.append)
    wanted = RunFilter(branch="main", box_key="b1", status=RunStatus.REPORTED)
    Transaction(connection).runs(ORG, wanted, NOON, 0, 20)
    connection.raw.set_trace_callback(None)
    [page] = [statement for statement in asked if "LIMIT" in statement]
    steps = [row[1:5] for row in connection.rows(f"EXPLAIN {page}")]
    [(root,)] = connection.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'report_branch'")
    [index] = [p1 for code, p1, p2, _ in steps if code == "OpenRead" and p2 == root]
    [row] = [p3 for code, p1, _, p3 in steps if code == "DeferredSeek" and p1 == index]
    columns = connection.rows("SELECT name FROM pragma_index_info('report_branch') ORDER BY seqno")
    box = (index, columns.index(("box_key",)))
    read = [(p1, p2) for code, p1, p2, _ in steps if code == "Column" and p1 in {index, row}]
    assert read[0] == box, "before anything of the row"


@pytest.mark.parametrize("flag", [None, True, False])
def test_runs_of_a_test_are_searched_in_the_period_only(
    connection: Connection, *, flag: bool | None
) -> None:
    writer = Transaction(connection)
    writer.put_report(ORG, REPORT, NOON)
    asked: list[str] = []
    of_product = RunFilter("fw", "hil", hello_ok=True, start=NOON, end=NOON)
    connection.raw.set_trace_callback(asked.append)
    wanted = replace(of_product, test_id="boot", retry_pass=flag, failed_attempt=flag)
    writer.runs(ORG, wanted, NOON, 0, 20)
    connection.raw.set_trace_callback(None)
    searching = [statement for statement in asked if "SELECT r.started_at" in statement]
    assert len(searching) == 3  # test lists, number and page
    for statement in searching:
        plan = [row[3] for row in connection.rows(f"EXPLAIN QUERY PLAN {statement}")]
        of_reports = [step for step in plan if re.match("SEARCH [rqi] ", step)]
        assert of_reports, plan
        for step in of_reports:
            assert re.search(
                "org_id=. AND (product_id=. AND )?started_at>. AND started_at<."
                "|report_record .org_id=. AND record_id=."
                "|org_id=. AND report_id=. AND test=.",
                step,
            ), plan


@contextmanager
def counting(connection: Connection, every: int = 1) -> Iterator[list[int]]:
    """Count the steps of SQLite's machine within the block, one in `every`; yield the count."""
    cost = [0]

    def step() -> int:
        cost[0] += 1
        return 0

    connection.raw.set_progress_handler(step, every)
    yield cost
    connection.raw.set_progress_handler(None, every)


def run_of(number: int) -> Report:
    """Return the report of commit `number`: a hundred tests, of which some always fail."""
    tests = [TestItem(f"test {index}", Outcome.PASS) for index in range(100)]
    tests[0] = replace(tests[0], outcome=Outcome.FAIL)
    tests.append(TestItem(f"soon removed {number // 5}", Outcome.FAIL))
    if number % 3 == 0:
        tests[1] = replace(tests[1], outcome=Outcome.FAIL)
    return replace(
        REPORT,
        run_id=number,
        sha=f"{number:07x}",
        started_at=NOON + timedelta(hours=number),
        tests=tuple(tests),
        covers_shas=(),
        changes=ChangeList(f"{number - 1:07x}", (Commit(f"{number:07x}"),)),
    )


class LongHistory(NamedTuple):
    """Six hundred runs, one an hour. `costs`: of each report; `one_run`: of the record of a run
    when there were twenty; `again`: of a report that came again when there were sixty.
    """

    connection: Connection
    writer: Transaction
    costs: list[int]
    one_run: int
    again: int

    def cost_of_run(self, number: int) -> int:
        """Return what it costs to read the record of a run."""
        record_id = run_record_id(ORG, "fw", number, 1, "b1")
        with counting(self.connection) as cost:
            assert self.writer.run(ORG, record_id, NOON) is not None
            assert self.writer.run_record(ORG, record_id, NOON) is not None
        return cost[0]

    def cost_of_report(self, number: int) -> int:
        """Return what it costs to put the report of a run."""
        with counting(self.connection, STEPS) as cost:
            self.writer.put_report(ORG, run_of(number), NOON)
        return cost[0]


@pytest.fixture(scope="module")
def long_history(tmp_path_factory: pytest.TempPathFactory) -> LongHistory:
    connection = in_one_transaction(tmp_path_factory.mktemp("long"))
    history = LongHistory(connection, Transaction(connection), [], 0, 0)
    for number in range(600):
        history.costs.append(history.cost_of_report(number))
        if number == 20:
            history = history._replace(one_run=history.cost_of_run(10))
        if number == 59:
            history = history._replace(again=history.cost_of_report(55))
    return history


def test_one_run_record_costs_the_same_after_a_long_history(long_history: LongHistory) -> None:
    assert long_history.cost_of_run(10) < 1.3 * long_history.one_run
    assert long_history.cost_of_run(390) < 1.3 * long_history.one_run


def test_a_report_costs_the_same_after_a_long_history(long_history: LongHistory) -> None:
    early, late = sum(long_history.costs[20:80]), sum(long_history.costs[-60:])
    assert late < 1.3 * early


def test_a_report_sent_again_costs_the_same_after_a_long_history(long_history: LongHistory) -> None:
    assert long_history.cost_of_report(595) < 1.3 * long_history.again


def test_the_last_pass_of_a_test_that_never_passed_costs_the_same_after_a_long_history(
    long_history: LongHistory,
) -> None:
    def last_pass(number: int) -> int:
        run, lane = run_of(number), Lane("fw", "hil", "test 0", "b1", "main")
        listed = [run_of(earlier).sha for earlier in range(number - 5, number + 1)]
        asked = FailureKey(lane, run.sha), listed
        with counting(long_history.connection) as cost:
            assert long_history.writer.history(ORG).last_passes_before([asked]) == [None]
        return cost[0]

    assert last_pass(390) < 1.3 * last_pass(20)


def test_a_pass_that_is_not_found_so_far_back_costs_the_same_after_a_long_history(
    long_history: LongHistory,
) -> None:
    def last_pass(number: int) -> int:
        lane = Lane("fw", "hil", "test 0", "b1", "main")
        with counting(long_history.connection) as cost:
            asked = [FailureKey(lane, run_of(number).sha)]
            assert long_history.writer.history(ORG).last_passes(asked, 50) == [None]
        return cost[0]

    assert last_pass(390) < 1.3 * last_pass(70)


def failed(commits: int, tests: int) -> Iterator[Report]:
    """Yield reports in which some tests fail on some commits, each reported with its changes, until
    the next commit passes them all.
    """
    for number in range(commits + 1):
        outcome = Outcome.FAIL if number < commits else Outcome.PASS
        items = tuple(TestItem(f"test {index}", outcome) for index in range(tests))
        yield replace(run_of(number), tests=items)


@pytest.mark.parametrize(
    ("few", "many"),
    [((3, 2), (3, 20)), ((3, 2), (60, 2))],
    ids=["with more rows", "with longer failures"],
)
def test_a_table_asks_as_many_questions(
    few: tuple[int, int], many: tuple[int, int], tmp_path: Path
) -> None:
    def cost_of(commits: int, tests: int) -> tuple[int, int]:
        connection = open_writer(tmp_path / f"{commits}-{tests}.db")
        writer = Transaction(connection)
        statements: list[str] = []
        connection.execute("BEGIN")
        for report in failed(commits, tests):
            writer.put_report(ORG, report, NOON)
        history = writer.history(ORG)
        others = read_period(history, Scope(), EVER).other_failures
        connection.raw.set_trace_callback(statements.append)
        with counting(connection) as cost:
            rows = tables.other_failures(history, others, tables.OtherSelection())
        connection.close()
        assert len(rows.items) == tests
        return len(statements), cost[0] // tests

    (asked, steps), (asked_of_many, steps_of_many) = cost_of(*few), cost_of(*many)
    assert asked_of_many == asked
    assert steps_of_many < 1.3 * steps


def test_reviews_of_other_days_cost_a_page_nothing(connection: Connection) -> None:
    writer = Transaction(connection)

    def page() -> int:
        last = Period(NOON + timedelta(hours=190), NOON + timedelta(hours=200))
        with counting(connection) as cost:
            assert read_failures(writer.history(ORG), Scope(), last)
            assert read_period(writer.history(ORG), Scope(), last).real_bugs is not None
        return cost[0]

    for number in range(200):
        writer.put_report(ORG, run_of(number), NOON)
    before = page()
    others = [
        one
        for one in writer.history(ORG).failures(Scope(), EVER)
        if one.key.lane.test_id != "test 0"  # a failure of all days
        and one.last_started_at < NOON + timedelta(hours=150)
    ]
    for one in others:
        review = Review(ReviewAction.DISMISS, Actor(ORG, "Ada"), NOON)
        word = StoredReview(one.key, review)
        writer.put_review(ORG, one.id, word)
    assert len(others) > 150
    assert page() < 1.1 * before


def test_the_extent_of_a_period_costs_the_same_however_much_it_holds(
    connection: Connection,
) -> None:
    writer = Transaction(connection)

    def extent(hours: int) -> int:
        end = NOON + timedelta(hours=hours)
        with counting(connection) as cost:
            found = writer.history(ORG).extent(Scope(), Period(NOON - timedelta(1), end))
        assert found == Period(NOON, end)
        return cost[0]

    for number in range(100):
        writer.put_report(ORG, run_of(number), NOON)
    assert extent(99) < 1.2 * extent(3)


def test_to_take_deliveries_costs_the_same_however_many_are_due(connection: Connection) -> None:
    writer = Transaction(connection)
    writer.add_organization(ACME)
    writer.put_webhook(WEBHOOK)
    steps, ids = [], count()
    for due in (50, 500):
        for number in islice(ids, due):
            writer.add_delivery(replace(DELIVERY, id=UUID(int=number), about=f"box {number}"))
        with counting(connection) as counted:
            until = NOON + timedelta(minutes=1)
            assert len(writer.take_deliveries(ACME.id, WEBHOOK.id, NOON, until, 8)) == 8
        steps.append(counted[0])

    assert steps[1] <= 1.1 * steps[0]


def test_a_page_that_is_opened_again_makes_none_of_its_ids_again() -> None:
    ids = [number.to_bytes(16) for number in range(2_000)]

    first = [uuid_of(each) for each in ids]
    assert all(uuid_of(each) is made for each, made in zip(ids, first, strict=True))
