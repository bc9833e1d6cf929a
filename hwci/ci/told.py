# SPDX-License-Identifier: Apache-2.0
"""A value and who told it: a report is only as good as what a bench can say of itself, so each
field can be asked where it came from.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Told(Generic[Value]):
    """A value, and who told it in words that a person reads: `--sha`, `HWCI_SHA`, `hwci.toml`,
    `GITHUB_SHA`, `git`, `state file`, `default`.
    """

    value: Value
    by: str
