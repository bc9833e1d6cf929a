# SPDX-License-Identifier: Apache-2.0
"""Webhooks (contract, "Webhooks"): each event arrives at least once, signed, in its order, and none
is invented, whatever the receiver does.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from hwci.contract.vocabulary import DeliveryStatus
from hwci.server.app import sweeping
from hwci.server.clock import system_clock
from hwci.server.security.secret_key import rotate_keys
from hwci.server.services.webhooks import sending
from hwci.wire import limits
from tests.server.storage.examples import DELIVERY, NOON
from tests.server.telling import CONFIGURATION, LOOPBACK, Scene, bug, scene
from tests.support.asking import ask
from tests.support.databases import query
from tests.support.receiver import Received, Receiver, receiving, take
from tests.support.running import Hands, report

PAUSES = sending.PAUSES
SHORT = timedelta(seconds=0.05)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look and try again after moments, as often as ever."""
    monkeypatch.setattr(sweeping, "SEND_SECONDS", 0.02)
    monkeypatch.setattr(sweeping, "WATCH_SECONDS", 0.05)
    monkeypatch.setattr(sweeping, "DECISIONS_SECONDS", 0.02)
    monkeypatch.setattr(sending, "PAUSES", (SHORT,) * len(sending.PAUSES))


async def test_a_failure_that_is_decided_to_be_a_real_bug_is_told_once_and_signed(
    tmp_path: Path,
) -> None:
    async with receiving() as receiver, scene(tmp_path) as here:
        webhook = await here.webhook(f"{receiver.url}/hook", events=["failure.real_bug"])

        await here.break_and_fix(1)

        (came,) = await receiver.comes(1)
        came.check(webhook["secret"])
        assert came.path == "/hook"
        assert came.body["type"] == "failure.real_bug"
        data = came.body["data"]
        assert (data["testId"], data["boxKey"], data["by"]) == ("uart.echo", "bench-1", "rules")
        assert data["firstFailingSha"] == f"{4:040x}"
        assert data["fixSha"] == f"{5:040x}"
        page = f"https://hwci.example.org/orgs/{here.server.org_id}/failures/{data['failureId']}"
        assert data["url"] == page
        (delivery,) = await here.settled(webhook, 1)
        assert (delivery["status"], delivery["attempts"], delivery["error"]) == (
            *("delivered", 1),
            None,
        )
        assert delivery["id"] == came.id


