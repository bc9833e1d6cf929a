# SPDX-License-Identifier: Apache-2.0
"""How values are written: strict types, times with an offset, text that every store can hold.

This module decides the grammar of single values (contract, "Everywhere"; semantics, 1.7 and 10).
Which fields exist is decided by the models in the modules beside it. No error repeats its input,
and no field that is a `SECRET` is in a `repr`: both end up in logs.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from inspect import signature
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from hwci.wire import limits
from hwci.wire.hashes import HASH, is_hash
from hwci.wire.links import FAULT, is_address


class CiPart(BaseModel):
    """A part of what CI sends: snake_case as the spec writes it, strict, unknown fields ignored."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="ignore", allow_inf_nan=False, hide_input_in_errors=True
    )


class CiBody(CiPart):
    """A body that CI sends."""

    @model_validator(mode="before")
    @classmethod
    def _once(cls, value: object) -> object:
        """Turn JSON into values once: else each fault would hold its own copy of the body, and a
        faulty body of 64 MiB would cost gigabytes.
        """
        return value


class Body(BaseModel):
    """Any other body: camelCase, strict, unknown fields refused."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _few_unknown(cls, value: object) -> object:
        """Drop unknown fields beyond those that an answer lists: a body can have half a million."""
        if not isinstance(value, dict) or len(value) <= limits.ISSUES_MAX:
            return value
        known = {field.alias or name for name, field in cls.model_fields.items()}
        unknown = [name for name in value if name not in known]
        return {
            name: value[name]
            for name in (*unknown[: limits.ISSUES_MAX], *filter(known.__contains__, value))
        }


class Answer(BaseModel):
    """An answer of the server: camelCase; a reader ignores fields that it does not know. It can be
    made of a value with attributes of the same names.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        from_attributes=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        hide_input_in_errors=True,
    )


_CAN_LEAVE_OUT = "exclude_if" in signature(Field).parameters  # from pydantic 2.12 on


def left_out_if_none() -> Any:  # noqa: ANN401 - the default of a field of any type
    """Return the default of a field that an answer has only where it has a value. A client whose
    pydantic is too old for that writes null.
    """
    return Field(None, exclude_if=lambda value: value is None) if _CAN_LEAVE_OUT else Field(None)


WORD = Field(strict=False)
"""Of an enum: its text is enough in Python, as it is in JSON."""


class HealthAnswer(Answer):
    """Answer of `/healthz` and `/readyz`."""

    status: Literal["ok"] = "ok"


_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?"
    r" ?(?:([Zz])|([+-])(\d\d)(?::?([0-5]\d))?)",
    re.ASCII,
)
_OFFSETS = 64
_TIME_FAULT = "Should be an ISO 8601 date-time with an offset, such as 2026-01-31T09:30:00+01:00"


