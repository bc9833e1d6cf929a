# SPDX-License-Identifier: Apache-2.0
"""A small HTTP server that gives recorded answers, and keeps what it was asked."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]


@dataclass
class Answering:
    """`answers`: by path a JSON value, bytes, or a status. Lists are given page by page."""

    address: str
    answers: dict[str, object]
    asked: list[Asked] = field(default_factory=list)

    def answer(self, path: str, query: Mapping[str, str]) -> tuple[int, bytes]:
        found = self.answers.get(path, 404)
        if isinstance(found, int):
            return found, b"{}"
        if isinstance(found, bytes):
            return 200, found
        if isinstance(found, dict) and "event" in query:  # as GitHub narrows a list of runs
            found = {
                name: [row for row in rows if row.get("event") == query["event"]]
                for name, rows in found.items()
            }
        if isinstance(found, list) and "page" in query:
            size, page = int(query["per_page"]), int(query["page"])
            found = found[(page - 1) * size : page * size]
        return 200, json.dumps(found).encode()


@contextmanager
def answering(answers: dict[str, object]) -> Iterator[Answering]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            query = dict(parse_qsl(asked.query))
            result.asked.append(Asked(asked.path, query, dict(self.headers)))
            status, body = result.answer(asked.path, query)
            self.send_response(status)
            if status in {301, 302, 307}:
                self.send_header("Location", f"{result.address}/elsewhere")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        result = Answering(f"http://127.0.0.1:{server.server_port}", answers)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield result
        finally:
            server.shutdown()
            thread.join()
