# SPDX-License-Identifier: Apache-2.0
"""The synchronous shell: the standard library's HTTP, so that a CI step starts fast.

This module decides how bytes travel: one kept connection per thread, when it is cut, the proxy of
the environment, no redirects. What is sent and what an answer means is decided in `_protocol.py`.
"""

import os
import random
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from itertools import count
from typing import TYPE_CHECKING, Any, Self, TypeVar
from uuid import uuid4
from weakref import WeakSet

from hwci.client._address import Proxy, ServerAddress, on_the_way, parse_address, proxy_of
from hwci.client._call import Call, Id
from hwci.client._kept import KeptAnswers
from hwci.client._protocol import (
    ANSWER_BYTES_MAX,
    MEDIA,
    SILENCE_SECONDS,
    Credentials,
    NoAnswer,
    Request,
    Response,
    Token,
    build_request,
    log_try,
    lower_case,
    next_page,
    retry_delay,
)
from hwci.client._resources import (
    FOLLOW,
    Listing,
    Named,
    Resource,
    Surroundings,
    call_in,
    chosen,
    is_id,
    is_list,
    needs_organization,
    resource,
)
from hwci.client.resources import Resources
from hwci.contract.shape import ListPage
from hwci.wire.endpoint import Endpoint

if TYPE_CHECKING:
    from hwci.client.following import Follower
    from hwci.contract.runs.runs import RunEvent

T = TypeVar("T")
Item = TypeVar("Item")

CHUNK_BYTES = 64 * 1024
_CUT_AGAIN_S = 0.1
"""Cut again this often: a socket may be opened just after the time has expired."""


# Connections


@dataclass(frozen=True, slots=True)
class Route:
    """The route to the server. `tunnel`: the server, where a proxy only passes bytes on.

    `prefix`: goes before the target of each request; `headers`: for a proxy that reads requests.
    """

    host: str
    port: int
    prefix: str
    tls: ssl.SSLContext | None = None
    tunnel: tuple[str, int] | None = None
    tunnel_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def route_to(server: ServerAddress, proxy: Proxy | None) -> Route:
    """Return the route to a server, through a proxy if there is one."""
    tls = ssl.create_default_context() if server.scheme == "https" else None
    if proxy is None:
        return Route(server.host, server.port, server.prefix, tls)
    host, port = proxy.address.host, proxy.address.port
    if tls is None:
        return Route(host, port, str(server), headers=proxy.headers)
    return Route(host, port, server.prefix, tls, (server.host, server.port), proxy.headers)


class _ThreadConnection:
    """A thread's connection. Only the thread refers to it, so it is closed when the thread ends."""

    def __init__(self, connection: HTTPConnection) -> None:
        self.connection = connection
        self.process = os.getpid()

    def __del__(self) -> None:
        self.connection.close()


