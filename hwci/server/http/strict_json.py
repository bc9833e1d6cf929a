# SPDX-License-Identifier: Apache-2.0
"""What a JSON parser lets pass and we do not (contract, "Everywhere"): a name twice in one object,
at any depth; numbers that are not finite and U+0000, be it in a field that is ignored; more values
than a report has.

Two readers of one body could read two different things, or one of them a thing that is not there.
This module looks at bytes that are JSON already, and does not know what they say.
"""

import json
from collections import Counter
from collections.abc import Iterator
from math import isinf
from typing import Any

from hwci.server.http.faults import InvalidRequestError, TooManyValuesError, body_fault
from hwci.wire import limits
from hwci.wire.errors import Issue

VALUES_MAX = 2_000_000
"""The largest legal report has half a million. Each value takes up to 200 bytes once it is read:
unbounded, 64 MiB of `[],[],[]` would take gigabytes.
"""
_STEP = 1024 * 1024
"""Bytes looked at before another thread may run."""

_NUL = rb"\u0000"
_BACKSLASH = rb"\\"
"""As JSON escapes it. What is left without them begins an escape."""

_Pairs = list[tuple[str, Any]]
_Path = tuple[str | int, ...]


def refuse_many_values(plain: bytes) -> None:
    """Count what may begin a value, before it is read; in a string it counts too, which is cheap.

    Raises:
        TooManyValuesError: there are more than any report has.
    """
    found = 0
    for start in range(0, len(plain), _STEP):
        end = start + _STEP
        found += sum(plain.count(sign, start, end) for sign in (b",", b"[", b"{"))
        if found > VALUES_MAX:
            raise TooManyValuesError(VALUES_MAX)


def refuse_ambiguous(plain: bytes) -> None:
    """Read valid JSON once more, for what its first reader let pass. Nothing read is kept.

    Raises:
        InvalidRequestError: a name stands twice in an object, a number is none, or text holds NUL.
    """
    if _NUL in plain and _NUL in plain.replace(_BACKSLASH, b""):
        raise body_fault("Text should not hold U+0000")
    repeats = 0

    def look(pairs: _Pairs) -> None:
        nonlocal repeats
        repeats += len(pairs) - len(dict(pairs))

    _read(plain, look)
    if repeats:
        issues = [
            Issue(path=["body", *path], message="Should be given once")
            for path in _repeats_in(_read(plain, _Repeating), ())
        ]
        raise InvalidRequestError(issues[: limits.ISSUES_MAX])


def _read(plain: bytes, make: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    try:
        # Integers are not made: thousands of digits are slow to read, and more are refused.
        return json.loads(
            plain.decode(),
            object_pairs_hook=make,
            parse_int=len,
            parse_float=_refuse_endless,
            parse_constant=_refuse_constant,
        )
    except ValueError as fault:
        raise body_fault("Invalid JSON") from fault


def _refuse_constant(name: str) -> None:
    raise body_fault(f"Invalid JSON: {name} is no number")


def _refuse_endless(number: str) -> None:
    if isinf(float(number)):
        raise body_fault("Invalid JSON: a number is too large to be finite")


class _Repeating(dict[str, Any]):
    """An object, and the names that stand in it more than once."""

    def __init__(self, pairs: _Pairs) -> None:
        super().__init__(pairs)
        times = Counter(name for name, _ in pairs)
        self.repeated = [name for name, count in times.items() if count > 1]


def _repeats_in(value: Any, path: _Path) -> Iterator[_Path]:  # noqa: ANN401 - whatever JSON holds
    """Find where names repeat; as deep as the first reader goes, which is not deep."""
    if isinstance(value, _Repeating):
        yield from ((*path, _shown(name)) for name in value.repeated)
        for name, member in value.items():
            yield from _repeats_in(member, (*path, _shown(name)))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _repeats_in(item, (*path, index))


def _shown(name: str) -> str:
    """A name may be as long as the body."""
    return name[: limits.NAME_MAX]
