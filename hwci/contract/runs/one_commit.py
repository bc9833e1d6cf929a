# SPDX-License-Identifier: Apache-2.0
"""One commit: on which boxes it ran, and what caused each of its failures (contract, "Answers
beside the rules"; semantics, 15). Chances are between 0 and 1. `says` is the sentence that people
read.
"""

from datetime import datetime
from uuid import UUID

from hwci.contract.known_failures import KnownBy
from hwci.contract.runs.runs import RunOfSuite
from hwci.contract.scope import PeriodOfDays, TestName
from hwci.contract.shape import Open, shape
from hwci.contract.vocabulary import Whose

WHOSE = {
    Whose.THIS_CHANGE: "This change",
    Whose.TOO_FEW: "Not enough data",
    Whose.BASE: "Base branch",
    Whose.FLAKY: "Flaky test",
    Whose.BENCH: "Bench",
}
"""What people read of each."""

NOT_CHECKED = "No run of it reached the hardware with a test"


@shape
class RunOfCommit(RunOfSuite):
    """A run of the commit. `tests` is 0 if it never reached the hardware (`helloOk` false)."""

    branch: str
    hello_ok: bool
    tests: int
    failed: int


@shape
class FailureOfCommit(TestName):
    """A test that failed on the commit. `failureId`: its first failure there. `failedOn` and
    `passedOn`: the boxes of this commit. `chance`: how sure it is whose it is; null where that only
    counts. `since`: the first commit of the base branch on which it fails now, where it does, and
    `sinceAt` when that ran. `evidence`: what decided. `toSettle`: the run that would tell more;
    null if none would. `logUrl`: its log, else the page of its CI job; null if no run tells.
    `known`: the rule of a person by which it is known, on each of `failedOn`.
    """

    failure_id: UUID
    failed_on: tuple[str, ...]
    passed_on: tuple[str, ...]
    whose: Open[Whose]
    chance: float | None
    since: str | None
    since_at: datetime | None
    says: str
    evidence: str
    to_settle: str | None
    log_url: str | None = None
    known: KnownBy | None = None


@shape
class PassOfCommit(TestName):
    """A test that passes on the commit and fails now on its base branch, on these boxes."""

    boxes: tuple[str, ...]
    since: str
    since_at: datetime
    says: str


@shape
class WhoseCount:
    """So many tests failed on the commit for this reason."""

    whose: Open[Whose]
    failures: int


@shape
class OneCommit:
    """A commit, and the runs before it in the period that tell what caused its failures.
    `baseBranch`: the branch that its failures are compared with: the one that most merges went to;
    null: none was announced or run. `checked`: a run of it reached the hardware with a test.
    `failures`: first those of the change; it has the first of them, and `counts` counts all.
    `knownFailures`: so many of all are known. `unchecked`: the merges of the period that wait for
    hardware.
    """

    period: PeriodOfDays
    repo_key: str
    sha: str
    subject: str | None
    base_branch: str | None
    checked: bool
    runs: tuple[RunOfCommit, ...]
    failures: tuple[FailureOfCommit, ...]
    counts: tuple[WhoseCount, ...]
    passes: tuple[PassOfCommit, ...]
    unchecked: int
    known_failures: int = 0
