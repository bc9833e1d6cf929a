# SPDX-License-Identifier: Apache-2.0
"""The bytes that an organization may send, in an hour and in all (contract, "Limits")."""

import asyncio
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from yarl import URL

from hwci.server.app import ListUsage, serving, sweeping
from hwci.server.services.operator.commands import UsageLine
from hwci.server.settings import bytes_of, read_settings
from tests.support.commands import hwci
from tests.support.databases import about_a_file
from tests.support.running import Hands, RunningServer, report, running, settings_of

KIB, MIB = 1024, 1024**2
FULL = 429


@pytest.fixture(autouse=True)
def quick_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "SWEEP_SECONDS", 0.01)


def large(run_id: int, size: int = 512 * KIB) -> bytes:
    """Return the body of a report of so many bytes."""
    body = json.dumps(report(run_id=run_id) | {"ignored": ""}).encode()
    return body.replace(b'"ignored": ""', b'"ignored": "%b"' % (b"x" * (size - len(body))))


async def send(server: RunningServer, body: bytes, **headers: str) -> tuple[int, Any, int]:
    """Send a report; return the status, the answer, and the seconds of `Retry-After`."""
    headers |= {"X-API-Key": server.ci_key, "Content-Type": "application/json"}
    async with (
        aiohttp.ClientSession(server.url, headers=headers) as http,
        http.post("/api/ci/run-report", data=body) as answer,
    ):
        text = await answer.text()
        wait = int(answer.headers.get("Retry-After", 0))
        return answer.status, json.loads(text) if text else None, wait


async def usage_of(server: RunningServer) -> UsageLine:
    lines = (await asyncio.to_thread(server.operate, ListUsage())).usage
    assert lines is not None
    return next(line for line in lines if line.org_id == server.org_id)


async def kept(server: RunningServer, size: int) -> UsageLine:
    """Return the usage once a sweep has kept so many bytes."""
    async with asyncio.timeout(30):
        while (usage := await usage_of(server)).all_bytes < size:  # noqa: ASYNC110 - of another process
            await asyncio.sleep(0.01)
    return usage


async def test_what_is_beyond_the_quota_of_an_hour_is_taken_in_the_next(
    tmp_path: Path, clock: Hands, caplog: pytest.LogCaptureFixture
) -> None:
    clock.now = clock.now.replace(minute=59, second=30)
    async with running(tmp_path, clock=clock, quota_hour="1MiB") as server:
        statuses = [(await send(server, large(number)))[0] for number in range(2)]
        status, answer, wait = await send(server, large(3))
        assert (*statuses, status, wait) == (204, 204, FULL, 30)
        assert answer["message"].startswith("This organization has sent 1.0 MiB this hour")
        assert "HWCI_QUOTA_HOUR" in answer["message"]
        await kept(server, MIB)  # what no sweep has kept yet counts in the hour in which it does
        clock.move(seconds=30)
        assert (await send(server, large(3)))[0] == 204
    refused = [line for line in caplog.messages if "is refused: This organization" in line]
    assert len(refused) == 1, "the log says it once"


async def test_what_an_organization_sent_is_counted_inflated_and_kept(tmp_path: Path) -> None:
    body = large(1, 32 * KIB)
    async with running(tmp_path) as server:
        before = await kept(server, 1)  # the key that was made
        assert (await send(server, gzip.compress(body), **{"Content-Encoding": "gzip"}))[0] == 204
        usage = await kept(server, before.all_bytes + 1)
        assert usage.all_bytes - before.all_bytes == len(body)
        assert usage.hour_bytes == usage.all_bytes


async def test_the_quota_of_all_holds_for_one_organization_alone_and_keys_can_be_revoked(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, quota_all="1MiB") as server:
        for number in range(2):
            assert (await send(server, large(number)))[0] == 204
        await kept(server, MIB)
        status, answer, wait = await send(server, large(2))
        assert (status, wait) == (FULL, 3600)
        assert "HWCI_QUOTA_ALL" in answer["message"]
        person = {"Authorization": f"Bearer {server.token}"}
        async with aiohttp.ClientSession(server.url, headers=person) as http:
            async with http.post("/api/orgs", json={"name": "Another"}) as answer:
                assert answer.status == 201
                other = (await answer.json())["id"]
            async with http.post(f"/api/orgs/{other}/ci-keys", json={"name": "k"}) as answer:
                assert answer.status == 201
            async with http.get(f"/api/orgs/{server.org_id}/ci-keys") as answer:
                key = (await answer.json())["items"][0]["id"]
            async with http.delete(f"/api/orgs/{server.org_id}/ci-keys/{key}") as answer:
                assert answer.status == 204, "what fills the quota can be stopped"


async def test_a_body_beyond_the_quota_is_answered_before_it_is_sent(tmp_path: Path) -> None:
    async with running(tmp_path, quota_hour="1MiB") as server:
        for number in range(3):
            status, *_ = await send(server, large(number))
        head = (
            f"POST /api/ci/run-report HTTP/1.1\r\nHost: h\r\nX-API-Key: {server.ci_key}\r\n"
            "Content-Type: application/json\r\nContent-Length: 60000000\r\n\r\n"
        )
        url = URL(server.url)
        reader, writer = await asyncio.open_connection(url.host, url.port)
        writer.write(head.encode())
        assert (await reader.readline()).startswith(b"HTTP/1.1 429 ")
        writer.close()
        assert status == FULL


@about_a_file
async def test_a_server_that_starts_again_knows_what_was_sent_before(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        assert (await send(server, large(1)))[0] == 204
    settings = settings_of(server.location, quota_all="1MiB", rate_limit="off")
    async with serving(settings) as again:
        server = replace(server, url=again.url)
        assert (await send(server, large(2)))[0] == 204, "it asks when it has something to add"
        await kept(server, MIB)
        assert (await send(server, large(3)))[0] == FULL


@pytest.mark.parametrize(
    ("text", "size"), [("512MiB", 2**29), ("1 GiB", 2**30), ("2TiB", 2**41), ("off", None)]
)
def test_a_quota_is_written_in_bytes_or_off(text: str, size: int | None) -> None:
    assert bytes_of(read_settings({"HWCI_QUOTA_HOUR": text}).quota_hour) == size


@pytest.mark.parametrize("text", ["0MiB", "1GB", "-1GiB", "1000", "9999999MiB"])
def test_another_text_is_no_quota(text: str) -> None:
    with pytest.raises(Exception, match="it may be such as 512MiB"):
        read_settings({"HWCI_QUOTA_ALL": text})


@about_a_file
async def test_the_usage_stands_beside_the_quotas_of_the_server_that_has_the_file(
    tmp_path: Path,
) -> None:
    environ = {"HWCI_DATABASE": str(tmp_path / "hwci.db"), "HWCI_QUOTA_HOUR": "2GiB"}

    def shown() -> str:
        return hwci(tmp_path, "admin", "usage", **environ).stdout.partition(": ")[2]

    async with running(tmp_path, quota_hour="512MiB", quota_all="off") as server:
        usage = await usage_of(server)
        assert (usage.hour_quota, usage.all_quota) == (512 * MIB, None)
        assert await asyncio.to_thread(shown) == "0.0 MiB of 512 MiB this hour, 0.0 MiB in all\n"
    alone = await asyncio.to_thread(shown)
    assert alone == "0.0 MiB of 2 GiB this hour, 0.0 MiB of 1 TiB in all\n"
