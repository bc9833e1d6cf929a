# SPDX-License-Identifier: Apache-2.0
"""What every driver promises of run records and live runs."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from hwci.contract.runs.runs import RerunOf, Run, RunDetail, RunItem, RunTest, TestCounts
from hwci.contract.vocabulary import Outcome, RunEnding, RunStatus, Verdict
from hwci.engine.facts import Part, Report, run_record_id
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import LiveRun, RunFilter
from tests.server.storage.examples import (
    ACME,
    ANNOUNCEMENT,
    BOX,
    CHANGES,
    CONFIG,
    FAIL,
    NOON,
    OTHER,
    PASS,
    REPORT,
)
from tests.server.storage.examples import LIVE_RUN as LIVE
from tests.server.storage.examples import RUN_HEAD as HEAD
from tests.server.storage.histories import EVER

TEN_MINUTES = timedelta(minutes=10)
TICK = timedelta(microseconds=1)
BEFORE = NOON - TEN_MINUTES
ANY = RunFilter()

RECORD_ID = run_record_id(ACME.id, "fw", 7, 1, "b1")
STARTED = {field.name: getattr(HEAD, field.name) for field in fields(HEAD)}
RECORD = Run(
    **STARTED,
    id=RECORD_ID,
    status=RunStatus.REPORTED,
    tests=TestCounts(total=2, passed=1, failed=1, retried=1),
    ended_at=REPORT.ended_at,
    conclusion="failure",
    hello_ok=True,
    ending=RunEnding.FAILED,
)


@pytest.fixture(autouse=True)
async def _box(storage: Storage) -> None:
    def work(writer: Writer) -> None:
        writer.add_organization(ACME)
        writer.add_organization(OTHER)
        writer.add_box(BOX)

    await storage.write(work)


def put(*reports: Report, org_id: UUID = ACME.id) -> Callable[[Writer], None]:
    def work(writer: Writer) -> None:
        for report in reports:
            writer.put_report(org_id, report, NOON)

    return work


async def open_runs(storage: Storage, *runs: LiveRun) -> None:
    def work(writer: Writer) -> None:
        for run in runs:
            writer.put_live_run(run)

    await storage.write(work)


async def listed(storage: Storage, wanted: RunFilter = ANY, org_id: UUID = ACME.id) -> list[Run]:
    found = await storage.read(lambda r: r.runs(org_id, wanted, BEFORE, 0, 100))
    assert found.total == len(found.items)
    return list(found.items)


async def run_ids(storage: Storage, wanted: RunFilter) -> set[int]:
    return {record.run_id for record in await listed(storage, wanted)}


async def one(storage: Storage, record_id: UUID = RECORD_ID) -> RunDetail | None:
    """Return a record whole, once it is seen to stand in the list and alone as it does whole."""
    whole = await storage.read(lambda r: r.run(ACME.id, record_id, BEFORE))
    record = await storage.read(lambda r: r.run_record(ACME.id, record_id, BEFORE))
    in_list = [record for record in await listed(storage) if record.id == record_id]
    if whole is None:
        assert (record, in_list) == (None, [])
    else:
        assert alone(whole) == record == in_list[0]
        assert len(in_list) == 1
    return whole


def alone(whole: RunDetail) -> Run:
    """Return the record of a whole one."""
    return Run(**{field.name: getattr(whole, field.name) for field in fields(Run)})


def part(number: int, parts: int = 2, **fields: Any) -> Report:
    """Return a part of the report; only part 1 keeps the run's id."""
    run_id = REPORT.run_id if number == 1 else 9_000 + number
    place = Part(REPORT.run_id, number, parts)
    return replace(REPORT, run_id=run_id, part_of=place, **fields)


def live_items(*tests: RunTest) -> list[RunItem]:
    return [RunItem(**vars(test), duration_s=None, verdict=None) for test in tests]


