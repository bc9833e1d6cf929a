# SPDX-License-Identifier: Apache-2.0
"""What webhooks are told of that the analysis finds (contract, "Webhooks"): an incident once when
it opens and once when it is over, a box once for each time that it becomes worse.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hwci.analysis.failures.incidents import Incident, incidents
from hwci.server.app import sweeping
from hwci.server.clock import Clock, system_clock
from hwci.server.services import noticing
from tests.server.telling import CONFIGURATION, Scene, scene
from tests.support.databases import query
from tests.support.receiver import Receiver, receiving
from tests.support.running import Hands, report

INCIDENTS = ["incident.opened", "incident.resolved"]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SEND_SECONDS", "INCIDENTS_SECONDS", "BOXES_SECONDS"):
        monkeypatch.setattr(sweeping, name, 0.02)


class Told:
    """A server whose boxes report, and a webhook that is told."""

    def __init__(self, here: Scene, webhook: Any, clock: Clock = system_clock) -> None:
        self._here, self._webhook, self._clock = here, webhook, clock
        self._runs = 0

    async def run(
        self, commit: int, outcomes: Mapping[str, str], box: str = "bench-1", **fields: Any
    ) -> None:
        """Report a run of a commit, which was pushed on top of the one before."""
        self._runs += 1
        at = (self._clock() + timedelta(milliseconds=self._runs)).isoformat()
        pushed = {"sha": f"{commit:040x}", "subject": "work", "files": ["src/a.c"]}
        body = {
            "run_id": self._runs,
            "sha": f"{commit:040x}",
            "box_key": box,
            "started_at": at,
            "ended_at": at,
            "changes": {"base_sha": f"{commit - 1:040x}", "commits": [pushed]},
            "tests": [
                {"id": test, "outcome": outcome, "attempts": 1, "duration_s": 1}
                | ({"verdict": "device"} if outcome == "fail" else {})
                for test, outcome in outcomes.items()
            ],
        }
        await self._here.send("run-report", report(**body | fields))

    async def events(self, count: int) -> Sequence[Any]:
        """Return what it was told, the first first, once more would have been seen."""
        await self._here.settled(self._webhook, count)
        await looks()
        told = (await self._here.settled(self._webhook, count))[::-1]
        assert len(told) == count, told
        return [(row["event"], row["data"]) for row in told]


async def looks() -> None:
    """Wait until all was looked at several times."""
    await asyncio.sleep(0.5)


async def test_an_incident_is_told_once_when_it_opens_and_once_when_all_of_it_is_over(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with scene(tmp_path) as here:
        webhook = await here.webhook(receiver.url, events=INCIDENTS)
        told = Told(here, webhook)
        both = {"spi": "fail", "uart": "fail"}
        for box in ("bench-1", "bench-2"):
            await told.run(1, {"spi": "pass", "uart": "pass"}, box)
        await told.run(2, both)
        ((event, opened),) = await told.events(1)
        assert event == "incident.opened"
        assert opened["tests"] == ["spi", "uart"]
        assert opened["boxes"] == ["bench-1"]
        assert opened["firstFailingSha"] == f"{2:040x}"
        assert opened["suspects"] == {"from": f"{2:040x}", "to": f"{2:040x}"}
        assert opened["text"] == (
            "Incident: spi and uart on bench-1, branch main: fails since 000000000000, broken by"
            " 000000000000"
        )

        await told.run(2, both, "bench-2")
        await told.events(1)
        await told.run(3, {"spi": "pass", "uart": "pass"})
        await told.run(3, both, "bench-2")
        await told.events(1)

        await told.run(4, {"spi": "pass", "uart": "pass"}, "bench-2")
        _, (event, resolved) = await told.events(2)

    assert event == "incident.resolved"
    assert resolved["incidentId"] == opened["incidentId"]
    assert resolved["fixSha"] == f"{3:040x}"
    assert [came.body["type"] for came in receiver.received] == INCIDENTS


async def test_a_report_that_comes_late_makes_no_other_incident(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with scene(tmp_path) as here:
        told = Told(here, await here.webhook(receiver.url, events=INCIDENTS))
        earlier = system_clock().isoformat()
        await told.run(2, {"spi": "fail"})
        await told.events(1)
        await told.run(1, {"spi": "fail"}, started_at=earlier, ended_at=earlier)
        await told.events(1)
        failures = (await here.ask("GET", "ci-failures"))["items"]

    assert len(failures) == 2


async def test_what_begins_again_is_another_incident(tmp_path: Path, receiver: Receiver) -> None:
    async with scene(tmp_path) as here:
        told = Told(here, await here.webhook(receiver.url, events=INCIDENTS))
        for commit, outcome, count in (
            *((1, "pass", 0), (2, "fail", 1), (3, "pass", 2)),
            *((4, "fail", 3), (5, "pass", 4)),
        ):
            await told.run(commit, {"spi": outcome})
            rows = await told.events(count)

    assert [event for event, _ in rows] == INCIDENTS * 2
    ids = [data["incidentId"] for _, data in rows]
    assert ids[0] == ids[1] != ids[2] == ids[3]


async def test_an_incident_that_was_a_flake_is_over_and_says_so(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with scene(tmp_path) as here:
        told = Told(here, await here.webhook(receiver.url, events=INCIDENTS))
        await told.run(1, {"spi": "fail"})
        await told.events(1)
        await told.run(1, {"spi": "pass"})
        _, (event, data) = await told.events(2)

    assert (event, data["fixSha"]) == ("incident.resolved", None)
    assert "it passed on 000000000000, too" in data["text"]


async def test_of_what_began_before_the_webhook_and_of_other_products_nothing_is_told(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with scene(tmp_path) as here:
        early = (system_clock() - timedelta(minutes=1)).isoformat()
        before = Told(here, None)
        await before.run(1, {"spi": "fail"}, started_at=early)
        webhook = await here.webhook(
            receiver.url, events=INCIDENTS, repoKey="acme/firmware", suite="hardware"
        )
        told = Told(here, webhook)
        await here.send("suite-config", {**CONFIGURATION, "suite": "simulated"})
        await told.run(2, {"spi": "fail"}, suite="simulated")
        await told.events(0)
        assert query(here.server.location, "SELECT name FROM ongoing") == []
        await told.run(3, {"spi": "pass", "i2c": "fail"})
        ((event, data),) = await told.events(1)

    assert (event, data["tests"]) == ("incident.opened", ["i2c"])


async def test_an_incident_is_followed_to_its_end_and_for_90_days_at_most(
    tmp_path: Path, receiver: Receiver
) -> None:
    clock = Hands()
    async with scene(tmp_path, clock=clock) as here:
        told = Told(here, await here.webhook(receiver.url, events=INCIDENTS), clock)
        await told.run(1, {"spi": "fail", "uart": "pass"})
        await told.events(1)
        clock.move(days=40)
        await here.sign_in()
        await told.run(2, {"uart": "fail"})
        await told.events(2)
        await told.run(3, {"spi": "pass"})
        _, _, (event, data) = await told.events(3)
        assert (event, data["tests"]) == ("incident.resolved", ["spi"])

        clock.move(days=100)
        await here.sign_in()
        await told.run(4, {"boot": "pass"})
        await told.events(3)
        await told.run(5, {"uart": "fail"})  # it never passed: the same one fails again
        await told.events(3)


async def test_the_analysis_is_asked_when_something_changed_and_else_not(
    tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def counted(*of: Any) -> list[Incident]:
        asked.append(of)
        return incidents(*of)

    monkeypatch.setattr(noticing, "incidents", counted)
    async with scene(tmp_path) as here:
        told = Told(here, await here.webhook(receiver.url, events=INCIDENTS))
        await told.run(1, {"spi": "fail"})
        await told.events(1)
        times = len(asked)
        await looks()
        assert len(asked) == times
        await told.run(2, {"spi": "pass"})
        await told.events(2)
        assert len(asked) > times


async def test_only_the_end_is_told_to_who_wants_only_that(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with scene(tmp_path) as here:
        told = Told(here, await here.webhook(receiver.url, events=["incident.resolved"]))
        await told.run(1, {"spi": "fail"})
        await looks()
        await told.run(2, {"spi": "pass"})
        ((event, _),) = await told.events(1)

    assert event == "incident.resolved"


async def test_a_box_is_told_of_once_each_time_that_it_becomes_worse(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with scene(tmp_path) as here:
        webhook = await here.webhook(receiver.url, events=["box.worse"])
        told = Told(here, webhook)

        async def fail_on_one(first: int, commits: int) -> None:
            for commit in range(first, first + commits):
                for box, outcome in (("bench-1", "pass"), ("bench-2", "fail")):
                    await told.run(commit, {"spi": outcome, "boot": "pass"}, box)

        await fail_on_one(1, 3)
        assert await told.events(0) == []
        await fail_on_one(4, 9)
        ((event, data),) = await told.events(1)
        assert (event, data["boxKey"]) == ("box.worse", "bench-2")
        page = await here.ask("GET", "ci-analysis/boxes")
        (shown,) = (box for box in page["boxes"] if box["boxKey"] == "bench-2")
        assert shown["comparison"]["named"]
        assert data["says"].startswith("fails where bench-1 never does")
        await fail_on_one(13, 3)
        await told.events(1)

        at = (system_clock() + timedelta(milliseconds=200)).isoformat()
        note = {"boxKey": "bench-2", "text": "new cable", "at": at}
        await here.ask("POST", "box-notes", note, 201)
        await looks()
        await fail_on_one(16, 12)
        rows = await told.events(2)

    assert [(event, data["boxKey"]) for event, data in rows] == [("box.worse", "bench-2")] * 2


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as listening:
        yield listening
