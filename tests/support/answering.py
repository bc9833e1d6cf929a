# SPDX-License-Identifier: Apache-2.0
"""A real HTTP server that sends scripted answers, for what a good server never does."""

import socket
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

from tests.support.held_port import held_socket

DRIPS = 600
"""Bytes of a dripping answer, which ends: a caller who waits for that fails and does not hang."""
DRIP_S = 0.1


@dataclass(frozen=True)
class Answer:
    """One answer. `silent`: none comes until the server stops; `reset`: the connection breaks;
    `close`: the connection ends after the answer, without a header that announces it; `drip`: the
    answer comes byte by byte.
    """

    status: int = 204
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    silent: bool = False
    reset: bool = False
    close: bool = False
    drip: Literal["", "head", "body"] = ""


@dataclass(frozen=True)
class Received:
    """One request as it came."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    connection: int


class AnsweringServer(ThreadingHTTPServer):
    """Sends the answers in order, then the last one forever."""

    daemon_threads = True

    def __init__(self, answers: Sequence[Answer]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = list(answers)
        self.received: list[Received] = []
        self.stopping = threading.Event()
        self.dripped_out = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class RudeHandler(BaseHTTPRequestHandler):
    """A handler that can reset a connection, and logs no broken one."""

    protocol_version = "HTTP/1.1"

    def reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def handle(self) -> None:
        try:
            super().handle()
        except (OSError, ValueError):
            self.close_connection = True

    def finish(self) -> None:
        try:
            super().finish()
        except (OSError, ValueError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Stay quiet."""


class _Handler(RudeHandler):
    server: AnsweringServer

    def _answer(self) -> None:
        script = self.server.answers
        answer = script.pop(0) if len(script) > 1 else script[0]
        size = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(size)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.received.append(
            Received(self.command, self.path, headers, body, self.client_address[1])
        )
        if answer.silent:
            self.server.stopping.wait(600)
        elif answer.reset:
            self.reset()
        elif answer.drip:
            self._drip(answer)
        else:
            self._write(answer)

    def _write(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status != 204:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)
        self.close_connection = answer.close

    def _drip(self, answer: Answer) -> None:
        self.close_connection = True
        self.wfile.write(f"HTTP/1.1 {answer.status} Slow\r\n".encode())
        self.wfile.write(b"Slow: " if answer.drip == "head" else b"Content-Length: 600\r\n\r\n")
        for _ in range(DRIPS):
            self.wfile.write(b"x")
            if self.server.stopping.wait(DRIP_S):
                return
        self.server.dripped_out.set()

    # The base class finds them by these names.
    do_GET = do_POST = do_PUT = do_DELETE = do_CONNECT = _answer  # noqa: N815 - names of http.server


@contextmanager
def answering(*answers: Answer) -> Iterator[AnsweringServer]:
    """Run a server with a script."""
    with AnsweringServer(answers or (Answer(),)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.stopping.set()
            server.shutdown()
            thread.join()


def unused_url() -> str:
    """Return an address where no server listens as long as this process lives."""
    return f"http://127.0.0.1:{_reserved().getsockname()[1]}"


@cache
def _reserved() -> socket.socket:
    return held_socket()
