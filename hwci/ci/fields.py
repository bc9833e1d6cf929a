# SPDX-License-Identifier: Apache-2.0
"""The fields of a report as people set them: flag, variable and text
(contract, "Command line").
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from hwci.contract.vocabulary import Trigger
from hwci.wire import limits

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Field:
    """A field by the spec's name. `read` turns text into its value, or into None where the text
    leaves it open; it raises ValueError.
    """

    name: str
    flag: str
    variable: str
    read: Callable[[str], Any]
    meaning: str


def whole(least: int) -> Callable[[str], int]:
    """Return a reader of whole numbers that a report may hold; it raises ValueError."""
    most = limits.INTEGER_MAX

    def read(text: str) -> int:
        number = int(text) if re.fullmatch(rf"[0-9]{{1,{len(str(most))}}}", text) else None
        if number is None or not least <= number <= most:
            raise ValueError(f"it should be a whole number from {least} to {most}")
        return number

    return read


RUN_ID = whole(0)
ATTEMPT = whole(1)


def _trigger(text: str) -> Trigger:
    try:
        return Trigger(text)
    except ValueError as fault:
        raise ValueError("it should be merge, nightly or manual") from fault


HELLO_WORDS = {
    "ok": True,
    "success": True,
    "failed": False,
    "failure": False,
    "skipped": None,
    "cancelled": None,
}
"""Results of the hello check as people write them, and of a step of GitHub; None: it did not end.
"""


def hello(text: str) -> bool | None:
    """Return whether the check before the tests passed, None if the word leaves it open; raises
    ValueError.
    """
    if text.lower() not in HELLO_WORDS:
        raise ValueError("it should be ok or failed")
    return HELLO_WORDS[text.lower()]


def _time(text: str) -> object:
    from hwci.wire.base import parse_time

    return parse_time(text)


def listed(text: str) -> tuple[str, ...]:
    """Return the parts of a list separated by blanks, as `git rev-list` prints it, or by commas."""
    return tuple(part for part in re.split(r"[\s,]+", text) if part)


def _field(name: str, read: Callable[[str], Any], meaning: str, flag: str = "") -> Field:
    flag = flag or f"--{name.replace('_', '-')}"
    return Field(name, flag, f"HWCI_{flag[2:].replace('-', '_').upper()}", read, meaning)


FIELDS: tuple[Field, ...] = (
    _field("repo_key", str, "Name of the repository; the same value in all reports."),
    _field("workflow", str, "Name of the CI workflow."),
    _field("suite", str, "Product."),
    _field("run_id", RUN_ID, "CI run id."),
    _field("run_attempt", ATTEMPT, "Attempt of the CI run, from 1."),
    _field("trigger", _trigger, "What started the run: merge, nightly or manual."),
    _field("branch", str, "Branch."),
    _field("sha", str, "Commit: a full hash, or a name that git has for it."),
    _field("started_at", _time, "Start of the run, with an offset."),
    _field("ended_at", _time, "End of the run, with an offset."),
    _field("conclusion", str, "Result as the CI reports it."),
    _field("hello_ok", hello, "Did the connectivity check before the tests pass?", "--hello"),
    _field("box_key", str, "Box or bench that ran the tests.", "--box"),
    _field("covers_shas", listed, "Every commit of the push that started the run."),
    _field("ci_run", RUN_ID, "Number that the CI shows for the run, if its id is another."),
    _field("ci_url", str, "Page of the CI job, for people."),
    _field("rerun_of", RUN_ID, "CI run id of the run whose result made CI start this one."),
    _field("merged_at", _time, "Time of the merge, with an offset."),
    _field("before_sha", str, "Commit of the branch before the push that started the run."),
    _field("base_sha", str, "Commit that the previous run of this workflow tested."),
    _field("merge_branches", listed, "Branches where a push counts as a merge."),
)
"""In the order of the spec. The last three are not fields of a report, but help to find some."""

BY_NAME = {field.name: field for field in FIELDS}


def in_order(fields: Mapping[str, Value]) -> dict[str, Value]:
    """Return fields in the order of the spec, without names that are not fields."""
    return {name: fields[name] for name in BY_NAME if name in fields}
