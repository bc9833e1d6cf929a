# SPDX-License-Identifier: Apache-2.0
"""Following runs: what is asked for, what comes, and when to ask again (contract, "Runs and
streams"), without I/O. `with client.follow(org_id) as events:` of either shell does the rest.

A stream that ends or is cut is resumed after the last event that was returned: none is missed, none
comes twice.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pydantic import ValidationError

from hwci.client._call import Call, Id, call_of, query_of
from hwci.client._protocol import (
    MEDIA,
    Credentials,
    NoAnswer,
    Request,
    Response,
    build_request,
    fault_of,
    retry_delay,
)
from hwci.client.errors import AnswerShapeError, InvalidCallError
from hwci.contract.runs.runs import RunEvent
from hwci.contract.vocabulary import RunEventType
from hwci.wire.codec import from_json
from hwci.wire.endpoints.runs import FOLLOW_RUNS
from hwci.wire.errors import Issue
from hwci.wire.runs import StreamQuery

RESUMES = 60
"""Tries in a row to resume a stream that had begun: some minutes."""
LAST_EVENT_ID = "Last-Event-ID"
_PAUSE_MILLISECONDS = 2_000
_NO_ID = "Should be the id of an event, as a stream gave it"
_OURS = {str(kind) for kind in RunEventType}


class Follower:
    """The events that were received, and the place in the stream to go on from.

    Raises:
        InvalidCallError: the id of the run or of the event is malformed.
    """

    def __init__(self, org_id: Id, run_id: Id | None, last_event_id: str | None) -> None:
        query = query_of(StreamQuery, run_id=run_id)
        self._call: Call[None] = call_of(FOLLOW_RUNS, ids=[org_id], query=query)
        if last_event_id is not None and not _is_id(last_event_id):
            raise InvalidCallError([Issue(path=["header", LAST_EVENT_ID], message=_NO_ID)])
        self._after = last_event_id
        self._stream = EventStream()
        self._request_id: str | None = None
        self._begun = False
        self._failed = 0
        self.events: deque[RunEvent] = deque()
        """Received and not returned yet."""

    @property
    def placed(self) -> bool:
        """Whether the server has named the beginning: from now on nothing is missed."""
        return self._begun and self._after is not None

    def request(self, credentials: Credentials, request_id: str) -> Request:
        """Return the request that begins or resumes the stream. Raises as `build_request`."""
        request = build_request(self._call, credentials, request_id)
        after = {} if self._after is None else {LAST_EVENT_ID: self._after}
        return replace(request, headers={**request.headers, "Accept": MEDIA, **after})

    def begin(self, headers: Mapping[str, str]) -> None:
        """Note that the server streams; header names in lower case.

        Raises:
            AnswerShapeError: it is not one of this server's streams.
        """
        self._request_id = headers.get("x-request-id")
        media = headers.get("content-type", "")
        if media.partition(";")[0].strip().lower() != MEDIA:
            raise self._misshapen(f"{MEDIA} was expected, and {media or 'nothing'} came")
        self._stream, self._begun, self._failed = EventStream(), True, 0

    def take(self, chunk: bytes) -> None:
        """Read received bytes.

        Raises:
            AnswerShapeError: they are not an event of this server.
        """
        try:
            for event in self._stream.feed(chunk):
                if event.type in _OURS:  # a newer server may have more
                    self.events.append(self._read(event))
        except ValueError as fault:
            raise self._misshapen(str(fault)) from None
        if self._stream.id is not None:
            if not _is_id(self._stream.id):
                raise self._misshapen("the id of an event is malformed")
            self._after = self._stream.id

    def pause_after_end(self, chance: float) -> float:
        """Return the seconds to wait after a stream has ended: at most what the server asked for,
        and random, so that clients that were cut off together do not come back together.
        """
        wait = self._stream.retry
        return chance * (_PAUSE_MILLISECONDS if wait is None else wait) / 1_000

    def pause_after(self, outcome: Response | NoAnswer, retries: int, chance: float) -> float:
        """Return the seconds to wait after a try that got no stream.

        Raises:
            HwciError: waiting would not help, or was tried often enough.
        """
        left = (RESUMES if self._begun else retries) - self._failed
        delay = retry_delay(self._call, outcome, left, self._failed, chance)
        if delay is None:
            raise fault_of(self._call, outcome)
        self._failed += 1
        return delay

    def _read(self, event: "ServerSentEvent") -> RunEvent:
        try:
            return from_json(RunEvent, event.data)
        except ValidationError as fault:
            first = fault.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(step) for step in first["loc"]) or "data"
            raise self._misshapen(f"event {event.id}: {where}: {first['msg']}") from None

    def _misshapen(self, reason: str) -> AnswerShapeError:
        return AnswerShapeError(200, reason, self._request_id)


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit()


# Server-sent events, read from bytes in pieces of any size: the WHATWG format

EVENT_BYTES_MAX = 1024 * 1024
"""The longest event; hwci sends none that is longer."""
_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event. `id`: resumes the stream after it."""

    id: str | None
    type: str
    data: str


class EventStream:
    """Reads one stream. `id`: the last one received, with an event or without; `retry`: the
    milliseconds to wait before connecting again.
    """

    def __init__(self) -> None:
        self.id: str | None = None
        self.retry: int | None = None
        self._rest = b""
        self._after_return = False
        self._begun = False
        self._type = ""
        self._data: list[str] = []
        self._size = 0
        self._id: str | None = None

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        """Return the events that this chunk completes, and keep the rest for the next.

        Raises:
            ValueError: an event is too large.
        """
        if self._after_return and chunk:
            chunk, self._after_return = chunk.removeprefix(b"\n"), False
        if chunk.endswith(b"\r"):
            self._after_return = True  # its line has ended, a line feed may still belong to it
        *lines, self._rest = _LINE_END.split(self._rest + chunk)
        for line in lines:
            event = self._take(self._first(line).decode(errors="replace"))
            if event is not None:
                yield event
        if self._size + len(self._rest) > EVENT_BYTES_MAX:
            raise ValueError(f"an event has more than {EVENT_BYTES_MAX} bytes")

    def _first(self, line: bytes) -> bytes:
        """Drop the mark that may stand before the very first line."""
        begun, self._begun = self._begun, True
        return line if begun else line.removeprefix(_BYTE_ORDER_MARK)

    def _take(self, line: str) -> ServerSentEvent | None:
        if not line:
            return self._complete()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
            self._size += len(value)
        elif name == "event":
            self._type = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry = int(value[:9])
        return None

    def _complete(self) -> ServerSentEvent | None:
        """End a block. One without data is not an event, but its id counts."""
        self.id = self._id
        event = ServerSentEvent(self.id, self._type or "message", "\n".join(self._data))
        has_data, self._data, self._type, self._size = bool(self._data), [], "", 0
        return event if has_data else None