def parse_time(text: str) -> datetime:
    """Read a date-time with an offset, as people's tools write it (`date`, git, databases), as UTC,
    cut to the microsecond (semantics, 10). Raises
    `ValueError`: the text is no such time, or UTC cannot hold it within years 1 to 9999.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(_TIME_FAULT)
    year, month, day, hour, minute, second, fraction, zulu, *offset = match.groups()
    micros = 0 if fraction is None else int(fraction[:6].ljust(6, "0"))
    parts = (int(year), int(month), int(day), int(hour), int(minute), int(second or 0), micros)
    try:
        zone = UTC if zulu is not None else _offset(*offset)
        return datetime(*parts, tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError) as fault:
        raise ValueError(_TIME_FAULT) from fault


@lru_cache(maxsize=_OFFSETS)
def _offset(sign: str, hours: str, minutes: str | None) -> timezone:
    size = timedelta(hours=int(hours), minutes=int(minutes or 0))
    return timezone(size if sign == "+" else -size)


def _time(value: object) -> datetime:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return _in_utc(value)
    if not isinstance(value, str):
        raise PydanticCustomError("time", _TIME_FAULT)
    try:
        return parse_time(value)
    except ValueError as fault:
        raise PydanticCustomError("time", _TIME_FAULT) from fault


def write_time(instant: datetime) -> str:
    """Write an instant as UTC, to the microsecond where it has any (semantics, 10)."""
    return _in_utc(instant).isoformat().replace("+00:00", "Z")


def _in_utc(instant: datetime) -> datetime:
    return instant if instant.tzinfo is UTC else instant.astimezone(UTC)


def _storable(text: str) -> str:
    if "\0" in text:
        raise PydanticCustomError("nul", "Should not contain U+0000")
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise PydanticCustomError("surrogate", "Should not contain a lone surrogate")
    return text


def made_storable(text: str) -> str:
    """Return a text with U+FFFD in place of what `STORABLE` refuses."""
    return re.sub("[\0\ud800-\udfff]", "\ufffd", text)


class _ReadAsTime:
    """Read by `_time`, and written by pydantic itself, which writes UTC as `write_time` does: a
    page has a hundred instants, and to call Python for each takes longer than to write it.
    """

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(_time)


Time = Annotated[datetime, _ReadAsTime(), WithJsonSchema({"type": "string", "format": "date-time"})]
"""An instant: an aware `datetime` in UTC."""

STORABLE = AfterValidator(_storable)
"""No U+0000 and no lone surrogate. Put it after the limits of a string, so that these count
characters and are in the JSON schema.
"""

SECRET = Field(repr=False)

Text = Annotated[str, STORABLE]
Name = Annotated[str, Field(min_length=1, max_length=limits.NAME_MAX), STORABLE]
TestId = Annotated[str, Field(min_length=1, max_length=limits.TEST_ID_MAX), STORABLE]
Note = Annotated[str, Field(min_length=1, max_length=limits.NOTE_MAX), STORABLE]
"""Lengths count code points."""


def _one_star(text: str) -> str:
    if text.count("*") > 1:
        raise PydanticCustomError("pattern", "Should have one * at most")
    return text


NamePattern = Annotated[Name, AfterValidator(_one_star)]
"""A name, or a pattern of names: one `*` stands for any characters."""


def _address(text: str) -> str:
    if not is_address(text):
        raise PydanticCustomError("address", "{fault}", {"fault": FAULT})
    return text


Address = Annotated[str, Field(max_length=limits.URL_MAX), AfterValidator(_address)]
"""An address that people may be sent to."""

_SHA_FAULT = f"Should be {limits.SHA_MIN} to {limits.SHA_MAX} hexadecimal characters"


def _sha(value: object) -> str:
    if not isinstance(value, str) or not is_hash(value):
        raise PydanticCustomError("sha", "{fault}", {"fault": _SHA_FAULT})
    return value.lower()


Sha = Annotated[
    str, PlainValidator(_sha), WithJsonSchema({"type": "string", "pattern": f"^{HASH.pattern}$"})
]
"""A commit, compared in lower case and as a whole (semantics, 1.4)."""

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)


def read_id(text: str) -> UUID | None:
    """Read an id, a UUID as we write it; None for any other text, which is the id of nothing."""
    return UUID(text) if _ID.fullmatch(text) else None


Count = Annotated[int, Field(ge=0, le=limits.INTEGER_MAX)]
Positive = Annotated[int, Field(ge=1, le=limits.INTEGER_MAX)]
Attempts = Annotated[int, Field(ge=1, le=limits.ATTEMPTS_MAX)]
Seconds = Annotated[float, Field(ge=0, le=limits.DURATION_MAX)]


@dataclass(frozen=True, slots=True)
class OrNull:
    """`null` for an optional field is the field left out, which has a default (semantics, 1.7)."""

    default: object

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._read, handler(source))

    def _read(self, value: object) -> object:
        return self.default if value is None else value

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [handler(schema), {"type": "null"}]}