class Connections:
    """A connection per thread, kept for the next call."""

    def __init__(self, route: Route, timeout: float) -> None:
        self._route = route
        self._timeout = timeout
        self._own = threading.local()
        self._all: WeakSet[_ThreadConnection] = WeakSet()
        self._lock = threading.Lock()

    def open(self, *, fresh: bool) -> tuple[HTTPConnection, bool]:
        """Return this thread's connection, and whether it was kept from an earlier call."""
        connection = self._of_this_thread()
        if fresh:
            connection.close()
        reused = connection.sock is not None
        if not reused:
            try:
                connection.connect()
            except OSError:
                # A half-open connection must not be used: TLS may not be agreed on yet.
                connection.close()
                raise
        return connection, reused

    @contextmanager
    def cut_after(self, seconds: float | None) -> Iterator[threading.Event]:
        """Cut this thread's connection if the block takes longer than `seconds`.

        The event is set once it is cut. A socket's timeout does not end an answer that comes byte
        by byte.
        """
        expired, done = threading.Event(), threading.Event()
        if seconds is None:
            yield expired
            return
        connection = self._of_this_thread()
        watch = threading.Thread(
            target=_cut,
            args=(connection, seconds, expired, done),
            name="hwci-deadline",
            daemon=True,
        )
        connection.timeout = min(self._timeout, seconds)  # there is no socket to cut yet
        watch.start()
        try:
            yield expired
        finally:
            done.set()
            watch.join()
            connection.timeout = self._timeout
            if expired.is_set():
                connection.close()

    def separate(self, silence: float) -> HTTPConnection:
        """Return a new connection, which the caller closes. `silence`: the longest wait for a byte,
        in seconds.
        """
        connection = self._new()
        try:
            connection.connect()
            connection.sock.settimeout(silence)
        except OSError:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            for connection in self._all:
                connection.connection.close()
            self._all.clear()
            self._own = threading.local()

    def _of_this_thread(self) -> HTTPConnection:
        # A forked child inherits its parent's sockets, and must not use them.
        connection: _ThreadConnection | None = getattr(self._own, "kept", None)
        if connection is None or connection.process != os.getpid():
            connection = _ThreadConnection(self._new())
            with self._lock:
                self._own.kept = connection
                self._all.add(connection)
        return connection.connection

    def _new(self) -> HTTPConnection:
        route = self._route
        if route.tls is None:
            return HTTPConnection(route.host, route.port, timeout=self._timeout)
        connection = HTTPSConnection(
            route.host, route.port, timeout=self._timeout, context=route.tls
        )
        if route.tunnel is not None:
            connection.set_tunnel(*route.tunnel, headers=dict(route.tunnel_headers))
        return connection


def _cut(
    connection: HTTPConnection, seconds: float, expired: threading.Event, done: threading.Event
) -> None:
    if done.wait(min(seconds, threading.TIMEOUT_MAX)):
        return
    expired.set()
    while True:
        sock = connection.sock
        if sock is not None:
            # Not the method of a TLS socket: it would drop TLS while another thread writes.
            with suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
        if done.wait(_CUT_AGAIN_S):
            return


# Calls, and events of runs


@dataclass(frozen=True, slots=True)
class _Line:
    connection: HTTPConnection
    answer: HTTPResponse

    def read(self) -> bytes:
        """Return what has come; nothing once the stream has ended or was cut."""
        try:
            return self.answer.read1(CHUNK_BYTES)
        except (OSError, HTTPException):
            return b""

    def close(self) -> None:
        self.answer.close()
        self.connection.close()


