# SPDX-License-Identifier: Apache-2.0
"""What is sent, what an answer means, and whether to try again: the client without its I/O.

This module decides headers, decoding and retries as functions of values (contract,
"Everywhere"). It knows neither sockets nor clocks nor chance: the shells `_sync.py` and
`_aio.py` add those.
"""

import gzip
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Protocol, Self, TypeVar, cast
from urllib.parse import urlencode

from pydantic import ValidationError

from hwci import __version__
from hwci.client._address import ServerAddress, parse_address
from hwci.client._call import Call, Credential
from hwci.client.errors import (
    AnswerShapeError,
    ApiError,
    ConnectionFailedError,
    CredentialMalformedError,
    CredentialMissingError,
    HwciError,
    SessionError,
    TimedOutError,
    UntrustedError,
    error_class,
)
from hwci.contract.shape import ListPage
from hwci.wire.codec import from_json
from hwci.wire.errors import ErrorBody
from hwci.wire.limits import RUN_REPORT_BYTES

T = TypeVar("T")
Item = TypeVar("Item")


class RenewableToken(Protocol):
    """An access token that can be replaced: a `Session`. `url`: the server that takes it."""

    url: str

    def token(self, refused: str | None = None) -> str:
        """Return the present token; another one if this one was refused."""
        ...


Token = str | Callable[[], str] | RenewableToken

_BEARER = "Bearer "
GZIP_FROM_BYTES = 8 * 1024
GZIP_LEVEL = 6

RETRIED_STATUSES = frozenset({408, 425, 429, *range(500, 600)})
BACKOFF_FIRST_S = 0.5
BACKOFF_MAX_S = 8.0
RETRY_AFTER_MAX_S = 120.0
"""The client does not wait for a server that asks for a longer pause."""
_PAGE_BYTES, _TITLE_MAX = 4096, 80
MEDIA = "text/event-stream"
SILENCE_SECONDS = 45.0
"""The server sends something every 15 seconds: after this much silence a stream is dead."""
ANSWER_BYTES_MAX = 2 * RUN_REPORT_BYTES
"""No answer of the server is longer; another program may send one without end."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the caller may sign calls with; `repr` shows which there are, never their values. A
    token that is renewed is given as a session, or as a function that returns the present one,
    called for each request; so may a CI key be.
    """

    ci_key: str | Callable[[], str] | None = None
    token: Token | None = None
    box_key: str | None = None
    reader_key: str | None = None

    @property
    def renewable(self) -> RenewableToken | None:
        """The token, if it can be replaced."""
        plain = self.token is None or isinstance(self.token, str) or callable(self.token)
        return None if plain else cast("RenewableToken", self.token)

    def renewed(self, request: "Request", outcome: object) -> bool:
        """Return whether a session replaced the token that was sent, as the server refused it."""
        refused, session = refused_token(request, outcome), self.renewable
        if refused is None or session is None:
            return False
        return session.token(refused) != refused

    def of_server(self, server: ServerAddress) -> Self:
        """Return these credentials, for the client of a server.

        Raises:
            SessionError: the session is of another server.
        """
        session = self.renewable
        if session is not None and parse_address(session.url) != server:
            raise SessionError(
                "The session is of another server",
                f"its tokens are sent to {session.url} only, and the client is of {server}",
                "Create both with the same address",
            )
        return self

    def __repr__(self) -> str:
        held = {field.name: getattr(self, field.name) for field in fields(self)}
        shown = ", ".join(f"{name}=…" for name, value in held.items() if value is not None)
        return f"Credentials({shown})"


@dataclass(frozen=True, slots=True)
class Request:
    """A request ready to send. `target`: path and query."""

    method: str
    target: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Response:
    """An answer as it came; header names in lower case. The body may hold a key or a token."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why no answer came. `passing`: trying again may help."""

    address: str
    reason: str
    sent: bool
    timed_out: bool = False
    passing: bool = True


class _Headers(Protocol):
    def items(self) -> Iterable[tuple[str, str]]: ...


def lower_case(headers: _Headers) -> Mapping[str, str]:
    """Return headers with their names in lower case."""
    return {name.lower(): value for name, value in headers.items()}


# What is sent


