# SPDX-License-Identifier: Apache-2.0
"""What `hwci doctor` says of one thing. Who looks decides what is found; how it is shown stands in
`doctor.py`.
"""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How bad it is: a warning lets reports arrive, which may say less than they could."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of one thing, and what to do about it."""

    check: str
    state: State
    what: str
    fix: str = ""
