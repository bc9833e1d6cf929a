# SPDX-License-Identifier: Apache-2.0
"""Run records of a database equal a slow reference, for random reports with replacements and parts
in random order, and for live runs beside them.
"""

import random
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import pytest

from hwci.contract.runs.runs import RunTest
from hwci.contract.vocabulary import Outcome, RunEnding, RunStatus
from hwci.engine.facts import Part, Report, TestItem, run_record_id
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Writer
from hwci.server.storage.records import Box, LiveRun, RunFilter, RunHead
from hwci.server.storage.run_records import reported_in_full
from tests.server.storage.conftest import NewDatabase
from tests.server.storage.examples import ACME
from tests.server.storage.histories import (
    BOXES,
    BRANCHES,
    NOON,
    REPOS,
    SUITES,
    TESTS,
    HistoryDraw,
)
from tests.server.storage.kept import keep, part_number, run_of
from tests.support.soak import rounds

HISTORIES = rounds(4, 60)
HEARD_SINCE = NOON
BOX = Box(UUID(int=51), ACME.id, "b1", NOON)
STARTS = ("ab9f", "ab9fa", "abf9", "abff", "abfff")
"""What commits of a story begin with: beginnings of each other, and neighbours in their order."""

Shown = tuple[object, ...]


def shown_reports(kept: list[Report]) -> list[Shown]:
    """Return what must be shown of the reports that are kept, worked out record by record."""
    shown: list[Shown] = []
    for record in {record_of(report) for report in kept}:
        reports = [report for report in kept if record_of(report) == record]
        wholes = [report for report in reports if report.part_of is None]
        firsts = [report for report in reports if part_number(report) == 1]
        heads = wholes or sorted(firsts, key=lambda report: report.run_id)
        if not heads:
            continue
        head = heads[0]
        items = [item for report in reports for item in report.tests]
        failed = [item for item in items if item.outcome is Outcome.FAIL]
        retried = [item for item in items if item.attempts > 1]
        counts = (len(items), len(items) - len(failed), len(failed), len(retried))
        shown.append(
            (
                *(record, RunStatus.REPORTED, head.repo_key, head.suite, head.workflow),
                *(head.branch, head.box_key, head.sha, head.started_at, counts, head.conclusion),
                head.hello_ok,
            )
        )
    return shown


def failed_attempts(item: TestItem) -> int:
    """Count them: "A test that passed on its third attempt adds two failed attempts"."""
    return item.attempts if item.outcome is Outcome.FAIL else item.attempts - 1


def at_of(one: Shown) -> datetime:
    assert isinstance(one[8], datetime)
    return one[8]


def ending_of(one: Shown) -> RunEnding | None:
    """Return how a record ended: it passed if all its tests did and the CI calls it a success."""
    counts, conclusion, reached = one[9], str(one[10]), one[11]
    if reached is None:
        return None
    if not reached:
        return RunEnding.NEVER_REACHED
    assert isinstance(counts, tuple)
    good = counts[0] == counts[1] and conclusion.lower() == "success"
    return RunEnding.PASSED if good else RunEnding.FAILED


def record_of(report: Report) -> UUID:
    return run_record_id(ACME.id, *run_of(report))


