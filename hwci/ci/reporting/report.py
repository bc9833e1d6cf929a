# SPDX-License-Identifier: Apache-2.0
"""Run reports of what a job knows and its result files hold (spec, "Run report"): one per box, in
parts where it has more tests than a report may hold (semantics, 1.9; ADR 0005).

This module decides the values of what is not given, the times and `hello_ok`, and where a report is
cut. `changes` and `covers_shas` go with each part, so that each is judged as the whole would be. A
report that was written whole is cut the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import ValidationError
from pydantic_core import from_json

from hwci.ci.job import Job, hashed_run_id
from hwci.ci.reporting.bodies import bad_fields
from hwci.ci.reporting.results import Results
from hwci.ci.reporting.under_test import UnderTest
from hwci.ci.results.model import BoxResults
from hwci.client.explained import ExplainedError
from hwci.wire import limits
from hwci.wire.lists import ListRule
from hwci.wire.reports import PartOf, RunReport, TestItem, repeated_tests

Test = TypeVar("Test")


@dataclass(frozen=True, slots=True)
class Part(Generic[Test]):
    """The tests of one part. `part_of` None: the report is whole."""

    run_id: int
    tests: Sequence[Test]
    part_of: PartOf | None


def head_of(job: Job, tested: UnderTest, conclusion: str | None) -> dict[str, Any]:
    """Return the known fields that are the same for each box of a run. `conclusion`: that of the
    tests.
    """
    fields = {name: job.value(name) for name in RunReport.model_fields if name != "box_key"}
    fields["conclusion"] = fields["conclusion"] or conclusion
    fields |= {"covers_shas": tested.covers_shas or None, "changes": tested.changes}
    return {name: value for name, value in fields.items() if value is not None}


def reports_of(
    job: Job, results: Results, tested: UnderTest
) -> tuple[list[RunReport], ExplainedError | None]:
    """Return one report per box, in parts where it is large; and the error of a box that can have
    none, which delays no other.
    """
    head = head_of(job, tested, results.conclusion())
    reports: list[RunReport] = []
    failed: ExplainedError | None = None
    for box_key, of_box in results.boxes.items():
        try:
            reports += run_reports(head, {box_key: of_box})
        except ValidationError as fault:
            # The box of a result file does not come from the job.
            sources = {
                name: field
                for name, field in job.fields.items()
                if name != "box_key" or field.value == box_key
            }
            failed = failed or bad_fields(fault, sources)
    if failed is not None and not reports:
        raise failed
    return reports, failed


def run_reports(head: Mapping[str, Any], boxes: Mapping[str, BoxResults]) -> list[RunReport]:
    """Return the reports of a run, box after box, part after part. `head`: the known fields that
    are the same for each box.

    Raises:
        pydantic.ValidationError: a field breaks the field rules.
    """
    return [
        RunReport.model_validate(_body(_filled(head, results), box_key, part))
        for box_key, results in boxes.items()
        for part in in_parts(head["run_id"], results.tests)
    ]


def draft(head: Mapping[str, Any], box_key: str | None, results: BoxResults | None) -> RunReport:
    """Return a report as far as it is known: nothing is checked, and unknown fields are left out.
    `results` None: there are none yet.
    """
    known = dict(head)
    if results is not None:
        known = _filled(head, results) | {"tests": results.tests}
    if box_key is not None:
        known["box_key"] = box_key
    order = [name for name in RunReport.model_fields if name in known]
    return RunReport.model_construct(**{name: known[name] for name in order})


def _filled(head: Mapping[str, Any], results: BoxResults) -> dict[str, Any]:
    """Fill in what is not set from the results of the box."""
    started_at = head.get("started_at") or results.started_at
    assert started_at is not None, "each box has a start: results.py"
    # A CI may report that the run started long before its tests did: they waited for the bench.
    ended_at = started_at + results.took
    return {
        "started_at": started_at,
        "ended_at": max(ended_at, results.ran_until or ended_at),
        # Only a connectivity check that failed sets false: results without tests blame no bench.
        "hello_ok": True,
        **head,
    }


def _body(fields: Mapping[str, object], box_key: str, part: Part[TestItem]) -> dict[str, object]:
    body = {**fields, "box_key": box_key, "run_id": part.run_id, "tests": part.tests}
    if part.part_of is not None:
        body["part_of"] = part.part_of
    return body


def in_parts(run_id: int, tests: Sequence[Test]) -> list[Part[Test]]:
    """Cut tests into parts of as many as a report may hold, in their order."""
    if len(tests) <= limits.TESTS_MAX:
        return [Part(run_id, tests, None)]
    starts = range(0, len(tests), limits.TESTS_MAX)
    return [
        Part(
            part_run_id(run_id, number),
            tests[start : start + limits.TESTS_MAX],
            PartOf(run_id=run_id, part=number, parts=len(starts)),
        )
        for number, start in enumerate(starts, start=1)
    ]


def part_run_id(run_id: int, number: int) -> int:
    """Part 1 keeps the run's id; part k has the first 53 bits of SHA-256 of `{run_id}/{k}`.

    So the same report sent again replaces each of its parts.
    """
    return run_id if number == 1 else hashed_run_id(f"{run_id}/{number}")


class WholeReport(RunReport):
    """A run report before it is cut: all its rules, over as many tests as there are."""

    tests: Annotated[Sequence[TestItem], ListRule(limits.INTEGER_MAX, repeated_tests)]


def written_reports(body: bytes) -> list[RunReport]:
    """Return the reports of a body that was written whole: itself, or its parts.

    A body that names its part has to fit one report.

    Raises:
        pydantic.ValidationError: it breaks the field rules; faults are placed in the body as it is.
    """
    model = RunReport if _names_its_part(body) else WholeReport
    whole = model.model_validate_json(body)
    fields = {name: getattr(whole, name) for name in whole.model_fields_set}
    return [
        RunReport.model_validate(_body(fields, whole.box_key, part))
        for part in in_parts(whole.run_id, whole.tests)
    ]


def _names_its_part(body: bytes) -> bool:
    try:
        read = from_json(body)
    except ValueError:
        return False
    return isinstance(read, dict) and read.get("part_of") is not None
