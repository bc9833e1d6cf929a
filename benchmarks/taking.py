# SPDX-License-Identifier: Apache-2.0
"""Taking reports: what one costs, how many a second, how it grows, and how large they lie on disk.

What a report costs is time of the server's processor, from its bytes over HTTP to the disk, with
all that is derived. It is compared with the parse of the same bytes in this process, after a first
round of all reports that only warms up: a server takes reports for months.
"""

import json
import shutil
import sqlite3
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import bare, frozen
from benchmarks.data import Batch, copied
from benchmarks.figure import Figure, milliseconds, ratio
from benchmarks.history import REPORT, Size
from benchmarks.processes import Caller, Service, service
from benchmarks.serving import serving

OF_TESTS = (1_000, 84)
TOGETHER = 10
SENDERS, SENT, SENT_TESTS = 16, 96, 500
ROUNDS = 3
PATH = f"/api/ci/{REPORT}"


def _of(tests: int) -> Size:
    """Return a history whose reports have so many tests at its end."""
    return Size(products=1, boxes=4, tests=tests, days=10)


def cost(tests: int) -> Iterator[Figure]:
    """Measure what a report of so many tests costs."""
    with copied(_of(tests)) as data, serving(data) as server, TemporaryDirectory() as folder:
        reports = [sent for kind, sent in data.following() if kind == REPORT]
        groups, warm = _groups(reports)
        spent: dict[str, list[float]] = defaultdict(list)
        with service("benchmarks.rows_service", str(Path(folder, "rows.db"))) as other:
            ours = server.job()
            with closing(Caller(other.url, {})) as theirs:
                for group in groups:
                    spent["ours"].append(_sent(server.process, ours, group))
                    spent["frozen"].append(_parsed(frozen.parse, group))
                    spent["bare"].append(_parsed(bare.Report.model_validate_json, group))
                    spent["rows"].append(_sent(other, theirs, group))
    times = {name: [one / TOGETHER for one in taken[warm:-1]] for name, taken in spent.items()}
    for name, other_name in (
        ("frozen", "its parse by the frozen models"),
        ("bare", "its parse by a bare pydantic model"),
        ("rows", "a row for each item with FastAPI and SQLAlchemy"),
    ):
        yield Figure(
            f"Processor for a report of {tests:,} tests, against {other_name}",
            f"{ratio(times['ours'], times[name]):.2g}",
            f"{milliseconds(times['ours'])} against {milliseconds(times[name])}",
        )


def _groups(reports: Sequence[Mapping[str, Any]]) -> tuple[Sequence[Sequence[bytes]], int]:
    """Return what is sent together, in rounds of all reports, and how much of it only warms up: a
    server runs for months.
    """
    bodies = [body for turn in range(ROUNDS + 1) for body in _again(reports, turn)]
    groups = [bodies[at : at + TOGETHER] for at in range(0, len(bodies), TOGETHER)]
    return groups, len(reports) // TOGETHER


def _sent(process: Service, caller: Caller, bodies: Sequence[bytes]) -> float:
    """Return what a service spends on bodies."""
    before = process.processor_seconds()
    for body in bodies:
        caller.post(PATH, body)
    return process.processor_seconds() - before


def _parsed(parse: Callable[[bytes], object], bodies: Sequence[bytes]) -> float:
    before = time.process_time()
    for body in bodies:
        parse(body)
    return time.process_time() - before


def senders() -> Iterator[Figure]:
    """Measure how many reports a second many senders get rid of, against one."""
    with copied(_of(SENT_TESTS)) as data, serving(data) as server:
        reports = [sent for kind, sent in data.following() if kind == REPORT][:SENT]
        rates: tuple[list[float], list[float]] = ([], [])
        for turn in range(2 * ROUNDS):
            bodies = _again(reports, turn + 1)
            count = SENDERS if turn % 2 else 1
            callers = [server.job() for _ in range(count)]
            begun = time.perf_counter()
            with ThreadPoolExecutor(count) as threads:
                list(threads.map(_send_all, callers, [bodies[at::count] for at in range(count)]))
            rates[turn % 2].append(len(bodies) / (time.perf_counter() - begun))
    one, many = rates
    yield Figure(
        f"Reports a second, {SENDERS} senders against one, {SENT_TESTS} tests",
        f"{ratio(many, one):.2f}",
        f"{statistics.median(many):.0f} against {statistics.median(one):.0f}",
    )


def _again(reports: Sequence[Mapping[str, Any]], turn: int) -> list[bytes]:
    """Return the bodies of reports as those of other runs each turn: else they are replaced."""
    later = 100_000 * turn
    return [json.dumps({**sent, "run_id": sent["run_id"] + later}).encode() for sent in reports]


def _send_all(caller: Caller, bodies: Sequence[bytes]) -> None:
    for body in bodies:
        caller.post(PATH, body)


def kept(size: Size) -> Iterator[Figure]:
    """Measure what reports take early and late in a history, and how large they lie."""
    yield _late(size)
    with copied(size) as data:
        batches = [batch for batch in data.facts.batches if batch.items]
        tenth = max(len(batches) // 10, 1)
        first, last = batches[:tenth], batches[-tenth:]
        yield Figure(
            "Last tenth of the reports against the first",
            f"{_a_report(last) / _a_report(first):.2f}",
            f"{milliseconds([_a_report(last)])} against {milliseconds([_a_report(first)])}"
            f" of processor a report, of {_tests(last):.0f} against {_tests(first):.0f} tests",
        )
        size_on_disk = _size_without_events(data.database)
        items = data.facts.items
        yield Figure(
            "Bytes on disk per test item",
            f"{size_on_disk / items:.1f}",
            f"{size_on_disk:,} bytes, {items:,} items with durations, without events",
        )


def _late(size: Size) -> Figure:
    """Measure the same reports after as many days as a history has, against after their last tenth
    alone: the reports of one history are not the same early and late, as tests are born.
    """
    early = replace(size, days=max(size.days // 10, 1))
    late = replace(early, before=size.days - early.days)
    with ExitStack() as stack:
        datas = [stack.enter_context(copied(one)) for one in (early, late)]
        servers = [stack.enter_context(serving(data)) for data in datas]
        senders = [(server.process, server.job()) for server in servers]
        times: tuple[list[float], list[float]] = ([], [])
        groups, warm = _groups([sent for kind, sent in datas[0].following() if kind == REPORT])
        for group in groups:
            for sender, taken in zip(senders, times, strict=True):
                taken.append(_sent(*sender, group) / TOGETHER)
    before, after = (taken[warm:-1] for taken in times)
    return Figure(
        "The same reports after the whole history, against after its last tenth alone",
        f"{ratio(after, before):.2f}",
        f"{milliseconds(after)} against {milliseconds(before)} of processor a report",
    )


def _a_report(batches: Sequence[Batch]) -> float:
    return sum(one.seconds for one in batches) / sum(one.reports for one in batches)


def _tests(batches: Sequence[Batch]) -> float:
    return sum(one.items for one in batches) / sum(one.reports for one in batches)


def _size_without_events(database: Path) -> int:
    with TemporaryDirectory(dir=database.parent) as folder:
        copy = shutil.copy(database, folder)
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute("DELETE FROM event")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return Path(copy).stat().st_size
