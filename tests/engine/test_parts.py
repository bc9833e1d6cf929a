# SPDX-License-Identifier: Apache-2.0
"""Reports in parts (semantics, 1.9)."""

from dataclasses import replace

import pytest

from hwci.engine.facts import Part
from hwci.engine.parts import Ended, ci_run_id, ended_by, is_first
from tests.engine.timeline import report

WHOLE = report("a:P", 0, run_id=7)


@pytest.mark.parametrize(
    ("part", "run", "first", "ended"),
    [
        (None, 7, True, Ended(7, 1)),
        (Part(40, 1, 1), 40, True, Ended(40, 1)),
        (Part(40, 1, 3), 40, True, Ended(40, 3)),
        (Part(40, 2, 3), 40, False, None),
    ],
)
def test_a_first_part_stands_for_the_run_and_ends_the_parts_beyond(
    part: Part | None, run: int, first: bool, ended: Ended | None
) -> None:
    sent = replace(WHOLE, part_of=part)

    assert (ci_run_id(sent), is_first(sent), ended_by(sent)) == (run, first, ended)
