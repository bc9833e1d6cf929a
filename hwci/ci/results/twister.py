# SPDX-License-Identifier: Apache-2.0
"""`twister.json`, which holds more than the XML that Twister makes of it (spec, "Test item").

This module decides what each status of Twister means to a report. A blocked test never began: the
XML calls it a failure with the reason of another test; here it is one only if nothing else in its
suite says what happened, as when a board could not be flashed.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from hwci.ci.results.content import ContentError, lost_behind, one_line
from hwci.ci.results.model import (
    Entry,
    FileResults,
    file_results,
)
from hwci.ci.results.names import stable_id
from hwci.ci.results.numbers import Seconds
from hwci.ci.results.places import TRIES_MAX, Place
from hwci.ci.results.times import stamps_of
from hwci.ci.results.verdicts import AnyRule, judge, never_built
from hwci.contract.vocabulary import Outcome, Verdict
from hwci.wire.base import made_storable

SUITES = "testsuites"
"""The member by which `twister.json` is known."""
FAILED = {"failed", "error", "started"}
"""`started`: the device went silent before the test ended."""
BLOCKED = "blocked"
PASSED = "passed"
DID_NOT_RUN = {BLOCKED, PASSED, "skipped", "filtered", "not run", None}
"""`passed` as well: a suite says so of a test that was only to be built."""

Text = Annotated[
    str, BeforeValidator(lambda text: made_storable(text) if isinstance(text, str) else text)
]
"""Twister's words, or a device's, which may hold what no report can."""
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
    retries: Annotated[int, Field(ge=0, le=TRIES_MAX)] = 0
    execution_time: Seconds = 0.0
    testcases: Sequence[_Case] = ()


class _Environment(BaseModel):
    run_date: str = ""


class _Report(BaseModel):
    environment: _Environment = _Environment()
    testsuites: Sequence[_Suite]


def twister_results(document: object, rules: Sequence[AnyRule]) -> FileResults:
    """Read a whole `twister.json`.

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
    return file_results(
        [entry for _, own in read for entry in own],
        kind="twister.json",
        stamps=stamps_of(report.environment.run_date),
        duration_s=sum(suite.execution_time for suite in report.testsuites),
        faults=tuple(_unexplained(suite) for suite, own in read if _is_unexplained(suite, own)),
    )


def _entries(suite: _Suite, rules: Sequence[AnyRule]) -> Iterator[Entry]:
    name = PurePosixPath(suite.name).name
    cases = suite.testcases or (_Case(identifier=name, status=suite.status),)
    explained = any(case.status in FAILED for case in cases)
    # Twister tries a suite again, and does not say which of its tests failed before.
    earlier = (Verdict.UNKNOWN,) * suite.retries if len(cases) == 1 else ()
    for case in cases:
        outcome = _outcome(case, suite, explained=explained)
        reason = (case.reason or suite.reason or "") if outcome is Outcome.FAIL else ""
        yield Entry(
            place=Place((suite.platform,), board=suite.platform),
            test_id=stable_id(name, case.identifier),
            duration_s=case.execution_time,
            run=outcome is not None,
            failed=outcome is Outcome.FAIL,
            unbuilt=never_built(reason),
            verdict=judge(reason, rules),
            message=reason,
            earlier=earlier,
        )


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


def broken_twister_results(text: str, fault: ContentError, rules: Sequence[AnyRule]) -> FileResults:
    """Read the suites that are complete before a `twister.json` breaks off.

    Raises:
        ContentError: there is none, and this is `fault`; or they are not as Twister writes them.
    """
    parts = _whole_parts(text)
    suites = parts.get(SUITES)
    if not isinstance(suites, list) or not suites:
        raise fault
    read = twister_results(parts, rules)
    return replace(read, faults=(lost_behind(fault, len(suites), "suite"), *read.faults))


_DECODER = json.JSONDecoder()
_SIGNS = {sign: re.compile(rf"[ \t\r\n]*{re.escape(sign)}[ \t\r\n]*") for sign in "{:,[]"}


def _whole_parts(text: str) -> dict[str, object]:
    """Read an object up to where it breaks off: the members that are whole, and of the list of
    suites the elements that are.
    """
    fields: dict[str, object] = {}
    try:
        at = _behind("{", text, 0)
        while text.startswith('"', at):
            name, at = _DECODER.raw_decode(text, at)
            at = _behind(":", text, at)
            if name == SUITES and text.startswith("[", at):
                fields[SUITES] = suites = list[object]()
                at = _take_elements(suites, text, at)
            else:
                fields[name], at = _DECODER.raw_decode(text, at)
            at = _behind(",", text, at)
    except json.JSONDecodeError:
        pass  # here it breaks off
    return fields


def _take_elements(elements: list[object], text: str, at: int) -> int:
    """Take the elements of a list that begins here. Return where it ends."""
    at = _behind("[", text, at)
    while (end := _SIGNS["]"].match(text, at)) is None:
        element, at = _DECODER.raw_decode(text, at)
        elements.append(element)
        if _SIGNS["]"].match(text, at) is None:
            at = _behind(",", text, at)
    return end.end()


def _behind(sign: str, text: str, at: int) -> int:
    match = _SIGNS[sign].match(text, at)
    if match is None:
        raise json.JSONDecodeError(f"Expecting {sign}", text, at)
    return match.end()
