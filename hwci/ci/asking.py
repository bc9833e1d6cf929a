# SPDX-License-Identifier: Apache-2.0
"""Questions to the API of a CI system, by the standard library alone: a reporter stays light.

A token goes to the address that it is meant for and nowhere else: no redirect is followed.
"""

import json
from collections.abc import Callable, Mapping
from http.client import HTTPException
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

SECONDS = 10.0
ANSWER_BYTES = 16 * 1024 * 1024

Ask = Callable[[str, Mapping[str, str]], Any]
"""Give what a JSON document at an address holds, asked for with headers; raises AskError."""


class AskError(Exception):
    """A CI system's API gave no answer that can be read."""


class _StayHere(HTTPRedirectHandler):
    def redirect_request(
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Any,  # noqa: ANN401
        newurl: str,
    ) -> None:
        """Follow nothing: the headers would go along."""


def ask(address: str, headers: Mapping[str, str]) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Give what a JSON document holds.

    Raises:
        AskError: there is none, it cannot be read, or it took too long.
    """
    if not address.startswith(("https://", "http://")):
        raise AskError(f"{address} is no address of an API")
    request = Request(address, headers={"Accept": "application/json", **headers})  # noqa: S310
    try:
        with build_opener(_StayHere).open(request, timeout=SECONDS) as answer:
            body = answer.read(ANSWER_BYTES + 1)
        if len(body) > ANSWER_BYTES:
            raise AskError(f"{_place(address)} answers with more than one can read")
        return json.loads(body)
    except HTTPError as fault:
        with fault:
            raise AskError(f"{_place(address)} answers {fault.code}") from fault
    except (URLError, HTTPException, OSError, ValueError, RecursionError) as fault:
        raise AskError(f"{_place(address)} gives no answer: {_why(fault)}") from fault


def _place(address: str) -> str:
    """Give an address without its query."""
    return address.partition("?")[0]


def _why(fault: Exception) -> object:
    return fault.reason if isinstance(fault, URLError) else type(fault).__name__