def build_request(
    call: Call[T], credentials: Credentials, request_id: str, tag: str | None = None
) -> Request:
    """Return a call as a request. All tries of one call share its request id. `tag`: of the answer
    that the caller has.

    Raises:
        CredentialMissingError: the call needs a credential that was not given.
        CredentialMalformedError: no header can hold the credential.
    """
    headers = {
        "User-Agent": f"hwci/{__version__}",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "x-request-id": request_id,
    }
    call = packed(call)
    if call.body is not None:
        headers["Content-Type"] = "application/json"
    if call.compressed:
        headers["Content-Encoding"] = "gzip"
    if tag is not None:
        headers["If-None-Match"] = tag
    headers.update(_credential_header(call.credential, credentials))
    target = f"{call.path}?{urlencode(call.query)}" if call.query else call.path
    return Request(call.method, target, headers, call.body)


def packed(call: Call[T]) -> Call[T]:
    """Compress the body of a call, where that is large and the server inflates it: only the CI
    report endpoints do (contract, "Everywhere").
    """
    body = call.body or b""
    if call.compressed or call.credential is not Credential.CI_KEY or len(body) <= GZIP_FROM_BYTES:
        return call
    return replace(call, body=gzip.compress(body, GZIP_LEVEL, mtime=0), compressed=True)


def _credential_header(needed: Credential, credentials: Credentials) -> Mapping[str, str]:
    if needed is Credential.CI_KEY:
        return {"X-API-Key": usable(credentials.ci_key, needed)}
    if needed is Credential.BOX_KEY:
        return {"X-API-Key": usable(credentials.box_key, needed)}
    if needs_token(needed, credentials):
        return {"Authorization": f"{_BEARER}{usable(credentials.token, needed)}"}
    if needed in {Credential.READER, Credential.READER_KEY}:
        return {"X-API-Key": usable(credentials.reader_key, needed)}
    return {}


def needs_token(needed: Credential, credentials: Credentials) -> bool:
    """Return whether a call is signed with the access token."""
    if needed is Credential.READER:
        return credentials.reader_key is None
    return needed is Credential.TOKEN


def refused_token(request: Request, outcome: object) -> str | None:
    """Return the access token that was sent, if the server refused it: it did not look at the
    request then.
    """
    unauthorized = isinstance(outcome, Response) and outcome.status == HTTPStatus.UNAUTHORIZED
    signed = request.headers.get("Authorization", "")
    return signed.removeprefix(_BEARER) if unauthorized and signed else None


def usable(credential: Token | None, needed: Credential) -> str:
    """Return a credential as a header can hold it.

    Raises:
        CredentialMissingError: there is no credential.
        CredentialMalformedError: no header can hold it.
    """
    if credential is None:
        raise CredentialMissingError(needed.value)
    if isinstance(credential, str):
        present = credential
    else:
        present = credential() if callable(credential) else credential.token()
    if not present or not all("!" <= letter <= "~" for letter in present):
        raise CredentialMalformedError(needed.value)
    return present


def next_page(call: Call[ListPage[Item]], page: ListPage[Item]) -> Call[ListPage[Item]] | None:
    """Return the call for the page after this one, if there is one."""
    if not page.items or page.page * page.limit >= page.total:
        return None
    others = tuple((name, value) for name, value in call.query if name != "page")
    return replace(call, query=(*others, ("page", str(page.page + 1))))


def log_try(request: Request, outcome: Response | NoAnswer) -> None:
    """Log a try, at the level of debugging. Headers and bodies hold secrets, and stay out.

    A program that shows a log has imported logging; a CI step need not.
    """
    logging = sys.modules.get("logging")
    if logging is None:
        return
    log = logging.getLogger("hwci.client")
    if isinstance(outcome, Response):
        answer = (outcome.status, outcome.headers.get("x-request-id"))
        log.debug("%s %s answered %s, request %s", request.method, request.target, *answer)
    else:
        log.debug("%s %s got no answer: %s", request.method, request.target, outcome.reason)


# Whether to try again


