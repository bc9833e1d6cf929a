# SPDX-License-Identifier: Apache-2.0
"""Following with the standard library: an iterator over events, on a connection of its own."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from types import TracebackType
from typing import Self

from hwci.client._protocol import NoAnswer, Response
from hwci.client.following import Follower
from hwci.wire.runs import RunEvent

CHUNK_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """A stream that is open."""

    connection: HTTPConnection
    answer: HTTPResponse

    def read(self) -> bytes:
        """Give what has come; nothing once the stream has ended or was cut."""
        try:
            return self.answer.read1(CHUNK_BYTES)
        except (OSError, HTTPException):
            return b""

    def close(self) -> None:
        """Close the connection."""
        self.answer.close()
        self.connection.close()


class Following:
    """Events of runs, as they come, for as long as the caller may follow. As the subject of a
    `with` it has begun when the block does: no event of the block's own time is missed.

    Raises:
        HwciError: see `hwci.client.errors`. `UnauthorizedError`: the token has ended and the client
            was given no other. `ConflictError`: the events to go on from are not kept any more;
            list the runs, then follow anew.
    """

    def __init__(
        self,
        follower: Follower,
        dial: Callable[[Follower], Line | Response | NoAnswer],
        retries: int,
        sleep: Callable[[float], None],
    ) -> None:
        self._follower = follower
        self._dial = dial
        self._retries = retries
        self._sleep = sleep
        self._line: Line | None = None

    def __enter__(self) -> Self:
        while not self._follower.placed:
            self._go_on()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> RunEvent:
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
            self._listen(self._line or self._begin())
        except BaseException:
            self.close()
            raise

    def _listen(self, line: Line) -> None:
        chunk = line.read()
        if chunk:
            self._follower.take(chunk)
        else:
            self.close()
            self._sleep(self._follower.pause_after_end(_chance()))

    def _begin(self) -> Line:
        while not isinstance(outcome := self._dial(self._follower), Line):
            self._sleep(self._follower.pause_after(outcome, self._retries, _chance()))
        self._line = outcome
        headers = {name.lower(): value for name, value in outcome.answer.getheaders()}
        self._follower.begin(headers)
        return outcome


def _chance() -> float:
    return random.random()  # noqa: S311 - it spreads retries, it guards nothing
