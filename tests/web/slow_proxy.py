# SPDX-License-Identifier: Apache-2.0
"""A proxy before a server that can keep back what it is told to: a request, or its answer. A stream
is handed on as it comes.
"""

import http.client
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

PATIENCE_SECONDS = 60
OF_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "server", "date"}


class SlowProxy:
    """`path`: what is kept back, once `hold` says so, until `release`. `lose`: it never arrives.
    `swallow`: the next is taken and never answered.
    """

    def __init__(self, upstream: str, path: str) -> None:
        self.upstream = urlsplit(upstream).netloc
        self.path = path
        self.url = ""
        self.passed = 0
        self.lose = False
        self.swallow = False
        self._free = threading.Event()
        self._kept = threading.Semaphore(0)
        self._free.set()

    def hold(self) -> None:
        """Keep back the answers from now on, which the server has given."""
        self._free.clear()

    def release(self) -> None:
        """Send what is kept back, and keep no more."""
        self._free.set()

    def wait_until_kept(self) -> None:
        """Wait until an answer is kept back."""
        assert self._kept.acquire(timeout=PATIENCE_SECONDS)

    def keep_back(self) -> None:
        self.passed += 1
        if not self._free.is_set():
            self._kept.release()
            assert self._free.wait(PATIENCE_SECONDS)


class Handler(BaseHTTPRequestHandler):
    """Hands on one request after the other of a connection."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_GET(self) -> None:
        proxy = self.server.proxy
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if proxy.lose and self.path == proxy.path:
            proxy.lose = False
            # A browser sends again by itself what gets no byte at all.
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
            self.close_connection = True
            return
        if proxy.swallow and self.path == proxy.path:
            proxy.swallow = False
            self.rfile.read(1)  # until the browser gives it up
            self.close_connection = True
            return
        upstream = http.client.HTTPConnection(proxy.upstream, timeout=PATIENCE_SECONDS)
        with closing(upstream) as line:  # also when the browser has gone away
            line.request(self.command, self.path, body, dict(self.headers.items()))
            answer = line.getresponse()
            if answer.getheader("Content-Type", "").startswith("text/event-stream"):
                self._stream(answer)
            else:
                self._hand_on(answer)

    do_POST = do_GET  # noqa: N815 - named so there

    def _hand_on(self, answer: http.client.HTTPResponse) -> None:
        found = answer.read()
        if self.path == self.server.proxy.path:
            self.server.proxy.keep_back()
        self._begin(answer)
        if answer.status not in {204, 304}:
            self.send_header("Content-Length", str(len(found)))
        self.end_headers()
        self.wfile.write(found)

    def _stream(self, answer: http.client.HTTPResponse) -> None:
        self._begin(answer)
        self.send_header("Connection", "close")  # which is how it ends
        self.end_headers()
        while piece := answer.read1():
            self.wfile.write(piece)

    def _begin(self, answer: http.client.HTTPResponse) -> None:
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in OF_HOP:
                self.send_header(name, value)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named so there
        """Log nothing."""


class Server(ThreadingHTTPServer):
    """Serves each connection in a thread of its own."""

    daemon_threads = True
    block_on_close = False
    proxy: SlowProxy

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away is not a fault."""


@contextmanager
def slow_proxy(upstream: str, path: str) -> Iterator[SlowProxy]:
    """Run a proxy before a server."""
    with Server(("127.0.0.1", 0), Handler) as server:
        proxy = server.proxy = SlowProxy(upstream, path)
        proxy.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.release()
            server.shutdown()
            thread.join()
