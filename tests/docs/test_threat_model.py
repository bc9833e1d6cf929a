# SPDX-License-Identifier: Apache-2.0
"""Each promise of the threat model names tests that there are, and each number once."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/threat-model.md").read_text()
ROWS = re.findall(r"^\| (T\d+) \|.*\|(.*)\|$", TEXT, re.MULTILINE)


def test_every_promise_names_tests_that_exist() -> None:
    named = [(number, re.findall(r"`(tests/[^`]+)`", tests)) for number, tests in ROWS]

    assert [number for number, tests in named if not tests] == []
    assert [path for _, tests in named for path in tests if not (ROOT / path).exists()] == []


def test_every_number_stands_once() -> None:
    numbers = [int(number[1:]) for number, _ in ROWS]

    assert sorted(numbers) == list(range(1, 40))
