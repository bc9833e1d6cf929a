# SPDX-License-Identifier: Apache-2.0
"""Forges as hwci sees them, by the documentation of their APIs: each a server that keeps the
comments of pull request 7 and the statuses of commits, of acme/firmware.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from hwci.ci.detect import find_job
from hwci.ci.job import Job
from tests.support.recorded import recorded

TOKEN = "t0ken-of-hwci"
OURS, THEIRS = 41_898_282, 7
Row = dict[str, Any]


class Dialect(NamedTuple):
    """How a forge is called. `recording`: the environment of a job of pull request 7; `header`: the
    one with the token; `list`, `each`, `status`, `user`, `pull`: paths, as patterns; `head`: what
    it answers of a pull request with this commit; `paged`: whether it lists a hundred comments at a
    time.
    """

    recording: str
    header: tuple[str, str]
    list: str
    each: str
    status: str
    user: str
    author: str
    update: str
    sha: str
    pull: str
    head: Callable[[str], Row]
    more: Mapping[str, str] = {}
    paged: bool = True

    def environ(self, address: str, **more: str) -> dict[str, str]:
        """Return the environment of a job whose forge is at an address."""
        here = dict.fromkeys(("GITHUB_API_URL", "GITHUB_GRAPHQL_URL", "CI_API_V4_URL"), address)
        here["GITHUB_GRAPHQL_URL"] += "/graphql"
        return {**recorded(self.recording), **self.more, **here, "HWCI_FORGE_TOKEN": TOKEN, **more}


HEAD, MERGED = "3" * 40, "2" * 40
GITHUB = Dialect(
    recording="github-pull-request",
    header=("Authorization", f"Bearer {TOKEN}"),
    list="/repos/acme/firmware/issues/7/comments",
    each="/repos/acme/firmware/issues/comments/",
    status="/repos/acme/firmware/statuses/",
    user="/graphql",
    author="user",
    update="PATCH",
    sha=HEAD,
    pull="/repos/acme/firmware/pulls/7",
    head=lambda sha: {"number": 7, "head": {"ref": "faster-boot", "sha": sha}},
)
GITEA = GITHUB._replace(
    header=("Authorization", f"token {TOKEN}"),
    user="/user",
    more={"GITEA_ACTIONS": "true"},
    paged=False,
)
GITLAB = Dialect(
    recording="gitlab-merge-request",
    header=("PRIVATE-TOKEN", TOKEN),
    list="/projects/88/merge_requests/7/notes",
    each="/projects/88/merge_requests/7/notes/",
    status="/projects/88/statuses/",
    user="/user",
    author="author",
    update="PUT",
    sha=MERGED,  # of its pipeline: what the merge request shows
    pull="/projects/88/merge_requests/7",
    head=lambda sha: {"iid": 7, "sha": sha},
)
DIALECTS = {"GitHub": GITHUB, "Gitea": GITEA, "GitLab": GITLAB}


@dataclass
class ForgeServer:
    """A forge. `faults`: statuses, each with the header Retry-After, that the next requests get
    instead of an answer; `before`: called before a request with its method and path; `head`: the
    commit of the pull request.
    """

    dialect: Dialect
    address: str
    comments: list[Row] = field(default_factory=list)
    statuses: dict[str, list[Row]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    faults: list[tuple[int, str | None]] = field(default_factory=list)
    before: Callable[[str, str], None] = lambda *_: None
    ids: int = 0
    head: str = HEAD
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def job(self, **more: str) -> Job:
        return find_job({}, self.dialect.environ(self.address, **more), None, None)

    def add(self, body: str, user: int = OURS) -> Row:
        self.ids += 1
        row = {"id": self.ids, "body": body, self.dialect.author: {"id": user}}
        self.comments.append(row)
        return row

    @property
    def written(self) -> list[str]:
        """The methods of the requests that changed comments."""
        return [way for way, path in self.asked if way != "GET" and "/statuses/" not in path][
            self.dialect.user == "/graphql" :
        ]

    def answer(self, way: str, path: str, query: Mapping[str, str], body: Row) -> tuple[int, Any]:
        dialect = self.dialect
        own = {"id": OURS}
        told = {
            "/graphql": {"data": {"viewer": {"databaseId": OURS}}},
            dialect.pull: dialect.head(self.head),
        }
        if path in {dialect.user, dialect.pull}:
            return 200, told.get(path, own)
        if path == dialect.list:
            if way == "POST":
                return 201, self.add(body["body"])
            size = int(query["per_page"]) if dialect.paged else len(self.comments)
            page = int(query.get("page", 1)) if dialect.paged else 1
            return 200, self.comments[(page - 1) * size : page * size]
        if path.startswith(dialect.status) and way == "POST":
            self.statuses.setdefault(path.removeprefix(dialect.status), []).append(body)
            return 201, body
        if path.startswith(dialect.each) and re.fullmatch(r"\d+", path.removeprefix(dialect.each)):
            number = int(path.removeprefix(dialect.each))
            row = next((row for row in self.comments if row["id"] == number), None)
            if row is not None and way == "DELETE":
                self.comments.remove(row)
                return 204, None
            if row is not None and way == dialect.update:
                row["body"] = body["body"]
                return 200, row
        return 404, {"message": "Not Found"}


@contextmanager
def forge(title: str) -> Iterator[ForgeServer]:
    class Handler(BaseHTTPRequestHandler):
        def __getattr__(self, name: str) -> Callable[[], None]:
            """Take requests of all methods alike."""
            if not name.startswith("do_"):
                raise AttributeError(name)
            return self.take

        def take(self) -> None:
            target = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            served.before(self.command, target.path)
            with served._lock:
                served.asked.append((self.command, target.path))
                status, answer = 401, None
                wait: str | None = None
                if served.faults:
                    status, wait = served.faults.pop(0)
                elif self.headers.get(served.dialect.header[0]) == served.dialect.header[1]:
                    query = dict(parse_qsl(target.query))
                    status, answer = served.answer(self.command, target.path, query, body)
            data = b"" if status == 204 else json.dumps(answer).encode()
            self.send_response(status)
            if wait is not None:
                self.send_header("Location" if status in {301, 302, 307} else "Retry-After", wait)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served = ForgeServer(DIALECTS[title], f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
