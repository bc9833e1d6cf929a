# SPDX-License-Identifier: Apache-2.0
"""The verdict on a release: what was required of its commits, and what speaks against it (contract,
"Command line", "Gate"). No route answers it: `hwci gate` writes it.
"""

from datetime import date
from enum import StrEnum
from uuid import UUID

from hwci.contract.scope import PeriodOfDays, ProductKey
from hwci.contract.shape import Open, shape


class Requirement(StrEnum):
    """What can be required of a release."""

    CHECKED = "checked"


@shape
class KnownException:
    """An exception of a baseline: of the merges of a `commit`, or of failures by the id of one
    (`failure`) or by their `test`; with a `product`, of that one only. It holds to the end of the
    day `until`, in UTC.
    """

    commit: str | None = None
    failure: UUID | None = None
    test: str | None = None
    product: str | None = None
    reason: str
    until: date


@shape
class Finding:
    """What speaks against a release. `requirement` null: too little is known, whatever is required.
    `run`: the command of the run that would settle it; null: `to_do` says what would.
    `sha`, `repo_key` and `suite` are of the merge or commit; with `failure_id` of the failure's
    last commit. `exception`: the known one, if it is in the baseline.
    """

    requirement: Open[Requirement] | None
    says: str
    run: str | None = None
    to_do: str | None = None
    repo_key: str | None = None
    suite: str | None = None
    sha: str | None = None
    branch: str | None = None
    box_key: str | None = None
    test_id: str | None = None
    failure_id: UUID | None = None
    exception: KnownException | None = None


@shape
class Required:
    """A requirement. `least`: its number, null of one without. `asks`: what it is, in words."""

    requirement: Open[Requirement]
    least: float | None
    asks: str
    met: bool


@shape
class Verdict:
    """The verdict. `commits`: which ones, as asked. `end`: the last of them, null if unknown.
    `merges`: those announced of them. `against`: all that speaks against it, with expired
    exceptions; `excepted`: what a baseline excepts; `unused`: its exceptions of nothing.
    `to_fill_in`: what in the commands is for the reader.
    """

    passed: bool
    commits: str
    product: ProductKey | None
    period: PeriodOfDays
    branches: tuple[str, ...]
    end: str | None
    merges: int
    requirements: tuple[Required, ...]
    against: tuple[Finding, ...]
    excepted: tuple[Finding, ...]
    unused: tuple[KnownException, ...]
    to_fill_in: str