class Following:
    """Events of runs, as they come, for as long as the caller may follow. Inside `with` it has
    begun when the block does: no event of the block's own time is missed.

    Raises:
        HwciError: see `hwci.client.errors`. `UnauthorizedError`: the token has ended and the client
            was given no other. `ConflictError`: the events to resume from are not kept any more;
            list the runs, then follow again.
    """

    def __init__(
        self,
        follower: "Follower",
        dial: "Callable[[Follower], _Line | Response | NoAnswer]",
        retries: int,
        sleep: Callable[[float], None],
    ) -> None:
        self._follower = follower
        self._dial = dial
        self._retries = retries
        self._sleep = sleep
        self._line: _Line | None = None

    def __enter__(self) -> Self:
        while not self._follower.placed:
            self._go_on()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> "RunEvent":
        while not self._follower.events:
            self._go_on()
        return self._follower.events.popleft()

    def close(self) -> None:
        """Close the connection."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def _go_on(self) -> None:
        try:
            if self._line is None:
                self._begin()
            elif chunk := self._line.read():
                self._follower.take(chunk)
            else:
                self.close()
                self._sleep(self._follower.pause_after_end(_chance()))
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        outcome = self._dial(self._follower)
        if isinstance(outcome, _Line):
            self._line = outcome
            self._follower.begin(lower_case(outcome.answer.headers))
        else:
            self._sleep(self._follower.pause_after(outcome, self._retries, _chance()))


class Client(Resources):
    """Sends calls, one after another in each thread; threads may share a client. Each endpoint is a
    method of a resource too: `client.failures.list(days=30)`.

    Args:
        url: the server's address; if left out, HWCI_URL, with the reader key of HWCI_READER_KEY and
            the organization of HWCI_ORG.
        ci_key: signs the CI report calls, or a function that returns it.
        token: the access token that signs the calls of a user, a `Session` that keeps one, or a
            function that returns one.
        box_key: signs the calls of a box.
        reader_key: signs the calls that read metrics, failures and runs, in place of the token.
        timeout: seconds of silence after which a try ends.
        org_id: the organization that resources ask of, by id or name; if left out, that of the
            reader key, or the only one of the person.
        retries: tries after the first one, where repeating a call is safe.
    """

    def __init__(  # noqa: PLR0913 - all but the address by name
        self,
        url: str | None = None,
        *,
        ci_key: str | Callable[[], str] | None = None,
        token: Token | None = None,
        box_key: str | None = None,
        reader_key: str | None = None,
        org_id: Id | None = None,
        timeout: float = 30,
        retries: int = 4,
    ) -> None:
        own = Surroundings.of(url, reader_key, org_id)
        self._server = parse_address(own.url)
        self.org_id = own.org_id
        """The organization that resources ask of, by id or name; None until one has asked."""
        credentials = Credentials(ci_key, token, box_key, own.reader_key)
        self._credentials = credentials.of_server(self._server)
        self._retries = retries
        self._answers = KeptAnswers()
        self._proxy = proxy_of(self._server)
        self._route = route_to(self._server, self._proxy)
        self._connections = Connections(self._route, timeout)
        self._sleep: Callable[[float], None] = time.sleep
        self.server_time: datetime | None = None
        """The server's clock at its last answer."""

    @property
    def address(self) -> str:
        """The server's address, in its plainest form."""
        return str(self._server)

    def __repr__(self) -> str:
        return f"Client({str(self._server)!r}, {self._credentials})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections of all threads."""
        self._connections.close()

    def send(self, call: Call[T], *, within: float | None = None) -> T:
        """Send a call and return its answer. `within`: seconds after which a try ends even if
        its answer is on the way.

        Raises:
            HwciError: see `hwci.client.errors`.
        """
        request_id, earlier = uuid4().hex, self._answers.of(call)
        tag = earlier and earlier.tag
        request = build_request(call, self._credentials, request_id, tag)
        outcome = self._outcome(call, request, within)
        if self._credentials.renewed(request, outcome):
            request = build_request(call, self._credentials, request_id, tag)
            outcome = self._outcome(call, request, within)
        return self._answers.conclude(call, outcome, earlier)

    def _organization(self) -> Id:
        """Return the organization that resources ask of. Raises `OrganizationError`."""
        if not is_id(self.org_id):
            if self._credentials.reader_key is not None:
                own: Sequence[Named] = [self.reader_keys.own().organization]
            else:
                own = list(self.orgs.list())
            self.org_id = chosen(self.org_id, own)
        return self.org_id

    def __getattr__(self, name: str) -> Resource:
        return resource(name, self._perform)

    def _perform(self, endpoint: Endpoint, *arguments: Any, **fields: Any) -> object:
        org_id = self._organization() if needs_organization(endpoint) else None
        if endpoint.name == FOLLOW:
            return self.follow(self._organization(), *arguments, **fields)
        call = call_in(endpoint, org_id, *arguments, **fields)
        return Listing(self.send, call) if is_list(endpoint) else self.send(call)

    def _outcome(
        self, call: Call[T], request: Request, within: float | None
    ) -> Response | NoAnswer:
        """Send a request, again and again where that is safe and may help."""
        for tried in count():
            with self._connections.cut_after(within) as over:
                outcome = self._try(request, fresh=not call.repeatable)
            if over.is_set():  # what came may be only a part
                sent = not isinstance(outcome, NoAnswer) or outcome.sent
                late = TimeoutError(f"no whole one within {within:.0f} s")
                outcome = self._no_answer(late, sent=sent)
            log_try(request, outcome)
            delay = retry_delay(call, outcome, self._retries - tried, tried, _chance())
            self.server_time = _time_of(outcome) or self.server_time
            if delay is None:
                break
            self._sleep(delay)
        return outcome

    def items(self, call: Call[ListPage[Item]]) -> Iterator[Item]:
        """Return the items of a list, page after page from the call's own on."""
        following: Call[ListPage[Item]] | None = call
        while following is not None:
            page = self.send(following)
            yield from page.items
            following = next_page(following, page)

    def follow(
        self, org_id: Id, run_id: Id | None = None, last_event_id: str | None = None
    ) -> Following:
        """Return the events of an organization's runs as they come, or of one run; `last_event_id`:
        those after this event first. Each is returned once, however often the connection is cut.

        Raises:
            InvalidCallError: an id is malformed.
        """
        from hwci.client.following import Follower

        follower = Follower(org_id, run_id, last_event_id)
        return Following(follower, self._dial, self._retries, self._sleep)

    def _dial(self, follower: "Follower") -> _Line | Response | NoAnswer:
        request_id = uuid4().hex
        request = follower.request(self._credentials, request_id)
        outcome = self._begun(request)
        if self._credentials.renewed(request, outcome):
            outcome = self._begun(follower.request(self._credentials, request_id))
        return outcome

    def _begun(self, request: Request) -> _Line | Response | NoAnswer:
        try:
            connection = self._connections.separate(SILENCE_SECONDS)
        except (OSError, HTTPException) as fault:
            return self._no_answer(fault, sent=False)
        try:
            answer = _ask(connection, self._route, request)
            if answer.status == HTTPStatus.OK:
                # The library takes a head that was cut off as whole.
                if answer.headers.get_content_type() != MEDIA and not answer.peek(1):
                    raise ConnectionResetError("the answer was cut off")
                return _Line(connection, answer)
            response = _whole(answer)
        except (OSError, HTTPException) as fault:
            connection.close()
            return self._no_answer(fault, sent=True)
        connection.close()
        return response

    def _try(self, request: Request, *, fresh: bool) -> Response | NoAnswer:
        try:
            connection, reused = self._connections.open(fresh=fresh)
        except (OSError, HTTPException) as fault:
            return self._no_answer(fault, sent=False)
        try:
            return _whole(_ask(connection, self._route, request))
        except (OSError, HTTPException) as fault:
            connection.close()
            # A server may end kept connections; requests that must not be sent twice use none.
            if reused and isinstance(fault, ConnectionError):
                return self._try(request, fresh=True)
            return self._no_answer(fault, sent=True)

    def _no_answer(self, fault: OSError | HTTPException, *, sent: bool) -> NoAnswer:
        reason = getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
        return NoAnswer(
            str(self._server),
            on_the_way(str(reason), self._proxy),
            sent,
            timed_out=isinstance(fault, TimeoutError),
            # A certificate that is not trusted now will not be a second later.
            passing=not isinstance(fault, ssl.SSLCertVerificationError),
        )


