# SPDX-License-Identifier: Apache-2.0
"""How tests ask a server over HTTP: one request, one reply, nothing hidden; and raw bytes. Whatever
a test asks, the route's own list of statuses must have the one that comes. A connection that the
server leaves open serves the next request: a new one costs as much CPU time as most answers.
"""

import http.client
import json
import re
import select
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from hwci.wire.endpoint import Endpoint
from hwci.wire.endpoints import every

Header = tuple[str, str]

PATIENCE_SECONDS = 120
"""An answer comes within this; how soon is not a claim of these tests."""
EVERYWHERE = {500, 503, 400, 408, 414, 417, 431}
"""Of every route, or of HTTP that is malformed, late or too long before there is a route."""
_PATHS = [(route, re.compile(re.sub(r"{\w+}", "[^/]+", route.path))) for route in every()]


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> tuple[int, str]:
        """Status and message of an error, once its shape is seen to be the spec's."""
        body = self.json
        assert body["statusCode"] == self.status
        assert isinstance(body["error"], str)
        assert self.headers["x-request-id"]
        assert self.headers["content-type"] == "application/json; charset=utf-8" or (
            self.headers["content-type"] == "application/json"
        )
        return self.status, body["message"]

    @property
    def issue_paths(self) -> list[list[str | int]]:
        assert self.error == (400, "Validation failed")
        return [issue["path"] for issue in self.json["issues"]]


def bearer(token: str) -> Header:
    return ("Authorization", f"Bearer {token}")


def ci_key(key: str) -> Header:
    return ("X-API-Key", key)


def ask(
    url: str,
    method: str,
    path: str,
    *headers: Header,
    json_body: Any = None,
    data: bytes | Iterable[bytes] | None = None,
) -> Reply:
    """Send a request with exactly these headers (and Content-Type for a `json_body`)."""
    if json_body is not None:
        data = json.dumps(json_body).encode()
        headers = (*headers, ("Content-Type", "application/json"))
    with _connection(urlsplit(url).netloc) as connection:
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        given = {name.lower() for name, _ in headers}
        if isinstance(data, bytes) and "content-length" not in given:
            connection.putheader("Content-Length", str(len(data)))
        chunked = data is not None and not isinstance(data, bytes)
        if chunked:
            connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders(data, encode_chunked=chunked)
        answer = connection.getresponse()
        # Of a name that comes several times, the first.
        headers_of = {name.lower(): value for name, value in reversed(answer.getheaders())}
        require_told(method, path, answer.status)
        return Reply(answer.status, headers_of, answer.read())


_OPEN: dict[str, http.client.HTTPConnection] = {}
"""Connections that no request uses, by server."""
_OPEN_MOST = 4


@contextmanager
def _connection(place: str) -> Iterator[http.client.HTTPConnection]:
    """Yield a connection to a server. It stays open if the answer lets it."""
    connection = _open_one(place)
    try:
        yield connection
    except BaseException:
        connection.close()
        raise
    if connection.sock is None:
        return
    if _OPEN.setdefault(place, connection) is not connection:
        connection.close()
    for other in list(_OPEN)[:-_OPEN_MOST]:
        _OPEN.pop(other).close()


def _open_one(place: str) -> http.client.HTTPConnection:
    """Return the open connection to a server if there is one and the server did not close it."""
    connection = _OPEN.pop(place, None)
    if connection is not None:
        look = select.poll()
        look.register(connection.sock, select.POLLIN)
        if not look.poll(0):
            return connection
        connection.close()
    return http.client.HTTPConnection(place, timeout=PATIENCE_SECONDS)


def successes(route: Endpoint) -> tuple[int, ...]:
    """Return every status of an answer that is no error."""
    return (route.status, HTTPStatus.NOT_MODIFIED) if route.tagged else (route.status,)


def require_told(method: str, path: str, status: int) -> None:
    """See that the document of the API tells of this status; the first route that fits counts."""
    address = path.partition("?")[0]
    for route, shape in _PATHS:
        if route.method == method and shape.fullmatch(address):
            known = {*successes(route), *route.errors, *EVERYWHERE}
            assert status in known, (route.path, status)
            return


def connect(url: str) -> socket.socket:
    """Open a connection to a server."""
    address = urlsplit(url)
    return socket.create_connection((address.hostname, address.port), timeout=PATIENCE_SECONDS)


def say(url: str, raw: bytes) -> bytes:
    """Send raw bytes and return all that comes back until the server closes."""
    with connect(url) as line:
        line.sendall(raw)
        answer = b""
        while chunk := line.recv(65536):
            answer += chunk
    return answer


def read_reply(raw: bytes) -> Reply:
    """Read the one reply in raw bytes."""
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return Reply(int(lines[0].split()[1]), headers, body)


def first_reply(line: socket.socket) -> Reply:
    """Read a reply that has a length, and no further: the connection may stay."""
    raw = b""
    while True:
        _, found, rest = raw.partition(b"\r\n\r\n")
        reply = read_reply(raw) if found else None
        if reply and len(rest) == int(reply.headers["content-length"]):
            return reply
        chunk = line.recv(65536)
        assert chunk, raw
        raw += chunk
