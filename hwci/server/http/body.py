# SPDX-License-Identifier: Apache-2.0
"""From bytes to a model: content type, size, inflation, JSON, field rules (contract, "Everywhere").

This module is the only door from HTTP into the wire's models. It reads bytes and never asks the
framework for text or JSON: the charset would be the caller's choice, and a slow one.
"""

import asyncio
import re
import zlib
from typing import TypeVar

from aiohttp import hdrs, web
from pydantic import BaseModel, ValidationError

from hwci.server.http.faults import (
    InvalidRequestError,
    TooLargeError,
    TooSlowError,
    UnsupportedTypeError,
    body_fault,
)
from hwci.server.http.large_bodies import ARRIVAL_SECONDS, LARGE_BYTES, Room
from hwci.server.http.strict_json import refuse_ambiguous, refuse_many_values
from hwci.wire.errors import issues_of

Model = TypeVar("Model", bound=BaseModel)

_JSON = re.compile(
    r'application/json(\s*;\s*charset\s*=\s*("?)utf-8\2)?\s*', re.IGNORECASE | re.ASCII
)
BODY_SECONDS = 60.0
"""A body that is not large has arrived by then, or is not waited for."""
THREAD_BYTES = 64 * 1024
"""More than this is read in a thread: a megabyte of the smallest values takes most of a second."""
_GZIP_WINDOW = zlib.MAX_WBITS | 16


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


async def read_body(request: web.Request, limit: int, room: Room, *, compressed: bool) -> bytes:
    """Read the body, with room for it where it is or may become large.

    Raises:
        OverloadedError: there is no room.
        TooLargeError: it is over its limit.
        TooSlowError: it did not arrive in time.
    """
    if limit <= LARGE_BYTES:
        return await _arrived(request, limit, BODY_SECONDS)
    announced = request.content_length
    if announced is not None and announced <= LARGE_BYTES:
        data = await _arrived(request, limit, BODY_SECONDS)
    else:
        if announced is None or announced <= limit:
            await room.claim()
        data = await _arrived(request, limit, ARRIVAL_SECONDS)
    if compressed:
        await room.claim()
    return data


async def _arrived(request: web.Request, limit: int, seconds: float) -> bytes:
    """Read the body within so many seconds, however busily it drips."""
    try:
        async with asyncio.timeout(seconds):
            return await read_bytes(request, limit)
    except TimeoutError as fault:
        raise TooSlowError(seconds) from fault


async def read_bytes(request: web.Request, limit: int) -> bytes:
    """Read the body. Raises `TooLargeError`, by its announced length before it is read."""
    if (request.content_length or 0) > limit:
        raise TooLargeError(limit)
    body = bytearray()
    try:
        while chunk := await request.content.readany():
            body += chunk
            if len(body) > limit:
                raise TooLargeError(limit)
    except (web.RequestPayloadError, ConnectionError) as fault:
        raise body_fault("The body could not be read to its end") from fault
    return bytes(body)


async def parse(data: bytes, model: type[Model], limit: int, *, compressed: bool) -> Model:
    """Turn bytes into a model, in a thread when there are many of them."""
    if compressed or len(data) > THREAD_BYTES:
        return await asyncio.to_thread(_parse, data, model, limit, compressed)
    return _parse(data, model, limit, compressed)


def _parse(data: bytes, model: type[Model], limit: int, compressed: bool) -> Model:
    plain = inflate(data, limit) if compressed else data
    refuse_many_values(plain)
    try:
        # By the names of the contract alone: the models' own names are for Python.
        parsed = model.model_validate_json(plain, by_alias=True, by_name=False)
    except ValidationError as fault:
        # The fault holds the values, which may be secrets: it goes no further.
        raise InvalidRequestError(issues_of(fault, "body")) from None
    refuse_ambiguous(plain)
    return parsed


def inflate(data: bytes, limit: int) -> bytes:
    """Inflate one gzip member and nothing after it, never to more than the limit.

    Raises:
        TooLargeError: it inflates to more.
        InvalidRequestError: it is not one whole gzip member.
    """
    inflator = zlib.decompressobj(_GZIP_WINDOW)
    try:
        plain = inflator.decompress(data, limit + 1)
    except zlib.error as fault:
        raise body_fault("The body is not in gzip format") from fault
    if len(plain) > limit:
        raise TooLargeError(limit)
    if not inflator.eof or inflator.unused_data:
        raise body_fault("The body should be one whole gzip member, with nothing after it")
    return plain
