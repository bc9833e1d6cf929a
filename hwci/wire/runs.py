# SPDX-License-Identifier: Apache-2.0
"""Runs on the wire: what a box sends of a live run, run records, and the events of streams
(contract, "Boxes", "Runs and streams").
"""

from collections.abc import Sequence
from datetime import datetime
from json import dumps
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from hwci.contract.runs.runs import RunEvent
from hwci.contract.vocabulary import Outcome, RunEnding, RunStatus
from hwci.wire import limits
from hwci.wire.accounts import Secret
from hwci.wire.base import (
    WORD,
    Address,
    Attempts,
    Body,
    Count,
    Name,
    Sha,
    TestId,
    Text,
    Time,
)
from hwci.wire.codec import plain
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


def event_json(event: RunEvent) -> str:
    """Return an event as JSON. What it does not have is left out; what a run does not have yet is
    null.
    """
    sent = {name: value for name, value in plain(event).items() if value is not None}
    return dumps(sent, ensure_ascii=False, separators=(",", ":"))


class StreamSignIn(Body):
    """First frame of a WebSocket that was opened without a credential in a header."""

    type: Literal["auth"]
    token: Secret
    last_event_id: Text | None = None
