# SPDX-License-Identifier: Apache-2.0
"""Reports over a connection that breaks in every way: the server has each once and whole. 500 of
them in `make soak`.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hwci.client import Client, calls
from hwci.client.delivery import sending
from hwci.client.delivery.sending import Dispatch, Patience
from hwci.client.store import BenchStore, PendingReport, fingerprint_of
from hwci.wire.reports import RunReport
from tests.cli.bad_proxy import RETRY_AFTER_S, Trap, Way, bad_way
from tests.support.running import RunningServer, report, running_in_thread
from tests.support.soak import rounds

REPORTS = rounds(40, 500)
KILLED = REPORTS // 10
BENCHES = 5
WAYS_TO_DIE = ("429", "held before", "held after", "held before", "held after")


def body(run_id: int) -> dict[str, Any]:
    """Return a report like no other; each tenth is large enough to go compressed."""
    tests = [
        {
            "id": f"of {run_id}: {number}",
            "outcome": "fail" if (run_id + number) % 3 == 0 else "pass",
            "attempts": 1,
            "duration_s": 0.5,
        }
        for number in range(150 if run_id % 10 == 0 else 3)
    ]
    return report(run_id=run_id, box_key=f"of {run_id}", sha=f"{run_id:040x}", tests=tests)


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, Way]]:
    with (
        running_in_thread(tmp_path_factory.mktemp("server")) as server,
        bad_way(server.url, seed=4, there_s=2.5, away_s=1.5) as way,
    ):
        yield server, way


def test_reports_over_a_bad_way_are_stored_each_once_and_whole(
    lossy: tuple[RunningServer, Way], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine an answer may take longer than is left of a deadline: such a request would
    # be sent and its answer missed.
    monkeypatch.setattr(sending, "TRY_LEAST_S", 60.0)
    server, way = lossy
    stores = [BenchStore(tmp_path / f"bench-{number}") for number in range(BENCHES)]
    run_ids = range(1, REPORTS + 1)
    killed = run_ids[::10]
    assert len(killed) == KILLED
    for number, run_id in enumerate(killed):
        way.traps[run_id] = Trap(WAYS_TO_DIE[number % len(WAYS_TO_DIE)])

    with ThreadPoolExecutor(2 * BENCHES + 2) as threads:
        others = [run_id for run_id in run_ids if run_id not in killed]
        lanes = [
            threads.submit(send_in_process, server, way, stores[lane % BENCHES], others[lane::10])
            for lane in range(2 * BENCHES)
        ]
        deaths = [
            threads.submit(send_and_die, server, way, stores[run_id % BENCHES], run_id)
            for run_id in killed
        ]
        for done in (*lanes, *deaths):
            done.result()
    for store in stores:
        flush(server, way, store)

    assert all(not store.reports() for store in stores)
    assert stored(server) == {run_id: content(body(run_id)) for run_id in run_ids}
    assert {"reset before", "reset after", "half an answer", "429", "500", "503"} <= set(way.met)
    assert_retry_after_is_never_undercut(way)


def send_in_process(
    server: RunningServer, way: Way, store: BenchStore, run_ids: Sequence[int]
) -> None:
    """Report as `report-run` does, with a deadline so short that some reports are left behind."""
    with Client(way.url, ci_key=server.ci_key, retries=0) as client:
        for run_id in run_ids:
            report = RunReport.model_validate_json(json.dumps(body(run_id)))
            kept = store.keep([PendingReport.of(report)], way.url, server.ci_key)
            dispatch = Dispatch(client, store, Patience(1.5, first_s=0.02, most_s=0.2))
            of_these = (kept[0].address, kept[0].fingerprint)
            outcome = dispatch.send(kept, store.not_before(*of_these))
            if outcome.sent:
                dispatch.send(store.waiting_for(*of_these), once=True)
            assert not outcome.refused


def send_and_die(server: RunningServer, way: Way, store: BenchStore, run_id: int) -> None:
    """Run the command on a bench, and kill it once its report is held."""
    trap = way.traps[run_id]
    command = [sys.executable, "-m", "hwci", "report-run", "--body", "-"]
    sender = subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(server, way, store)
    )
    assert sender.stdin is not None
    sender.stdin.write(json.dumps(body(run_id)).encode())
    sender.stdin.close()
    while not trap.sprung.wait(0.05):
        assert sender.poll() is None, sender.stderr and sender.stderr.read()
    if trap.way == "429":
        wait_for_the_note(store, run_id)
    sender.kill()
    assert sender.wait() == -signal.SIGKILL
    assert sender.stderr is not None
    sender.stderr.close()
    trap.dead.set()


def wait_for_the_note(store: BenchStore, run_id: int) -> None:
    """Return once a sender that must wait has noted it, and sleeps; when the pause is over,
    it may have tried again and noted something else.
    """
    over = time.monotonic() + RETRY_AFTER_S
    while not any(one.not_before and one.run_id == run_id for one in store.reports()):
        if time.monotonic() > over:
            return
        time.sleep(0.01)


def flush(server: RunningServer, way: Way, store: BenchStore) -> None:
    command = [sys.executable, "-m", "hwci", "spool", "flush", "--deadline", "600"]
    done = subprocess.run(
        command, env=environment(server, way, store), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def environment(server: RunningServer, way: Way, store: BenchStore) -> dict[str, str]:
    settings = {
        "HWCI_URL": way.url,
        "HWCI_CI_KEY": server.ci_key,
        "HWCI_SPOOL_DIR": str(store.folder),
    }
    return {**os.environ, **settings}


def content(one: dict[str, Any]) -> list[tuple[object, ...]]:
    return [(one["sha"],), *((test["id"], test["outcome"]) for test in one["tests"])]


def stored(server: RunningServer) -> dict[int, list[tuple[object, ...]]]:
    """Read every run back; one that is there twice would be found."""
    with Client(server.url, token=server.token) as client:
        runs = list(client.items(calls.list_runs(server.org_id, limit=100)))
        assert len(runs) == len({run.run_id for run in runs})
        details = [client.send(calls.get_run(server.org_id, run.id)) for run in runs]
    return {
        run.run_id: [(run.sha,), *((test.id, str(test.outcome)) for test in run.items)]
        for run in details
    }


def assert_retry_after_is_never_undercut(way: Way) -> None:
    for moments in way.seen.values():
        for (said_at, said), (next_at, _) in pairwise(moments):
            assert said != "said 429" or next_at - said_at >= RETRY_AFTER_S
    assert any(said == "said 429" for moments in way.seen.values() for _, said in moments)


def test_the_fingerprint_of_a_key_does_not_reveal_it(
    lossy: tuple[RunningServer, Way], tmp_path: Path
) -> None:
    server, way = lossy
    store = BenchStore(tmp_path)
    report = RunReport.model_validate_json(json.dumps(body(1)))

    [kept] = store.keep([PendingReport.of(report)], way.url, server.ci_key)

    assert kept.fingerprint == fingerprint_of(server.ci_key)
    assert server.ci_key.encode() not in kept.file.read_bytes()
