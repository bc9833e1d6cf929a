# SPDX-License-Identifier: Apache-2.0
"""The platforms on which the tests of one file ran, as a project wants to see them: in the names of
tests, or as boxes (contract, "Results").

Without a rule a platform stands in the names of those tests alone that ran on several, so that
names depend on what else is in the file. How files are read, this module does not know.
"""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum

from hwci.ci.results.model import FileResults
from hwci.ci.results.names import stable_id
from hwci.ci.results.places import Attempt


class Platforms(StrEnum):
    """Where a platform stands."""

    IN_NAMES = "in-names"
    """Before the name of each test that names one."""
    AS_BOXES = "as-boxes"
    """Behind the name of the box: `bench-1:nucleo_f767zi`. Names of tests never have it."""


def with_names(file: FileResults, platforms: Platforms | None) -> FileResults:
    """Return the results with the names that a rule gives to tests."""
    if platforms is not Platforms.IN_NAMES:
        return file
    return replace(
        file,
        attempts=[_named(attempt) for attempt in file.attempts],
        idle=[
            (stable_id(place.board, test_id), replace(place, board=""))
            for test_id, place in file.idle
        ],
    )


def _named(attempt: Attempt) -> Attempt:
    place = attempt.place
    test_id = stable_id(place.board, attempt.test_id)
    return replace(attempt, test_id=test_id, place=replace(place, board=""))


def by_box(box: str, file: FileResults, platforms: Platforms | None) -> Mapping[str, FileResults]:
    """Return the results by the boxes that a rule gives them. What is of no platform, such as the
    number of skipped tests, is with the first box.
    """
    if platforms is not Platforms.AS_BOXES:
        return {box: with_names(file, platforms)}
    attempts: dict[str, list[Attempt]] = {}
    for attempt in file.attempts:
        board = attempt.place.board
        attempts.setdefault(f"{box}:{board}" if board else box, []).append(attempt)
    if not attempts:
        return {box: file}
    first, *others = attempts
    rest = replace(file, skipped=0, unbuilt=0, faults=(), notes=(), missing={}, idle=())
    parts = {first: file, **dict.fromkeys(others, rest)}
    return {
        key: replace(
            part,
            attempts=attempts[key],
            duration_s=sum(attempt.duration_s for attempt in attempts[key]),
        )
        for key, part in parts.items()
    }
