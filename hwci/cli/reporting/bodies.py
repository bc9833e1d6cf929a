# SPDX-License-Identifier: Apache-2.0
"""What the commands of a CI job send: a body from flags or from a file, checked here before it is
sent (contract, "Command line"). How it is sent is decided in `delivery.py`.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hwci.cli.terminal.options import flag_of, said
from hwci.client.explained import ErrorMessage, ExitCode, ExplainedError, fault_lines, wrong_usage
from hwci.wire import limits

if TYPE_CHECKING:
    from hwci.ci.sourced import Sourced
    from hwci.wire.base import CiBody
    from hwci.wire.errors import Issue

Model = TypeVar("Model", bound="CiBody")
Read = TypeVar("Read")


def from_job(
    model: type[Model], fields: Mapping[str, object], told: "Mapping[str, Sourced[Any]]"
) -> Model:
    """Build a body from what is told of a job. `told`: who tells it.

    Raises:
        ExplainedError: wrong usage: a field breaks its rule.
    """
    from pydantic import ValidationError

    from hwci.wire.errors import issues_of

    try:
        return model.model_validate(
            {name: value for name, value in fields.items() if value is not None}
        )
    except ValidationError as fault:
        raise bad_fields(issues_of(fault, "fields"), told) from fault


def bad_fields(issues: "Sequence[Issue]", told: "Mapping[str, Sourced[Any]]") -> ExplainedError:
    """Give the error of fields that break their rules, each with who tells it."""
    lines = [f"{_told_at(issue.path[1:], told)}: {issue.message}" for issue in issues]
    return wrong_usage(
        "What is told makes no report that a server takes",
        "; ".join(lines),
        "Correct what is named; hwci env shows who tells what",
    )


def _told_at(path: "Sequence[str | int]", told: "Mapping[str, Sourced[Any]]") -> str:
    """Name who tells the field at fault, the flag that would say it, and the place within it."""
    name = str(path[0])
    flag, by = flag_of(name), told[name].source if name in told else None
    beside = [f"or say {flag}"] if by not in {None, flag} else []
    beside += [".".join(map(str, path))] if len(path) > 1 else []
    return f"{by or flag} ({', '.join(beside)})" if beside else by or flag


def variable(name: str) -> str | None:
    """Read a setting of the environment; an empty one is none."""
    return os.environ.get(name) or None


def from_file(read: Callable[[bytes], Read], path: str, beside: Mapping[str, object]) -> Read:
    """Read a whole body from a file, or from stdin for `-`; flags of fields may not stand beside.

    `read` makes of its JSON what is to be sent.

    Raises:
        ExplainedError: wrong usage: it cannot be read, or breaks the field rules, as a flag may.
    """
    from pydantic import ValidationError

    from hwci.wire.errors import issues_of

    doubled = [name for name, value in beside.items() if value not in (None, [], False)]
    if doubled:
        raise wrong_usage(
            "--body is the whole body",
            f"{flag_of(doubled[0])} stands beside it",
            "Leave one of them out",
        )
    said(path, "--body")
    try:
        return read(read_bytes(path))
    except ValidationError as fault:
        raise ExplainedError(
            ErrorMessage(
                f"The body in {path} breaks the field rules",
                "nothing was sent",
                "Correct what is named above",
                ExitCode.USAGE,
                details=tuple(fault_lines(issues_of(fault, "body"))),
            )
        ) from fault


def read_bytes(path: str) -> bytes:
    """Read a file, or stdin for `-`: at most what a server takes.

    Raises:
        ExplainedError: wrong usage: it cannot be read, or holds more.
    """
    from hwci.ci.bounded import read_at_most, read_whole

    try:
        if path == "-":
            return read_at_most(sys.stdin.buffer, limits.RUN_REPORT_BYTES)
        return read_whole(Path(path), limits.RUN_REPORT_BYTES)
    except OSError as fault:
        name = "stdin" if path == "-" else path
        why = fault.strerror or str(fault)
        fix = "Name another file, or - for stdin"
        raise wrong_usage(f"{name} cannot be read", why, fix) from fault