class TestReported:
    async def test_a_report_is_a_run_record_with_its_tests_counted(self, storage: Storage) -> None:
        await storage.write(put(REPORT))
        assert REPORT.rerun_of is not None
        assert await one(storage) == RunDetail(
            **vars(RECORD),
            covers_shas=REPORT.covers_shas,
            changes=REPORT.changes,
            items=tuple(RunItem(**asdict(test)) for test in REPORT.tests),
            rerun_of=RerunOf(run_id=REPORT.rerun_of, run_record_id=None),
        )

    async def test_it_belongs_to_its_organization_alone(self, storage: Storage) -> None:
        await storage.write(put(REPORT))
        assert await listed(storage, org_id=OTHER.id) == []
        found = await storage.read(lambda r: r.run(OTHER.id, RECORD_ID, BEFORE))
        assert found is None

    async def test_a_replaced_report_keeps_its_id_and_shows_what_is_new(
        self, storage: Storage
    ) -> None:
        await storage.write(put(REPORT))
        await storage.write(
            put(replace(REPORT, branch="dev", tests=(replace(PASS, attempts=2),), changes=None))
        )
        whole = await one(storage)
        assert whole is not None
        assert whole.branch == "dev"
        assert whole.tests == TestCounts(total=1, passed=1, failed=0, retried=1)
        assert whole.changes is None

    async def test_each_attempt_and_each_box_is_a_record_of_its_own(self, storage: Storage) -> None:
        await storage.write(
            put(REPORT, replace(REPORT, run_attempt=2), replace(REPORT, box_key="b2"))
        )
        assert len({record.id for record in await listed(storage)}) == 3

    async def test_the_suite_may_differ_between_reports(self, storage: Storage) -> None:
        await storage.write(put(replace(REPORT, suite="smoke")))
        whole = await one(storage)
        assert whole is not None
        assert whole.suite == "smoke"


class TestParts:
    async def test_parts_are_one_record_whose_items_stand_in_order_of_parts(
        self, storage: Storage
    ) -> None:
        more = replace(FAIL, id="more", attempts=1)
        await storage.write(
            put(
                part(3, 3, tests=(replace(PASS, id="last"),)), part(1, 3), part(2, 3, tests=(more,))
            )
        )
        whole = await one(storage)
        assert whole is not None
        assert STARTED.items() <= vars(whole).items()
        assert whole.tests == TestCounts(total=4, passed=2, failed=2, retried=1)
        assert [item.id for item in whole.items] == ["boot", "flash", "more", "last"]

    async def test_there_is_no_record_before_the_first_part_came(self, storage: Storage) -> None:
        await storage.write(put(part(2)))
        assert await one(storage) is None
        await storage.write(put(part(1)))
        assert await one(storage) is not None

    async def test_a_whole_report_after_parts_is_the_record_alone(self, storage: Storage) -> None:
        await storage.write(put(part(1), part(2)))
        await storage.write(put(REPORT))
        whole = await one(storage)
        assert whole is not None
        assert alone(whole) == RECORD

    async def test_parts_of_another_attempt_stay_apart(self, storage: Storage) -> None:
        await storage.write(put(part(1), part(2, run_attempt=2)))
        whole = await one(storage)
        assert whole is not None
        assert whole.tests.total == 2


