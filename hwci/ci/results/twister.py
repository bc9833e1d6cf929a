# SPDX-License-Identifier: Apache-2.0
"""`twister.json`, which holds more than the XML that Twister makes of it (spec, "Test item").

This module decides what each status of Twister means to a report. A blocked test never began: the
XML calls it a failure with the reason of another test; here it is one only if nothing else in its
suite says what happened, as when a board could not be flashed.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from hwci.ci.results.content import ContentError, lost_behind, one_line
from hwci.ci.results.json_fields import Name, Text, unlike
from hwci.ci.results.model import LOG_END_MAX, Entry, FileResults, file_results
from hwci.ci.results.names import stable_id
from hwci.ci.results.numbers import Seconds
from hwci.ci.results.places import TRIES_MAX, Place
from hwci.ci.results.times import stamps_of
from hwci.ci.results.verdicts import AnyRule, judge, never_built
from hwci.contract.vocabulary import Outcome, Verdict

SUITES = "testsuites"
"""The member by which `twister.json` is known."""
LISTS = ((SUITES,),)
"""The lists of which the elements count that are whole, where a file breaks off."""
FAILED = {"failed", "error", "started"}
"""`started`: the device went silent before the test ended."""
BLOCKED = "blocked"
PASSED = "passed"
_LOGS = ("twister_harness.log", "handler.log", "device.log")
"""The logs of a suite, that which says most first."""
DID_NOT_RUN = {BLOCKED, PASSED, "skipped", "filtered", "not run", None}
"""`passed` as well: a suite says so of a test that was only to be built."""


class _Case(BaseModel):
    identifier: Name
    status: str | None = None
    reason: Text | None = None
    execution_time: Seconds = 0.0
    log: Text | None = None


class _Suite(BaseModel):
    name: Name
    platform: Text = ""
    toolchain: Text = ""
    path: Text = ""
    dut: Text | None = None
    status: str | None = None
    reason: Text | None = None
    runnable: bool = True
    retries: Annotated[int, Field(ge=0, le=TRIES_MAX)] = 0
    execution_time: Seconds = 0.0
    log: Text | None = None
    testcases: Sequence[_Case] = ()


class _Environment(BaseModel):
    run_date: str = ""


class _Report(BaseModel):
    environment: _Environment = _Environment()
    testsuites: Sequence[_Suite]


def is_twister(document: object) -> bool:
    """Return whether a document is a `twister.json`."""
    return isinstance(document, dict) and SUITES in document


def twister_results(
    document: object, rules: Sequence[AnyRule], broken: ContentError | None, folder: Path
) -> FileResults:
    """Read a `twister.json`. `broken`: why it breaks off; then these are the suites before that.
    `folder`: the one of the file, below which Twister left the logs.

    Raises:
        ContentError: it is not as Twister writes it, or breaks off before its first suite has
            ended.
    """
    try:
        report = _Report.model_validate(document)
    except ValidationError as fault:
        raise unlike("Twister writes it", fault, "Give Twister's own file") from fault
    if broken is not None and not report.testsuites:
        raise broken
    lost_end = () if broken is None else (lost_behind(broken, len(report.testsuites), "suite"),)
    read = [(suite, list(_entries(suite, rules, folder))) for suite in report.testsuites]
    return file_results(
        [entry for _, own in read for entry in own],
        kind="twister.json",
        stamps=stamps_of(report.environment.run_date),
        duration_s=sum(suite.execution_time for suite in report.testsuites),
        faults=(
            *lost_end,
            *(_unexplained(suite) for suite, own in read if _is_unexplained(suite, own)),
        ),
    )


def _entries(suite: _Suite, rules: Sequence[AnyRule], folder: Path) -> Iterator[Entry]:
    name = PurePosixPath(suite.name).name
    cases = suite.testcases or (_Case(identifier=name, status=suite.status),)
    explained = any(case.status in FAILED for case in cases)
    # Twister tries a suite again, and does not say which of its tests failed before.
    earlier = (Verdict.UNKNOWN,) * suite.retries if len(cases) == 1 else ()
    log = _log_of(suite, folder) if suite.status in FAILED else ""
    place = Place((suite.platform,), board=suite.platform, unit=suite.dut or "", log=log)
    for case in cases:
        outcome = _outcome(case, suite, explained=explained)
        reason = (case.reason or suite.reason or "") if outcome is Outcome.FAIL else ""
        yield Entry(
            place=place,
            test_id=stable_id(name, case.identifier),
            duration_s=case.execution_time,
            run=outcome is not None,
            failed=(failed := outcome is Outcome.FAIL),
            unbuilt=never_built(reason),
            verdict=judge(reason, rules),
            message=reason,
            log_end=(case.log or suite.log or "")[-LOG_END_MAX:] if failed and not reason else "",
            earlier=earlier,
        )


def _log_of(suite: _Suite, folder: Path) -> str:
    """Return the path of the log of a suite, "" if it is not there. Twister names its folder after
    platform, toolchain, path and name, and leaves some out by version and option.
    """
    board = folder / suite.platform.replace("/", "_")
    source = suite.path.rpartition("../")[2]
    places = product((suite.toolchain, ""), (source, ""), _LOGS)
    paths = (board / toolchain / path / suite.name / log for toolchain, path, log in places)
    return next((str(path) for path in paths if path.is_file()), "")


def _is_unexplained(suite: _Suite, own: Sequence[Entry]) -> bool:
    """A suite may fail without a failed test: a device may crash after its tests."""
    return suite.status in FAILED and not any(entry.failed for entry in own)


def _unexplained(suite: _Suite) -> str:
    why = f" ({suite.reason[:100]!r})" if suite.reason else ""
    what = f"The suite {suite.name[:100]!r} failed{why}, and none of its tests did"
    return one_line(None, what, "Look at its log: what failed is not among the results")


def _outcome(case: _Case, suite: _Suite, *, explained: bool) -> Outcome | None:
    """Return the outcome of a test, None if it did not run. `explained`: another test of the suite
    says what happened.
    """
    # Older versions say nothing of a test that never began.
    never_began = case.status == BLOCKED or (case.status is None and suite.status in FAILED)
    if case.status in FAILED or (never_began and not explained):
        return Outcome.FAIL
    if case.status == PASSED and suite.runnable:
        return Outcome.PASS
    if case.status in DID_NOT_RUN:
        return None
    raise ContentError(
        f"The status of {case.identifier[:100]!r} is {str(case.status)[:40]!r}",
        "No Twister is known to write that; give its JUnit XML instead",
    )
