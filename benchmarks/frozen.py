# SPDX-License-Identifier: Apache-2.0
"""How a report was parsed in November 2026, from its bytes to a model: the measure of what taking
one costs. It does what the server did, and in the way it did it. Never make it quicker.

Left out is what costs nothing for a valid report: the words of faults, other bodies, JSON schemas.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated, Any

import jiter
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainValidator,
    TypeAdapter,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from hwci.contract.vocabulary import Outcome, Trigger, Verdict

_INTEGER_MAX = 2**63 - 1
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?"
    r" ?(?:([Zz])|([+-])(\d\d)(?::?(\d\d))?)",
    re.ASCII,
)
_HASH = re.compile(r"[0-9a-fA-F]{7,64}")
_ADDRESS = re.compile(r"https?://[^/?#@\\]+(?:[/?#].*)?", re.IGNORECASE)


def parse(plain: bytes) -> "Report":
    """Return the report of a body."""
    value = jiter.from_json(plain, catch_duplicate_keys=True)
    read = _FORM.validate_json("null", context=value, by_alias=True, by_name=False)
    if rb"\u0000" in plain and rb"\u0000" in plain.replace(rb"\\", b""):
        raise ValueError
    holders = [value]
    while holders:
        holder = holders.pop()
        for item in holder.values() if isinstance(holder, dict) else holder:
            if isinstance(item, dict | list):
                holders.append(item)
            elif isinstance(item, float) and item - item != 0:
                raise ValueError
    return read


def _time(value: object) -> datetime:
    match = _TIME.fullmatch(str(value))
    if match is None:
        raise ValueError
    year, month, day, hour, minute, second = (int(match[group] or 0) for group in range(1, 7))
    micros = int((match[7] or "")[:6].ljust(6, "0"))
    local = datetime(year, month, day, hour, minute, second, micros, tzinfo=_offset(match))
    return local.astimezone(UTC)


def _offset(match: re.Match[str]) -> timezone:
    if match[8]:
        return UTC
    size = timedelta(hours=int(match[10]), minutes=int(match[11] or 0))
    return timezone(size if match[9] == "+" else -size)


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError
    return text


def _sha(value: object) -> str:
    if not isinstance(value, str) or _HASH.fullmatch(value) is None:
        raise ValueError
    return value.lower()


def _address(text: str) -> str:
    plain = text.isascii() and text.isprintable() and " " not in text
    if not plain or _ADDRESS.fullmatch(text) is None:
        raise ValueError
    return text


def _without_nulls(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, Mapping):
        return {key: field for key, field in value.items() if field is not None}
    return value


def _not_checked(_items: Sequence[object]) -> None:
    return


def _not_repeated(items: Sequence[object]) -> None:
    seen: set[str] = set()
    for item in items:
        test_id = item.get("id") if isinstance(item, dict) else getattr(item, "id", None)
        if not isinstance(test_id, str):
            continue
        if test_id in seen:
            raise ValueError
        seen.add(test_id)


@dataclass(frozen=True, slots=True)
class _List:
    """At most `most` elements, validated twenty at a time."""

    most: int
    check: Callable[[Sequence[object]], None] = _not_checked

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(self._validate, handler(source))

    def _validate(
        self, value: object, handler: Callable[[object], Iterable[object]]
    ) -> Iterable[object]:
        if not isinstance(value, list | tuple):
            return handler(value)
        seen = value[: self.most]
        if len(value) > self.most:
            raise ValueError
        self.check(seen)
        kept: list[object] = []
        for start in range(0, len(seen), 20):
            kept.extend(handler(seen[start : start + 20]))
        return kept


_STORABLE = AfterValidator(_storable)
_WORD = Field(strict=False)
_Name = Annotated[str, Field(min_length=1, max_length=255), _STORABLE]
_Time = Annotated[datetime, PlainValidator(_time)]
_Sha = Annotated[str, PlainValidator(_sha)]
_Count = Annotated[int, Field(ge=0, le=_INTEGER_MAX)]
_Positive = Annotated[int, Field(ge=1, le=_INTEGER_MAX)]


class _Body(BaseModel):
    model_config = ConfigDict(
        strict=True, frozen=True, extra="ignore", allow_inf_nan=False, hide_input_in_errors=True
    )

    @model_validator(mode="before")
    @classmethod
    def _once(cls, value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
        return value


class Item(_Body):
    """A test of a report."""

    id: Annotated[str, Field(min_length=1, max_length=512), _STORABLE]
    outcome: Annotated[Outcome, _WORD]
    attempts: _Positive
    duration_s: Annotated[float, Field(ge=0)]
    verdict: Annotated[Verdict, _WORD] = Verdict.UNKNOWN
    message: Annotated[str, Field(max_length=500), _STORABLE] | None = None

    _nulls = model_validator(mode="before")(_without_nulls)


class Commit(_Body):
    """A commit of the changes."""

    sha: _Sha
    subject: Annotated[str, Field(max_length=1_000), _STORABLE]
    committed_at: _Time | None = None
    files: Annotated[Sequence[Annotated[str, Field(min_length=1), _STORABLE]], _List(2_000)]
    files_truncated: bool = False

    _nulls = model_validator(mode="before")(_without_nulls)


class Changes(_Body):
    """The changes of a report."""

    base_sha: _Sha | None
    commits: Annotated[Sequence[Commit], _List(250)]
    truncated: bool | None = None


class Part(_Body):
    """The place of a part."""

    run_id: _Count
    parts: _Positive
    part: _Positive

    @field_validator("part")
    @classmethod
    def _within(cls, part: int, info: ValidationInfo) -> int:
        if part > info.data.get("parts", part):
            raise ValueError
        return part


class Report(_Body):
    """The report of an attempt of a run on a box."""

    repo_key: _Name
    workflow: _Name
    suite: _Name | None = None
    run_id: _Count
    run_attempt: _Positive
    rerun_of: _Count | None = None
    trigger: Annotated[Trigger, _WORD]
    branch: _Name
    sha: _Sha
    started_at: _Time
    ended_at: _Time
    conclusion: Annotated[str, Field(min_length=1, max_length=50), _STORABLE]
    hello_ok: bool
    box_key: _Name
    tests: Annotated[Sequence[Item], _List(1_000, _not_repeated)]
    covers_shas: Annotated[Sequence[_Sha], _List(1_000)] | None = None
    changes: Changes | None = None
    part_of: Part | None = None
    ci_run: _Count | None = None
    ci_url: Annotated[str, Field(max_length=2_000), AfterValidator(_address)] | None = None


def _parsed(_: object, info: ValidationInfo) -> Any:  # noqa: ANN401 - whatever JSON holds
    return info.context


_FORM: TypeAdapter[Report] = TypeAdapter(Annotated[Report, BeforeValidator(_parsed)])
