# SPDX-License-Identifier: Apache-2.0
"""What a person opens: each page of the dashboard as a browser asks for it, for 30 and 90 days.

In each round a report arrives, then one person opens each page, the same person opens it again, and
ten people open it at once after another report. What a page asks for before it is scrolled counts.
Peers answer what SQL by hand can answer of plain rows, after the first report; if that is not what
we answer, there is no figure of it. Before each page DuckDB finds its bare sums of thirty days: the
time that a page takes is also written as on a machine on which these take `SUMS_MS`, by that of the
processor, so that machines and busy hours can be compared.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple
from urllib.parse import urlencode

from benchmarks.data import KEPT, copied
from benchmarks.figure import Figure, milliseconds, ratio
from benchmarks.history import DAYS_AFTER, Size
from benchmarks.pages import NONE, arriving, send
from benchmarks.peers.engines import DuckdbPeer, Peer
from benchmarks.peers.figures import failures_of, tries_of
from benchmarks.peers.rows import Rows
from benchmarks.processes import Caller
from benchmarks.serving import ROWS, WINDOW, Server, on_postgresql, serving
from hwci.contract.vocabulary import Role
from hwci.server.clock import system_clock
from hwci.server.storage.location import Location
from tests.support.running import add_members, sign_in

ROUNDS = 3
PERIODS = (30, 90)
PEOPLE = 10
SUMS_MS = 185
_NO_KEY: Mapping[str, str] = {}
_MIB = 1024 * 1024
_DAY_SECONDS = 24 * 3600
_MICROS = 1_000_000
_ZONE = {"zone": "Europe/Berlin"}


def opened(
    size: Size,
    kept: Path = KEPT,
    rounds: int = ROUNDS,
    people: int = PEOPLE,
    *,
    shared: bool = False,
) -> Iterator[Figure]:
    """Measure each page alone, again, and opened by ten people at once; and beside peers.
    `shared`: of a server on PostgreSQL, which several may share.
    """
    emails = [f"reader-{number}@example.com" for number in range(people)]
    with copied(size, kept, peers=True) as data, ExitStack() as stack:
        members = dict.fromkeys(emails, Role.MEMBER)
        where = Location(str(data.database))
        asyncio.run(add_members(where, data.facts.org_id, system_clock(), members))
        address, key = stack.enter_context(on_postgresql(data)) if shared else (None, _NO_KEY)
        server = stack.enter_context(serving(data, address, **key))
        server.decide()
        callers = [stack.enter_context(closing(_caller(server, email))) for email in emails]
        peers = [stack.enter_context(closing(peer)) for peer in data.peers()]
        opening = _Opening(server, callers, peers)
        for _ in range(rounds):
            opening.round()
        yield from opening.figures(people)
        memory = server.process.memory() / _MIB
        yield Figure("Memory of the server after these pages", f"{memory:.0f} MiB", "RSS")


def pages(server: Server, days: int) -> Mapping[str, Sequence[str]]:
    """Return what each page asks for, in that order."""
    end = server.data.size.end + timedelta(days=DAYS_AFTER)
    home, period = server.organization, {"days": days, "asOf": end.isoformat()}

    def path(name: str, **query: str) -> str:
        return f"{home}/{name}?{urlencode({**period, **query})}"

    test = first_row(server, "ci-analysis/tests")
    box = first_row(server, "boxes", reported="true")["name"]
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


def first_row(server: Server, name: str, **query: str) -> dict[str, str]:
    """Return the first row of a list."""
    path = f"{server.organization}/{name}?{urlencode({**query, 'limit': 1})}"
    row: dict[str, str] = json.loads(server.person.ask(path).body)["items"][0]
    return row


class Question(NamedTuple):
    """What a page shows that peers answer, too, and how it is read of our answer."""

    ours: Callable[[Mapping[str, Any]], object]
    theirs: Callable[[Peer], object]


def questions(server: Server, days: int) -> Mapping[str, Question]:
    """Return the question that peers are asked for each page; none where SQL has no answer."""
    end = int(server.data.size.end.timestamp()) + DAYS_AFTER * _DAY_SECONDS
    window = ((end - days * _DAY_SECONDS) * _MICROS, end * _MICROS)
    test = first_row(server, "ci-analysis/tests")
    return {
        "failures": Question(
            lambda answer: failures_of(answer, ROWS), lambda peer: peer.failures(*window, ROWS)
        ),
        "test": Question(tries_of, lambda peer: peer.tried(*window, test["suite"], test["testId"])),
    }


class _Opening:
    """How long each page of each period took, and peers with what they answer of it."""

    def __init__(self, server: Server, callers: Sequence[Caller], peers: Sequence[Peer]) -> None:
        self._server, self._callers = server, callers
        self._sender = server.job()
        self._arriving = arriving(server.data)
        self._pages = {days: pages(server, days) for days in PERIODS}
        self._questions = {days: questions(server, days) for days in PERIODS}
        self._peers: Sequence[tuple[Peer, Rows]] = [(peer, peer.rows()) for peer in peers]
        self._times: dict[tuple[str, int], list[tuple[float, float, float]]] = defaultdict(list)
        self._of_peers: dict[tuple[str, int, str], list[float]] = defaultdict(list)
        self._unequal: set[tuple[str, int, str]] = set()
        self._processor: dict[tuple[str, int], list[float]] = defaultdict(list)
        self._sums: list[float] = []

    def round(self) -> None:
        """Open each page once alone, once again, and once by all."""
        for days, of_days in self._pages.items():
            for page, paths in of_days.items():
                self._arrive()
                self._sum_up()
                before = self._server.process.processor_seconds()
                alone, answer = _open(paths, self._callers[0])
                spent = self._server.process.processor_seconds() - before
                self._processor[page, days].append(spent)
                again, _ = _open(paths, self._callers[0])
                self._ask_peers(page, days, answer)
                self._arrive()
                with ThreadPoolExecutor(len(self._callers)) as pool:
                    together = max(
                        seconds for seconds, _ in pool.map(partial(_open, paths), self._callers)
                    )
                self._times[page, days].append((alone, again, together))

    def _sum_up(self) -> None:
        """Let DuckDB find its sums of the days that `WINDOW` has."""
        end = int(self._server.data.size.end.timestamp()) + DAYS_AFTER * _DAY_SECONDS
        start = end - int(WINDOW.total_seconds())
        for peer, _ in self._peers:
            if isinstance(peer, DuckdbPeer):
                begun = process_time()
                peer.figures(start * _MICROS, end * _MICROS, ROWS)
                self._sums.append(process_time() - begun)

    def _arrive(self) -> None:
        arrived = next(self._arriving)
        send(self._sender, arrived)
        for peer, rows in self._peers:
            peer.add(rows.of(arrived))

    def _ask_peers(self, page: str, days: int, answer: bytes) -> None:
        question = self._questions[days].get(page)
        if question is None:
            return
        ours = question.ours(json.loads(answer))
        for peer, _ in self._peers:
            begun = perf_counter()
            theirs = question.theirs(peer)
            self._of_peers[page, days, peer.name].append(perf_counter() - begun)
            if theirs != ours:
                self._unequal.add((page, days, peer.name))

    def figures(self, people: int) -> Iterator[Figure]:
        """Return the figures."""
        alone_of = {}
        for (page, days), taken in self._times.items():
            alone, again, together = zip(*taken, strict=True)
            alone_of[page, days] = alone
            name = f"{page}, {days} days"
            yield Figure(name, milliseconds(alone), f"again {milliseconds(again)}")
            slowest = f"slowest of {people} at once against one alone"
            measured = f"{milliseconds(together)} against {milliseconds(alone)}"
            yield Figure(f"{name}, {slowest}", f"{ratio(together, alone):.2f}", measured)
            if not self._sums:  # there is no DuckDB here
                continue
            spent = self._processor[page, days]
            compared = f"{name}, by processor where DuckDB's sums take {SUMS_MS} ms"
            measured = f"{milliseconds(spent)} against {milliseconds(self._sums)}"
            yield Figure(compared, f"{ratio(spent, self._sums) * SUMS_MS:.0f} ms", measured)
        for key, theirs in self._of_peers.items():
            page, days, peer = key
            name, ours = f"{page}, {days} days, against {peer}", alone_of[page, days]
            if key in self._unequal:
                yield Figure(name, NONE, "its answer is not ours")
                continue
            measured = f"{milliseconds(ours)} against {milliseconds(theirs)}"
            yield Figure(name, f"{ratio(theirs, ours):.2g} times faster", measured)


def _open(paths: Sequence[str], caller: Caller) -> tuple[float, bytes]:
    """Ask for all of a page, and return the seconds that it took, and the last answer."""
    seconds, answer = 0.0, b""
    for path in paths:
        reply = caller.ask(path)
        if reply.status != HTTPStatus.OK:
            raise RuntimeError(f"{path}: {reply.status} {reply.body[:500]!r}")
        seconds, answer = seconds + reply.seconds, reply.body
    return seconds, answer


def _caller(server: Server, email: str) -> Caller:
    token = asyncio.run(sign_in(server.process.url, email))
    return Caller(server.process.url, {"Authorization": f"Bearer {token}"})
