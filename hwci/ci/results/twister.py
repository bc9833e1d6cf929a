# SPDX-License-Identifier: Apache-2.0
"""`twister.json`, which knows more than the XML that Twister makes of it (spec, "Test item").

This module decides what each status of Twister's is to a report. A blocked test never began: the
XML calls it a failure with the reason of another test; here it is one only when nothing else in
its suite tells of what happened, as when a board could not be flashed.
"""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from hwci.ci.git.commits import storable
from hwci.ci.results.content import ContentError, one_line
from hwci.ci.results.entries import Entry, attempts_of, told_apart
from hwci.ci.results.model import FileResults, stable_id
from hwci.ci.results.times import Seconds, moment
from hwci.ci.results.verdicts import Rule, judge, never_built
from hwci.engine.vocabulary import Outcome, Verdict

FAILED = {"failed", "error", "started"}
"""`started`: the device went silent before the test came to its end."""
BLOCKED = "blocked"
PASSED = "passed"
DID_NOT_RUN = {BLOCKED, PASSED, "skipped", "filtered", "not run", None}
"""`passed` as well: so says a suite of a test that was to be built only."""
RETRIES_MAX = 1_000

Text = Annotated[
    str, BeforeValidator(lambda said: storable(said) if isinstance(said, str) else said)
]
"""Its own words, or a device's, which may hold what no text does."""
Name = Annotated[Text, Field(min_length=1)]


class _Case(BaseModel):
    identifier: Name
    status: str | None = None
    reason: Text | None = None
    execution_time: Seconds = 0.0


class _Suite(BaseModel):
    name: Name
    platform: Text = ""
    status: str | None = None
    reason: Text | None = None
    runnable: bool = True
    retries: Annotated[int, Field(ge=0, le=RETRIES_MAX)] = 0
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
    read = [(suite, list(_entries(suite, rules))) for suite in report.testsuites]
    entries = told_apart([entry for _, own in read for entry in own])
    return FileResults(
        faults=tuple(_unexplained(suite) for suite, own in read if _is_unexplained(suite, own)),
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


def _is_unexplained(suite: _Suite, own: Sequence[Entry]) -> bool:
    """Tell whether a suite failed and none of its tests did: a device may crash after them."""
    return suite.status in FAILED and not any(entry.failed for entry in own)


def _unexplained(suite: _Suite) -> str:
    why = f" ({suite.reason[:100]!r})" if suite.reason else ""
    what = f"The suite {suite.name[:100]!r} failed{why}, and none of its tests did"
    return one_line(None, what, "Look at its log: what failed is not among the results")


def _outcome(case: _Case, suite: _Suite, *, told: bool) -> Outcome | None:
    """Give what became of a test; None: it did not run. `told`: another tells what happened.

    Raises:
        ContentError: its status is none that Twister has.
    """
    # Older ones say of a test that never began nothing at all.
    never_began = case.status == BLOCKED or (case.status is None and suite.status in FAILED)
    if case.status in FAILED or (never_began and not told):
        return Outcome.FAIL
    if case.status == PASSED and suite.runnable:
        return Outcome.PASS
    if case.status in DID_NOT_RUN:
        return None
    raise ContentError(
        f"The status of {case.identifier[:100]!r} is {str(case.status)[:40]!r}",
        "No Twister is known to write that; give its JUnit XML instead",
    )
