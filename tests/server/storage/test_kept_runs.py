# SPDX-License-Identifier: Apache-2.0
"""Runs that an earlier transaction read are those that are there, and only so many are kept."""

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from hwci.analysis.outcomes import RecordedRuns, RunOutcomes
from hwci.contract.runs.runs import TestResult
from hwci.contract.vocabulary import Outcome, Trigger, Verdict
from hwci.engine.facts import Report
from hwci.engine.history import Scope
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.sql.codec import pack_numbers
from hwci.server.storage.sql.history.kept_runs import KeptRuns, ListedTests, ReadReport
from hwci.server.storage.sql.transaction import Transaction
from hwci.server.storage.sqlite.connections import open_writer
from tests.server.storage.examples import REPORT
from tests.server.storage.histories import EVER, NOON, ORG, HistoryDraw, periods, scopes
from tests.server.storage.kept import Kept
from tests.support.outcomes import FullRecordedRuns, by_name
from tests.support.soak import rounds


def ask(history: RecordedRuns, seed: int) -> list[object]:
    return [
        by_name(history.outcomes(scope, period))
        for period in periods(random.Random(seed))
        for scope in scopes()
    ]


def ask_reader(seed: int, reader: Reader) -> list[object]:
    return ask(reader.history(ORG), seed)


def put(report: Report, writer: Writer) -> None:
    writer.put_report(ORG, report, NOON)


def lose(reports: Sequence[Report], writer: Writer) -> None:
    """Read runs of a transaction that is rolled back: ids and numbers of tests are given again."""
    for report in reports:
        put(report, writer)
    writer.history(ORG).outcomes(Scope(), EVER)
    raise LookupError


@pytest.mark.parametrize("seed", range(rounds(4, 60)))
async def test_runs_that_were_read_before_are_those_that_are_there(
    seed: int, storage: Storage
) -> None:
    """The reports of an organization come, are replaced, are rolled back and come again."""
    draw, kept = HistoryDraw(seed), Kept()
    reports = [draw.next_report() for _ in range(20)]
    for number, report in enumerate(reports):
        if draw.random.random() < 0.5:
            lost = draw.random.sample(reports, draw.random.randrange(1, 4))
            with suppress(LookupError):
                await storage.write(partial(lose, lost))
        await storage.write(partial(put, report))
        kept.put_report(ORG, report, NOON)

        definition = ask(FullRecordedRuns(ORG, kept.facts(ORG)), number)
        for _ in range(2):
            assert await storage.read(partial(ask_reader, number)) == definition, f"after {number}"


def test_a_report_is_read_once(tmp_path: Path) -> None:
    connection = open_writer(tmp_path / "hwci.db")
    connection.execute("BEGIN")
    writer, asked = Transaction(connection), list[str]()
    for run_id in range(3):
        writer.put_report(ORG, replace(REPORT, run_id=run_id, part_of=None), NOON)
        asked = []
        connection.raw.set_trace_callback(asked.append)
        for _ in range(2):
            [outcomes] = writer.history(ORG).outcomes(Scope(), EVER)
        connection.raw.set_trace_callback(None)
        assert len(outcomes.runs) == run_id + 1
        assert sum("FROM json_each('[" in one and "JOIN item" in one for one in asked) == 1, asked


RUN = RunOutcomes(
    started_at=NOON,
    ended_at=NOON,
    ci_run_id=1,
    run_attempt=1,
    rerun_of=None,
    box_key="bench-1",
    workflow="hil",
    trigger=Trigger.MERGE,
    branch="main",
    sha="f" * 40,
    hello_ok=True,
    ran=1,
    order=(0,),
    notable={},
)


def answer(numbers: range, tests: int = 3, notable: int = 0) -> dict[bytes, ReadReport]:
    """Return reports, each with a list of its own."""
    reports = {}
    for number in numbers:
        listed = ListedTests(pack_numbers(range(number, number + tests)))
        result = TestResult(Outcome.FAIL, 1, Verdict.UNKNOWN)
        run = replace(RUN, ran=listed.tests, notable=dict.fromkeys(range(notable), result))
        reports[bytes([number])] = ReadReport(None, listed, run)
    return reports


def numbers_kept(kept: KeptRuns, *answers: dict[bytes, ReadReport]) -> list[int]:
    return [
        digest[0]
        for reports in answers
        for digest, report in reports.items()
        if kept.report(digest, kept.listed(report.tests.packed)) is report
    ]


def test_the_latest_reports_of_the_last_answers_are_kept() -> None:
    kept, first, second = KeptRuns(20_000), answer(range(20)), answer(range(100, 120))
    kept.keep(first)
    assert numbers_kept(kept, first) == [*range(20)]
    kept.keep(second)
    *of_first, last = numbers_kept(kept, first, second)[:-19]
    assert (of_first, last) == ([*range(20 - len(of_first), 20)], 100)
    assert 0 < len(of_first) < 20
    kept.keep(longer := answer(range(200)))
    of_longer = numbers_kept(kept, longer)
    assert of_longer == [*range(200 - len(of_longer), 200)]
    assert 20 < len(of_longer) < 40


@pytest.mark.parametrize("large", [{"tests": 1000}, {"notable": 1000}])
def test_lists_and_results_take_room(large: dict[str, int]) -> None:
    kept, reports = KeptRuns(100_000), answer(range(100), **large)
    kept.keep(reports)
    assert 1 <= len(numbers_kept(kept, reports)) <= 4


def test_reports_of_the_same_tests_share_their_list() -> None:
    kept, packed = KeptRuns(), pack_numbers(range(1000))
    listed = kept.listed(packed)
    kept.keep({b"1": ReadReport(None, listed, RUN)})
    assert kept.listed(bytes([*packed])) is listed
    assert kept.report(b"1", ListedTests(pack_numbers(range(999)))) is None
