# SPDX-License-Identifier: Apache-2.0
"""Whether a release may go out: what was required of its commits, and what speaks against it
(contract, "Command line", "Gates"). No route answers it: `hwci gate` writes it.
"""

from datetime import date
from enum import StrEnum
from uuid import UUID

from hwci.contract.scope import PeriodOfDays, ProductKey
from hwci.contract.shape import shape


class Requirement(StrEnum):
    """What can be required of a release."""

    CHECKED = "checked"
    NO_OPEN_BUG = "no-open-bug"
    NO_PENDING = "no-pending"
    BOXES = "boxes"
    REACHED = "reached"


@shape
class KnownException:
    """An exception of a baseline: of a merge by its `commit`, or of failures by the id of one
    (`failure`) or by their `test`; with a `product`, `REPO:SUITE`, of that one only. It holds to
    the end of the day `until`, in UTC.
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
    `runs`: commands of the runs that would settle it; without any, `to_do` says what would. `sha`:
    of the merge or commit, or the last one on which a failure was seen. `failure_ids`: of the
    failures of a test that count as one, the first of them first. `exception`: the one of the
    baseline; it has expired where the finding still speaks against the release.
    """

    requirement: Requirement | None
    says: str
    to_do: str | None = None
    runs: tuple[str, ...] = ()
    repo_key: str | None = None
    suite: str | None = None
    sha: str | None = None
    branch: str | None = None
    box_key: str | None = None
    test_id: str | None = None
    failure_ids: tuple[UUID, ...] = ()
    exception: KnownException | None = None


@shape
class Required:
    """A requirement. `least`: its number, null of one without. `asks`: what it is, in words."""

    requirement: Requirement
    least: float | None
    asks: str
    met: bool


@shape
class BranchEnd:
    """The last commit of a release on a branch."""

    repo_key: str
    branch: str
    sha: str


@shape
class GateAnswer:
    """Whether a release may go out. `commits`: which ones, in words. `ends`: the last of them on
    each branch that received a merge; `merges`: how many were announced. `against`: all that speaks
    against it; `excepted`: what a baseline excepts; `unused`: its exceptions of nothing.
    `to_fill_in`: what in the commands is for the reader.
    """

    passed: bool
    commits: str
    product: ProductKey | None
    period: PeriodOfDays
    ends: tuple[BranchEnd, ...]
    merges: int
    requirements: tuple[Required, ...]
    against: tuple[Finding, ...]
    excepted: tuple[Finding, ...]
    unused: tuple[KnownException, ...]
    to_fill_in: str