async def test_a_person_who_confirms_a_failure_is_told_of_each_time(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with scene(tmp_path) as here:
        await here.break_and_fix(1)
        items = (await here.ask("GET", "ci-metrics/real-bugs?days=3"))["items"]
        path = f"ci-failures/{items[0]['id']}"
        webhook = await here.webhook(receiver.url, events=["failure.real_bug"])
        for deed in ("dismiss", "confirm", "reset", "dismiss", "confirm"):
            await here.ask("POST", f"{path}/{deed}")

        items = await here.settled(webhook, 2)

        assert [item["data"]["by"] for item in items] == ["Olga Owner"] * 2
        assert [came.id for came in receiver.received] == [item["id"] for item in reversed(items)]
        assert "confirmed by Olga Owner" in receiver.received[0].body["data"]["text"]


async def test_old_real_bugs_are_not_told_when_all_are_decided_again(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with scene(tmp_path) as here:
        await here.break_and_fix(1, ago=timedelta(hours=1))
        webhook = await here.webhook(receiver.url, events=["failure.real_bug"])

        changed = {**CONFIGURATION, "harness_paths": ["tests/**"]}
        await here.send("suite-config", changed)
        await here.break_and_fix(1000)

        (delivery,) = await here.settled(webhook, 1)
        assert delivery["data"]["firstFailingSha"] == f"{3001:040x}"


async def test_of_what_is_no_real_bug_and_to_who_wants_other_events_nothing_is_told(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with scene(tmp_path) as here:
        other = await here.webhook(receiver.url, events=["box.silent"])
        webhook = await here.webhook(receiver.url, events=["failure.real_bug"])
        for body in bug(1, ["power"]):
            blamed = [{**item, "verdict": "infra"} for item in body["tests"]]
            await here.send("run-report", {**body, "tests": blamed})
        await here.break_and_fix(1000)
        await here.settled(webhook, 1)
        await asyncio.sleep(0.3)

        (delivery,) = await here.deliveries(webhook)
        assert delivery["data"]["testId"] == "uart.echo"
        assert await here.deliveries(other) == []


async def test_what_began_90_days_ago_is_told_no_more(tmp_path: Path, receiver: Receiver) -> None:
    clock = Hands()
    async with scene(tmp_path, clock=clock) as here:
        webhook = await here.webhook(receiver.url, events=["failure.real_bug"])
        clock.move(days=100)
        await here.sign_in()
        await here.break_and_fix(1, "old")
        await here.break_and_fix(1000, "new", ago=timedelta(days=-99))
        await here.settled(webhook, 1)
        await asyncio.sleep(0.3)

        (delivery,) = await here.deliveries(webhook)
        assert delivery["data"]["testId"] == "new"


async def test_a_merge_is_told_of_when_it_stays_unchecked_and_a_box_when_it_stays_silent(
    tmp_path: Path, receiver: Receiver
) -> None:
    clock = Hands()
    merge = {"repo_key": "acme/firmware", "suite": "hardware", "branch": "main"}
    async with scene(tmp_path, clock=clock) as here:
        webhook = await here.webhook(
            receiver.url,
            events=["merge.unchecked", "box.silent"],
            uncheckedHours=2,
            silentHours=5,
        )
        merged_at = (clock.now + timedelta(minutes=1)).isoformat()
        for sha in ("a" * 40, "b" * 40):
            body = {**merge, "sha": sha, "merged_at": merged_at}
            await here.send("merge-announce", body)
        body = report(run_id=1, sha="a" * 40, started_at=merged_at, ended_at=merged_at)
        await here.send("run-report", body)
        clock.move(hours=1)
        await asyncio.sleep(0.3)
        await here.sign_in()
        assert await here.deliveries(webhook) == []

        clock.move(hours=1, minutes=2)
        await here.sign_in()
        (unchecked,) = await here.settled(webhook, 1)
        clock.move(hours=3)
        await here.sign_in()
        silent, _ = await here.settled(webhook, 2)
        clock.move(hours=3)
        await asyncio.sleep(0.3)
        await here.sign_in()

        assert len(await here.deliveries(webhook)) == 2
        assert unchecked["event"] == "merge.unchecked"
        assert (unchecked["data"]["sha"], unchecked["data"]["hours"]) == ("b" * 40, 2)
        assert silent["event"] == "box.silent"
        assert (silent["data"]["boxKey"], silent["data"]["hours"]) == ("bench-1", 5)


async def test_of_what_was_so_before_the_webhook_or_long_ago_nothing_is_told(
    tmp_path: Path, receiver: Receiver
) -> None:
    clock = Hands()
    async with scene(tmp_path, clock=clock) as here:
        before = (clock.now - timedelta(minutes=1)).isoformat()
        merge = {"repo_key": "acme/firmware", "suite": "hardware", "branch": "main"}
        await here.send("merge-announce", {**merge, "sha": "c" * 40, "merged_at": before})
        for number, (box, days) in enumerate({"gone": 8, "bench-1": 0}.items()):
            at = (clock.now - timedelta(days=days)).isoformat()
            body = report(run_id=number, box_key=box, started_at=at, ended_at=at)
            await here.send("run-report", body)
        hours = {"uncheckedHours": 2, "silentHours": 5}
        webhook = await here.webhook(receiver.url, **hours)
        of_merges = await here.webhook(receiver.url, events=["merge.unchecked"], **hours)
        clock.move(hours=6)
        await here.sign_in()
        await here.settled(webhook, 1)
        await asyncio.sleep(0.3)

        (delivery,) = await here.deliveries(webhook)
        assert (delivery["event"], delivery["data"]["boxKey"]) == ("box.silent", "bench-1")
        assert await here.deliveries(of_merges) == []


async def test_a_box_is_heard_by_whatever_it_sent_last(tmp_path: Path, receiver: Receiver) -> None:
    clock = Hands()
    async with scene(tmp_path, clock=clock) as here:
        webhook = await here.webhook(receiver.url, events=["box.silent"], silentHours=5)
        at = (clock.now - timedelta(hours=4)).isoformat()
        await here.send("run-report", report(box_key="bench-1", started_at=at, ended_at=at))
        box = await here.ask("POST", "boxes", {"name": "bench-1"}, 201)
        installed = {"installToken": box["installToken"]}
        url, path = here.server.url, "/api/boxes/install"
        await asyncio.to_thread(ask, url, "POST", path, json_body=installed)
        clock.move(hours=2)
        await asyncio.sleep(0.3)
        await here.sign_in()
        assert await here.deliveries(webhook) == []
        clock.move(hours=4)
        await here.sign_in()
        (delivery,) = await here.settled(webhook, 1)

    assert delivery["data"]["lastHeardAt"] > at


async def test_a_webhook_of_a_product_is_told_of_nothing_else(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with scene(tmp_path) as here:
        other = await here.webhook(receiver.url, repoKey="acme/firmware", suite="simulated")
        ours = await here.webhook(receiver.url, repoKey="acme/firmware", suite="hardware")
        off = await here.webhook(receiver.url)
        await here.ask("PATCH", f"webhooks/{off['id']}", {"enabled": False})

        await here.break_and_fix(1)

        await here.settled(ours, 1)
        assert await here.deliveries(other) == await here.deliveries(off) == []


@pytest.mark.parametrize("form", ["slack", "teams"])
async def test_in_a_chat_names_are_text(tmp_path: Path, receiver: Receiver, form: str) -> None:
    test = "<!channel> <https://evil.example|x> [y](https://evil.example) & **b**"
    async with scene(tmp_path) as here:
        webhook = await here.webhook(receiver.url, form=form)
        await here.break_and_fix(1, test)
        await here.settled(webhook, 1)

    (came,) = receiver.received
    came.check(webhook["secret"])
    if form == "slack":
        assert "<!channel>" not in came.body["text"]
        assert "&lt;!channel&gt;" in came.body["text"]
        shown, link = (block["text"] for block in came.body["blocks"])
        assert shown["emoji"] is False
        assert (shown["type"], test in shown["text"]) == ("plain_text", True)
        assert link["text"].startswith("<https://hwci.example.org/orgs/")
    else:
        (card,) = (one["content"] for one in came.body["attachments"])
        assert [block["type"] for block in card["body"]] == ["RichTextBlock"]
        (run,) = card["body"][0]["inlines"]
        assert (run["type"], test in run["text"]) == ("TextRun", True)


async def test_what_fails_is_tried_for_a_day_then_given_up_and_sent_again_when_asked(
    tmp_path: Path, receiver: Receiver
) -> None:
    async def fail(_: web.Request, __: Received) -> web.StreamResponse:
        return web.Response(status=503)

    receiver.answer = fail
    async with scene(tmp_path) as here:
        webhook = await here.webhook(receiver.url)
        await here.break_and_fix(1)
        (given_up,) = await here.settled(webhook, 1)
        assert (given_up["status"], given_up["attempts"]) == ("given_up", 10)
        assert given_up["error"] == "it answers 503"
        assert len(receiver.received) == 10

        receiver.answer = take
        path = f"webhooks/{webhook['id']}/deliveries/{given_up['id']}/resend"
        await here.ask("POST", path, status=204)
        (delivered,) = await here.settled(webhook, 1)

    assert (delivered["status"], delivered["attempts"]) == ("delivered", 1)
    assert {came.id for came in receiver.received} == {given_up["id"]}


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (200, None),
        (299, None),
        (301, "it answers 301; redirects are not followed"),
        (307, "it answers 307; redirects are not followed"),
        (404, "it answers 404"),
    ],
)
async def test_only_2xx_takes_an_event_and_a_redirect_is_not_followed(
    tmp_path: Path, receiver: Receiver, status: int, error: str | None
) -> None:
    async def answer(_: web.Request, __: Received) -> web.StreamResponse:
        return web.Response(status=status, headers={"Location": f"{receiver.url}/inside"})

    receiver.answer = answer
    async with scene(tmp_path) as here:
        webhook = await here.webhook(f"{receiver.url}/hook")
        await here.break_and_fix(1)
        (item,) = await here.settled(webhook, 1)

    assert (item["status"], item["error"]) == ("given_up" if error else "delivered", error)
    assert {came.path for came in receiver.received} == {"/hook"}


async def test_one_that_is_not_answered_holds_up_no_other_and_few_are_sent_at_once(
    tmp_path: Path, receiver: Receiver
) -> None:
    tests = [f"t{number:02}" for number in range(18)]
    others, going, most = asyncio.Event(), 0, 0

    async def hang_once(_: web.Request, came: Received) -> web.StreamResponse:
        nonlocal going, most
        going += 1
        most = max(most, going)
        await (others.wait() if came.body["data"]["testId"] == "t00" else asyncio.sleep(0.02))
        going -= 1
        return web.Response(status=204)

    receiver.answer = hang_once
    async with scene(tmp_path) as here:
        webhook = await here.webhook(receiver.url, events=["failure.real_bug"])
        for body in bug(1, tests):
            await here.send("run-report", body)
        await receiver.comes(len(tests), seconds=9)
        others.set()
        items = await here.settled(webhook, len(tests))

    assert {item["attempts"] for item in items} == {1}
    assert 1 < most <= sending._TOGETHER


async def test_a_webhook_that_is_switched_off_is_sent_no_more_of_what_waits(
    tmp_path: Path, receiver: Receiver
) -> None:
    tests = [f"t{number:02}" for number in range(18)]
    is_off = asyncio.Event()

    async def wait(_: web.Request, __: Received) -> web.StreamResponse:
        await is_off.wait()
        return web.Response(status=204)

    receiver.answer = wait
    async with scene(tmp_path) as here:
        webhook = await here.webhook(receiver.url, events=["failure.real_bug"])
        for body in bug(1, tests):
            await here.send("run-report", body)
        await receiver.comes(1)
        path = f"webhooks/{webhook['id']}"
        await here.ask("PATCH", path, {"enabled": False})
        is_off.set()
        await asyncio.sleep(0.5)
        assert len(receiver.received) <= sending._TOGETHER
        await here.ask("PATCH", path, {"enabled": True})
        await here.settled(webhook, len(tests))

    assert len({came.id for came in receiver.received}) == len(tests)


def test_an_event_is_tried_for_a_day_with_growing_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "PAUSES", PAUSES)
    delivery, now, waited = DELIVERY, NOON, []
    while True:
        delivery = sending.after_attempt(delivery, "it answers 503", now)
        if delivery.due_at is None:
            break
        waited.append(delivery.due_at - now)
        now = delivery.due_at

    assert delivery.status is DeliveryStatus.GIVEN_UP
    assert timedelta(hours=23) < now - NOON < timedelta(hours=25)
    assert waited == sorted(waited)
    assert waited[0] < timedelta(seconds=10)
    assert len(waited) == 9


async def test_the_secret_and_the_address_are_shown_once_and_kept_sealed(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with scene(tmp_path) as here:
        secret_path = f"{receiver.url}/services/T0/B0/hush"
        made = await here.webhook(secret_path)
        listed = await here.ask("GET", "webhooks")
        log = await here.ask("GET", "audit-log")
        rows = query(here.server.location, "SELECT sealed, host FROM webhook")

        for shown in (listed, log, rows):
            assert "hush" not in str(shown)
            assert made["secret"] not in str(shown)
        assert listed["items"][0]["host"] == receiver.url.removeprefix("http://")


async def test_a_new_key_of_the_server_leaves_webhooks_working(
    tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "KEYS_SECONDS", 0.05)
    async with scene(tmp_path) as here:
        webhook = await here.webhook(receiver.url)
        sealed = "SELECT sealed FROM webhook"
        (before,) = query(here.server.location, sealed)
        now = system_clock()
        rotate_keys(here.server.key_file, now, now + timedelta(minutes=15))

        async def sealed_again() -> bool:
            return query(here.server.location, sealed) != [before]

        await here.until(sealed_again)
        rotate_keys(here.server.key_file, now, None)  # now another one, with no former key
        await asyncio.sleep(0.3)
        await here.sign_in()
        await here.break_and_fix(1)
        (delivery,) = await here.settled(webhook, 1)

    assert "its secret cannot be read any more" in delivery["error"]
    assert receiver.received == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "address"),
        ({"address": "ftp://example.org"}, "address"),
        ({"address": "https://user:word@example.org/"}, "address"),
        ({"address": "https://[::1/"}, "address"),
        ({"address": "https://example.org:0/"}, "address"),
        ({"address": "https://example.org", "events": []}, "events"),
        ({"address": "https://example.org", "events": ["gate.opened"]}, "events"),
        ({"address": "https://example.org", "form": "irc"}, "form"),
        ({"address": "https://example.org", "silentHours": 0}, "silentHours"),
        ({"address": "https://example.org", "uncheckedHours": 721}, "uncheckedHours"),
    ],
)
async def test_a_webhook_that_cannot_work_is_refused(
    shared: Scene, body: dict[str, Any], field: str
) -> None:
    answer = await shared.ask("POST", "webhooks", body, 400)
    assert [issue["path"][1] for issue in answer["issues"]] == [field]


