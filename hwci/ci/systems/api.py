# SPDX-License-Identifier: Apache-2.0
"""Requests to the API of a CI system or of a forge, and reading its answers, by the standard
library alone: a reporter stays light.

A token goes to its own address only: no redirect is followed. A request ends at its time, and so do
all requests of a report together, because they are made before the report is on the disk. An answer
of another shape is an ApiError, as is none: a list that is missing must not look like an empty one.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from http import HTTPStatus
from http.client import HTTPException
from threading import Thread
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

SECONDS = 10.0
"""For one request, from the connection to the last byte."""
REPORT_SECONDS = 20.0
"""For all requests of one report: none is begun later."""
ANSWER_BYTES = 16 * 1024 * 1024
PER_PAGE = 100
PAGES = 3
"""Runs later than this one stand in the list before those that came before it."""

GetJson = Callable[[str, Mapping[str, str]], Any]
"""Return the JSON document at an address, requested with headers; raises ApiError."""
Row = Mapping[str, Any]


class ApiError(Exception):
    """An API gave no answer that can be read. `status`: how it refused, None if it did not answer;
    `wait_s`: after how many seconds it asks to be called again.
    """

    def __init__(self, text: str, status: int | None = None, wait_s: float | None = None) -> None:
        super().__init__(text)
        self.status, self.wait_s = status, wait_s


# Requests


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Any,  # noqa: ANN401 - as `urllib` hands it over
        newurl: str,
    ) -> None:
        """Follow none: the headers would go along."""


def get_json(address: str, headers: Mapping[str, str]) -> Any:  # noqa: ANN401 - as JSON
    """Return the JSON document at an address, None if the answer has no content."""
    return call("GET", address, headers)


def call(method: str, address: str, headers: Mapping[str, str], body: object = None) -> Any:  # noqa: ANN401 - as JSON
    """Return the JSON document that a request answers, None if the answer has no content. `body`:
    sent as JSON, None: nothing is.
    """
    if not address.startswith(("https://", "http://")):
        raise ApiError(f"{address} is not an address of an API")
    accepted = {"Accept": "application/json", **headers}
    data = None if body is None else json.dumps(body).encode()
    if data is not None:
        accepted["Content-Type"] = "application/json"
    request = Request(address, data, accepted, method=method)  # noqa: S310 - its scheme was looked at
    answer: Future[Any] = Future()

    def wait() -> None:
        try:
            answer.set_result(_answer(request))
        except Exception as fault:  # noqa: BLE001 - raised again where the answer is awaited
            answer.set_exception(fault)

    # A socket's time-out starts again with each byte, so a thread waits. It holds up no exit.
    Thread(target=wait, daemon=True).start()
    try:
        return answer.result(SECONDS)
    except TimeoutError as fault:
        raise ApiError(f"{_place(address)} gives no answer within {SECONDS:g} seconds") from fault


def _answer(request: Request) -> Any:  # noqa: ANN401 - as JSON
    place = _place(request.full_url)
    try:
        with build_opener(_NoRedirects).open(request, timeout=SECONDS) as answer:
            body = answer.read(ANSWER_BYTES + 1)
        if len(body) > ANSWER_BYTES:
            raise ApiError(f"{place} answers with more than {ANSWER_BYTES // 1024**2} MiB")
        return None if answer.status == HTTPStatus.NO_CONTENT else json.loads(body)
    except HTTPError as fault:
        with fault:
            wait_s = _seconds(fault.headers.get("Retry-After"))
            raise ApiError(f"{place} answers {fault.code}", fault.code, wait_s) from fault
    except (URLError, HTTPException, OSError, ValueError, RecursionError) as fault:
        why = fault.reason if isinstance(fault, URLError) else type(fault).__name__
        raise ApiError(f"{place} gives no answer: {why}") from fault


def _seconds(retry_after: str | None) -> float | None:
    """Return how long to wait. None: that is not said, or by a date, which APIs do not use."""
    return float(retry_after) if retry_after is not None and retry_after.isdecimal() else None


def _place(address: str) -> str:
    """Return an address without its query."""
    return address.partition("?")[0]


def for_one_report(
    get_json: GetJson, seconds: float = REPORT_SECONDS, clock: Callable[[], float] = time.monotonic
) -> GetJson:
    """Wrap the requests of one report: each address is requested once, errors included, and none
    later than `seconds` after the first.
    """
    answers: dict[str, Any] = {}
    started: list[float] = []

    def request(address: str, headers: Mapping[str, str]) -> Any:  # noqa: ANN401 - as JSON
        started.append(clock())
        if address not in answers:
            try:
                if started[-1] >= started[0] + seconds:
                    raise ApiError(f"{seconds:.0f} seconds were not enough")
                answers[address] = get_json(address, headers)
            except ApiError as fault:
                answers[address] = fault
        if isinstance(answers[address], ApiError):
            raise answers[address]
        return answers[address]

    return request


def with_request_limit(get_json: GetJson, limit: int) -> GetJson:
    """Wrap the requests of one search, which ends with an ApiError at the limit."""
    left = iter(range(limit))

    def request(address: str, headers: Mapping[str, str]) -> Any:  # noqa: ANN401 - as JSON
        if next(left, None) is None:
            raise ApiError(f"{limit} requests were not enough")
        return get_json(address, headers)

    return request


# Answers


def pages(
    get_json: GetJson,
    address: str,
    query: Mapping[str, str],
    headers: Mapping[str, str],
    *path: str,
    most: int = PAGES,
) -> Iterator[Row]:
    """Yield the rows of a list, page after page, as far as they are taken; `most` pages."""
    for page in range(1, most + 1):
        words = urlencode({**query, "per_page": str(PER_PAGE), "page": str(page)})
        rows = listed(get_json(f"{address}?{words}", headers), address, *path)
        yield from rows
        if len(rows) < PER_PAGE:
            return
    raise ApiError(f"{address} lists more than {most * PER_PAGE}")


def listed(answer: object, address: str, *path: str) -> list[Row]:
    """Return the objects of the list at a path of an answer."""
    rows = at_path(answer, *path)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ApiError(f"{address} answers in an unknown form")
    return rows


def at_path(document: object, *path: str) -> object:
    """Follow keys into a JSON document; None where one is missing."""
    for key in path:
        document = document.get(key) if isinstance(document, Mapping) else None
    return document


def number_of(row: Row, key: str) -> int:
    """Return a number of a row, larger than all others if it is missing."""
    value = row.get(key)
    return value if isinstance(value, int) else 2**63


def only(rows: list[Row]) -> Row | None:
    """Return the row of a list that has exactly one."""
    return rows[0] if len(rows) == 1 else None
