# SPDX-License-Identifier: Apache-2.0
"""From a checked call to its answer: the handler is called, unless the caller leaves, and what it
returns is written. An answer with a tag is made once for all who may see the same; they wait for
who makes it (`services/shared_answers.py`).
"""

import asyncio

from aiohttp import web

from hwci.server.errors import OverloadedError
from hwci.server.http.call import Answered, Call
from hwci.server.http.connections.connection import SpecProtocol
from hwci.server.http.headers import takes_gzip
from hwci.server.http.responses import metrics_answer, metrics_bytes, not_modified

_CALLER_LEFT = "You closed the connection before the answer was there; ask again, and keep it open"


async def answered(call: Call) -> Answered:
    """Return the answer to a call. Raises `HwciServerError`."""
    return await (_while_there(call) if call.endpoint.may_stop else _answer(call))


async def _while_there(call: Call) -> Answered:
    """Return the answer of a handler that only reads. Stop it if the caller leaves."""
    protocol = call.request.protocol
    assert isinstance(protocol, SpecProtocol)
    reading = asyncio.ensure_future(_answer(call))
    try:
        with protocol.while_there(reading.cancel):
            return await reading
    except asyncio.CancelledError:
        this = asyncio.current_task()
        if this is None or this.cancelling():
            raise
        if call.begun is not None:  # a stream ends when its reader leaves: no fault of the server
            return call.begun
        raise OverloadedError(_CALLER_LEFT) from None


async def _answer(call: Call) -> Answered:
    endpoint = call.endpoint
    if endpoint.tagged:
        return await _tagged(call)
    body = await call.perform()
    if endpoint.metrics and endpoint.answer is not None:
        gzip = takes_gzip(call.request)
        return metrics_answer(endpoint, await _written(call, body), compressed=gzip)
    return body


async def _tagged(call: Call) -> web.Response:
    """Return the answer that is made for another caller, if there is one, else make it."""
    gzip = takes_gzip(call.request)
    while True:
        try:
            body = await call.perform()
            tags = call.tags
            assert tags is not None
            if tags.is_known and tags.tag is not None:
                return not_modified(tags.tag)
            data = await tags.other() if tags.is_answered else await _written(call, body)
            if data is not None:
                tags.share(data)
                return metrics_answer(call.endpoint, data, compressed=gzip, tag=tags.tag)
        finally:
            if call.tags is not None:
                call.tags.give_up()


async def _written(call: Call, body: Answered) -> bytes:
    """Return an answer of metrics as bytes, written in a thread, off the event loop."""
    gzip = takes_gzip(call.request)
    return await asyncio.to_thread(metrics_bytes, call.endpoint, body, compressed=gzip)
