# SPDX-License-Identifier: Apache-2.0
"""From bytes to a model: content type, size, pace, and who reads them (contract, "Everywhere").

This module is the only way from HTTP into the wire's models. It reads bytes and never uses the
framework's text or JSON, whose charset the caller could choose. `reading.py` decodes the bytes.
"""

import asyncio
import re

from aiohttp import StreamReader, hdrs, web

from hwci.server.http.bodies.buffers import BodyBuffer
from hwci.server.http.bodies.reading import Model, inflate, read_model
from hwci.server.http.refusals import TooLargeError, TooSlowError, UnsupportedTypeError, body_fault

_JSON = re.compile(
    r'application/json(\s*;\s*charset\s*=\s*("?)utf-8\2)?\s*', re.IGNORECASE | re.ASCII
)
_GZIP_SIZE_BYTES = 4
_GZIP_BEGINS = b"\x1f\x8b"
"""JSON never begins so."""
BODY_SECONDS = 60.0
"""A body must arrive within this time."""
LARGE_SECONDS = 120.0
"""A large body must arrive within this time."""
LARGE_BYTES = 1024 * 1024
"""A body with more bytes is large."""
PACE_SECONDS = 10.0
"""In each period of this length, until a body is complete, at least `PACE_BYTES` must arrive."""
PACE_BYTES = 10 * 1024
"""The fewest bytes of a body in each `PACE_SECONDS`."""
THREAD_BYTES = 64 * 1024
"""A larger body is parsed in a thread, as the event loop serves everybody."""
APART_BYTES = 256 * 1024
"""A larger one is parsed in a process beside: one step of the parser would block too long."""


def require_json(request: web.Request, *, gzip: bool) -> bool:
    """Return whether a JSON body is compressed. Raises `UnsupportedTypeError` for other content."""
    types = request.headers.getall(hdrs.CONTENT_TYPE, [])
    if len(types) != 1 or not _JSON.fullmatch(types[0].strip()):
        raise UnsupportedTypeError("Send the body as Content-Type: application/json, in UTF-8")
    encodings = ",".join(request.headers.getall(hdrs.CONTENT_ENCODING, [])).strip().lower()
    if encodings in {"", "identity"}:
        return False
    if encodings in {"gzip", "x-gzip"} and gzip:
        return True
    taken = "plain or with Content-Encoding: gzip" if gzip else "without a Content-Encoding"
    raise UnsupportedTypeError(f"Send the body {taken}")


async def read_body(request: web.Request, limit: int, buffer: BodyBuffer) -> None:
    """Read the body into its buffer. If its announced length is too large, read nothing.

    Raises:
        OverloadedError: there is no buffer.
        TooLargeError: it is over its limit.
        TooSlowError: it does not arrive in time, or comes in too slowly.
    """
    if (request.content_length or 0) > limit:
        raise TooLargeError(limit)
    try:
        if request.content.is_eof():  # it has come, and nothing is to be waited for
            _take(request.content.read_nowait(), limit, buffer)
        else:
            await _read_paced(request.content, limit, buffer)
    except (web.RequestPayloadError, ConnectionError) as fault:
        raise body_fault("The connection ended before the end of the body") from fault


async def _read_paced(content: StreamReader, limit: int, buffer: BodyBuffer) -> None:
    clock = asyncio.get_running_loop().time
    begun, paced = clock(), 0
    till = begun + min(PACE_SECONDS, BODY_SECONDS)
    try:
        async with buffer.wait_at_most(till - begun) as due:
            while chunk := await content.readany():
                _take(chunk, limit, buffer)
                if buffer.size - paced >= PACE_BYTES:
                    paced = buffer.size
                    till = min(clock() + PACE_SECONDS, begun + _seconds(buffer))
                    due.reschedule(till)
    except TimeoutError:
        raise _too_slow(_seconds(buffer), drips=till < begun + _seconds(buffer)) from None


def _take(chunk: bytes, limit: int, buffer: BodyBuffer) -> None:
    buffer.take(chunk)
    if buffer.size > limit:
        raise TooLargeError(limit)


def _seconds(buffer: BodyBuffer) -> float:
    return LARGE_SECONDS if buffer.size > LARGE_BYTES else BODY_SECONDS


def _too_slow(seconds: float, *, drips: bool) -> TooSlowError:
    if drips:
        return TooSlowError(
            f"Less than {PACE_BYTES} bytes of the body came in {PACE_SECONDS:g} s; send it faster"
        )
    return TooSlowError(f"The body did not arrive within {seconds:g} s; send it faster or smaller")


def plain_size(buffer: BodyBuffer, *, compressed: bool) -> int:
    """Return the bytes of a body that has come, inflated: gzip writes them at its end. Whether that
    is true is found when it is inflated (`parse`).
    """
    if not compressed:
        return buffer.size
    return int.from_bytes(b"".join(buffer.pieces[-2:])[-_GZIP_SIZE_BYTES:], "little")


async def parse(buffer: BodyBuffer, model: type[Model], limit: int, *, compressed: bool) -> Model:
    """Return the model of a body, parsed here if it is short, else in a thread or a process.

    Raises:
        InvalidRequestError: it breaks a rule of JSON, of gzip or of the model.
        TooLargeError: it inflates to more than the limit, or costs too much in another way.
        UnsupportedTypeError: it is compressed, and its head does not say so.
        OverloadedError: too many large bodies wait to be read.
    """
    if not compressed and b"".join(buffer.pieces[:2]).startswith(_GZIP_BEGINS):
        raise UnsupportedTypeError("Send the body with Content-Encoding: gzip, as it is compressed")
    plain = _short(buffer, limit, compressed=compressed)
    if plain is None:
        process = await buffer.wait_turn()
        return await process.read(buffer.pieces, model, limit, compressed=compressed)
    if len(plain) > THREAD_BYTES:
        return await asyncio.to_thread(read_model, plain, model)
    return read_model(plain, model)


def _short(buffer: BodyBuffer, limit: int, *, compressed: bool) -> bytes | None:
    """Return the plain body; None if it is long, or may be."""
    if buffer.size > (THREAD_BYTES if compressed else APART_BYTES):
        return None
    data = b"".join(buffer.pieces)
    if not compressed:
        return data
    try:
        return inflate(data, min(limit, APART_BYTES))
    except TooLargeError:
        if limit <= APART_BYTES:
            raise
        return None
