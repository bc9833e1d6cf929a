# SPDX-License-Identifier: Apache-2.0
"""The shape of every error, and how a model's faults become `issues` (spec, "Errors").

This module decides paths and messages. The server decides the status.
"""

import re
from collections.abc import Sequence
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from hwci.wire import limits
from hwci.wire.base import Answer

Place = TypeVar("Place", str, int, str | int)

NO_SUCH_PARAMETER = "There is no such parameter"
"""How the message of an issue begins whose query parameter does not exist."""
_MEMBER = re.compile(r"<\w+\.\w+: ('\w+')>")
"""A value of an enum, as Python shows it beside its name."""


class Issue(Answer):
    """One fault of a request: where (from `body` or `query` on) and what."""

    path: Sequence[str | int]
    message: str


class ErrorBody(Answer):
    """Every error answer. `issues` only for validation errors."""

    status_code: int
    error: str
    message: str
    issues: Sequence[Issue] | None = None


def message_of(error: ErrorDetails) -> str:
    """Return the message of a fault in the words of JSON."""
    if error["type"] == "model_type":
        return "Input should be an object"
    return _MEMBER.sub(r"\1", error["msg"]) if error["type"] == "literal_error" else error["msg"]


def issues_of(fault: ValidationError, part: str) -> list[Issue]:
    """List a model's faults, at most `limits.ISSUES_MAX`, with paths that begin with `part`.

    The values at fault are not repeated: they may be secrets, or large.
    """
    errors = fault.errors(include_url=False, include_context=False, include_input=False)
    return [
        Issue(path=[part, *map(shown, error["loc"])], message=message_of(error))
        for error in errors[: limits.ISSUES_MAX]
    ]


def shown(place: Place) -> Place:
    """Return an element of a path for an answer: short, and without a lone surrogate."""
    if isinstance(place, int):
        return place
    return place[: limits.NAME_MAX].encode(errors="replace").decode()
