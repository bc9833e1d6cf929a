# SPDX-License-Identifier: Apache-2.0
"""From bytes to a model: content type, size, pace, and who reads them (contract, "Everywhere").

This module is the only door from HTTP into the wire's models. It reads bytes and never asks the
framework for text or JSON: the charset would be the caller's choice, and a slow one. What the bytes
say is decided in `reading.py`.
"""

import asyncio
import re

from aiohttp import hdrs, web

from hwci.server.http.apart import read_apart
from hwci.server.http.faults import (
    TooLargeError,
    TooSlowError,
    UnsupportedTypeError,
    body_fault,
)
from hwci.server.http.large_bodies import Room
from hwci.server.http.reading import Model, inflate, read_model

_JSON = re.compile(
    r'application/json(\s*;\s*charset\s*=\s*("?)utf-8\2)?\s*', re.IGNORECASE | re.ASCII
)
BODY_SECONDS = 60.0
LARGE_SECONDS = 120.0
"""A body has arrived by then, or is not waited for. A large one has more bytes than these:"""
LARGE_BYTES = 1024 * 1024
PACE_SECONDS = 10.0
PACE_BYTES = 10 * 1024
"""So many bytes come within so many seconds, as long as a body is not there."""
THREAD_BYTES = 64 * 1024
"""More than this is read beside the event loop, which serves everybody."""
APART_BYTES = 256 * 1024
"""More than this is read in a process of its own: a single step of the parser would be felt."""


def require_json(request: web.Request, *, gzip: bool) -> bool:
    """Check how the body is written, before it is read; say whether it is compressed.

    Raises:
        UnsupportedTypeError: it is not JSON in UTF-8, or encoded otherwise.
    """
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


async def read_body(request: web.Request, limit: int, room: Room) -> None:
    """Read the body into its room; one that announces to be too large is not begun.

    Raises:
        OverloadedError: there is no room.
        TooLargeError: it is over its limit.
        TooSlowError: it does not arrive in time, or drips.
    """
    if (request.content_length or 0) > limit:
        raise TooLargeError(limit)
    clock = asyncio.get_running_loop().time
    begun, paced = clock(), 0
    till = begun + min(PACE_SECONDS, BODY_SECONDS)
    try:
        async with room.patience(till - begun) as due:
            while chunk := await request.content.readany():
                room.take(chunk)
                if room.size > limit:
                    raise TooLargeError(limit)
                if room.size - paced >= PACE_BYTES:
                    paced = room.size
                    till = min(clock() + PACE_SECONDS, begun + _seconds(room))
                    due.reschedule(till)
    except TimeoutError:
        raise _too_slow(_seconds(room), drips=till < begun + _seconds(room)) from None
    except (web.RequestPayloadError, ConnectionError) as fault:
        raise body_fault("The body could not be read to its end") from fault


def _seconds(room: Room) -> float:
    return LARGE_SECONDS if room.size > LARGE_BYTES else BODY_SECONDS


def _too_slow(seconds: float, *, drips: bool) -> TooSlowError:
    if drips:
        return TooSlowError(
            f"Less than {PACE_BYTES} bytes of the body came in {PACE_SECONDS:g} s; send it faster"
        )
    return TooSlowError(f"The body did not arrive within {seconds:g} s; send it faster or smaller")


async def parse(room: Room, model: type[Model], limit: int, *, compressed: bool) -> Model:
    """Turn a body into a model: here if it is short, else in a thread, or in a process of its own.

    Raises:
        InvalidRequestError: it breaks a rule of JSON, of gzip or of the model.
        TooLargeError: it inflates to more than the limit, or costs too much in another way.
        OverloadedError: too many large bodies wait to be read.
    """
    plain = _short(room, limit, compressed=compressed)
    if plain is None:
        await room.turn()
        return await read_apart(room.pieces, model, limit, compressed=compressed)
    if len(plain) > THREAD_BYTES:
        return await asyncio.to_thread(read_model, plain, model)
    return read_model(plain, model)


def _short(room: Room, limit: int, *, compressed: bool) -> bytes | None:
    """Return the plain body; None: it is long, or may be."""
    if room.size > (THREAD_BYTES if compressed else APART_BYTES):
        return None
    data = b"".join(room.pieces)
    if not compressed:
        return data
    try:
        return inflate(data, min(limit, APART_BYTES))
    except TooLargeError:
        if limit <= APART_BYTES:
            raise
        return None