class TestList:
    async def test_the_latest_start_comes_first_then_the_smaller_id(self, storage: Storage) -> None:
        later = replace(REPORT, run_id=8, started_at=NOON + TICK)
        await storage.write(put(REPORT, replace(REPORT, run_id=9), later))
        found = await listed(storage)
        assert found[0].run_id == 8
        assert found[1].id < found[2].id

    async def test_a_page_is_cut_from_all_and_the_total_counts_all(self, storage: Storage) -> None:
        await storage.write(put(*(replace(REPORT, run_id=number) for number in range(7))))
        await open_runs(storage, LIVE)
        whole = await listed(storage)
        page = await storage.read(lambda r: r.runs(ACME.id, RunFilter(), BEFORE, 3, 4))
        assert (list(page.items), page.total) == (whole[3:7], 8)
        beyond = await storage.read(lambda r: r.runs(ACME.id, RunFilter(), BEFORE, 9, 4))
        assert (list(beyond.items), beyond.total) == ([], 8)

    @pytest.mark.parametrize(
        ("wanted", "other"),
        [
            (RunFilter(repo_key="boot"), {"repo_key": "boot"}),
            (RunFilter(suite="smoke"), {"suite": "smoke"}),
            (RunFilter(branch="dev"), {"branch": "dev"}),
            (RunFilter(box_key="b2"), {"box_key": "b2"}),
            (RunFilter(ci_run=43), {"ci_run": 43}),
            (RunFilter(sha_start="ddddddd"), {"sha": "ddddddd"}),
        ],
    )
    async def test_a_filter_finds_what_fits_reported_and_live(
        self, storage: Storage, wanted: RunFilter, other: dict[str, Any]
    ) -> None:
        live = replace(LIVE, id=UUID(int=62), head=replace(HEAD, **other))
        await storage.write(put(REPORT, replace(REPORT, run_id=8, **other)))
        await open_runs(storage, LIVE, live)
        found = await listed(storage, wanted)
        assert {record.status for record in found} == {RunStatus.RUNNING, RunStatus.REPORTED}
        assert len(found) == 2

    async def test_where_the_ci_shows_the_run_id_itself_a_run_is_found_by_that(
        self, storage: Storage
    ) -> None:
        shown = replace(REPORT, run_id=42_000, ci_run=None)
        live = replace(HEAD, run_id=42_000, ci_run=None)
        await storage.write(put(shown, replace(shown, run_id=8, ci_run=9)))
        await open_runs(storage, replace(LIVE, id=UUID(int=62), head=live))
        assert len(await listed(storage, RunFilter(ci_run=42_000))) == 2
        assert len(await listed(storage, RunFilter(ci_run=9))) == 1
        assert await listed(storage, RunFilter(ci_run=8)) == []

    @pytest.mark.parametrize("start", ["abcf", "abcff", "abc9", "99f0"])
    async def test_a_commit_is_found_by_its_beginning_and_no_other_is(
        self, storage: Storage, start: str
    ) -> None:
        ends = ("000", "fff", "123fff")
        others = ["abc", "abd0", "abcg", "abca", "abce", "abc8", "99ef", "99f1", "99ff", "ffff"]
        shas = [start + end for end in ends] + [
            other + "0000" for other in others if not f"{other}0000".startswith(start)
        ]
        reports = [replace(REPORT, run_id=at, sha=sha) for at, sha in enumerate(shas)]
        live = replace(LIVE, head=replace(HEAD, sha=f"{start}777"))
        await storage.write(put(*reports))
        await open_runs(storage, live, replace(live, id=UUID(int=62), head=HEAD))
        found = await listed(storage, RunFilter(sha_start=start))
        assert sorted(record.sha for record in found) == sorted(
            start + end for end in (*ends, "777")
        )

    async def test_a_run_has_reached_its_hardware_or_not_once_it_is_reported(
        self, storage: Storage
    ) -> None:
        await storage.write(put(REPORT, replace(REPORT, run_id=8, hello_ok=False)))
        await open_runs(storage, LIVE, replace(LIVE, id=UUID(int=62), lost=True))
        for hello_ok, run_id in ((True, REPORT.run_id), (False, 8)):
            wanted = RunFilter(hello_ok=hello_ok)
            assert [record.run_id for record in await listed(storage, wanted)] == [run_id]
            for status in (RunStatus.RUNNING, RunStatus.LOST):
                assert await listed(storage, replace(wanted, status=status)) == []

    async def test_a_run_in_parts_has_reached_its_hardware_if_its_first_part_says_so(
        self, storage: Storage
    ) -> None:
        await storage.write(put(part(1, hello_ok=False), part(2)))
        assert [record.id for record in await listed(storage, RunFilter(hello_ok=False))] == [
            RECORD_ID
        ]
        assert await listed(storage, RunFilter(hello_ok=True)) == []

    async def test_a_test_finds_the_reports_that_have_it_by_its_whole_id(
        self, storage: Storage
    ) -> None:
        others = [replace(PASS, id=name) for name in ("Boot", "boot ", "boo", "boot.late")]
        await storage.write(
            put(
                REPORT,
                replace(REPORT, run_id=8, tests=tuple(others)),
                replace(REPORT, run_id=9, suite="smoke", hello_ok=False, tests=(PASS,)),
                replace(REPORT, run_id=10, tests=()),
            )
        )

        def work(writer: Writer) -> None:
            writer.put_live_run(LIVE)
            writer.put_live_tests(ACME.id, LIVE.id, [RunTest("boot", Outcome.PASS, 1)])

        await storage.write(work)
        assert await run_ids(storage, RunFilter(test_id="boot")) == {7, 9}
        assert await run_ids(storage, RunFilter(test_id="boot", suite="smoke")) == {9}
        assert await run_ids(storage, RunFilter(test_id="boot", hello_ok=True)) == {7}
        assert await run_ids(storage, RunFilter(test_id="boot", status=RunStatus.RUNNING)) == set()
        assert await run_ids(storage, RunFilter(test_id="unknown")) == set()

    async def test_a_retry_is_found_as_flakiest_tests_count_it(self, storage: Storage) -> None:
        told = {
            1: (PASS, replace(FAIL, id="flash", attempts=3)),
            2: (replace(PASS, attempts=2),),
            3: (replace(FAIL, id="boot", attempts=1),),
            4: (replace(FAIL, id="boot", attempts=2),),
            5: (replace(PASS, verdict=Verdict.INFRA), replace(PASS, id="flash", attempts=2)),
            6: (replace(PASS, id="flash"),),
        }
        await storage.write(
            put(*(replace(REPORT, run_id=at, tests=tests) for at, tests in told.items()))
        )
        boot = RunFilter(test_id="boot")
        assert await run_ids(storage, replace(boot, retry_pass=True)) == {2}
        assert await run_ids(storage, replace(boot, retry_pass=False)) == {1, 3, 4, 5}
        assert await run_ids(storage, replace(boot, failed_attempt=True)) == {2, 3, 4}
        assert await run_ids(storage, replace(boot, failed_attempt=False)) == {1, 5}
        broken = replace(boot, failed_attempt=True, retry_pass=False)
        assert await run_ids(storage, broken) == {3, 4}

    async def test_a_test_of_any_part_is_one_of_the_run(self, storage: Storage) -> None:
        more = (replace(PASS, id="more", attempts=2),)
        lost = part(2, run_attempt=2, tests=more)
        await storage.write(put(part(1), part(2, tests=more), lost))
        for wanted in (RunFilter(test_id="more"), RunFilter(test_id="more", retry_pass=True)):
            assert [record.id for record in await listed(storage, wanted)] == [RECORD_ID]
        assert await listed(storage, RunFilter(test_id="more", failed_attempt=False)) == []

    async def test_a_period_holds_the_runs_that_began_at_either_end_and_none_beyond(
        self, storage: Storage
    ) -> None:
        moments = [NOON - TICK, NOON, NOON + TICK]
        for at, moment in enumerate(moments):
            live = replace(LIVE, id=UUID(int=70 + at), head=replace(HEAD, started_at=moment))
            await storage.write(put(replace(REPORT, run_id=at, started_at=moment)))
            await open_runs(storage, live)

        async def starts(
            start: datetime | None = None, end: datetime | None = None
        ) -> list[datetime]:
            found = await listed(storage, RunFilter(start=start, end=end))
            return [record.started_at for record in found]

        before, noon, after = ([moment] * 2 for moment in moments)
        assert await starts(start=NOON, end=NOON) == noon
        assert await starts(start=NOON) == after + noon
        assert await starts(end=NOON) == noon + before
        assert await starts(start=NOON - TICK, end=NOON + TICK) == after + noon + before
        assert await starts(start=NOON + TICK + TICK) == []
        assert await starts(EVER.start, EVER.end) == after + noon + before

    async def test_a_status_finds_the_runs_that_have_it(self, storage: Storage) -> None:
        def work(writer: Writer) -> None:
            writer.put_report(ACME.id, replace(REPORT, run_id=8), NOON)
            writer.put_live_run(LIVE)
            writer.put_live_run(replace(LIVE, id=UUID(int=62), lost=True))
            writer.put_live_run(replace(LIVE, id=UUID(int=63), last_seen_at=BEFORE))

        await storage.write(work)
        for status, count in ((RunStatus.REPORTED, 1), (RunStatus.RUNNING, 1), (RunStatus.LOST, 2)):
            found = await listed(storage, RunFilter(status=status))
            assert {record.status for record in found} == {status}
            assert len(found) == count