async def test_a_suite_needs_its_repository_and_webhooks_are_not_many(shared: Scene) -> None:
    body = {"address": "https://example.org", "suite": "hil"}
    assert "`suite` needs" in str(await shared.ask("POST", "webhooks", body, 400))
    for _ in range(limits.WEBHOOKS_MAX):
        await shared.webhook("https://example.org")
    body = {"address": "https://example.org"}
    answer = await shared.ask("POST", "webhooks", body, 409)
    assert "may have 20 webhooks" in answer["message"]


async def test_a_changed_address_counts_from_the_next_attempt_on(
    tmp_path: Path, receiver: Receiver
) -> None:
    async with scene(tmp_path, webhook_networks=LOOPBACK) as here:
        webhook = await here.webhook("http://127.0.0.1:9/closed")
        await here.break_and_fix(1)

        async def was_tried() -> bool:
            return any(item["attempts"] for item in await here.deliveries(webhook))

        await here.until(was_tried)
        change = {"address": f"{receiver.url}/open"}
        changed = await here.ask("PATCH", f"webhooks/{webhook['id']}", change)
        assert changed["host"] == receiver.url.removeprefix("http://")
        (came,) = await receiver.comes(1)
        came.check(webhook["secret"])
        await here.ask("DELETE", f"webhooks/{webhook['id']}", status=204)
        await here.ask("GET", f"webhooks/{webhook['id']}/deliveries", status=404)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as listening:
        yield listening


@pytest.fixture
async def shared(tmp_path: Path) -> AsyncIterator[Scene]:
    async with scene(tmp_path) as here:
        yield here
