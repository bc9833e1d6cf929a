# SPDX-License-Identifier: Apache-2.0
"""A platform stands where the project says, whatever else a file holds (contract, "Results")."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from hwci.ci.results.model import merged
from hwci.ci.results.platforms import Platforms, by_box
from hwci.ci.results.read import read_results
from hwci.ci.results.verdicts import BUILT_IN

Rows = list[tuple[str, str, str]]


def rows(folder: Path, platforms: Sequence[str], rule: Platforms | None) -> Rows:
    """Return box, name and outcome of the test of a suite that failed on the last platform."""
    suites = [
        {
            "name": "tests/kernel/sem",
            "platform": platform,
            "status": "failed" if platform == platforms[-1] else "passed",
            "testcases": [
                {
                    "identifier": "kernel.sem",
                    "status": "failed" if platform == platforms[-1] else "passed",
                    "execution_time": "1.5",
                }
            ],
        }
        for platform in platforms
    ]
    path = folder / "twister.json"
    path.write_text(json.dumps({"testsuites": suites}))
    parts = by_box("b", read_results(path, BUILT_IN), rule)
    return [
        (box, item.id, item.outcome.value)
        for box, part in parts.items()
        for item in merged([part]).tests
    ]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Platforms.IN_NAMES, [("b", "nucleo.sem.kernel.sem", "fail")]),
        (Platforms.AS_BOXES, [("b:nucleo", "sem.kernel.sem", "fail")]),
        (None, [("b", "sem.kernel.sem", "fail")]),
    ],
)
def test_with_a_rule_a_name_does_not_depend_on_the_other_platforms_of_its_file(
    tmp_path: Path, rule: Platforms | None, expected: Rows
) -> None:
    alone = rows(tmp_path, ["nucleo"], rule)
    beside = rows(tmp_path, ["frdm/k64f", "nucleo"], rule)

    assert alone == expected
    assert (expected[0] in beside, len(beside)) == (rule is not None, 2)
    assert sorted(outcome for *_, outcome in beside) == ["fail", "pass"]


def test_what_is_of_no_platform_is_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "o.xml"
    path.write_text(
        '<testsuite name="s" errors="1"><testcase name="a" board="x" time="2"/>'
        '<testcase name="b" board="y" time="3"/><testcase name="c"><skipped/></testcase>'
        '<testcase name="d" time="4"/></testsuite>'
    )
    parts = by_box("b", read_results(path, BUILT_IN), Platforms.AS_BOXES)

    assert list(parts) == ["b:x", "b:y", "b"]
    assert [part.duration_s for part in parts.values()] == [2, 3, 4]
    assert sum(part.skipped for part in parts.values()) == 1
    assert sum(len(part.faults) for part in parts.values()) == 1
