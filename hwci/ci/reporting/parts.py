# SPDX-License-Identifier: Apache-2.0
"""Reports of more tests than one may hold, in parts (semantics, 1.9; ADR 0007).

This module decides where a report is cut and which run each part says it is of. What else stands
in the parts is the report's: `changes` and `covers_shas` go with each, so that each part is
judged as the whole would be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from hwci.ci.job import hashed_run_id
from hwci.wire import limits
from hwci.wire.reports import PartOf

Test = TypeVar("Test")


@dataclass(frozen=True, slots=True)
class Part(Generic[Test]):
    """The tests of one part. `part_of` None: the report fits whole."""

    run_id: int
    tests: Sequence[Test]
    part_of: PartOf | None


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
