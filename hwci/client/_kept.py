# SPDX-License-Identifier: Apache-2.0
"""Answers that a client keeps with their tag (`ETag`), so that the server need not send them again.

This module decides which answers are kept and when one counts again. It does no I/O, and does not
know who may see an answer: the server refuses before it compares tags.
"""

import re
from http import HTTPStatus
from threading import Lock
from typing import Generic, NamedTuple, TypeVar, cast

from hwci.client._call import Call
from hwci.client._protocol import NoAnswer, Response, conclude

T = TypeVar("T")

ANSWERS_MOST = 32
BYTES_MOST = 256 * 1024
"""A longer answer is not kept."""
_TAG = re.compile(r'(?:W/)?"[!#-~]*"')


class Kept(NamedTuple, Generic[T]):
    """An answer, and its tag."""

    tag: str
    answer: T


class KeptAnswers:
    """The last answers of one client that have a tag. Threads may share them."""

    def __init__(self) -> None:
        self._kept: dict[object, Kept[object]] = {}
        self._lock = Lock()

    def of(self, call: Call[T]) -> Kept[T] | None:
        """Return the last answer of a call, if it is kept."""
        return cast("Kept[T] | None", self._kept.get(call))

    def conclude(self, call: Call[T], outcome: Response | NoAnswer, earlier: Kept[T] | None) -> T:
        """Return the answer of a call. `kept`: the one whose tag was sent.

        Raises:
            HwciError: as `hwci.client._protocol.conclude`.
        """
        if isinstance(outcome, NoAnswer):
            return conclude(call, outcome)
        if earlier is not None and outcome.status == HTTPStatus.NOT_MODIFIED:
            return earlier.answer
        answer = conclude(call, outcome)
        tag = outcome.headers.get("etag", "")
        if call.method == "GET" and _TAG.fullmatch(tag) and len(outcome.body) <= BYTES_MOST:
            self._keep(call, Kept(tag, answer))
        return answer

    def _keep(self, call: object, answer: Kept[object]) -> None:
        """Keep an answer; where there are too many, the oldest one goes."""
        with self._lock:
            self._kept.pop(call, None)
            self._kept[call] = answer
            if len(self._kept) > ANSWERS_MOST:
                del self._kept[next(iter(self._kept))]
