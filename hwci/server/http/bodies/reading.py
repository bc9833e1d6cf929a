# SPDX-License-Identifier: Apache-2.0
"""From the bytes of a body to a model: inflation, JSON, field rules (contract, "Everywhere").

`body.py` decides whether this runs in the event loop, a thread or a process.
"""

import zlib
from functools import cache
from typing import Annotated, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, TypeAdapter, ValidationError, ValidationInfo

from hwci.server.http.bodies.strict_json import (
    has_names,
    read_json,
    read_quickly,
    refuse_infinite,
    refuse_nul,
)
from hwci.server.http.refusals import InvalidRequestError, TooLargeError, body_fault
from hwci.wire.errors import issues_of
from hwci.wire.reports import RunReport

Model = TypeVar("Model", bound=BaseModel)

_SHORT_BYTES = 64 * 1024
"""A report up to this may be parsed twice. Most are parsed once, without a search for names given
twice or for numbers that are not finite, as a field has read each of their names (ADR 0008).
"""
_GZIP_WINDOW = zlib.MAX_WBITS | 16


def read_model(plain: bytes, model: type[Model]) -> Model:
    """Return the model of a body that is not compressed.

    Raises:
        InvalidRequestError: it breaks the rules of JSON, or those of the model.
        TooManyValuesError: it holds more values than any report.
    """
    quickly = model is RunReport and len(plain) <= _SHORT_BYTES
    value = read_quickly(plain) if quickly else read_json(plain)
    try:
        # By the names of the contract alone: the models' own names are for Python.
        read = _form(model).validate_json("null", context=value, by_name=False)
    except ValidationError as fault:
        if quickly:
            read_json(plain)  # names given twice come before other faults
        # The fault holds the values, which may be secrets: it goes no further.
        raise InvalidRequestError(issues_of(fault, "body")) from None
    # Then no name was given twice, and each number was found finite by its field.
    all_read = quickly and isinstance(read, RunReport) and has_names(plain, read.names)
    if quickly and not all_read:
        read_json(plain)
    refuse_nul(plain)
    if not all_read:
        refuse_infinite(value)
    return cast("Model", read)


@cache
def _form(model: type[BaseModel]) -> TypeAdapter[BaseModel]:
    """Return a validator for parsed JSON, passed as the context: it applies the rules of JSON,
    where an enum or an id is text, which strict rules for Python values would refuse.
    """

    def parsed(_: object, info: ValidationInfo) -> object:
        return info.context

    return TypeAdapter(Annotated[model, BeforeValidator(parsed)])  # type: ignore[arg-type]  # of a variable


def inflate(data: bytes, limit: int) -> bytes:
    """Inflate one gzip member, never to more than `limit` bytes.

    Raises:
        TooLargeError: it inflates to more.
        InvalidRequestError: it is not one whole member with nothing after it.
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