class TestLive:
    async def test_a_live_run_comes_back_as_it_was_kept(self, storage: Storage) -> None:
        await open_runs(storage, LIVE)
        assert await storage.read(lambda r: r.live_run(ACME.id, LIVE.id)) == LIVE
        assert await storage.read(lambda r: r.live_run(OTHER.id, LIVE.id)) is None

    async def test_changes_without_commits_are_not_no_changes(self, storage: Storage) -> None:
        for changes in (None, replace(CHANGES, base_sha=None, commits=(), truncated=True)):
            run = replace(LIVE, covers_shas=(), changes=changes)
            await open_runs(storage, run)
            assert await storage.read(lambda r: r.live_run(ACME.id, LIVE.id)) == run

    async def test_it_is_a_record_without_end_with_its_tests_as_sent(
        self, storage: Storage
    ) -> None:
        tests = [
            RunTest("boot", Outcome.PASS, 1),
            RunTest("flash", Outcome.FAIL, 3),
            RunTest("gpio", None, None),
        ]

        def work(writer: Writer) -> None:
            writer.put_live_run(LIVE)
            writer.put_live_tests(ACME.id, LIVE.id, tests)

        await storage.write(work)
        counts = TestCounts(total=3, passed=1, failed=1, retried=1)
        assert await one(storage, LIVE.id) == RunDetail(
            **STARTED,
            id=LIVE.id,
            status=RunStatus.RUNNING,
            tests=counts,
            ended_at=None,
            conclusion=None,
            hello_ok=None,
            covers_shas=LIVE.covers_shas,
            changes=LIVE.changes,
            items=tuple(live_items(*tests)),
        )

    async def test_a_test_put_again_keeps_its_place_and_a_run_put_again_its_tests(
        self, storage: Storage
    ) -> None:
        def work(writer: Writer) -> None:
            writer.put_live_run(LIVE)
            writer.put_live_tests(
                ACME.id, LIVE.id, [RunTest("boot", None, None), RunTest("spi", None, None)]
            )
            writer.put_live_tests(
                ACME.id, LIVE.id, [RunTest("uart", None, 1), RunTest("boot", Outcome.PASS, 2)]
            )
            writer.put_live_run(replace(LIVE, head=replace(HEAD, branch="dev")))

        await storage.write(work)
        whole = await one(storage, LIVE.id)
        assert whole is not None
        assert whole.branch == "dev"
        assert [*whole.items] == live_items(
            RunTest("boot", Outcome.PASS, 2),
            RunTest("spi", None, None),
            RunTest("uart", None, 1),
        )

    async def test_a_dropped_run_is_gone_with_its_tests(self, storage: Storage) -> None:
        other = replace(LIVE, id=UUID(int=62))

        def work(writer: Writer) -> None:
            for run in (LIVE, other):
                writer.put_live_run(run)
                writer.put_live_tests(ACME.id, run.id, [RunTest("boot", None, None)])
            for _ in range(2):
                writer.drop_live_run(ACME.id, LIVE.id)
            writer.put_live_run(LIVE)

        await storage.write(work)
        assert [record.tests.total for record in await listed(storage)] == [0, 1]


