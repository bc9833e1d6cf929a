# SPDX-License-Identifier: Apache-2.0
"""Questions to the API of a CI system, by the standard library alone: a reporter stays light.

A token goes to the address that it is meant for and nowhere else: no redirect is followed. A
question ends at its time, whatever the other side does meanwhile, and so do all of a report
together: they are asked before it is on the disk.
"""

import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from http import HTTPStatus
from http.client import HTTPException
from threading import Thread
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

SECONDS = 10.0
"""For one question, from the connection to the last byte."""
SEARCH_SECONDS = 20.0
"""For all questions of one report: after it, none is begun."""
ANSWER_BYTES = 16 * 1024 * 1024

GetJson = Callable[[str, Mapping[str, str]], Any]
"""Give what a JSON document at an address holds, asked for with headers; raises ApiError."""


class ApiError(Exception):
    """A CI system's API gave no answer that can be read."""


class _StayHere(HTTPRedirectHandler):
    def redirect_request(
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Any,  # noqa: ANN401 - as `urllib` hands it over
        newurl: str,
    ) -> None:
        """Follow nothing: the headers would go along."""


def with_request_limit(get_json: GetJson, many: int) -> GetJson:
    """Give leave to ask so often: who still has no answer then, does without."""
    left = iter(range(many))

    def once(address: str, headers: Mapping[str, str]) -> Any:  # noqa: ANN401 - as JSON
        if next(left, None) is None:
            raise ApiError(f"{many} questions were not enough")
        return get_json(address, headers)

    return once


def with_time_limit(
    get_json: GetJson, seconds: float = SEARCH_SECONDS, clock: Callable[[], float] = time.monotonic
) -> GetJson:
    """Give leave to ask until so long after the first question began."""
    ends: list[float] = []

    def once(address: str, headers: Mapping[str, str]) -> Any:  # noqa: ANN401 - as JSON
        if not ends:
            ends.append(clock() + seconds)
        if clock() >= ends[0]:
            raise ApiError(f"{seconds:.0f} seconds were not enough")
        return get_json(address, headers)

    return once


def cached(get_json: GetJson) -> GetJson:
    """Ask for each address once, whoever wants to know: also where there was no answer."""
    answers: dict[str, Any] = {}

    def once(address: str, headers: Mapping[str, str]) -> Any:  # noqa: ANN401 - as JSON
        if address not in answers:
            try:
                answers[address] = get_json(address, headers)
            except ApiError as fault:
                answers[address] = fault
        if isinstance(answers[address], ApiError):
            raise answers[address]
        return answers[address]

    return once


def get_json(address: str, headers: Mapping[str, str]) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Give what a JSON document holds; None where the answer is that there is none.

    Raises:
        ApiError: there is none, it cannot be read, or it took too long.
    """
    if not address.startswith(("https://", "http://")):
        raise ApiError(f"{address} is no address of an API")
    accepted = {"Accept": "application/json", **headers}
    request = Request(address, headers=accepted)  # noqa: S310 - its scheme was looked at
    told: Future[Any] = Future()

    def wait() -> None:
        try:
            told.set_result(_answer(request))
        except Exception as fault:  # noqa: BLE001 - whoever waits gets it
            told.set_exception(fault)

    # The time of a socket begins anew with each byte, so the answer is waited for from outside. A
    # thread that is still at it holds up no exit.
    Thread(target=wait, daemon=True).start()
    try:
        return told.result(SECONDS)
    except TimeoutError as fault:
        raise ApiError(f"{_place(address)} gives no answer within {SECONDS:g} seconds") from fault


def _answer(request: Request) -> Any:  # noqa: ANN401 - as JSON
    address = request.full_url
    try:
        with build_opener(_StayHere).open(request, timeout=SECONDS) as answer:
            body = answer.read(ANSWER_BYTES + 1)
        if len(body) > ANSWER_BYTES:
            raise ApiError(f"{_place(address)} answers with more than one can read")
        return None if answer.status == HTTPStatus.NO_CONTENT else json.loads(body)
    except HTTPError as fault:
        with fault:
            raise ApiError(f"{_place(address)} answers {fault.code}") from fault
    except (URLError, HTTPException, OSError, ValueError, RecursionError) as fault:
        raise ApiError(f"{_place(address)} gives no answer: {_why(fault)}") from fault


def _place(address: str) -> str:
    """Give an address without its query."""
    return address.partition("?")[0]


def _why(fault: Exception) -> object:
    return fault.reason if isinstance(fault, URLError) else type(fault).__name__
