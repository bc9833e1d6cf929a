# SPDX-License-Identifier: Apache-2.0
"""Live runs over HTTP: opened and fed by a box, lost in silence, ended by their report (contract,
"Boxes"), and the events that these things make.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from aiohttp import web

from hwci.contract.vocabulary import RunEventType, Trigger
from hwci.server.app import sweeping
from hwci.server.clock import Evenness, system_clock
from hwci.server.errors import ConflictError, StorageBusyError
from hwci.server.services.ci_metrics.decisions import Decisions
from hwci.server.services.keeping import Keeping
from hwci.server.services.retention import Retention
from hwci.server.services.runs.live_runs import LiveRuns
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import Box, Event, KeepDays
from hwci.wire import limits
from hwci.wire.runs import RunEvents, RunHead
from tests.server.storage.examples import ACME, NOON
from tests.support.asking import ask, ci_key
from tests.support.benches import Benches
from tests.support.databases import new_location
from tests.support.running import Hands, running_in_thread

BOOT, FLASH = {"id": "boot"}, {"id": "flash"}
PASSED = {"outcome": "pass", "attempts": 1}
FAILED = {"outcome": "fail", "attempts": 3}
NO_RUN = (404, "Run not found")


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Benches]:
    folder: Path = tmp_path_factory.mktemp("live")
    hands = Hands()
    with running_in_thread(folder, clock=hands) as server:
        yield Benches(server, hands)


@pytest.fixture(scope="module")
def key(benches: Benches) -> str:
    return benches.installed("bench-1")


class TestOpening:
    def test_an_opened_run_is_running_and_has_no_end(self, benches: Benches, key: str) -> None:
        run = benches.opened(key, run_id=101, workflow="nightly", sha="B" * 40)

        shown = benches.show(run)
        assert shown["status"] == "running"
        assert (shown["suite"], shown["boxKey"]) == ("nightly", "bench-1")
        assert shown["sha"] == "b" * 40
        assert (shown["endedAt"], shown["conclusion"], shown["helloOk"]) == (None, None, None)
        assert shown["tests"] == {"total": 0, "passed": 0, "failed": 0, "retried": 0}
        assert (shown["items"], shown["coversShas"], shown["changes"]) == ([], [], None)

    def test_opened_again_it_keeps_id_and_tests_and_takes_the_new_head(
        self, benches: Benches, key: str
    ) -> None:
        run = benches.opened(key, run_id=102)
        benches.feed(key, run, BOOT)

        assert benches.opened(key, run_id=102, branch="dev", covers_shas=["c" * 40]) == run
        shown = benches.show(run)
        assert (shown["branch"], shown["coversShas"]) == ("dev", ["c" * 40])
        assert [item["id"] for item in shown["items"]] == ["boot"]

    def test_each_attempt_and_each_box_is_a_run_of_its_own(
        self, benches: Benches, key: str
    ) -> None:
        other = benches.installed("bench-of-its-own")
        runs = {
            benches.opened(key, run_id=103),
            benches.opened(key, run_id=103, run_attempt=2),
            benches.opened(other, run_id=103),
        }
        assert len(runs) == 3

    def test_a_run_that_is_reported_cannot_be_opened(self, benches: Benches, key: str) -> None:
        benches.report(run_id=104)

        assert benches.open(key, run_id=104).error == (
            409,
            "The run has been reported already; give a new attempt a run_attempt of its own",
        )

    def test_a_faulty_head_is_400_and_opens_nothing(self, benches: Benches, key: str) -> None:
        reply = benches.open(key, run_id="105", trigger="cron", covers_shas=["no sha"])

        assert reply.issue_paths == [
            ["body", "run_id"],
            ["body", "trigger"],
            ["body", "covers_shas", 0],
        ]
        assert [run for run in benches.listed() if run["runId"] == 105] == []

    def test_opening_makes_the_box_seen(self, benches: Benches) -> None:
        new = benches.installed("seen")
        benches.hands.move(hours=1)
        benches.opened(new, run_id=106)

        boxes = benches.member("GET", "boxes?limit=100").json["items"]
        assert [box["status"] for box in boxes if box["name"] == "seen"] == ["online"]


class TestFeeding:
    def test_tests_are_as_last_sent_in_order_of_their_start(
        self, benches: Benches, key: str
    ) -> None:
        run = benches.opened(key, run_id=201)

        assert benches.feed(key, run, BOOT, FLASH).status == 204
        assert benches.feed(key, run, {**BOOT, **PASSED}, {"id": "spi"}).status == 204
        assert benches.feed(key, run, {**FLASH, **FAILED}).body == b""
        shown = benches.show(run)
        result = [(item["id"], item["outcome"], item["attempts"]) for item in shown["items"]]
        assert result == [("boot", "pass", 1), ("flash", "fail", 3), ("spi", None, None)]
        assert shown["tests"] == {"total": 3, "passed": 1, "failed": 1, "retried": 1}

    def test_no_events_are_a_sign_of_life(self, benches: Benches, key: str) -> None:
        run = benches.opened(key, run_id=202)
        assert benches.feed(key, run).status == 204
        assert benches.show(run)["items"] == []

    def test_the_run_of_another_box_an_unknown_one_and_no_id_are_404(
        self, benches: Benches, key: str
    ) -> None:
        other = benches.installed("bench-of-another")
        run = benches.opened(key, run_id=203)

        for wrong in (run, str(uuid4()), "no-uuid"):
            assert benches.feed(other, wrong, BOOT).error == NO_RUN
        benches.report(run_id=203)
        assert benches.feed(other, run, BOOT).error == NO_RUN

    def test_a_run_that_was_reported_meanwhile_is_409(self, benches: Benches, key: str) -> None:
        run = benches.opened(key, run_id=204)
        benches.report(run_id=204)

        assert benches.feed(key, run, BOOT).error == (
            409,
            "The run has been reported already; it takes no more events",
        )

    def test_faulty_events_are_400_and_none_is_kept(self, benches: Benches, key: str) -> None:
        run = benches.opened(key, run_id=205)

        wrong = ({"type": "boot"}, {"outcome": "skip"}, {"attempts": 0}, {"id": ""}, {"more": 1})
        for fault in wrong:
            [field] = fault
            reply = benches.feed(key, run, BOOT, {**FLASH, **fault})
            assert reply.issue_paths == [["body", "events", 1, field]]
        many = benches.feed(key, run, *[BOOT] * (limits.RUN_EVENTS_MAX + 1))
        assert many.issue_paths == [["body", "events"]]
        assert benches.show(run)["items"] == []


@pytest.mark.parametrize("path", ["/api/box/runs", f"/api/box/runs/{UUID(int=7)}/events"])
def test_only_the_key_of_a_box_opens_and_feeds(benches: Benches, path: str) -> None:
    earlier = benches.installed(f"reinstalled {len(path)}")
    boxes = benches.member("GET", "boxes?limit=100").json["items"]
    box = next(box["id"] for box in boxes if box["name"] == f"reinstalled {len(path)}")
    token = benches.member("POST", f"boxes/{box}/install-token").json["installToken"]
    ask(benches.server.url, "POST", "/api/boxes/install", json_body={"installToken": token})

    for wrong in (earlier, benches.server.ci_key, "svc_" + "0" * 64, "nonsense"):
        reply = ask(benches.server.url, "POST", path, ci_key(wrong), data=b"{unread")
        assert reply.error == (401, "X-API-Key is not a box key that works; install the box again")
    assert ask(benches.server.url, "POST", path, data=b"{unread").status == 401


class TestLoss:
    def test_a_run_is_lost_exactly_ten_minutes_after_it_was_seen(
        self, benches: Benches, key: str
    ) -> None:
        run = benches.opened(key, run_id=301)

        benches.hands.move(minutes=10, microseconds=-1)
        assert benches.show(run)["status"] == "running"
        benches.hands.move(microseconds=1)
        assert benches.show(run)["status"] == "lost"
        assert run in [one["id"] for one in benches.listed("&status=lost")]
        assert run not in [one["id"] for one in benches.listed("&status=running")]

    def test_events_and_heartbeats_keep_it_alive(self, benches: Benches, key: str) -> None:
        run = benches.opened(key, run_id=302)

        benches.hands.move(minutes=9)
        assert benches.feed(key, run).status == 204
        benches.hands.move(minutes=9)
        assert benches.beat(key).status == 204
        benches.hands.move(minutes=9)
        assert benches.show(run)["status"] == "running"
        benches.hands.move(minutes=1)
        assert benches.show(run)["status"] == "lost"

    def test_a_lost_run_that_is_fed_is_live_again(self, benches: Benches, key: str) -> None:
        run = benches.opened(key, run_id=303)
        benches.hands.move(hours=1)
        assert benches.show(run)["status"] == "lost"

        assert benches.feed(key, run, BOOT).status == 204
        assert benches.show(run)["status"] == "running"


class TestReport:
    def test_the_report_takes_the_place_of_the_live_run(self, benches: Benches, key: str) -> None:
        run = benches.opened(key, run_id=401)
        benches.feed(key, run, FLASH, {**BOOT, **FAILED})

        assert benches.report(run_id=401).status == 204
        shown = benches.show(run)
        assert (shown["status"], shown["conclusion"], shown["helloOk"]) == (
            "reported",
            "success",
            True,
        )
        assert [item["durationS"] for item in shown["items"]] == [1.5]
        assert [one["id"] for one in benches.listed() if one["runId"] == 401] == [run]

    def test_a_lost_run_is_reported_by_its_report(self, benches: Benches, key: str) -> None:
        run = benches.opened(key, run_id=402)
        benches.hands.move(hours=1)
        benches.report(run_id=402)
        assert benches.show(run)["status"] == "reported"

    def test_a_part_before_the_first_leaves_the_run_live(self, benches: Benches, key: str) -> None:
        run = benches.opened(key, run_id=403)

        benches.report(run_id=9403, part_of={"run_id": 403, "part": 2, "parts": 2})
        assert benches.show(run)["status"] == "running"
        benches.report(run_id=403, part_of={"run_id": 403, "part": 1, "parts": 2})
        shown = benches.show(run)
        assert (shown["status"], shown["tests"]["total"]) == ("reported", 2)

    def test_the_report_of_another_box_leaves_the_run_live(
        self, benches: Benches, key: str
    ) -> None:
        run = benches.opened(key, run_id=404)
        benches.report(run_id=404, box_key="bench-without-a-box")
        assert benches.show(run)["status"] == "running"

    def test_a_report_under_the_old_name_of_its_box_ends_what_was_opened_under_it_alone(
        self, benches: Benches
    ) -> None:
        key = benches.installed("old-name")
        before = benches.opened(key, run_id=405)
        (box,) = (
            box["id"]
            for box in benches.member("GET", "boxes?limit=100").json["items"]
            if box["name"] == "old-name"
        )
        assert benches.member("PATCH", f"boxes/{box}", {"name": "new-name"}).status == 204
        after = benches.opened(key, run_id=406)
        for run_id in (405, 406):
            assert benches.report(run_id=run_id, box_key="old-name").status == 204

        assert (benches.show(before)["boxKey"], benches.show(after)["boxKey"]) == (
            "old-name",
            "new-name",
        )
        benches.hands.move(minutes=10)
        assert (benches.show(before)["status"], benches.show(after)["status"]) == (
            "reported",
            "lost",
        )


BOX = Box(UUID(int=51), ACME.id, "bench-1", NOON, key_digest=b"key")
HEAD = RunHead.model_validate(
    {
        "repo_key": "acme/firmware",
        "workflow": "hardware",
        "run_id": 1,
        "run_attempt": 1,
        "trigger": Trigger.MERGE,
        "branch": "main",
        "sha": "a" * 40,
        "started_at": NOON,
    }
)


class LiveScene:
    """Live runs of one box, and their events."""

    def __init__(self, storage: Storage, hands: Hands) -> None:
        self.storage = storage
        self.hands = hands
        self.runs = LiveRuns(storage, hands)

    async def feed(self, run: UUID, *tests: dict[str, Any]) -> None:
        events = [{"type": "test", **test} for test in tests]
        body = RunEvents.model_validate_json(json.dumps({"events": events}))
        await self.runs.feed(BOX, run, body)

    async def events(self) -> list[Event]:
        return list(await self.storage.read(lambda r: r.events(ACME.id, 0, 100)))

    async def losses(self, count: int) -> None:
        """Wait for this many events of a loss."""
        changed = asyncio.Event()
        end = self.storage.listen(lambda _: changed.set())
        while (await self.types()).count("lost") < count:
            await changed.wait()
            changed.clear()
        end()

    async def types(self) -> list[str]:
        return [event.happening.type.removeprefix("run.") for event in await self.events()]


@asynccontextmanager
async def live_scene(folder: Path) -> AsyncIterator[LiveScene]:
    def work(writer: Writer) -> None:
        writer.add_organization(ACME)
        writer.add_box(BOX)

    with new_location(folder) as location:
        storage = open_storage(location)
        try:
            await storage.write(work)
            yield LiveScene(storage, Hands(NOON))
        finally:
            await storage.close()


class TestEvents:
    async def test_the_start_has_the_run_and_each_test_event_has_itself(
        self, tmp_path: Path
    ) -> None:
        async with live_scene(tmp_path) as live:
            run = (await live.runs.open(BOX, HEAD)).id
            live.hands.move(seconds=5)
            await live.feed(run, BOOT, {**BOOT, **FAILED})

            start, begun, ended = (event.happening for event in await live.events())
        assert (start.type, start.at, start.run_id) == (RunEventType.STARTED, NOON, run)
        shown = start.body["run"]
        assert isinstance(shown, dict)
        assert (shown["id"], shown["status"], shown["endedAt"]) == (str(run), "running", None)
        assert begun.at == ended.at == NOON + timedelta(seconds=5)
        tests = {"total": 1, "passed": 0, "failed": 1, "retried": 1}
        unknown = {"id": "boot", "outcome": None, "attempts": None}
        assert begun.body == {"test": unknown, "tests": tests}  # both were sent at once
        assert ended.body == {
            "test": {"id": "boot", "outcome": "fail", "attempts": 3},
            "tests": tests,
        }

    async def test_a_run_starts_once_however_often_it_is_opened(self, tmp_path: Path) -> None:
        async with live_scene(tmp_path) as live:
            for _ in range(3):
                await live.runs.open(BOX, HEAD)
            assert await live.types() == ["started"]

    async def test_a_loss_is_one_event_at_ten_minutes(self, tmp_path: Path) -> None:
        async with live_scene(tmp_path) as live:
            run = (await live.runs.open(BOX, HEAD)).id
            live.hands.move(minutes=10, microseconds=-1)
            await live.runs.sweep()
            assert await live.types() == ["started"]
            live.hands.move(microseconds=1)
            for _ in range(3):
                await live.runs.sweep()
            *_, lost = await live.events()
            assert await live.types() == ["started", "lost"]
        assert (lost.happening.run_id, lost.happening.body) == (run, {})
        assert lost.happening.at == NOON + timedelta(minutes=10)

    @pytest.mark.parametrize("sign", ["feed", "open"])
    async def test_a_lost_run_that_is_seen_starts_again(self, tmp_path: Path, sign: str) -> None:
        async with live_scene(tmp_path) as live:
            run = (await live.runs.open(BOX, HEAD)).id
            live.hands.move(minutes=11)
            await live.runs.sweep()
            await (live.feed(run) if sign == "feed" else live.runs.open(BOX, HEAD))
            await live.runs.sweep()
            assert await live.types() == ["started", "lost", "started"]
            live.hands.move(minutes=10)
            await live.runs.sweep()
            assert await live.types() == ["started", "lost", "started", "lost"]

    async def test_a_heartbeat_keeps_runs_but_brings_no_lost_one_back(self, tmp_path: Path) -> None:
        async with live_scene(tmp_path) as live:
            await live.runs.open(BOX, HEAD)
            live.hands.move(minutes=11)
            await live.runs.sweep()
            await live.storage.write(lambda w: w.touch_box(ACME.id, BOX.id, live.hands.now))
            assert await live.types() == ["started", "lost"]

    async def test_events_are_kept_a_day_and_the_newest_for_ever(self, tmp_path: Path) -> None:
        async with live_scene(tmp_path) as live:
            run = (await live.runs.open(BOX, HEAD)).id
            for _ in range(4):
                live.hands.move(hours=6)
                await live.feed(run, BOOT)
            await forgetting(live).sweep()
            assert len(await live.events()) == 5
            live.hands.move(microseconds=1)
            await forgetting(live).sweep()
            assert [event.number for event in await live.events()] == [2, 3, 4, 5]

    async def test_a_clock_that_jumps_by_a_year_deletes_nothing_and_what_is_old_goes_later(
        self, tmp_path: Path
    ) -> None:
        counted = 0.0
        async with live_scene(tmp_path) as live:
            retention = forgetting(live, Evenness(live.hands, lambda: counted))

            async def sweep_after(hours: float, jump_days: float = 0) -> list[Event]:
                nonlocal counted
                live.hands.move(hours=hours, days=jump_days)
                counted += timedelta(hours=hours).total_seconds()
                await retention.sweep()
                return list(await live.events())

            await live.feed((await live.runs.open(BOX, HEAD)).id, BOOT)
            before = list(await live.events())
            assert await sweep_after(hours=1) == before
            assert await sweep_after(hours=0, jump_days=365) == before
            assert await sweep_after(hours=0.02) == before
            assert await sweep_after(hours=0.02, jump_days=-365) == before
            assert await sweep_after(hours=24) == before[-1:], "the newest stays for ever"

    async def test_a_lost_run_is_forgotten_after_a_week_and_one_that_is_seen_is_not(
        self, tmp_path: Path
    ) -> None:
        async with live_scene(tmp_path) as live:
            run = (await live.runs.open(BOX, HEAD)).id
            other = (await live.runs.open(BOX, HEAD.model_copy(update={"run_id": 2}))).id
            live.hands.move(minutes=11)
            await live.runs.sweep()
            live.hands.move(days=6)
            await live.feed(other)
            live.hands.move(days=1)
            await forgetting(live).sweep()
            kept = await live.storage.read(
                lambda r: [r.live_run(ACME.id, one) is not None for one in (run, other)]
            )
        assert kept == [False, True]

    async def test_a_run_of_a_removed_box_is_lost_and_forgotten_as_any_other(
        self, tmp_path: Path
    ) -> None:
        async with live_scene(tmp_path) as live:
            run = (await live.runs.open(BOX, HEAD)).id
            await live.storage.write(lambda w: w.remove_box(ACME.id, BOX.id))
            live.hands.move(minutes=10, microseconds=-1)
            await live.runs.sweep()
            assert await live.types() == ["started"]
            live.hands.move(microseconds=1)
            for _ in range(2):
                await live.runs.sweep()
            assert await live.types() == ["started", "lost"]
            live.hands.move(days=7)
            await forgetting(live).sweep()
            assert await live.storage.read(lambda r: r.live_run(ACME.id, run)) is None

    async def test_a_live_run_has_so_many_tests_and_no_more(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert limits.LIVE_TESTS_MAX == 10_000
        monkeypatch.setattr(limits, "LIVE_TESTS_MAX", 2)
        async with live_scene(tmp_path) as live:
            run = (await live.runs.open(BOX, HEAD)).id
            await live.feed(run, BOOT, FLASH)
            await live.feed(run, BOOT, FLASH)
            with pytest.raises(ConflictError, match=r"may have 10,000 tests.*with its report"):
                await live.feed(run, {"id": "spi"})
            shown = await live.storage.read(lambda r: r.live_tests(ACME.id, run).total)
        assert shown == 2

    async def test_a_key_that_ended_meanwhile_opens_nothing(self, tmp_path: Path) -> None:
        async with live_scene(tmp_path) as live:
            with pytest.raises(Exception, match="not a box key that works"):
                await live.runs.open(replace(BOX, key_digest=b"earlier"), HEAD)
            assert await live.types() == []


def test_each_report_and_each_part_that_shows_has_an_event_with_its_run(tmp_path: Path) -> None:
    hands = Hands()
    with running_in_thread(tmp_path, clock=hands) as server:
        benches = Benches(server, hands)
        run = benches.opened(benches.installed("bench-1"), run_id=1)
        for number in (2, 1, 3):
            benches.report(
                run_id=1 if number == 1 else 900 + number,
                part_of={"run_id": 1, "part": number, "parts": 3},
            )

    async def events() -> list[Event]:
        storage = server.open_storage()
        found = await storage.read(lambda r: r.events(server.org_id, 0, 100))
        await storage.close()
        return list(found)

    start, *result = (event.happening for event in asyncio.run(events()))
    assert start.type is RunEventType.STARTED
    assert [one.type for one in result] == [RunEventType.REPORTED] * 2
    assert [one.body["run"]["tests"]["total"] for one in result] == [2, 3]  # type: ignore[index]  # JSON
    assert {one.run_id for one in (start, *result)} == {UUID(run)}


class Believed(Evenness):
    """A clock that is never wrong."""

    def look(self) -> datetime:
        return self._clock()


def forgetting(live: LiveScene, evenness: Evenness | None = None) -> Retention:
    return Retention(live.storage, evenness or Believed(live.hands))


async def nothing() -> None:
    """Nobody guesses a password."""


def background(
    live: LiveScene, runs: LiveRuns, leads: Callable[[], bool] = lambda: True
) -> AsyncIterator[None]:
    """Return the background work of a server."""
    decisions = Decisions(live.storage, system_clock)
    deleting = (forgetting(live), Keeping(live.storage, Believed(live.hands), KeepDays()))
    beside = sweeping.sweeping(leads, runs, deleting, (), nothing, decisions)
    return beside(web.Application())


class TestSweeping:
    async def test_the_server_sweeps_again_and_again_until_it_ends(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(sweeping, "SWEEP_SECONDS", 0.01)
        async with live_scene(tmp_path) as live:
            beside = background(live, live.runs)
            await anext(beside)
            for count in (1, 2):
                await live.runs.open(BOX, HEAD)
                live.hands.move(minutes=10)
                await asyncio.wait_for(live.losses(count), 60)
            await anext(beside, None)
            await live.runs.open(BOX, HEAD)
            live.hands.move(minutes=10)
            await asyncio.sleep(0.05)
            assert (await live.types())[-1] == "started"

    async def test_a_server_that_does_not_lead_leaves_lost_runs_to_the_one_that_does(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(sweeping, "SWEEP_SECONDS", 0.01)
        swept: list[bool] = []

        class Counted(LiveRuns):
            async def sweep(self) -> None:
                swept.append(leading)
                await super().sweep()

        async with live_scene(tmp_path) as live:
            await live.runs.open(BOX, HEAD)
            live.hands.move(minutes=10)
            turns = iter([False] * 3)
            leading = False

            def leads() -> bool:
                nonlocal leading
                leading = next(turns, True)
                return leading

            beside = background(live, Counted(live.storage, live.hands), leads)
            await anext(beside)
            await asyncio.wait_for(live.losses(1), 60)
            await anext(beside, None)
            assert set(swept) == {True}

    @pytest.mark.parametrize(
        "fault",
        [StorageBusyError("The database is busy", "try again"), KeyError("The database is busy")],
    )
    async def test_any_single_failure_is_logged_and_tried_again(
        self,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        caplog: pytest.LogCaptureFixture,
        fault: Exception,
    ) -> None:
        monkeypatch.setattr(sweeping, "SWEEP_SECONDS", 0.01)
        swept = asyncio.Event()

        class Failing(LiveRuns):
            tried = 0

            async def sweep(self) -> None:
                self.tried += 1
                if self.tried == 1:
                    raise fault
                swept.set()

        async with live_scene(tmp_path) as live:
            failing = Failing(live.storage, live.hands)
            beside = background(live, failing)
            with caplog.at_level(logging.WARNING, "hwci.server"):
                await anext(beside)
                await asyncio.wait_for(swept.wait(), 60)
                await anext(beside, None)
        assert "The database is busy" in caplog.text