def status_and_lost(seen_since: datetime, reader: Reader) -> tuple[Run | None, Sequence[LiveRun]]:
    return reader.run_record(ACME.id, LIVE.id, seen_since), reader.lost_runs(seen_since)


class TestLoss:
    async def test_a_run_is_lost_from_the_last_moment_that_its_box_was_seen(
        self, storage: Storage
    ) -> None:
        await open_runs(storage, LIVE)

        for seen_since, status in ((NOON - TICK, RunStatus.RUNNING), (NOON, RunStatus.LOST)):
            record, lost = await storage.read(partial(status_and_lost, seen_since))
            assert record is not None
            assert record.status is status
            assert list(lost) == ([LIVE] if status is RunStatus.LOST else [])

    async def test_a_loss_that_had_its_event_has_no_second_one(self, storage: Storage) -> None:
        def work(writer: Writer) -> None:
            writer.put_live_run(LIVE)
            for expected in (True, False):
                assert writer.mark_lost(ACME.id, LIVE.id, NOON) is expected

        await storage.write(work)
        assert await storage.read(lambda r: r.lost_runs(NOON)) == []
        whole = await one(storage, LIVE.id)
        assert whole is not None
        assert whole.status is RunStatus.LOST

    async def test_a_lost_run_that_is_seen_is_live_again(self, storage: Storage) -> None:
        def work(writer: Writer) -> None:
            writer.put_live_run(replace(LIVE, lost=True))
            writer.hear_run(ACME.id, LIVE.id, NOON + TICK)
            writer.hear_run(ACME.id, LIVE.id, NOON)
            writer.hear_run(OTHER.id, LIVE.id, NOON)

        await storage.write(work)
        heard = replace(LIVE, last_seen_at=NOON + TICK)
        assert await storage.read(lambda r: r.live_run(ACME.id, LIVE.id)) == heard

    async def test_a_run_that_was_heard_meanwhile_is_not_marked_as_lost(
        self, storage: Storage
    ) -> None:
        await open_runs(storage, LIVE)
        for org, since in ((ACME.id, NOON - TICK), (OTHER.id, NOON)):
            marked = partial(mark, org, since)
            assert not await storage.write(marked)
        assert await storage.read(lambda r: r.lost_runs(NOON)) == [LIVE]

    async def test_losses_of_all_organizations_are_given(self, storage: Storage) -> None:
        box = replace(BOX, org_id=OTHER.id, install_digest=None)

        def work(writer: Writer) -> None:
            writer.add_box(box)
            writer.put_live_run(LIVE)
            writer.put_live_run(replace(LIVE, org_id=OTHER.id))

        await storage.write(work)
        lost = await storage.read(lambda r: r.lost_runs(NOON))
        assert {run.org_id for run in lost} == {ACME.id, OTHER.id}

    async def test_lost_runs_go_with_their_tests_a_few_at_a_time_and_others_stay(
        self, storage: Storage
    ) -> None:
        lost = [replace(LIVE, id=UUID(int=70 + n), lost=True) for n in range(3)]
        later = replace(LIVE, id=UUID(int=80), lost=True, last_seen_at=NOON + TICK)

        def work(writer: Writer) -> None:
            for run in (LIVE, later, *lost):
                writer.put_live_run(run)
                writer.put_live_tests(ACME.id, run.id, [RunTest("boot", None, None)])

        await storage.write(work)
        drop = partial(storage.write, lambda w: w.drop_lost_runs(NOON, 2))
        assert [await drop() for _ in range(3)] == [2, 1, 0]
        assert {record.id for record in await listed(storage)} == {LIVE.id, later.id}
        for run, count in ((lost[0], 0), (later, 1)):
            assert await storage.read(partial(count_of_tests, run.id)) == count


