# SPDX-License-Identifier: Apache-2.0
"""Server-sent events read from bytes in pieces of any size: the WHATWG format, without I/O."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

EVENT_BYTES_MAX = 1024 * 1024
"""The longest event; none of ours is longer."""
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
        """End a block. One without data is no event, but its id counts."""
        self.id = self._id
        event = ServerSentEvent(self.id, self._type or "message", "\n".join(self._data))
        told, self._data, self._type, self._size = bool(self._data), [], "", 0
        return event if told else None
