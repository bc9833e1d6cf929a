# SPDX-License-Identifier: Apache-2.0
"""What a person opens: each page of the dashboard as a browser asks for it, for 30 and 90 days.

In each round a report arrives, then one person opens each page, the same person opens it again, and
ten people open it at once after another report. What a page asks for before it is scrolled counts.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.data import KEPT, copied
from benchmarks.figure import Figure, milliseconds, ratio
from benchmarks.history import DAYS_AFTER, Body, Size
from benchmarks.pages import arriving, send
from benchmarks.processes import Caller
from benchmarks.serving import Server, serving
from hwci.contract.vocabulary import Role
from hwci.server.clock import system_clock
from hwci.server.storage.location import Location
from tests.support.running import add_members, sign_in

ROUNDS = 3
PERIODS = (30, 90)
PEOPLE = 10
_MIB = 1024 * 1024
_ZONE = {"zone": "Europe/Berlin"}


def opened(
    size: Size, kept: Path = KEPT, rounds: int = ROUNDS, people: int = PEOPLE
) -> Iterator[Figure]:
    """Measure each page alone, again, and opened by ten people at once."""
    emails = [f"reader-{number}@example.com" for number in range(people)]
    with copied(size, kept) as data, ExitStack() as stack:
        members = dict.fromkeys(emails, Role.MEMBER)
        where = Location(str(data.database))
        asyncio.run(add_members(where, data.facts.org_id, system_clock(), members))
        server = stack.enter_context(serving(data))
        server.decide()
        callers = [stack.enter_context(closing(_caller(server, email))) for email in emails]
        times = _measure(server, callers, arriving(data), rounds)
        for (page, days), taken in times.items():
            alone, again, together = zip(*taken, strict=True)
            name = f"{page}, {days} days"
            yield Figure(name, milliseconds(alone), f"again {milliseconds(again)}")
            slowest = f"slowest of {people} at once against one alone"
            told = f"{milliseconds(together)} against {milliseconds(alone)}"
            yield Figure(f"{name}, {slowest}", f"{ratio(together, alone):.2f}", told)
        memory = server.process.memory() / _MIB
        yield Figure("Memory of the server after these pages", f"{memory:.0f} MiB", "RSS")


def pages(server: Server, days: int) -> Mapping[str, Sequence[str]]:
    """Return what each page asks for, in that order."""
    end = server.data.size.end + timedelta(days=DAYS_AFTER)
    home, period = server.organization, {"days": days, "asOf": end.isoformat()}

    def path(name: str, **query: str) -> str:
        return f"{home}/{name}?{urlencode({**period, **query})}"

    def first(name: str, **query: str) -> dict[str, str]:
        reply = server.person.ask(f"{home}/{name}?{urlencode({**query, 'limit': 1})}")
        row: dict[str, str] = json.loads(reply.body)["items"][0]
        return row

    test = first("ci-analysis/tests")
    box = first("boxes", reported="true")["name"]
    return {
        "metrics": [path("ci-metrics"), path("ci-analysis/page", **_ZONE)],
        "flaky tests": [path("ci-analysis/flaky-tests")],
        "incidents": [path("ci-analysis/incidents")],
        "review": [path("ci-analysis/causes", toReview="true", limit="100")],
        "boxes": [path("ci-analysis/boxes")],
        "box": [path("ci-analysis/box", boxKey=box)],
        "test": [path("ci-analysis/test", **test, **_ZONE)],
        "failures": [path("ci-failures")],
        "runs": [f"{home}/runs"],
    }


def _measure(
    server: Server,
    callers: Sequence[Caller],
    arriving: Iterator[Sequence[Body]],
    rounds: int,
) -> Mapping[tuple[str, int], Sequence[tuple[float, float, float]]]:
    """Return how long each page of each period took: alone, again, and the slowest of many."""
    times: dict[tuple[str, int], list[tuple[float, float, float]]] = defaultdict(list)
    sender, shown = server.job(), {days: pages(server, days) for days in PERIODS}
    with ThreadPoolExecutor(len(callers)) as pool:
        for _ in range(rounds):
            for days, of_days in shown.items():
                for page, paths in of_days.items():
                    send(sender, next(arriving))
                    alone = _open(paths, callers[0])
                    again = _open(paths, callers[0])
                    send(sender, next(arriving))
                    together = max(pool.map(partial(_open, paths), callers))
                    times[page, days].append((alone, again, together))
    return times


def _open(paths: Sequence[str], caller: Caller) -> float:
    """Ask for all of a page, and return the seconds that it took."""
    seconds = 0.0
    for path in paths:
        reply = caller.ask(path)
        if reply.status != HTTPStatus.OK:
            raise RuntimeError(f"{path}: {reply.status} {reply.body[:500]!r}")
        seconds += reply.seconds
    return seconds


def _caller(server: Server, email: str) -> Caller:
    token = asyncio.run(sign_in(server.process.url, email))
    return Caller(server.process.url, {"Authorization": f"Bearer {token}"})