def mark(org_id: UUID, seen_since: datetime, writer: Writer) -> bool:
    return writer.mark_lost(org_id, LIVE.id, seen_since)


def count_of_tests(run_record_id: UUID, reader: Reader) -> int:
    return reader.live_tests(ACME.id, run_record_id).total


async def test_every_name_that_was_sent_is_known_in_its_organization_only(storage: Storage) -> None:
    sent = replace(REPORT, repo_key="sent", suite="s", box_key="only-reported")
    opened = replace(LIVE, head=replace(HEAD, repo_key="live", suite="l", box_key="elsewhere"))

    def work(writer: Writer) -> None:
        writer.put_report(ACME.id, sent, NOON)
        writer.put_live_run(opened)
        writer.put_config(ACME.id, replace(CONFIG, repo_key="set", suite="c"), NOON)
        writer.announce(ACME.id, replace(ANNOUNCEMENT, repo_key="merged"), NOON)

    await storage.write(work)

    def names(reader: Reader) -> tuple[set[tuple[str, str | None]], set[str]]:
        return set(reader.repositories(ACME.id)), set(reader.box_names(ACME.id))

    assert await storage.read(names) == (
        {("sent", "s"), ("live", "l"), ("set", "c"), ("merged", None)},
        {BOX.name, "only-reported", "elsewhere"},
    )
    assert await storage.read(lambda r: [*r.repositories(OTHER.id), *r.box_names(OTHER.id)]) == []