def _time_of(outcome: Response | NoAnswer) -> datetime | None:
    """Return the server's clock from an answer; None if unknown."""
    try:
        date = outcome.headers["date"] if isinstance(outcome, Response) else ""
        return parsedate_to_datetime(date)
    except (ValueError, TypeError, KeyError):
        return None


def _ask(connection: HTTPConnection, route: Route, request: Request) -> HTTPResponse:
    headers = {**request.headers, **route.headers}
    # A server may refuse a body unread, and close: its answer is already on the way.
    with suppress(BrokenPipeError, ConnectionResetError):
        connection.request(request.method, route.prefix + request.target, request.body, headers)
    return connection.getresponse()


def _whole(answer: HTTPResponse) -> Response:
    return Response(answer.status, lower_case(answer.headers), _bounded(answer))


def _bounded(answer: HTTPResponse) -> bytes:
    # The library allocates an announced length at once, so it is checked first. Without one, one
    # byte more than the limit is read; with a number, the library would take a part as the whole.
    announced = answer.length
    body = b""
    if announced is None:
        body = answer.read(ANSWER_BYTES_MAX + 1)
    elif announced <= ANSWER_BYTES_MAX:
        body = answer.read()
    if max(announced or 0, len(body)) > ANSWER_BYTES_MAX:
        raise HTTPException(f"the answer has more than {ANSWER_BYTES_MAX} bytes")
    return body


def _chance() -> float:
    return random.random()  # noqa: S311 - it spreads retries, it guards nothing