class Story:
    """One random history, put into a database."""

    def __init__(self, seed: int, writer: Writer) -> None:
        self.draw = HistoryDraw(seed)
        self.random = random.Random(seed)
        self.writer = writer
        self.kept: list[Report] = []
        self.live: list[Shown] = []

    def report(self) -> None:
        report = self._drawn()
        if self.random.random() < 0.3:
            number = self.random.randrange(1, 4)
            whole = self.random.randrange(4)
            run_id = whole if number == 1 else 100 * whole + number
            report = replace(report, run_id=run_id, part_of=Part(whole, number, 3))
        self.kept = keep(self.kept, report)
        self.writer.put_report(ACME.id, report, NOON)

    def _drawn(self) -> Report:
        report = self.draw.next_report()
        conclusion = self.random.choice((report.conclusion, "SUCCESS", "cancelled", "SUCCEß"))
        return replace(report, sha=self.random.choice(STARTS) + report.sha, conclusion=conclusion)

    def live_run(self, number: int) -> None:
        report = self._drawn()
        head = RunHead(
            *(report.repo_key, report.suite, report.workflow, number, 1, report.box_key),
            *(report.trigger, report.branch, report.sha, report.started_at),
        )
        seen_at = NOON + timedelta(minutes=self.random.randrange(-1, 2))
        lost = self.random.random() < 0.2
        run = LiveRun(UUID(int=number), ACME.id, BOX.id, head, (), None, seen_at, lost)
        outcomes = [self.random.choice((None, *Outcome)) for _ in range(self.random.randrange(4))]
        tests = [RunTest(f"t{at}", outcome, 1 + at) for at, outcome in enumerate(outcomes)]
        self.writer.put_live_run(run)
        self.writer.put_live_tests(ACME.id, run.id, tests)
        status = RunStatus.LOST if lost or seen_at <= NOON else RunStatus.RUNNING
        given = (outcomes.count(Outcome.PASS), outcomes.count(Outcome.FAIL))
        counts = (len(tests), *given, max(len(tests) - 1, 0))
        self.live.append(
            (
                *(run.id, status, head.repo_key, head.suite, head.workflow),
                *(head.branch, head.box_key, head.sha, head.started_at, counts, None),
                None,
            )
        )

    def expected(self, wanted: RunFilter) -> list[Shown]:
        found = [
            one
            for one in shown_reports(self.kept) + self.live
            if wanted.status in {None, one[1]}
            and wanted.repo_key in {None, one[2]}
            and wanted.suite in {None, one[3]}
            and wanted.branch in {None, one[5]}
            and wanted.box_key in {None, one[6]}
            and (wanted.sha_start is None or str(one[7]).find(wanted.sha_start) == 0)
            and wanted.hello_ok in {None, one[11]}
            and wanted.ending in {None, ending_of(one)}
            and not (wanted.start is not None and at_of(one) < wanted.start)
            and not (wanted.end is not None and at_of(one) > wanted.end)
            and (wanted.test_id is None or self._tells(one, wanted))
        ]
        found = [(*one, self._given(one, wanted)) for one in found]
        found.sort(key=lambda one: str(one[0]))
        return sorted(found, key=lambda one: str(one[8]), reverse=True)

    def _items(self, one: Shown, wanted: RunFilter) -> list[TestItem]:
        reports = [report for report in self.kept if record_of(report) == one[0]]
        return [item for report in reports for item in report.tests if item.id == wanted.test_id]

    def _given(self, one: Shown, wanted: RunFilter) -> tuple[Outcome, int] | None:
        """Return what the test gave, the worst of it if parts contradict each other."""
        given = [(item.outcome, item.attempts) for item in self._items(one, wanted)]
        return max(given, key=lambda one: (one[0] is Outcome.FAIL, one[1]), default=None)

    def _tells(self, one: Shown, wanted: RunFilter) -> bool:
        """Whether a record's reports have the test, and what was asked of it."""
        items = self._items(one, wanted)
        retried = [item for item in items if item.outcome is Outcome.PASS and item.attempts >= 2]
        failing = [item for item in items if failed_attempts(item) >= 1]
        return (
            len(items) > 0
            and wanted.retry_pass in {None, len(retried) > 0}
            and wanted.failed_attempt in {None, len(failing) > 0}
        )

    def wanted(self) -> RunFilter:
        test_id = self._either(*TESTS, "unknown")
        flags = (None, None, True, False) if test_id else (None,)
        return RunFilter(
            repo_key=self._either(*REPOS),
            suite=self._either(*SUITES, "unknown"),
            branch=self._either(*BRANCHES),
            box_key=self._either(*BOXES),
            sha_start=self._either(*STARTS, "ab9", "abf", "ab99", "abffff", "abff0000003"),
            status=self.random.choice((None, None, *RunStatus)),
            ending=self.random.choice((None, None, None, *RunEnding)),
            hello_ok=self.random.choice((None, None, True, False)),
            test_id=test_id,
            retry_pass=self.random.choice(flags),
            failed_attempt=self.random.choice(flags),
            start=self._moment(),
            end=self._moment(),
        )

    def _moment(self) -> datetime | None:
        """Return the start of a run, or a moment right beside it."""
        starts = [at_of(one) for one in shown_reports(self.kept) + self.live]
        if not starts or self.random.random() < 0.6:
            return None
        beside = timedelta(microseconds=self.random.choice((-1, 0, 0, 1)))
        return self.random.choice(starts) + beside

    def _either(self, *values: str) -> str | None:
        return None if self.random.random() < 0.7 else self.random.choice(values)


def shown(writer: Writer, wanted: RunFilter, offset: int, limit: int) -> tuple[list[Shown], int]:
    found = writer.runs(ACME.id, wanted, HEARD_SINCE, offset, limit)
    rows: list[Shown] = []
    for record in found.items:
        assert writer.run_record(ACME.id, record.id, HEARD_SINCE) == replace(record, result=None)
        assert wanted.ending in {None, record.ending}
        given = record.result
        counts = record.tests
        rows.append(
            (
                *(record.id, record.status, record.repo_key, record.suite, record.workflow),
                *(record.branch, record.box_key, record.sha, record.started_at),
                (counts.total, counts.passed, counts.failed, counts.retried),
                *(record.conclusion, record.hello_ok),
                None if given is None else (given.outcome, given.attempts),
            )
        )
    return rows, found.total


@pytest.mark.parametrize("seed", range(HISTORIES))
async def test_a_database_shows_the_records_of_the_reference(
    seed: int, new_database: NewDatabase
) -> None:
    storage = open_storage(new_database())
    # A busy machine takes longer than a request may.
    await storage.write(partial(tell, seed), seconds=600)
    await storage.close()


def tell(seed: int, sql: Writer) -> None:
    """Tell a database one story, and ask it for its records."""
    sql.add_organization(ACME)
    sql.add_box(BOX)
    story = Story(seed, sql)
    for number in range(story.random.randrange(1, 30)):
        story.report()
        if story.random.random() < 0.2:
            story.live_run(1_000 + number)
    for wanted in (RunFilter(), *(story.wanted() for _ in range(20))):
        expected = story.expected(wanted)
        offset, limit = story.random.randrange(4), story.random.randrange(1, 9)
        assert shown(sql, wanted, 0, 100) == (expected, len(expected))
        page = expected[offset : offset + limit]
        assert shown(sql, wanted, offset, limit) == (page, len(expected))
    for record_id in {record_of(report) for report in story.kept}:
        reports = [report for report in story.kept if record_of(report) == record_id]
        assert sql.run(ACME.id, record_id, HEARD_SINCE) == reported_in_full(record_id, reports)
