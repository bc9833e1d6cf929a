# SPDX-License-Identifier: Apache-2.0
"""The example cluster: three servers on one PostgreSQL and one Valkey, killed under load."""

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from uuid import UUID

import pytest

from hwci.client import AsyncClient, Client, calls
from hwci.client.errors import UnauthorizedError
from hwci.contract.vocabulary import BoxStatus
from hwci.server.clock import system_clock
from hwci.server.storage.location import Location
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.databases import connect, only_where_wanted
from tests.support.running import report
from tests.support.soak import rounds

pytestmark = only_where_wanted

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/cluster"
SENDERS, RUNS = rounds((6, 6), (32, 200))
KILLS = rounds(1, 6)
SERVERS = ("server 1", "server 2", "server 3")
PARTS = (*SERVERS, "PostgreSQL", "Valkey")
PAUSE_SECONDS = 2
WAIT_SECONDS = 120
SEED = 20261123


class Cluster:
    """The example, running, and what it has printed so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lines: list[str] = []
        command = [sys.executable, str(EXAMPLE / "start.py"), "--port", "0"]
        options = ["--folder", str(folder), "--pause", str(PAUSE_SECONDS)]
        self.process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
        self.listening = threading.Thread(target=self._listen)
        self.listening.start()
        self.wait(lambda: any(line.startswith("Sign in") for line in self._lines))
        self.url = re.findall(r"ready at (\S+);", "\n".join(self._lines))[0]
        self.urls = [self.started(name)[-1][1] for name in SERVERS]
        self.database = Location(self.started("PostgreSQL")[0][1])
        self.password = (folder / "password").read_text()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as printed:
            for line in printed:
                self._lines.append(line.rstrip())

    def wait(self, true: Callable[[], bool]) -> None:
        until = time.monotonic() + WAIT_SECONDS
        while not true():
            assert time.monotonic() < until, self._lines
            assert self.process.poll() is None, self._lines
            time.sleep(0.05)

    def started(self, name: str) -> list[tuple[int, str]]:
        """Return the process id and address of each start of a part."""
        found = re.findall(rf"^{name} +pid (\d+) +(\S+)", "\n".join(self._lines), re.MULTILINE)
        return [(int(pid), address) for pid, address in found]

    def kill(self, name: str) -> int:
        """Kill a part; return how often it had been started."""
        starts = self.started(name)
        os.kill(starts[-1][0], signal.SIGKILL)
        return len(starts)

    def wait_until_ready(self) -> None:
        self.wait(lambda: all(status(url, "/readyz") == 200 for url in self.urls))

    def wait_until_started_again(self, before: dict[str, int]) -> None:
        """Wait until each part has been started more often than before, and all is ready."""
        self.wait(lambda: all(len(self.started(name)) > before[name] for name in before))
        self.wait_until_ready()

    def load(self, urls: list[str]) -> "subprocess.Popen[str]":
        """Begin to send load."""
        sizes = ["--senders", str(SENDERS), "--runs", str(RUNS)]
        return subprocess.Popen(
            [sys.executable, str(EXAMPLE / "load.py"), *sizes],
            env={
                **os.environ,
                "HWCI_URL": " ".join(urls),
                "HWCI_EMAIL": "owner@example.org",
                "HWCI_PASSWORD": self.password,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def sign_in(self, url: str) -> tuple[str, str]:
        """Return an access token and a refresh token."""
        with Client(url) as client:
            answer = client.send(calls.login("owner@example.org", self.password))
        assert answer.refresh_token is not None
        return answer.access_token, answer.refresh_token


def status(url: str, path: str) -> int | None:
    try:
        return ask(url, "GET", path).status
    except OSError:
        return None


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory(prefix="hwci-cluster-") as folder:
        cluster = Cluster(Path(folder) / "cluster")
        try:
            yield cluster
        finally:
            cluster.process.terminate()
            cluster.process.wait(60)
            cluster.listening.join()


def organization(cluster: Cluster, token: str) -> UUID:
    with Client(cluster.url, token=token) as client:
        return client.send(calls.me()).organizations[0].id


def answers_of(load: "subprocess.Popen[str]") -> dict[str, int]:
    """Wait for a load that must end well; return how often each answer came."""
    printed, _ = load.communicate(timeout=900)
    assert load.returncode == 0, printed
    assert f"{RUNS} runs, each one whole report of one sender" in printed
    (line,) = re.findall(r"^answers: (.*)$", printed, re.MULTILINE)
    return {what: int(n) for n, what in (part.split(" ", 1) for part in line.split(", "))}


def test_reports_of_the_same_runs_over_three_servers_leave_one_whole_report_each_without_a_5xx(
    cluster: Cluster,
) -> None:
    assert answers_of(cluster.load(cluster.urls)) == {"204": SENDERS * RUNS}


def test_a_key_a_session_and_a_box_count_at_once_on_every_server(cluster: Cluster) -> None:
    first, second, third = cluster.urls
    token, refresh = cluster.sign_in(first)
    org_id = organization(cluster, token)
    with Client(second, token=token) as owner:
        key = owner.send(calls.create_ci_key(org_id, "test"))
        box = owner.send(calls.create_box(org_id, "box-9"))
    with Client(third) as installing:
        box_key = installing.send(calls.install_box(box.install_token)).api_key
    sent = report()
    call = ("POST", "/api/ci/run-report", ci_key(key.api_key))
    assert ask(third, *call, json_body=sent).status == 204
    with Client(first, box_key=box_key) as bench, Client(third, token=token) as owner:
        bench.send(calls.heartbeat())
        states = {one.name: one.status for one in owner.items(calls.list_boxes(org_id))}
        assert states["box-9"] is BoxStatus.ONLINE
        owner.send(calls.revoke_ci_key(org_id, key.id))
        owner.send(calls.remove_box(org_id, box.id))
        owner.send(calls.logout(refresh))
    for url in cluster.urls:
        assert ask(url, *call, json_body=sent).status == 401
        with Client(url, token=token, box_key=box_key) as gone:
            with pytest.raises(UnauthorizedError):
                gone.send(calls.me())
            with pytest.raises(UnauthorizedError):
                gone.send(calls.heartbeat())
            with pytest.raises(UnauthorizedError):
                gone.send(calls.refresh(refresh))


@pytest.mark.parametrize("name", ["PostgreSQL", "Valkey"])
def test_without_what_all_servers_need_they_answer_503_until_it_is_back(
    cluster: Cluster, name: str
) -> None:
    token, _ = cluster.sign_in(cluster.url)
    starts = cluster.kill(name)
    replies: list[Reply] = []
    alive = set()
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until and (not replies or replies[-1].status != 200):
        replies += [ask(url, "GET", "/api/auth/me", bearer(token)) for url in cluster.urls]
        alive.add(status(cluster.urls[0], "/healthz"))
    assert {reply.status for reply in replies} == {200, 503}
    assert all(int(one.headers["retry-after"]) > 0 for one in replies if one.status == 503)
    assert alive == {200}
    cluster.wait(lambda: len(cluster.started(name)) > starts)  # printed after it answers
    cluster.wait_until_ready()


def test_a_client_behind_the_proxy_does_not_notice_that_a_server_was_killed(
    cluster: Cluster,
) -> None:
    token, _ = cluster.sign_in(cluster.url)
    starts = cluster.kill("server 2")
    for _ in range(20):
        with Client(cluster.url, token=token) as client:
            client.send(calls.me())
    cluster.wait(lambda: len(cluster.started("server 2")) > starts)


async def test_a_load_outlives_kills_of_each_part_and_a_stream_misses_nothing(
    cluster: Cluster,
) -> None:
    token, _ = await asyncio.to_thread(cluster.sign_in, cluster.url)
    org_id = await asyncio.to_thread(organization, cluster, token)
    async with AsyncClient(cluster.url, token=token) as client:
        key = await client.send(calls.create_reader_key(org_id, "follower"))
    async with (
        AsyncClient(cluster.url, reader_key=key.api_key, retries=50) as client,
        client.follow(org_id) as stream,
    ):
        load = await asyncio.to_thread(cluster.load, [cluster.url])
        first = int((await anext(stream)).id)
        numbers, killing = [first], asyncio.create_task(asyncio.to_thread(kill_all, cluster))
        counts = await asyncio.to_thread(answers_of, load)
        await killing
        last = await asyncio.to_thread(last_event, cluster, org_id)
        async with asyncio.timeout(WAIT_SECONDS):
            while numbers[-1] < last:
                numbers.append(int((await anext(stream)).id))
    assert numbers == list(range(first, last + 1))
    assert set(counts) <= {"204", "503", "no answer"}
    assert kept(cluster, load.pid) == {
        (f"sender-{sender:03}", run) for sender in range(SENDERS) for run in range(RUNS)
    }
    page = calls.metrics(org_id, as_of=system_clock())
    async with AsyncClient(cluster.urls[0], token=token) as client:
        derived = await client.send(page)
        await asyncio.to_thread(rebuild, cluster)
        assert await client.send(page) == derived
        assert derived.flakiest_tests.total


def kill_all(cluster: Cluster) -> None:
    """Kill each part, whether those before it are back or not; then wait until all are."""
    chance = random.Random(SEED)
    for _ in range(KILLS):
        starts = {name: len(cluster.started(name)) for name in PARTS}
        for name in chance.sample(PARTS, len(PARTS)):
            time.sleep(chance.uniform(0, PAUSE_SECONDS))
            cluster.kill(name)
        cluster.wait_until_started_again(starts)


def last_event(cluster: Cluster, org_id: UUID) -> int:
    with closing(connect(cluster.database)) as connection:
        row = connection.row("SELECT max(number) FROM event WHERE org_id = ?", (org_id.bytes,))
    assert row is not None
    return int(row[0])


def kept(cluster: Cluster, pid: int) -> set[tuple[str, int]]:
    """Return sender and run of each report that a load sent and the database holds, be it that of
    its run or one that another took the place of.
    """
    repo = (f"%-{pid}",)
    with closing(connect(cluster.database)) as connection:
        rows = connection.rows("SELECT conclusion, run_id FROM report WHERE repo_key LIKE ?", repo)
        bodies = connection.rows("SELECT body FROM replaced WHERE repo_key LIKE ?", repo)
    facts = [json.loads(zlib.decompress(body)) for (body,) in bodies]
    return {*rows, *((fact["conclusion"], fact["run_id"]) for fact in facts)}


def rebuild(cluster: Cluster) -> None:
    command = [sys.executable, "-m", "hwci", "admin", "rebuild"]
    keys = {"HWCI_SECRET_KEY_FILE": str(cluster.folder / "secret.key")}
    database = {"HWCI_DATABASE": cluster.database.written}
    subprocess.run(command, env=os.environ | keys | database, check=True, timeout=WAIT_SECONDS)
