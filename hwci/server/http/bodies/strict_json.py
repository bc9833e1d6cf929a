# SPDX-License-Identifier: Apache-2.0
"""Parsing JSON, and refusing what JSON parsers accept and we do not (contract, "Everywhere"): a
name twice in one object, at any depth; numbers that are not finite, and U+0000, even in an ignored
field; more values than a report has. Two readers could read such a body as two different things.
"""

import json
import re
from collections import Counter
from math import isfinite
from typing import Any

import jiter

from hwci.server.http.refusals import InvalidRequestError, TooManyValuesError, body_fault
from hwci.wire import limits
from hwci.wire.errors import Issue, shown
from hwci.wire.json_values import STRING, VALUES_MAX, has_many_values

DEPTH_MAX = 200
"""Nested lists and objects of a body: the parser goes no deeper."""

_STEP = re.compile(STRING + rb"(\s*+:)?|[,\[{\]}]", re.DOTALL)
_NUL = rb"\u0000"
_BACKSLASH = rb"\\"
"""An escaped backslash; a backslash that is left without these begins an escape."""

_AFTER_NAME = b'":'
_SPACES = b" \t\n\r"

_Path = list[str | int]


def read_json(plain: bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value of a JSON document.

    Raises:
        TooManyValuesError: it holds more values than any report; found before it is parsed.
        InvalidRequestError: it is not JSON, or an object has a name twice.
    """
    if has_many_values(plain):
        raise TooManyValuesError(VALUES_MAX)
    return _read_strictly(plain)


def read_quickly(plain: bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value of a JSON document, in which an object may have a name twice: `has_names`
    rules that out, else `read_json` tells. Raises as that.
    """
    if has_many_values(plain):
        raise TooManyValuesError(VALUES_MAX)
    try:
        return jiter.from_json(plain)
    except ValueError:
        return _read_strictly(plain)  # a name given twice may come before the fault


def has_names(plain: bytes, count: int) -> bool:
    """Return whether a JSON document surely has no other names than so many that are known, each of
    them once.
    """
    # Without spaces a name is followed by a colon at once. Text may hold such a pair, too, which
    # only makes more of them.
    return plain.translate(None, _SPACES).count(_AFTER_NAME) == count


def _read_strictly(plain: bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    try:
        return jiter.from_json(plain, catch_duplicate_keys=True)
    except ValueError as fault:
        if str(fault).startswith("Detected duplicate key"):
            raise InvalidRequestError(_repeats_in(plain)) from None
        raise body_fault(f"Invalid JSON: {fault}") from None


def refuse_nul(plain: bytes) -> None:
    """Raise `InvalidRequestError` for U+0000, in any field."""
    if _NUL in plain and _NUL in plain.replace(_BACKSLASH, b""):
        raise body_fault("Text should not hold U+0000")


def refuse_infinite(value: object) -> None:
    """Raise `InvalidRequestError` for a number that is not finite, in any field."""
    holders: list[Any] = [value]
    while holders:
        holder = holders.pop()
        for item in holder.values() if type(holder) is dict else holder:
            kind = type(item)  # exact for what the parser makes; a report has thousands of items
            if kind is dict or kind is list:
                holders.append(item)
            elif kind is float and not isfinite(item):
                raise body_fault("Invalid JSON: a number is not finite, or too large to be")


def _repeats_in(plain: bytes) -> list[Issue]:
    """Find names that occur twice, up to as many faults as an answer lists; outer ones first.

    What comes after the first of them was never parsed, and may not be JSON.
    """
    paths: list[_Path] = []
    path: _Path = []
    names: list[Counter[str] | None] = []
    for step in _STEP.finditer(plain):
        sign = step[0]
        if step[2] is not None and names and (known := names[-1]) is not None:
            name = _name(step[1])
            path[-1] = shown(name)
            if known[name] == 1:
                paths.append(["body", *path])
            known[name] += 1
        elif sign in b"[{":
            path.append(0)
            names.append(Counter() if sign == b"{" else None)
        elif sign in b"]}" and names:
            path.pop()
            names.pop()
        elif sign == b"," and names and names[-1] is None:
            path[-1] = int(path[-1]) + 1
        if len(paths) == limits.ISSUES_MAX or len(path) > DEPTH_MAX:
            break
    return [Issue(path=place, message="Should be given once") for place in sorted(paths, key=len)]


def _name(raw: bytes) -> str:
    try:
        name = json.loads(b'"%b"' % raw)
    except ValueError:
        raise body_fault("Invalid JSON") from None
    return str(name)
