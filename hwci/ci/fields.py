# SPDX-License-Identifier: Apache-2.0
"""The fields of a report as people say them: by which flag, by which variable, in which words
(contract, "Command line").
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hwci.engine.vocabulary import Trigger


@dataclass(frozen=True, slots=True)
class Field:
    """A field by the spec's name. `read` makes its value of a text, or raises ValueError."""

    name: str
    flag: str
    variable: str
    read: Callable[[str], Any]
    meaning: str


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]+", text):
        raise ValueError("it should be a whole number")
    return int(text)


def _trigger(text: str) -> Trigger:
    try:
        return Trigger(text)
    except ValueError as fault:
        raise ValueError("it should be merge, nightly or manual") from fault


def _hello(text: str) -> bool:
    if text not in {"ok", "failed"}:
        raise ValueError("it should be ok or failed")
    return text == "ok"


def _time(text: str) -> object:
    from hwci.wire.base import parse_time

    return parse_time(text)


def listed(text: str) -> tuple[str, ...]:
    """Read a list as `git rev-list` prints it, or with commas."""
    return tuple(part for part in re.split(r"[\s,]+", text) if part)


def _field(name: str, read: Callable[[str], Any], meaning: str, flag: str = "") -> Field:
    flag = flag or f"--{name.replace('_', '-')}"
    return Field(name, flag, f"HWCI_{flag[2:].replace('-', '_').upper()}", read, meaning)


FIELDS: tuple[Field, ...] = (
    _field("repo_key", str, "Name of the repository; the same value in all reports."),
    _field("workflow", str, "Name of the CI workflow."),
    _field("suite", str, "Product."),
    _field("run_id", _whole, "CI run id."),
    _field("run_attempt", _whole, "Attempt of the CI run, from 1."),
    _field("trigger", _trigger, "What started the run: merge, nightly or manual."),
    _field("branch", str, "Branch."),
    _field("sha", str, "Commit, as a full hash."),
    _field("started_at", _time, "Start of the run, with an offset."),
    _field("ended_at", _time, "End of the run, with an offset."),
    _field("conclusion", str, "Result as the CI says it."),
    _field("hello_ok", _hello, "Did the connectivity check before the tests pass?", "--hello"),
    _field("box_key", str, "Box or bench that ran the tests.", "--box"),
    _field("covers_shas", listed, "Every commit of the push that started the run."),
    _field("merged_at", _time, "Time of the merge, with an offset."),
    _field("before_sha", str, "Where the branch stood before the push that started the run."),
    _field("base_sha", str, "Commit of the run before this one that tested."),
    _field("merge_branches", listed, "Branches on which a push is a merge."),
)
"""In the order of the spec; the last three are no fields of a report, but lead to some."""

BY_NAME = {field.name: field for field in FIELDS}
