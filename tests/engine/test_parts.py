# SPDX-License-Identifier: Apache-2.0
"""Reports in parts (semantics, 1.9)."""

from dataclasses import replace

import pytest

from hwci.engine.facts import Part
from hwci.engine.rules.reports import ReplacedParts, replaced_parts
from tests.engine.timeline import report

WHOLE = report("a:P", 0, run_id=7)


@pytest.mark.parametrize(
    ("part", "run", "first", "ended"),
    [
        (None, 7, True, ReplacedParts(7, 1)),
        (Part(40, 1, 1), 40, True, ReplacedParts(40, 1)),
        (Part(40, 1, 3), 40, True, ReplacedParts(40, 3)),
        (Part(40, 2, 3), 40, False, None),
    ],
)
def test_a_first_part_stands_for_the_run_and_ends_the_parts_beyond(
    part: Part | None, run: int, first: bool, ended: ReplacedParts | None
) -> None:
    sent = replace(WHOLE, part_of=part)

    assert (sent.ci_run_id, sent.is_first_part, replaced_parts(sent)) == (run, first, ended)
