# SPDX-License-Identifier: Apache-2.0
"""Bodies that are checked before they are sent, from fields or from a file (contract, "Command
line").
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from hwci.ci.bounded import read_bytes
from hwci.ci.fields import BY_NAME
from hwci.ci.sourced import Sourced
from hwci.client.explained import (
    ExitCode,
    ExplainedError,
    command_error,
    fault_lines,
    not_empty,
    wrong_usage,
)
from hwci.wire.errors import issues_of

Read = TypeVar("Read")


def flag_of(field: str) -> str:
    """Return the flag that sets a field of a body."""
    if field in BY_NAME:
        return BY_NAME[field].flag
    return "--junit" if field == "tests" else f"--{field.replace('_', '-')}"


def bad_fields(fault: ValidationError, sources: Mapping[str, Sourced[Any]]) -> ExplainedError:
    """Return the error of fields that break their rules, each with where it comes from."""
    issues = issues_of(fault, "fields")
    lines = [f"{_source(issue.path[1:], sources)}: {issue.message}" for issue in issues]
    return wrong_usage(
        "The fields make no valid report",
        "; ".join(lines),
        "Correct what is named; hwci env shows where each field comes from",
    )


def _source(path: Sequence[str | int], sources: Mapping[str, Sourced[Any]]) -> str:
    """Return where the field at fault comes from, the flag for it, and the place within it."""
    name = str(path[0])
    flag, by = flag_of(name), sources[name].source if name in sources else None
    beside = [f"or set {flag}"] if by not in {None, flag} else []
    beside += [".".join(map(str, path))] if len(path) > 1 else []
    return f"{by or flag} ({', '.join(beside)})" if beside else by or flag


def from_file(read: Callable[[bytes], Read], path: str, beside: Mapping[str, object]) -> Read:
    """Read a whole body from a file, or from stdin for `-`. `read` makes of its JSON what is to be
    sent; `beside`: flags of fields, which may not stand beside it.

    Raises:
        ExplainedError: wrong usage: it cannot be read, or breaks the field rules, as a flag may.
    """
    doubled = [name for name, value in beside.items() if value not in (None, [], False)]
    if doubled:
        raise wrong_usage(
            "--body is the whole body",
            f"{flag_of(doubled[0])} stands beside it",
            "Leave one of them out",
        )
    not_empty(path, "--body")
    try:
        return read(read_bytes(path))
    except ValidationError as fault:
        raise command_error(
            f"The body in {path} breaks the field rules",
            "nothing was sent",
            "Correct what is named above",
            ExitCode.USAGE,
            details=tuple(fault_lines(issues_of(fault, "body"))),
        ) from fault
