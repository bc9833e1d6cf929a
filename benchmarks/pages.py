# SPDX-License-Identifier: Apache-2.0
"""The metrics page: after a new report against peers, again, and after ten times the history.

In each round a report arrives everywhere; then each answers in turn. Ours answers over HTTP, with
classes, names and rows; peers in this process, without classes. What a peer answers must be equal
to ours, or there is no figure of it.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from time import perf_counter

from benchmarks.data import KEPT, Data, copied
from benchmarks.figure import Figure, milliseconds, ratio
from benchmarks.history import DAYS_AFTER, REPORT, Body, Size
from benchmarks.peers.engines import Peer
from benchmarks.peers.figures import Figures
from benchmarks.peers.rows import Rows
from benchmarks.processes import Caller
from benchmarks.serving import ROWS, WINDOW, Server, encoded, on_postgresql, serving

ROUNDS = 15
NONE = "none"
_MIB = 1024 * 1024


def page(size: Size, kept: Path = KEPT, rounds: int = ROUNDS) -> Iterator[Figure]:
    """Measure the page after a new report, and again with nothing new."""
    with (
        copied(size, kept, peers=True) as data,
        serving(data) as server,
        ExitStack() as stack,
    ):
        peers = [stack.enter_context(closing(peer)) for peer in data.peers()]
        server.decide()
        side_by_side = _SideBySide(server, peers)
        for arrived in _rounds(data, rounds):
            side_by_side.round(arrived)
        memory = server.process.memory()
        yield from side_by_side.figures()
        yield Figure("Memory of the server after these pages", f"{memory / _MIB:.0f} MiB", "RSS")


def growth(size: Size) -> Iterator[Figure]:
    """Measure the page after a new report with nine times the days before, against without: by the
    processor, as times of so few milliseconds differ more from each other.
    """
    longer = replace(size, before=size.days * 9)
    with ExitStack() as stack:
        datas = [stack.enter_context(copied(one)) for one in (size, longer)]
        servers = [stack.enter_context(serving(data)) for data in datas]
        for server in servers:
            server.decide()
        senders = [server.job() for server in servers]
        times: tuple[list[float], list[float]] = ([], [])
        for both in zip(*(_rounds(data, ROUNDS) for data in datas), strict=True):
            for arrived, server, sender, taken in zip(both, servers, senders, times, strict=True):
                send(sender, arrived)
                before = server.process.processor_seconds()
                server.page()
                taken.append(server.process.processor_seconds() - before)
    short, long = times
    yield Figure(
        "Processor for a page with ten times the history, against this one",
        f"{ratio(long[1:], short[1:]):.2f}",
        f"{milliseconds(long[1:])} against {milliseconds(short[1:])}",
    )


def second(size: Size, kept: Path = KEPT, rounds: int = 5) -> Iterator[Figure]:
    """Measure the page of a server on PostgreSQL that has just started, against that of one which
    has answered for a while. Each time a report has arrived at the latter, which answers first.
    """
    with (
        copied(size, kept) as data,
        on_postgresql(data) as (address, key),
        serving(data, address, **key) as first,
    ):
        first.decide()
        sender = first.job()
        times: list[tuple[float, float]] = []
        for arrived in _rounds(data, rounds):
            send(sender, arrived)
            known = first.page()
            with serving(data, address, **key) as new:
                new.nothing()
                found = new.page()
            assert Figures.of_page(json.loads(found.body), ROWS) == Figures.of_page(
                json.loads(known.body), ROWS
            )
            times.append((found.seconds, known.seconds))
    of_new, of_first = zip(*times[1:], strict=True)
    yield Figure(
        "First page of a second server on PostgreSQL, against the first server's",
        f"{ratio(of_new, of_first):.2f}",
        f"{milliseconds(of_new)} against {milliseconds(of_first)}",
    )


def arriving(data: Data) -> Iterator[Sequence[Body]]:
    """Yield what arrives up to the next report, which ends it, for each report."""
    arrived: list[Body] = []
    for body in data.following():
        arrived.append(body)
        if body[0] == REPORT:
            yield arrived
            arrived = []


def _rounds(data: Data, rounds: int) -> Iterator[Sequence[Body]]:
    """Yield what arrives in each round; the first one only warms up."""
    return islice(arriving(data), rounds + 1)


def send(sender: Caller, bodies: Sequence[Body]) -> None:
    """Send bodies, one after the other."""
    for body in bodies:
        sender.post(*encoded(body))


class _SideBySide:
    """What each has taken in each round."""

    def __init__(self, server: Server, peers: Sequence[Peer]) -> None:
        self._server = server
        self._sender = server.job()
        self._peers: list[tuple[Peer, Rows]] = [(peer, peer.rows()) for peer in peers]
        end = server.data.size.end.timestamp() * 1_000_000
        self._end = int(end) + DAYS_AFTER * 24 * 3600 * 1_000_000
        self._times: dict[str, list[float]] = defaultdict(list)
        self._unequal: set[str] = set()

    def round(self, arrived: Sequence[Body]) -> None:
        """Let something arrive, then ask each."""
        send(self._sender, arrived)
        first = self._server.page()
        found = Figures.of_page(json.loads(first.body), ROWS)
        self._times["first"].append(first.seconds)
        for peer, rows in self._peers:
            peer.add(rows.of(arrived))
            self._ask_peer(peer, found)
        again = self._server.page()
        known = self._server.page(again.tag)
        assert known.status == HTTPStatus.NOT_MODIFIED
        self._times["again"].append(again.seconds)
        self._times["known"].append(known.seconds)
        self._times["nothing"].append(self._server.nothing().seconds)

    def _ask_peer(self, peer: Peer, ours: Figures) -> None:
        start = self._end - int(WINDOW.total_seconds()) * 1_000_000
        begun = perf_counter()
        theirs = peer.figures(start, self._end, ROWS)
        self._times[peer.name].append(perf_counter() - begun)
        if theirs != ours:
            self._unequal.add(peer.name)

    def figures(self) -> Iterator[Figure]:
        """Return the figures."""
        times = {name: taken[1:] for name, taken in self._times.items()}
        for peer, _ in self._peers:
            name = f"Page after a new report, against {peer.name}"
            if peer.name in self._unequal:
                yield Figure(name, NONE, "its answer is not ours")
                continue
            faster = ratio(times[peer.name], times["first"])
            told = f"{milliseconds(times['first'])} against {milliseconds(times[peer.name])}"
            yield Figure(name, f"{faster:.2g} times faster", told)
        nothing = times["nothing"]
        for name, asked in (("", times["again"]), (", with its tag (304)", times["known"])):
            yield Figure(
                f"The same page again{name}, over an empty GET",
                milliseconds([a - b for a, b in zip(asked, nothing, strict=True)]),
                f"{milliseconds(asked)} against {milliseconds(nothing)}",
            )
