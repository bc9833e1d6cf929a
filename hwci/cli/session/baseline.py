# SPDX-License-Identifier: Apache-2.0
"""The file of known exceptions of a gate: `[[exception]]` tables, each with a reason and the last
day on which it holds. What an exception excepts is decided in `hwci.analysis.gate`.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from hwci.analysis.gate import can_be_excepted, product_name
from hwci.cli.session.connection import uuid_in
from hwci.client.explained import ExitCode, command_error, shortened, wrong_usage
from hwci.client.files import MEBIBYTE, read_whole
from hwci.contract.gate import KnownException
from hwci.said import counted
from hwci.wire.hashes import is_hash
from hwci.wire.nearest import hint

if TYPE_CHECKING:
    from hwci.contract.gate import Finding, GateAnswer

_UNREAD = "The baseline is not understood"
_FIX = "Correct it; `hwci gate --write-baseline FILE` writes one"
_TABLE = "exception"
_ABOUT = ("commit", "failure", "test")
_NEEDED = ("reason", "until")
_HOLDS = timedelta(days=30)
"""How long a written exception holds: long enough to mend a bench, too short to be forgotten."""
_HEAD = """\
# What `hwci gate --baseline` excepts: why, and up to which day (UTC). Write the true reason.
"""


def read_baseline(path: Path) -> list[KnownException]:
    """Read the exceptions of a file.

    Raises:
        ExplainedError: wrong usage: it cannot be read, or an exception is not whole.
    """
    try:
        content = tomllib.loads(read_whole(path, MEBIBYTE).decode("utf-8-sig"))
    except OSError as fault:
        cause = f"{path}: {fault.strerror}"
        raise wrong_usage("The baseline cannot be read", cause, _FIX) from fault
    except ValueError as fault:  # of TOML, or no text
        raise wrong_usage(_UNREAD, f"{path}: {fault}", _FIX) from fault
    tables = content.pop(_TABLE, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        content[_TABLE] = tables
    faults = [f"{key}: is not known; write [[{_TABLE}]] tables" for key in content]
    if not faults:
        faults = [
            f"{_TABLE} {number}: {fault}"
            for number, table in enumerate(tables, 1)
            for fault in _faults(table)
        ]
    if faults:
        cause = f"{path} has {counted(len(faults), 'fault')}"
        raise command_error(_UNREAD, cause, _FIX, ExitCode.USAGE, shortened(faults))
    return [_exception(table) for table in tables]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


_RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "commit": (lambda value: _is_text(value) and is_hash(value), "should be the whole hash"),
    "failure": (
        lambda value: _is_text(value) and uuid_in(value) is not None,
        "should be the whole id of a failure",
    ),
    "test": (_is_text, "should be the whole id of a test"),
    "product": (_is_text, "should be REPO:SUITE"),
    "reason": (_is_text, "should say why"),
    "until": (
        lambda value: type(value) is date,
        "should be a date without quotes, such as 2026-12-31",
    ),
}
"""The keys of an exception, in their order: whether a value is right, and what it should be."""


def _faults(table: Mapping[str, Any]) -> Iterator[str]:
    for key in table.keys() - _RULES.keys():
        yield f"{key}: is not known; {hint(key, _RULES)}"
    if len(table.keys() & {*_ABOUT}) != 1:
        yield f"should have one of {', '.join(_ABOUT)}"
    for key, (is_right, should) in _RULES.items():
        if key in table or key in _NEEDED:
            yield from () if is_right(table.get(key)) else [f"{key}: {should}"]


def _exception(table: Mapping[str, Any]) -> KnownException:
    failure = table.get("failure")
    commit = table.get("commit")
    return KnownException(
        commit=commit.lower() if commit else None,
        failure=UUID(failure) if failure else None,
        test=table.get("test"),
        product=table.get("product"),
        reason=table["reason"],
        until=table["until"],
    )


def write_baseline(path: Path, answer: "GateAnswer", today: date) -> int:
    """Write what speaks against a release, with the exceptions that already hold, to a new file;
    return how many they are.

    Raises:
        ExplainedError: it cannot be written, or is there already.
    """
    tables = dict.fromkeys(_tables(answer, today + _HOLDS))
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(_HEAD + "".join(f"\n[[{_TABLE}]]\n{table}" for table in tables))
    except FileExistsError as fault:
        cause = f"{path} is there already, with its own reasons"
        fix = "Name a new file, and take over what you want from it"
        raise wrong_usage("The baseline is not written", cause, fix) from fault
    except OSError as fault:
        cause = f"{path}: {fault.strerror}"
        raise command_error("The baseline is not written", cause, "Name another file") from fault
    return len(tables)


def _tables(answer: "GateAnswer", until: date) -> Iterator[str]:
    for finding in answer.excepted:
        if finding.exception is not None:
            yield _written(finding.exception)
    for finding in answer.against:
        if can_be_excepted(finding):
            yield _written(_new(finding, until))


def _new(finding: "Finding", until: date) -> KnownException:
    failure = next(iter(finding.failure_ids), None)
    return KnownException(
        commit=finding.sha if failure is None else None,
        failure=failure,
        product=None if finding.suite is None else product_name(finding),
        reason=finding.says,
        until=until,
    )


def _written(exception: KnownException) -> str:
    lines = [
        f"{key} = {_text(str(value))}\n"
        for key in _RULES
        if key != "until" and (value := getattr(exception, key)) is not None
    ]
    return "".join((*lines, f"until = {exception.until.isoformat()}\n"))


def _text(text: str) -> str:
    """Write a text as TOML does, which is as JSON does but for one sign."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
