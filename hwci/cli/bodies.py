# SPDX-License-Identifier: Apache-2.0
"""What the commands of a CI job send: a body from flags or from a file, checked here before it is
sent (contract, "Command line"). How it is sent is decided in `delivery.py`.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hwci.cli.failing import CommandError, Failing, fault_lines, wrong_usage
from hwci.cli.options import flag_of

if TYPE_CHECKING:
    from hwci.wire.base import CiBody
    from hwci.wire.errors import Issue

Model = TypeVar("Model", bound="CiBody")
Read = TypeVar("Read")


def from_flags(model: type[Model], fields: Mapping[str, object]) -> Model:
    """Build a body from flags that bear the names of its fields.

    Raises:
        CommandError: wrong usage: a flag is missing or breaks its field's rule.
    """
    from pydantic import ValidationError

    from hwci.wire.errors import issues_of

    try:
        return model.model_validate(
            {name: value for name, value in fields.items() if value is not None}
        )
    except ValidationError as fault:
        raise bad_flags(issues_of(fault, "flags")) from fault


def bad_flags(issues: "Sequence[Issue]") -> CommandError:
    """Give the error of flags that are missing or break the rules of their fields."""
    lines = [f"{_flag_at(issue.path[1:])}: {issue.message}" for issue in issues]
    return wrong_usage("The flags do not make a whole body", "; ".join(lines), "See --help")


def _flag_at(path: "Sequence[str | int]") -> str:
    """Name the flag at fault, and the place within what it gives."""
    flag = flag_of(str(path[0]))
    return flag if len(path) == 1 else f"{flag} ({'.'.join(map(str, path))})"


def variable(name: str) -> str | None:
    """Read a setting of the environment; an empty one is none."""
    return os.environ.get(name) or None


def from_file(read: Callable[[bytes], Read], path: str, beside: Mapping[str, object]) -> Read:
    """Read a whole body from a file, or from stdin for `-`; flags of fields may not stand beside.

    `read` makes of its JSON what is to be sent.

    Raises:
        CommandError: it cannot be read, or breaks the field rules.
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
    try:
        return read(read_bytes(path))
    except ValidationError as fault:
        raise CommandError(
            Failing(
                f"The body in {path} breaks the field rules",
                "nothing was sent",
                "Correct what is named above",
                details=tuple(fault_lines(issues_of(fault, "body"))),
            )
        ) from fault


def read_bytes(path: str) -> bytes:
    """Read a file, or stdin for `-`.

    Raises:
        CommandError: it cannot be read.
    """
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as fault:
        raise CommandError(
            Failing(f"{path} cannot be read", fault.strerror or str(fault), "Check the path")
        ) from fault
