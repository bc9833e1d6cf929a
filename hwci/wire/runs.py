# SPDX-License-Identifier: Apache-2.0
"""Runs on the wire: what a box sends of a live run, run records, and the events of streams
(contract, "Boxes", "Runs and streams").
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from hwci.contract.vocabulary import Outcome, RunEnding, RunEventType, RunStatus, Trigger, Verdict
from hwci.wire import limits
from hwci.wire.accounts import Secret
from hwci.wire.base import (
    WORD,
    Address,
    Answer,
    Attempts,
    Body,
    Count,
    Name,
    Sha,
    TestId,
    Text,
    Time,
)
from hwci.wire.lists import ListRule
from hwci.wire.queries import BoxQuery, Flag, Id, PageQuery, Query, RunNumber, ShaStart
from hwci.wire.reports import Changes, RunStart


class RunHead(RunStart):
    """Body of `POST /api/box/runs`: what is known of a run report at its start, with the
    same field names. The caller is the box.
    """

    covers_shas: Annotated[Sequence[Sha], ListRule(limits.COVERS_MAX)] | None = None
    changes: Changes | None = None
    ci_run: Count | None = None
    ci_url: Address | None = None


class OpenedRun(Answer):
    """Answer of `POST /api/box/runs`."""

    id: UUID


class TestEvent(Body):
    """A test began (no outcome) or ended."""

    __test__ = False  # pytest: not a test class

    type: Literal["test"]
    id: TestId
    outcome: Annotated[Outcome, WORD] | None = None
    attempts: Attempts | None = None


class RunEvents(Body):
    """Body of `POST /api/box/runs/{runId}/events`."""

    events: Annotated[Sequence[TestEvent], ListRule(limits.RUN_EVENTS_MAX)]


class RunsQuery(PageQuery, BoxQuery):
    """Query of the list of runs. `sha` is the beginning of a commit; `ciRun` the number that the CI
    shows: `ci_run` of a report, else its `run_id`. `helloOk`, `ending` and `testId` leave
    out runs without a report; `retryPass` and `failedAttempt` are about that test. The runs began
    between `from` and `to`, both included.
    """

    repo_key: Name | None = None
    suite: Name | None = None
    branch: Name | None = None
    sha: ShaStart | None = None
    ci_run: RunNumber | None = None
    status: RunStatus | None = None
    ending: RunEnding | None = None
    hello_ok: Flag | None = None
    test_id: TestId | None = None
    retry_pass: Flag | None = None
    failed_attempt: Flag | None = None
    start: Time | None = Field(None, alias="from")
    end: Time | None = Field(None, alias="to")

    @field_validator("retry_pass", "failed_attempt")
    @classmethod
    def _of_a_test(cls, flag: bool | None, info: ValidationInfo) -> bool | None:
        # An invalid `testId` is not in `info`, and has an error of its own.
        if flag is not None and info.data.get("test_id", flag) is None:
            raise PydanticCustomError("test", "Needs `testId`: it is about one test of a run")
        return flag

    @field_validator("end")
    @classmethod
    def _not_before_its_start(cls, end: datetime | None, info: ValidationInfo) -> datetime | None:
        start = info.data.get("start")
        if start is not None and end is not None and end < start:
            raise PydanticCustomError("period", "Should not be before `from`")
        return end


class StreamQuery(Query):
    """Query of both streams: `run_id` follows one run record."""

    run_id: Id | None = None


class TestCounts(Answer):
    """Tests of a run. `retried`: those that took more than one attempt."""

    __test__ = False  # pytest: not a test class

    total: int
    passed: int
    failed: int
    retried: int


class TestResult(Answer):
    """What a run reported of one test."""

    __test__ = False  # pytest: not a test class

    outcome: Outcome
    attempts: int
    verdict: Verdict


class RunAnswer(Answer):
    """A run record. Fields that only the report has are null until it arrives. `result`: in a list
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
    trigger: Trigger
    branch: str
    sha: str
    status: RunStatus
    started_at: Time
    ended_at: Time | None
    conclusion: str | None
    hello_ok: bool | None
    tests: TestCounts
    ci_run: int | None = None
    ci_url: str | None = None
    result: TestResult | None = None
    ending: RunEnding | None = None


class RunItem(Answer):
    """One test of a run. In a live run, a test without an outcome is still running."""

    id: str
    outcome: Outcome | None
    attempts: int | None
    duration_s: float | None
    verdict: Verdict | None
    message: str | None = None


class RunCommit(Answer):
    """One commit of a run's changes."""

    sha: str
    subject: str
    committed_at: Time | None
    files: Sequence[str]
    files_truncated: bool


class RunChanges(Answer):
    """Commits since the previous run of the same workflow on the same branch."""

    base_sha: str | None
    commits: Sequence[RunCommit]
    truncated: bool


class RerunOf(Answer):
    """The CI run whose result made CI start a run: its id, and its record on the same box, else on
    another one; null if no run of the product has that id.
    """

    run_id: int
    run_record_id: UUID | None


class RunDetail(RunAnswer):
    """A run record with all that was reported. `rerun_of`: null if its report does not tell."""

    items: Sequence[RunItem]
    covers_shas: Sequence[str]
    changes: RunChanges | None
    rerun_of: RerunOf | None = None


class RunTest(Answer):
    """A test of a live run, as its box sent it."""

    id: str
    outcome: Outcome | None
    attempts: int | None


class RunEvent(Answer):
    """An event of a stream. `run` comes with `run.started` and `run.reported`, `test` with
    `run.test`, and with it `tests`, the counts of its run as they are then. `id` resumes the
    stream after this event.
    """

    id: str
    type: RunEventType
    run_id: UUID
    at: Time
    run: RunAnswer | None = None
    test: RunTest | None = None
    tests: TestCounts | None = None


class StreamSignIn(Body):
    """First frame of a WebSocket that was opened without a credential in a header."""

    type: Literal["auth"]
    token: Secret
    last_event_id: Text | None = None
