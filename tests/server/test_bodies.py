# SPDX-License-Identifier: Apache-2.0
"""Where a body is read: the event loop, which serves everybody, reads short ones alone."""

import json
import threading

import pytest
from pydantic import field_validator

from hwci.server.http.body import THREAD_BYTES, parse
from hwci.wire import limits
from hwci.wire.base import CiBody


class Reader(CiBody):
    """A body that knows which thread read it. What else it holds is ignored, yet read."""

    thread: int

    @field_validator("thread")
    @classmethod
    def _own(cls, _: int) -> int:
        return threading.get_ident()


def body(size: int) -> bytes:
    start = json.dumps({"thread": 0, "extra": ""}).encode()
    return start.replace(b'""', b'"' + b"x" * (size - len(start)) + b'"')


@pytest.mark.parametrize(("size", "beside"), [(THREAD_BYTES, False), (THREAD_BYTES + 1, True)])
async def test_a_body_that_takes_long_is_read_beside_the_event_loop(
    size: int, *, beside: bool
) -> None:
    data = body(size)
    assert len(data) == size

    found = await parse(data, Reader, limits.RUN_REPORT_BYTES, compressed=False)

    assert (found.thread != threading.get_ident()) is beside


def test_what_anybody_may_send_is_short() -> None:
    assert limits.BODY_BYTES <= THREAD_BYTES
