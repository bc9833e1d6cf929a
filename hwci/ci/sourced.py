# SPDX-License-Identifier: Apache-2.0
"""A value and where it came from, so that a person can ask for the source of each field."""

from dataclasses import dataclass
from typing import Generic, TypeVar

DEFAULT = "default"

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Sourced(Generic[Value]):
    """A value and its source in words that a person reads: `--sha`, `HWCI_SHA`, `hwci.toml`,
    `GITHUB_SHA`, `git`, `state file`, `default`.
    """

    value: Value
    source: str
