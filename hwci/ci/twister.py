# SPDX-License-Identifier: Apache-2.0
"""`twister.json`, which knows more than the XML that Twister makes of it (spec, "Test item").

This module decides what each status of Twister's is to a report. A blocked test never began: the
XML calls it a failure with the reason of another test; here it is one only when nothing else in
its suite tells of what happened, as when a board could not be flashed.
"""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ValidationError

from hwci.ci.content import ContentError
from hwci.ci.entries import Entry, attempts_of, told_apart
from hwci.ci.results import FileResults, stable_id
from hwci.ci.times import moment, seconds
from hwci.ci.verdicts import Rule, judge, never_built
from hwci.engine.vocabulary import Outcome, Verdict

FAILED = {"failed", "error", "started"}
"""`started`: the device went silent before the test came to its end."""
BLOCKED = "blocked"
PASSED = "passed"
DID_NOT_RUN = {BLOCKED, PASSED, "skipped", "filtered", "not run", None}
"""`passed` as well: so says a suite of a test that was to be built only."""

Seconds = Annotated[float, BeforeValidator(lambda said: seconds(str(said)))]


class _Case(BaseModel):
    identifier: str
    status: str | None = None
    reason: str | None = None
    execution_time: Seconds = 0.0


class _Suite(BaseModel):
    name: str
    platform: str = ""
    status: str | None = None
    reason: str | None = None
    runnable: bool = True
    retries: int = 0
    execution_time: Seconds = 0.0
    testcases: Sequence[_Case] = ()


class _Environment(BaseModel):
    run_date: str = ""


class _Report(BaseModel):
    environment: _Environment = _Environment()
    testsuites: Sequence[_Suite]


def twister_results(document: object, rules: Sequence[Rule]) -> FileResults:
    """Read what `twister.json` held.

    Raises:
        ContentError: it is not as Twister writes it.
    """
    try:
        report = _Report.model_validate(document)
    except ValidationError as fault:
        first = fault.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ContentError(
            f"It is not as Twister writes it: {place}: {first['msg']}", "Give Twister's own file"
        ) from fault
    entries = told_apart([entry for suite in report.testsuites for entry in _entries(suite, rules)])
    return FileResults(
        attempts=attempts_of(entries),
        skipped=sum(not entry.run for entry in entries),
        unbuilt=sum(entry.unbuilt for entry in entries),
        started_at=moment(report.environment.run_date),
        duration_s=sum(suite.execution_time for suite in report.testsuites),
    )


def _entries(suite: _Suite, rules: Sequence[Rule]) -> Iterator[Entry]:
    name = PurePosixPath(suite.name).name
    cases = suite.testcases or (_Case(identifier=name, status=suite.status),)
    told = any(case.status in FAILED for case in cases)
    # Twister tries a suite again, and does not say which of its tests failed before.
    earlier = (Verdict.UNKNOWN,) * suite.retries if len(cases) == 1 else ()
    for case in cases:
        outcome = _outcome(case, suite, told=told)
        reason = (case.reason or suite.reason or "") if outcome is Outcome.FAIL else ""
        yield Entry(
            group=suite.platform,
            test_id=stable_id(name, case.identifier),
            duration_s=case.execution_time,
            run=outcome is not None,
            failed=outcome is Outcome.FAIL,
            unbuilt=never_built(reason),
            verdict=judge(reason, rules),
            earlier=earlier,
        )


def _outcome(case: _Case, suite: _Suite, *, told: bool) -> Outcome | None:
    """Give what became of a test; None: it did not run. `told`: another tells what happened.

    Raises:
        ContentError: its status is none that Twister has.
    """
    if case.status in FAILED or (case.status == BLOCKED and not told):
        return Outcome.FAIL
    if case.status == PASSED and suite.runnable:
        return Outcome.PASS
    if case.status in DID_NOT_RUN:
        return None
    raise ContentError(
        f"The status of {case.identifier[:100]!r} is {str(case.status)[:40]!r}",
        "No Twister is known to write that; give its JUnit XML instead",
    )
