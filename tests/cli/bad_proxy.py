# SPDX-License-Identifier: Apache-2.0
"""A way to the server that is as bad as ways get: a reverse proxy that resets before and after the
server took a report, delays, answers 429, 500 and 503, and goes away. Some runs walk into a trap:
their first report is held until the test says that its sender is dead.
"""

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from gzip import decompress
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.support.answering import RudeHandler
from tests.support.held_port import held_port

RETRY_AFTER_S = 1
FATES = {
    "reset before": 15,
    "reset after": 10,
    "half an answer": 5,
    "delay": 10,
    "429": 5,
    "500": 6,
    "503": 6,
    "pass": 43,
}
"""What becomes of a request, in percent."""


@dataclass
class Trap:
    """A trap for the first report of a run: `way` says at which moment it is held."""

    way: str
    sprung: threading.Event = field(default_factory=threading.Event)
    dead: threading.Event = field(default_factory=threading.Event)


class Way:
    """What the proxy does, and what it saw: per run, when which answer was given."""

    def __init__(self, upstream: str, seed: int) -> None:
        self.upstream = urlsplit(upstream).netloc
        self.random = random.Random(seed)
        self.away = False
        self.traps: dict[int, Trap] = {}
        self.seen: dict[int, list[tuple[float, str]]] = {}
        self.met: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def fate(self, run_id: int) -> tuple[str, Trap | None]:
        with self.lock:
            tries = self.seen.setdefault(run_id, [])
            fate = self.random.choices(list(FATES), list(FATES.values()))[0]
            trap = self.traps.get(run_id)
            if trap is not None and not tries:
                fate = trap.way
            elif trap is not None and trap.way == "429" and not trap.dead.is_set():
                fate = "held before"  # its sender is killed before it comes to another end
            else:
                fate, trap = "reset before" if self.away else fate, None
            tries.append((time.monotonic(), fate))
            self.met[fate] += 1
            return fate, trap

    def answered(self, run_id: int, what: str) -> None:
        with self.lock:
            self.seen[run_id].append((time.monotonic(), what))


class _Proxy(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    way: Way


class _Handler(RudeHandler):
    server: _Proxy

    def do_POST(self) -> None:  # noqa: N802 - a name of http.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        plain = decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
        run_id = json.loads(plain)["run_id"]
        fate, trap = self.server.way.fate(run_id)
        if fate == "reset before":
            self.reset()
        elif fate in {"429", "500", "503"}:
            self._say(int(fate), run_id)
            if trap is not None:
                trap.sprung.set()
        elif fate == "held before":
            self._hold(trap)
        else:
            self._pass_on(fate, body, trap)

    def _pass_on(self, fate: str, body: bytes, trap: Trap | None) -> None:
        if fate == "delay":
            time.sleep(0.05)
        status = self._forward(body)
        if fate == "reset after":
            self.reset()
        elif fate == "half an answer":
            self.wfile.write(b"HTTP/1.1 204 No Con")
            self.reset()
        elif fate == "held after":
            self._hold(trap)
        else:
            self.send_response(status)
            self.end_headers()

    def _forward(self, body: bytes) -> int:
        upstream = HTTPConnection(self.server.way.upstream, timeout=60)
        try:
            upstream.request("POST", self.path, body, dict(self.headers))
            return upstream.getresponse().status
        finally:
            upstream.close()

    def _hold(self, trap: Trap | None) -> None:
        assert trap is not None
        trap.sprung.set()
        trap.dead.wait(60)
        self.reset()

    def _say(self, status: int, run_id: int) -> None:
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", str(RETRY_AFTER_S))
        self.send_header("Content-Length", "0")
        self.server.way.answered(run_id, f"said {status}")
        self.end_headers()


@contextmanager
def _open(way: Way) -> Iterator[None]:
    with _Proxy(("127.0.0.1", way.port), _Handler) as server:
        server.way = way
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def bad_way(upstream: str, *, seed: int, there_s: float, away_s: float) -> Iterator[Way]:
    """Run the proxy. Twice, after `there_s` each, it does not listen for `away_s`."""
    way = Way(upstream, seed)
    ready, stop = threading.Event(), threading.Event()

    def run() -> None:
        with held_port() as way.port:
            for _ in range(2):
                with _open(way):
                    ready.set()
                    stop.wait(there_s)
                    way.away = True
                stop.wait(away_s)
                way.away = False
            with _open(way):
                stop.wait()

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait()
    try:
        yield way
    finally:
        stop.set()
        thread.join()
