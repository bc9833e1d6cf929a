# SPDX-License-Identifier: Apache-2.0
"""Runs: their records, and the events of their streams (contract, "Runs and streams")."""

from datetime import datetime
from uuid import UUID

from hwci.contract.known_failures import KnownBy
from hwci.contract.runs.commits import ChangeList
from hwci.contract.shape import Open, sent, shape
from hwci.contract.vocabulary import (
    Outcome,
    RunEnding,
    RunEventType,
    RunStatus,
    Trigger,
    Verdict,
)

NEVER_REACHED = "Never reached the hardware"
PASSED_ON_A_RETRY = "passed on a retry"
ONLY_KNOWN = "only known failures"
TOOK_MORE = "took more than one attempt"


@shape
class RunOnBox:
    """A run on one box. `run_record_id`: its record in the list of runs. `ci_run`: the number that
    the CI shows, where `run_id` is another.
    """

    started_at: datetime
    run_id: int
    run_attempt: int
    run_record_id: UUID
    ci_run: int | None


@shape
class RunOfSuite(RunOnBox):
    """A run on one box, with its suite."""

    suite: str
    box_key: str


@shape
class OpenedRun:
    """Answer of `POST /api/box/runs`."""

    id: UUID


@shape
class TestCounts:
    """Tests of a run. `retried`: those that took more than one attempt."""

    __test__ = False  # pytest: not a test class

    total: int
    passed: int
    failed: int
    retried: int


@sent
class TestResult:
    """What a run reported of one test."""

    __test__ = False  # pytest: not a test class

    outcome: Open[Outcome]
    attempts: int
    verdict: Open[Verdict]


@shape
class Run:
    """A run on one box, live or reported; a report in parts is one record, its tests together
    (semantics, 1.9). Fields that only the report has are null until it arrives. `result`: in a list
    that was asked for a test (`testId`), what the run gave for it. `ending`: passed, if no test
    of it failed and the CI calls it a success.
    """

    id: UUID
    repo_key: str
    suite: str
    workflow: str
    run_id: int
    run_attempt: int
    box_key: str
    trigger: Open[Trigger]
    branch: str
    sha: str
    status: Open[RunStatus]
    started_at: datetime
    ended_at: datetime | None
    conclusion: str | None
    hello_ok: bool | None
    tests: TestCounts
    ci_run: int | None = None
    ci_url: str | None = None
    result: TestResult | None = None
    ending: Open[RunEnding] | None = None


@sent
class RunTest:
    """A test of a live run, as its box sent it. `outcome` null: it is running."""

    id: str
    outcome: Open[Outcome] | None
    attempts: int | None


@shape
class RunItem(RunTest):
    """One test of a run. In a live run, a test without an outcome is still running. `known`: the
    rule of a person by which its failure is known.
    """

    duration_s: float | None
    verdict: Open[Verdict] | None
    message: str | None = None
    board: str | None = None
    log_url: str | None = None
    known: KnownBy | None = None


@shape
class RerunOf:
    """The CI run whose result made CI start a run: its id, and its record on the same box, else on
    another one; null if no run of the product has that id.
    """

    run_id: int
    run_record_id: UUID | None


@shape
class RunDetail(Run):
    """A run record with all that was reported. `rerun_of`: null if its report does not tell.
    `known_failures`: so many of its failed tests are known.
    """

    items: tuple[RunItem, ...]
    covers_shas: tuple[str, ...]
    changes: ChangeList | None
    rerun_of: RerunOf | None = None
    known_failures: int = 0

    @property
    def has_only_known_failures(self) -> bool:
        """Whether tests failed, and each failure is known. Not sent: it follows from the rest."""
        return 0 < self.tests.failed == self.known_failures


@shape
class RunEvent:
    """An event of a stream. `run` comes with `run.started` and `run.reported`, `test` with
    `run.test`, and with it `tests`, the counts of its run as they are then. `id` resumes the
    stream after this event.
    """

    id: str
    type: Open[RunEventType]
    run_id: UUID
    at: datetime
    run: Run | None = None
    test: RunTest | None = None
    tests: TestCounts | None = None