def retry_delay(
    call: Call[T], outcome: Response | NoAnswer, retries_left: int, tried: int, chance: float
) -> float | None:
    """Return the seconds to wait before trying again; None if this outcome stands.

    `tried` counts the tries before this one, `chance` lies in [0, 1): the full jitter keeps
    benches that failed together from coming back together.
    """
    if retries_left <= 0 or not _may_retry(call, outcome):
        return None
    backoff = chance * min(BACKOFF_MAX_S, BACKOFF_FIRST_S * 2.0**tried)
    wait = retry_after(outcome) if isinstance(outcome, Response) else None
    if wait is None:
        return backoff
    return wait + backoff if wait <= RETRY_AFTER_MAX_S else None


def _may_retry(call: Call[T], outcome: Response | NoAnswer) -> bool:
    if isinstance(outcome, Response):
        return call.repeatable and outcome.status in RETRIED_STATUSES
    return outcome.passing and (call.repeatable or not outcome.sent)


def retry_after(response: Response) -> float | None:
    """Return the seconds of `Retry-After`; a date is compared with the answer's own `Date`."""
    text = response.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        until = parsedate_to_datetime(text)
        return max(0.0, (until - parsedate_to_datetime(response.headers["date"])).total_seconds())
    except (ValueError, TypeError, KeyError):
        return None


# What an answer means


def conclude(call: Call[T], outcome: Response | NoAnswer) -> T:
    """Return the answer of a call, or raise the error that the outcome means.

    Raises:
        ConnectionFailedError: no answer came.
        ApiError: the server refused.
        AnswerShapeError: the answer is not this server's.
    """
    if isinstance(outcome, NoAnswer) or outcome.status != call.status:
        raise fault_of(call, outcome)
    if call.answer is None:
        return cast("T", None)
    return _decoded(call.answer, outcome)


def fault_of(call: Call[T], outcome: Response | NoAnswer) -> HwciError:
    """Return the error for an outcome that is not the answer of the call."""
    if isinstance(outcome, NoAnswer):
        kind = TimedOutError if outcome.timed_out else ConnectionFailedError
        # Only a bad certificate does not pass by itself.
        kind = kind if outcome.passing else UntrustedError
        return kind(outcome.address, outcome.reason, outcome.sent)
    if outcome.status >= HTTPStatus.BAD_REQUEST:
        return _refusal(call.path, outcome)
    return AnswerShapeError(outcome.status, _surprise(call, outcome), _request_id(outcome))


def _decoded(answer: type[T], response: Response) -> T:
    try:
        return from_json(answer, response.body)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or "body"
        reason = f"{where}: {first['msg']}"
        # The fault holds the answer, which may be a key or a token: it goes no further.
        raise AnswerShapeError(response.status, reason, _request_id(response)) from None


def _surprise(call: Call[T], response: Response) -> str:
    location = response.headers.get("location")
    if location is not None and response.status >= HTTPStatus.MULTIPLE_CHOICES:
        return f"it redirects to {location!r}, and credentials are not carried elsewhere"
    return f"{call.status} was expected, and it is {_described(response)}"


def _described(response: Response) -> str:
    """Describe what answered: its media type, and the title of a page."""
    media = response.headers.get("content-type", "").partition(";")[0].strip() or "of no type"
    page = response.body[:_PAGE_BYTES]
    _, tag, rest = page[page.lower().find(b"<title") :].partition(b">")
    words = rest.partition(b"<")[0].decode(errors="replace").split()
    return f"{media}, titled {' '.join(words)[:_TITLE_MAX]!r}" if tag and words else media


def _refusal(path: str, response: Response) -> ApiError:
    request_id = _request_id(response)
    own_form = True
    try:
        body = ErrorBody.model_validate_json(response.body)
    except ValidationError:
        # A proxy in between, for example, answers in its own words.
        own_form = False
        body = ErrorBody(
            status_code=response.status,
            error=_phrase(response.status),
            message=f"The answer is not in the server's form; it is {_described(response)}",
        )
    kind = error_class(response.status)
    refusal = kind(response.status, body.error, body.message, request_id, body.issues or ())
    refusal.path = path
    refusal.retry_after = retry_after(response)
    refusal.own_form = own_form
    return refusal


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Refused"


def _request_id(response: Response) -> str | None:
    return response.headers.get("x-request-id")
